"""A plain loop in another process, followed live in the browser, killed, and gone on with."""

import os
import re
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

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.long

# Nothing of this program but the four calls: logistic regression on made-up rows.
LOOP = """
import sys, time
from pathlib import Path
import numpy as np
import dpcore

rng = np.random.default_rng(0)
n, batch, sigma, clip = 2_000, 100, 1.5, 1.0
x = rng.normal(size=(n, 20))
y = (x @ rng.normal(size=20) > 0).astype(float)
w = np.zeros(20)
enough = Path(sys.argv[1])
with dpcore.follow(
    "a plain loop", delta=1e-5, examples=n, batch=batch, sigma=sigma, unit="row", id="plain1"
) as run:
    while not enough.exists():
        drawn = rng.random(n) < batch / n
        gradients = (1 / (1 + np.exp(-x[drawn] @ w)) - y[drawn])[:, None] * x[drawn]
        norms = np.linalg.norm(gradients, axis=1, keepdims=True)
        total = (gradients / np.maximum(norms / clip, 1)).sum(axis=0)
        w -= (total + sigma * clip * rng.normal(size=20)) / batch
        run.step()
        if run.steps % 10 == 0:
            run.log({"test/accuracy": float(((x @ w > 0) == y).mean()), "weights": float(w @ w)})
        time.sleep(0.02)
print(run.steps)
"""
POINTS = "path => document.querySelector(`${path} .live-plot`)?.data?.[0]?.x?.length ?? 0"
ACCURACY = ".st-key-accuracy_chart"
MARK = "followed: sampler as told, not observed"


def loop(app: Server, enough: Path) -> subprocess.Popen[str]:
    """The loop, which ends once there is such a file."""
    environment = {**os.environ, "DPCORE_HOME": str(app.home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", LOOP, str(enough)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def grows(page: Page, beyond: int) -> int:
    """The points of the chart of accuracy, once there are more."""
    page.wait_for_function(f"path => ({POINTS})(path) > {beyond}", arg=ACCURACY, timeout=PATIENCE)
    return int(page.evaluate(POINTS, ACCURACY))


def test_a_plain_loop_is_followed_live_killed_and_gone_on_with(
    app: Server, page: Page, tmp_path: Path
):
    enough = tmp_path / "enough"
    page.goto(f"{app.url}/runs")
    expect(page.get_by_role("heading", name="Which of my runs is best")).to_be_visible()
    training = loop(app, enough)
    try:
        with Store(app.home) as store:
            expect(page.get_by_text("a plain loop").first).to_be_visible()  # nobody reloads
            page.goto(f"{app.url}/runs?one=plain1")
            expect(page.get_by_text(MARK)).to_be_visible()
            points = grows(page, grows(page, 0) + 3)
            expect(page.get_by_role("button", name=re.compile("Cancel"))).to_have_count(0)
            training.send_signal(signal.SIGKILL)
            training.communicate()
            expect(page.get_by_text("The run was lost.")).to_be_visible()
            killed = store.run("plain1")
            told = max(event.step for event in store.events("plain1"))
            assert killed.done > told >= 10 * points - 10
            certified = dpcore.epsilon(dpcore.Mechanism.constant(0.05, 1.5, killed.done), 1e-5)
            assert killed.plan.mechanism == dpcore.Mechanism.constant(0.05, 1.5, killed.done)
            label = "Epsilon, Certified band (PLD)"
            spent = page.locator(".live-figures div", has_text=label).locator("dd")
            expect(spent).to_have_text(marked(certified.value, certified.kind))
            training = loop(app, enough)  # the page that is open follows it again
            before = grows(page, points)
            grows(page, before + 2)
            enough.touch()
            end = int(training.communicate()[0])
            expect(page.get_by_text("followed, finished")).to_be_visible()
            assert end > killed.done + 20
            over = store.run("plain1")
            assert (over.status, over.done) == (Status.FINISHED, end)
            assert over.plan.mechanism == dpcore.Mechanism.constant(0.05, 1.5, end)
            page.goto(f"{app.url}/?run=plain1&sigma=1.5")
            expect(page.get_by_text(MARK)).to_be_visible()
            grows(page, points)
    finally:
        training.kill()
        training.wait()
        training.stdout.close()
