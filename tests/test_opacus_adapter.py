"""The certified accountant within Opacus, and an engine of Opacus that is followed from outside."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from opacus import PrivacyEngine
from opacus.accountants import create_accountant
from opacus.accountants.utils import get_noise_multiplier
from torch.utils.data import DataLoader, TensorDataset

import dpcore
import dpcore.opacus
from dpcore.runs.followed import run as run_module
from dpcore.runs.record import Status
from dpcore.runs.store import Store

pytestmark = pytest.mark.filterwarnings("ignore")
DELTA = 1e-3


@pytest.fixture(autouse=True)
def registered() -> None:
    dpcore.opacus.register()
    dpcore.opacus.register()  # a second call changes nothing


class Training:
    """A linear model that Opacus trains on 40 examples in batches of 8."""

    def __init__(self, accountant: str = "dpcore") -> None:
        torch.manual_seed(0)
        data = TensorDataset(torch.randn(40, 3), torch.randint(0, 2, (40,)))
        model = torch.nn.Linear(3, 2)
        self.engine = PrivacyEngine(accountant=accountant)
        self.model, self.optimizer, self.loader = self.engine.make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=DataLoader(data, batch_size=8),
            noise_multiplier=1.1,
            max_grad_norm=1.0,
        )

    def epoch(self) -> Iterator[int]:
        """Take the steps of an epoch, one at a time."""
        for number, (images, labels) in enumerate(self.loader):
            self.optimizer.zero_grad()
            torch.nn.functional.cross_entropy(self.model(images), labels).backward()
            self.optimizer.step()
            yield number


def trained(epochs: int) -> PrivacyEngine:
    """The engine after so many epochs."""
    training = Training()
    for _ in range(epochs):
        list(training.epoch())
    return training.engine


def test_an_engine_of_opacus_counts_by_the_certified_accountant() -> None:
    engine = trained(2)
    assert len(engine.accountant) == 10
    counted = dpcore.epsilon(dpcore.Mechanism.constant(q=0.2, sigma=1.1, steps=10), DELTA)
    assert engine.get_epsilon(DELTA) == float(counted)
    again = create_accountant("dpcore")
    again.load_state_dict(engine.accountant.state_dict())
    assert again.get_epsilon(DELTA) == engine.get_epsilon(DELTA)


def test_steps_that_change_are_counted_apart_and_a_rate_above_1_as_1() -> None:
    accountant = create_accountant("dpcore")
    assert accountant.get_epsilon(DELTA) == 0.0
    for sigma, q in ((1.1, 0.2), (1.1, 0.2), (0.9, 0.2), (5.0, 1.2)):
        accountant.step(noise_multiplier=sigma, sample_rate=q)
    assert accountant.history == [(1.1, 0.2, 2), (0.9, 0.2, 1), (5.0, 1.2, 1)]
    whole = dpcore.Mechanism.constant(0.2, 1.1, 2) + dpcore.Mechanism.constant(0.2, 0.9, 1)
    whole = whole + dpcore.Mechanism.constant(1.0, 5.0, 1)
    assert accountant.get_epsilon(DELTA) == float(dpcore.epsilon(whole, DELTA))


def test_opacus_finds_the_noise_that_the_certified_accountant_allows() -> None:
    sigma = get_noise_multiplier(
        target_epsilon=3.0, target_delta=1e-5, sample_rate=0.01, steps=1000, accountant="dpcore"
    )
    reached = dpcore.epsilon(dpcore.Mechanism.constant(0.01, sigma, 1000), 1e-5)
    assert 2.99 <= float(reached) <= 3.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store; runs that are left open are finished."""
    with Store(tmp_path / "home") as made:
        yield made
        for each in list(run_module.open_runs):
            each.finish()


def certified(steps: int, sigma: float = 1.1, q: float = 0.2) -> dpcore.Reading:
    return dpcore.epsilon(dpcore.Mechanism.constant(q=q, sigma=sigma, steps=steps), DELTA)


def engine_of(*history: tuple) -> SimpleNamespace:
    """What a run reads of an engine."""
    return SimpleNamespace(accountant=SimpleNamespace(history=list(history)))


@pytest.mark.parametrize("accountant", ["rdp", "prv", "gdp", "dpcore"])
def test_an_engine_is_followed_and_stays_as_it_is(store, warned, accountant) -> None:
    training = Training(accountant)
    engine = training.engine
    before = dict(vars(engine.accountant)), vars(training.optimizer).copy()
    run = dpcore.follow(
        engine, name="mine", delta=DELTA, batch=8, sigma=1.1, target_epsilon=20.0, home=store.home
    )
    assert (vars(engine.accountant), vars(training.optimizer)) == before
    assert run.request.examples == 40
    for epoch in range(1, 4):
        list(training.epoch())
        run.log({"test/accuracy": 0.5})
        assert run.steps == 5 * epoch
    assert run.epsilon() == certified(15)
    assert not run.would_exceed()
    list(training.epoch())
    run.finish()
    kept = store.run(run.id)
    assert (kept.name, kept.status, kept.done) == ("mine", Status.FINISHED, 20)
    assert kept.plan.mechanism == dpcore.Mechanism.constant(q=0.2, sigma=1.1, steps=20)
    assert run.epsilon() == certified(20)
    assert warned() == []


def test_an_engine_that_has_trained_tells_its_noise_its_rate_and_its_examples(store) -> None:
    run = dpcore.follow(trained(2), delta=DELTA, home=store.home)
    run.finish()
    assert run.epsilon() == certified(10)
    assert store.run(run.id).plan.mechanism == dpcore.Mechanism.constant(0.2, 1.1, 10)


def test_an_engine_that_has_not_trained_needs_noise_and_rate(store) -> None:
    with pytest.raises(ValueError, match=r"Give sigma\. A run needs .* tells q and sigma itself"):
        dpcore.follow(Training().engine, delta=DELTA, batch=8, home=store.home)
    with pytest.raises(ValueError, match="Expected a name, or a PrivacyEngine of Opacus"):
        dpcore.follow(5, delta=DELTA, home=store.home)
    with pytest.raises(ValueError, match="Give examples"):
        dpcore.follow(engine_of(), delta=DELTA, batch=8, sigma=1.1, home=store.home)


def test_steps_that_change_within_an_epoch_are_counted_apart(store, warned) -> None:
    engine = engine_of((1.1, 0.2, 3))
    run = dpcore.follow(engine, delta=DELTA, examples=40, home=store.home)
    engine.accountant.history += [(0.9, 0.2, 2), (5.0, 1.2, 1)]
    run.sync()
    run.sync()
    whole = dpcore.Mechanism.constant(0.2, 1.1, 3) + dpcore.Mechanism.constant(0.2, 0.9, 2)
    whole = whole + dpcore.Mechanism.constant(1.0, 5.0, 1)
    assert run.epsilon() == dpcore.epsilon(whole, DELTA)
    (said,) = warned()
    assert "q=1.2" in said
    assert "counted with q = 1" in said


def test_a_checkpoint_that_was_loaded_is_not_counted_twice(store, warned) -> None:
    training = Training()
    told = {"delta": DELTA, "id": "mine1", "home": store.home}
    run = dpcore.follow(training.engine, batch=8, sigma=1.1, **told)
    list(training.epoch())
    run.sync()
    saved = deepcopy(training.engine.accountant.state_dict())
    list(training.epoch())  # its steps are counted, though no checkpoint has them
    run.finish()
    again = Training()
    again.engine.accountant.load_state_dict(saved)
    run = dpcore.follow(again.engine, **told)
    assert run.steps == 10
    assert "5 steps of the engine's history are taken for" in warned()[-1]
    assert "pass done=15" in warned()[-1]
    list(again.epoch())
    assert run.epsilon() == certified(15)
    run.finish()
    lost = dpcore.follow(engine_of((1.1, 0.2, 40)), examples=40, **told)
    assert lost.steps == 40  # the store had missed some


def test_no_step_of_a_history_that_begins_anew_is_missed(store, warned) -> None:
    engine = engine_of((1.1, 0.2, 10))
    run = dpcore.follow(engine, delta=DELTA, examples=40, home=store.home)
    engine.accountant.history = [(1.1, 0.2, 4)]
    run.sync()
    assert run.steps == 14
    engine.accountant.history = [(1.1, 0.2)]
    run.sync()
    run.sync()
    assert run.steps == 14
    (said,) = warned()
    assert "run.sync: the history of the engine cannot be read" in said
    assert "call run.step() for each" in said


PROGRAM = """
import sys, time, warnings
warnings.simplefilter("ignore")
import dpcore
from tests.test_opacus_adapter import Training
training = Training("rdp")
run = dpcore.follow(training.engine, id="mine1", delta=1e-3, batch=8, sigma=1.1)
for epoch in range(4):
    for number in training.epoch():
        if (epoch, number) == (2, 3):
            print(training.engine.accountant.history[0][2], flush=True)
            time.sleep(60)
    run.sync()
"""


def test_an_engine_that_is_killed_within_an_epoch_is_charged_for_all_its_steps(store) -> None:
    environment = {"DPCORE_HOME": str(store.home), "PYTHONPATH": str(Path(__file__).parents[1])}
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert running.stdout.readline() == "14\n"  # 4 more than it had told
    running.send_signal(signal.SIGKILL)
    running.communicate()
    done = store.run("mine1").done
    assert done >= 14
    training = Training("rdp")
    run = dpcore.follow(training.engine, id="mine1", delta=DELTA, home=store.home)
    assert run.steps == done
    list(training.epoch())
    run.finish()
    assert run.epsilon() == certified(done + 5)
    kept = store.run("mine1")
    assert (kept.done, kept.plan.mechanism.steps) == (done + 5, done + 5)
    assert float(dpcore.epsilon(kept.plan.mechanism, DELTA)) == run.epsilon().value
