"""Lightning's Trainer with the callback of a followed run, on a private training by Opacus."""

import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import dpcore
import dpcore.lightning
from dpcore.data.loading import load
from dpcore.runs.followed.events import Logged
from dpcore.runs.store import Store
from dpcore.training.events import Evaluated
from tests.adapters.examples import check_stopped, kept_in, library, lines_of

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]
EXAMPLES = 2_000
BATCH = 100
SIGMA = 1.2
TOLD = {"delta": 1e-5, "examples": EXAMPLES, "batch": BATCH, "sigma": SIGMA, "unit": "image"}
QUIET = {"enable_checkpointing": False, "enable_progress_bar": False, "logger": False}


def data(images: Any) -> Any:
    flat = images.images[:EXAMPLES].reshape(-1, 784).astype("float32")
    labels = torch.from_numpy(images.labels[:EXAMPLES].astype("int64"))
    return torch.utils.data.TensorDataset(torch.from_numpy(flat / flat.max()), labels)


@pytest.fixture
def private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A Lightning module of a linear model on MNIST's sample, made private by Opacus."""
    lightning = library("lightning")
    opacus = library("opacus")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    split = load("mnist", "sample")
    model = torch.nn.Linear(784, 10)
    engine = opacus.PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
        data_loader=torch.utils.data.DataLoader(data(split.train), batch_size=BATCH),
        noise_multiplier=SIGMA,
        max_grad_norm=1.0,
    )

    class Digits(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = model

        def training_step(self, batch, place):
            loss = torch.nn.functional.cross_entropy(self.model(batch[0]), batch[1])
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch, place):
            right = self.model(batch[0]).argmax(dim=1) == batch[1]
            self.log("val_acc", right.float().mean())

        def configure_optimizers(self):
            return optimizer

    tested = torch.utils.data.DataLoader(data(split.test), batch_size=500)
    return SimpleNamespace(
        module=Digits(), loader=loader, tested=tested, engine=engine, optimizer=optimizer
    )


def updates(private: Any) -> int:
    """The steps that Opacus has counted."""
    return sum(count for *_, count in private.engine.accountant.history)


def test_the_example_counts_logs_and_stops_at_its_target(store: Store, private: Any):
    lightning = library("lightning")
    private.module.val_dataloader = lambda: private.tested
    names = {
        "dpcore": dpcore,
        "model": private.module,
        "loader": private.loader,
        "told": TOLD,
    }
    exec(lines_of("Lightning"), names)
    assert names["lightning"] is lightning
    kept = kept_in(store)
    check_stopped(kept, 3.0)
    assert kept.done == updates(private)
    events = list(store.events(kept.id))
    accuracies = [each.accuracy for each in events if isinstance(each, Evaluated)]
    trainer = names["trainer"]
    assert len(accuracies) == trainer.current_epoch  # each was measured once
    assert accuracies[-1] == float(trainer.callback_metrics["val_acc"]) > 0.7
    losses = [each for each in events if isinstance(each, Logged) and "train_loss" in each.values]
    assert len(losses) >= kept.done // 50


def test_its_epsilon_is_that_of_the_same_steps(store: Store, private: Any):
    lightning = library("lightning")
    with dpcore.follow("mine", **TOLD) as run:
        trainer = lightning.Trainer(
            max_steps=25, callbacks=[dpcore.lightning.callback(run)], **QUIET
        )
        trainer.fit(private.module, private.loader)
        assert run.steps == updates(private) == 25
        mechanism = dpcore.Mechanism.constant(BATCH / EXAMPLES, SIGMA, 25)
        assert run.epsilon() == dpcore.epsilon(mechanism, 1e-5)
        trainer.fit_loop.epoch_loop.max_steps = 30
        trainer.fit(private.module, private.loader)  # goes on
        assert run.steps == updates(private) == 30


def test_batches_that_opacus_cuts_to_fit_are_one_step(store: Store, private: Any):
    lightning = library("lightning")
    memory = library("opacus.utils.batch_memory_manager")
    loader = memory.wrap_data_loader(
        data_loader=private.loader, max_batch_size=30, optimizer=private.optimizer
    )
    with dpcore.follow("mine", **TOLD) as run:
        trainer = lightning.Trainer(
            max_steps=60, callbacks=[dpcore.lightning.callback(run)], **QUIET
        )
        trainer.fit(private.module, loader)
        assert 10 < run.steps == updates(private) < 25


@pytest.mark.parametrize("batches", [20, 21])
def test_batches_whose_gradients_are_accumulated_are_one_step(
    store: Store, private: Any, batches: int
):
    lightning = library("lightning")
    module = private.module
    module.model = torch.nn.Linear(784, 10)
    sgd = torch.optim.SGD(module.model.parameters(), lr=0.1)
    taken = []
    sgd.register_step_post_hook(lambda *_: taken.append(1))
    module.configure_optimizers = lambda: sgd
    with dpcore.follow("mine", **TOLD) as run:
        trainer = lightning.Trainer(
            accumulate_grad_batches=4,
            max_epochs=2,
            limit_train_batches=batches,
            callbacks=[dpcore.lightning.callback(run)],
            **QUIET,
        )
        plain = torch.utils.data.DataLoader(private.loader.dataset, batch_size=50)
        trainer.fit(module, plain)
        assert run.steps == len(taken) == 2 * -(-batches // 4)


def test_the_target_wins_over_the_least_number_of_steps_and_over_a_spent_run(
    store: Store, private: Any
):
    lightning = library("lightning")
    for _ in range(2):  # the second time nothing is left
        with dpcore.follow("mine", id="spent", target_epsilon=1.0, **TOLD) as run:
            trainer = lightning.Trainer(
                min_steps=1_000,
                min_epochs=3,
                max_epochs=50,
                callbacks=[dpcore.lightning.callback(run)],
                **QUIET,
            )
            trainer.fit(private.module, private.loader)
        check_stopped(kept_in(store), 1.0)
        assert kept_in(store).done == updates(private)


def test_no_step_beyond_the_target_where_a_batch_takes_several(store: Store, private: Any):
    lightning = library("lightning")

    class Twice(type(private.module)):
        automatic_optimization = False

        def training_step(self, batch, place):
            for _ in range(2):
                optimizer = self.optimizers()
                loss = super().training_step(batch, place)
                optimizer.zero_grad()
                self.manual_backward(loss)
                optimizer.step()

    private.module.__class__ = Twice
    private.module.automatic_optimization = False
    with dpcore.follow("mine", target_epsilon=1.5, **TOLD) as run:
        trainer = lightning.Trainer(
            max_epochs=50, callbacks=[dpcore.lightning.callback(run)], **QUIET
        )
        trainer.fit(private.module, private.loader)
        assert run.steps == updates(private)
        assert float(run.epsilon()) <= 1.5
        assert run.steps_left() < 2


@pytest.mark.parametrize(
    ("raised", "seen", "status"),
    [
        (ArithmeticError("a defect of the module"), ArithmeticError, "failed"),
        (KeyboardInterrupt(), SystemExit, "cancelled"),
    ],
)
def test_a_training_that_fails_or_is_interrupted_is_said_to_have_been(
    store: Store, private: Any, raised: Any, seen: Any, status: str
):
    lightning = library("lightning")
    interrupt = signal.getsignal(signal.SIGINT)  # which Lightning then ignores

    def fail(*_: Any) -> None:
        raise raised

    def train() -> None:
        with dpcore.follow("mine", **TOLD) as run:
            trainer = lightning.Trainer(callbacks=[dpcore.lightning.callback(run)], **QUIET)
            trainer.fit(private.module, private.loader)

    private.module.on_train_batch_end = fail
    with pytest.raises(seen):
        train()
    signal.signal(signal.SIGINT, interrupt)
    kept = kept_in(store)
    assert (kept.status, kept.done) == (status, 1)
