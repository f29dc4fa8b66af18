"""A closer look: what a single example can do to a release, and what a trainer remembers that it
did not release.
"""

import itertools
import math

import pytest
import torch
from torch import Tensor

from dpcore.audit.broken_trainers import Trainer, Wrapper, replace_parts
from dpcore.audit.probe import Look, OwnGradients
from dpcore.training.gradients.clipping import CLIPPINGS
from tests.audit.small_audits import CNN, QUICK, request_for, watched
from tests.training.oracles import SHAPES, batch, clipped_one_at_a_time, layer_sizes, one_at_a_time

CLOSE = 1e-3


class CarriedOver(Wrapper):
    """An engine that adds a little of the last batch's sum to the next one, as hooks do that nobody
    has emptied.
    """

    def __init__(self, engine) -> None:
        super().__init__(engine)
        self.left = torch.zeros_like(engine.parameters)

    def clipped_sum(self, *given):
        """The sum, with some of the last one."""
        found = self._part.clipped_sum(*given)
        own = found.total.clone()
        found.shares[0].add_(self.left)
        self.left = 0.01 * own
        return found


class Adaptive(Wrapper):
    """Noise as large as the sum that it hides."""

    def add(self, piece: int, target: Tensor, std: float, scale: Tensor | None = None) -> None:
        """Add noise that depends on the target."""
        self._part.add(piece, target, float(target.norm()) / 10, scale)


class Rounded(Wrapper):
    """An engine whose gradients are a little too long, by less than most would notice."""

    def clipped_sum(self, *given):
        """The sum, a hundredth longer."""
        found = self._part.clipped_sum(*given)
        found.shares.mul_(1.01)
        return found


def looks_of(monkeypatch: pytest.MonkeyPatch, alter, **settings) -> list[Look]:
    """What is found of a trainer that is altered so."""
    from dpcore.audit import broken_trainers

    monkeypatch.setitem(
        broken_trainers.TRAINERS, "altered", Trainer("altered", "", "", alter=alter)
    )
    return watched(request_for("altered", **settings)).record.looks


def test_a_sum_that_is_carried_over_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = looks_of(monkeypatch, lambda run: replace_parts(run, engine=CarriedOver(run.engine)))
    assert max(look.remembered for look in looks) == pytest.approx(0.01, rel=0.05)
    assert max(look.remembered for look in watched(request_for()).record.looks) == 0.0


def test_noise_that_depends_on_the_batch_moves_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = looks_of(monkeypatch, lambda run: replace_parts(run, noise=Adaptive(run.noise)))
    assert max(look.alone for look in looks) <= 1.0, "the sums are as they should be"
    assert max(look.moved for look in looks) > 1 + CLOSE


def test_an_example_that_is_a_hundredth_too_long_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = looks_of(monkeypatch, lambda run: replace_parts(run, engine=Rounded(run.engine)))
    for name in ("alone", "moved"):
        assert max(getattr(look, name) for look in looks) == pytest.approx(1.01, rel=CLOSE)
    assert max(look.differs for look in looks) == pytest.approx(0.01, rel=0.1)


def test_per_layer_clipping_comes_near_to_its_sensitivity_and_not_beyond() -> None:
    looks = watched(request_for(config=CNN, clipping="per_layer")).record.looks
    assert 1.5 < max(look.moved for look in looks) <= math.sqrt(4) + CLOSE


def test_measuring_leaves_the_run_as_it_is_and_a_step_can_be_taken_again() -> None:
    watch = watched(request_for(optimizer="adam"), steps=2)
    before = watch.run.snapshot()
    seen = watch.observer.take(3)
    after = watch.run.snapshot()
    assert not torch.equal(before.parameters, after.parameters)

    assert watch._probe.measure(3, before, seen) is not None
    left = watch.run.snapshot()
    assert torch.equal(left.parameters, after.parameters)
    for own, earlier in zip(left.state.vectors, after.state.vectors, strict=True):
        assert torch.equal(own, earlier)
    for own, earlier in zip(left.noise, after.noise, strict=True):
        assert torch.equal(own, earlier)

    watch.run.restore(before)
    repeated = watch.observer.again(seen.x, seen.y, QUICK.sigma, watch.run.learning_rate.at(3))
    assert torch.equal(repeated.released, seen.released)


@pytest.mark.parametrize("name", ["mlp", "cnn", "dense without bias", "embedding"])
def test_the_audits_own_gradients_are_autograds_clipped_as_the_papers_write_them(name: str) -> None:
    make, shape = SHAPES[name]
    module = make()
    x, y = batch(shape, 3)
    parameters = torch.nn.utils.parameters_to_vector(module.parameters()).detach()
    for clipping, scale in itertools.product(
        CLIPPINGS, (torch.ones(len(parameters)), torch.linspace(0.5, 2.0, len(parameters)))
    ):
        own = torch.stack(
            list(OwnGradients(module, CLIPPINGS[clipping](0.3)).of(parameters, x, y, scale, None))
        )
        gradients = one_at_a_time(module, x, y) / (1 if scale is None else scale)
        expected, _ = clipped_one_at_a_time(gradients, clipping, 0.3, layer_sizes(module))
        assert torch.allclose(own.float(), expected, atol=1e-6), clipping
