"""Opacus trains on the bundled MNIST, is followed live in the browser, killed, and gone on with."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dpcore
from dpcore.privacy.report.numbers import marked
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.e2e.server import PATIENCE, ROOT, Server
from tests.e2e.test_followed_in_browser import grows

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.long

# Nothing but Opacus, and what is followed of it; it goes on from a checkpoint if there is one.
TRAINING = """
import sys, warnings
warnings.simplefilter("ignore")
from pathlib import Path
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset
import dpcore
from dpcore.data.loading import load

torch.set_num_threads(1)
split = load("mnist", "sample")
x, y = [torch.tensor(each.images.copy()).float().flatten(1) / 255 for each in (split.train, split.test)]
of_x, of_y = [torch.tensor(each.labels.copy()).long() for each in (split.train, split.test)]
model = torch.nn.Linear(784, 10)
engine = PrivacyEngine(accountant="rdp")
model, optimizer, loader = engine.make_private(
    module=model,
    optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
    data_loader=DataLoader(TensorDataset(x, of_x), batch_size=500),
    noise_multiplier=1.5,
    max_grad_norm=1.0,
)
enough, checkpoint = Path(sys.argv[1]), Path(sys.argv[2])
if checkpoint.exists():
    engine.load_checkpoint(path=checkpoint, module=model, optimizer=optimizer)
run = dpcore.follow(
    engine, name="opacus", id="opacus1", delta=1e-5, batch=500, sigma=1.5, unit="image"
)
while not enough.exists():
    for images, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(y).argmax(1) == of_y).float().mean()
    model.train()
    run.log({"test/accuracy": float(right)})
    engine.save_checkpoint(path=checkpoint, module=model, optimizer=optimizer)
run.finish()
print(run.steps, sum(steps for _, _, steps in engine.accountant.history))
"""
ACCURACY = ".st-key-accuracy_chart"


def training(app: Server, folder: Path) -> subprocess.Popen[str]:
    """The training, which ends once the folder has a file "enough"."""
    environment = {**os.environ, "DPCORE_HOME": str(app.home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", TRAINING, str(folder / "enough"), str(folder / "saved")]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_opacus_is_followed_live_killed_and_gone_on_with(app: Server, page: Page, tmp_path: Path):
    running = training(app, tmp_path)
    try:
        with Store(app.home) as store:
            while not store.rows("SELECT 1 FROM runs WHERE id = 'opacus1'"):
                assert running.poll() is None
                page.wait_for_timeout(100)
            page.goto(f"{app.url}/runs?one=opacus1")
            grows(page, grows(page, 0) + 3)
            running.send_signal(signal.SIGKILL)
            running.communicate()
            expect(page.get_by_text("The run was lost.")).to_be_visible(timeout=PATIENCE)
            killed = store.run("opacus1")
            assert killed.done >= max(event.step for event in store.events("opacus1"))
            mechanism = dpcore.Mechanism.constant(q=0.05, sigma=1.5, steps=killed.done)
            assert killed.plan.mechanism == mechanism
            certified = dpcore.epsilon(mechanism, 1e-5)
            label = "Epsilon, Certified band (PLD)"
            spent = page.locator(".live-figures div", has_text=label).locator("dd")
            expect(spent).to_have_text(marked(certified.value, certified.kind))
            running = training(app, tmp_path)
            grows(page, grows(page, 0) + 2)
            (tmp_path / "enough").touch()
            end, of_engine = map(int, running.communicate()[0].split())
            assert end >= killed.done + 40
            assert end >= of_engine
            over = store.run("opacus1")
            assert (over.status, over.done) == (Status.FINISHED, end)
            assert over.plan.mechanism == dpcore.Mechanism.constant(0.05, 1.5, end)
    finally:
        running.kill()
        running.wait()
        running.stdout.close()
