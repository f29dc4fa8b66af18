"""A recording is trusted only where it does what the ordinary step does; what is tried out leaves no trace.

Noise that a recording leaves off is found, an empty batch is not played, and a device that fails for good ends a run.
"""

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from dpcore.training import cuda_graph, rehearsal, training_run
from dpcore.training import loop as module
from dpcore.training.config import RunConfig
from dpcore.training.cuda_graph import StaticStep
from dpcore.training.events import Finished, Started
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.loop import train
from dpcore.training.moment import moment_of
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from dpcore.training.training_run import TrainingRun
from tests.training.recorder import CHANGING, ended, on_one_core_as_on_cuda, prepared_as_if_on_cuda, recording, statics
from tests.training.small_runs import CNN, SMALL, run_of, ticking

ADAM = dataclasses.replace(CHANGING, optimizer="adam")
SLOWLY = dataclasses.replace(CNN, lr=0.05, lr_schedule="linear", lr_end=0.045, epochs=1.0)  # by less than 0.1 % a step
LOUD = dataclasses.replace(CNN, sigma=500.0, lr=1e-4)  # which hides one example
Play = Callable[[], None]
Spoiled = Callable[[Play, StaticStep, Sequence[torch.Generator]], None]


@pytest.fixture(autouse=True)
def recorded(monkeypatch):
    yield from on_one_core_as_on_cuda(monkeypatch)


def spoil(monkeypatch: pytest.MonkeyPatch, how: Spoiled) -> list[int]:
    """Recordings that are played in this way from now on; how often they were."""
    played: list[int] = []

    def spoiled(step: Play, generators: Sequence[torch.Generator]) -> Play:
        static, play = step.__self__, recording(step, generators)  # type: ignore[attr-defined]

        def playing() -> None:
            played.append(1)
            how(play, static, generators)

        return playing

    monkeypatch.setattr(cuda_graph, "recording", spoiled)
    return played


def changing(place: int, value: Callable[[float], float]) -> Spoiled:
    """It reads another number than it was given: 0 how many are drawn, 1 sigma, 2 the rate, 3 the steps."""

    def play_with(play: Play, static: StaticStep, generators: Sequence[torch.Generator]) -> None:
        static._inputs[static.room + place] = value(float(static._inputs[static.room + place]))
        play()

    return play_with


def keeping(place: int) -> Spoiled:
    """It goes on with the first number that it was ever given."""
    first: list[float] = []

    def kept(value: float) -> float:
        first.append(value)
        return first[0]

    return changing(place, kept)


def draws_once_more(play: Play, static: StaticStep, generators: Sequence[torch.Generator]) -> None:
    play()
    torch.empty(2, dtype=torch.int64).random_(generator=generators[0])


def afterwards(change: Callable[[StaticStep], object]) -> Spoiled:
    """It does what it should, and then something more."""

    def play_and_change(play: Play, static: StaticStep, generators: Sequence[torch.Generator]) -> None:
        play()
        change(static)

    return play_and_change


def moves_nothing(play: Play, static: StaticStep, generators: Sequence[torch.Generator]) -> None:
    before = static._engine.parameters.clone()
    play()
    static._engine.parameters.copy_(before)


def quieted(static: StaticStep) -> None:
    """A coordinate is left without noise where it would not show in the length of a release at the run's own sigma."""
    if static.released.abs().max() > 1e3:
        static.released[7] = 0.0


def does_nothing(play: Play, static: StaticStep, generators: Sequence[torch.Generator]) -> None:
    pass


WRONG: dict[str, tuple[RunConfig, Spoiled, str]] = {
    "draws once more": (CNN, draws_once_more, "it draws another amount of noise"),
    "does nothing": (CNN, does_nothing, "it draws another amount of noise"),
    "one example more": (CNN, changing(0, lambda count: count + 1), "its release is not"),
    "one example more under loud noise": (LOUD, changing(0, lambda count: count + 1), "its release is not"),
    "less noise": (CNN, changing(1, lambda sigma: 0.99 * sigma), "its release is not"),
    "the first sigma": (CHANGING, keeping(1), "its release is not"),
    "a slowly falling rate kept": (SLOWLY, keeping(2), "it does not move the parameters"),
    "a coordinate without noise": (CNN, afterwards(lambda static: static.released[7].zero_()), "its release is not"),
    "a coordinate without loud noise": (CNN, afterwards(quieted), "its noise is not the ordinary step's"),
    "the steps of Adam kept": (ADAM, keeping(3), "it does not move the parameters"),
    "no move": (CNN, moves_nothing, "it does not move the parameters"),
    "not finite": (
        CNN,
        afterwards(lambda static: static._engine.parameters[3].fill_(float("nan"))),
        "it does not move the parameters",
    ),
    "other memory": (
        CNN,
        afterwards(lambda static: static._descent.state.vectors[0].mul_(1.01)),
        "its optimizer does not remember",
    ),
    "other norms": (CNN, afterwards(lambda static: static._figures[1].mul_(1.01)), "its norms are not"),
    "other losses": (CNN, afterwards(lambda static: static._figures[0].add_(1.0)), "its losses are not"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_recording_is_found_and_leaves_the_ordinary_run_bit_for_bit(name, monkeypatch):
    config, how, sentence = WRONG[name]
    played = spoil(monkeypatch, how)
    run = run_of(config)
    run.static, said = prepared_as_if_on_cuda(run)
    assert run.static is None
    assert said.startswith(f"; not captured: {sentence}")
    assert not re.search(r"\d", said), "a number would give away what noise does not cover"
    assert played
    assert_ends_as_the_ordinary(run, config)


def assert_ends_as_the_ordinary(run: TrainingRun, config: RunConfig) -> None:
    """The same parameters, and noise and batches that went on as far."""
    ordinary = run_of(config)
    assert torch.equal(ended(run, 3), ended(ordinary, 3))
    assert all(map(torch.equal, run.noise.states(), ordinary.noise.states()))
    assert torch.equal(run.batches.state(), ordinary.batches.state())
    assert run.descent.state.count == 3


@pytest.mark.parametrize(("at", "half"), [(1, False), (2, True), (3, True)])
def test_a_recording_that_raises_when_it_is_played_leaves_the_ordinary_run_bit_for_bit(at, half, monkeypatch):
    def raising(play, static, generators):
        if len(played) < at or half:
            play()
        if len(played) == at:
            raise RuntimeError("CUDA error: an illegal\ninstruction")

    played = spoil(monkeypatch, raising)
    run = run_of(ADAM)
    generator = run.noise.generators[0]
    run.static, said = prepared_as_if_on_cuda(run)
    assert said == "; not captured: RuntimeError: CUDA error: an illegal instruction"
    assert len(played) == at
    assert run.static is None
    assert run.noise.generators[0] is not generator  # the recording may still hold that one
    assert_ends_as_the_ordinary(run, ADAM)


RIGHT = [
    *(dataclasses.replace(CHANGING, optimizer=name) for name in OPTIMIZERS),
    *(dataclasses.replace(CHANGING, optimizer="pi_adam", clipping=name) for name in CLIPPINGS),
    *(dataclasses.replace(CHANGING, optimizer=name, private=False) for name in ("sgd", "adam", "pi_adam")),
    dataclasses.replace(SMALL, optimizer="adam"),
    dataclasses.replace(SMALL, private=False),
    dataclasses.replace(CNN, sigma=0.0),
    dataclasses.replace(CNN, momentum=0.0, lr=1e-30),
    dataclasses.replace(CNN, lr_schedule="linear", lr_end=0.0),
    dataclasses.replace(CNN, batch=1),
    dataclasses.replace(CNN, batch=1_000, epochs=1.0),
    dataclasses.replace(CNN, epochs=0.02),
]


def right(config):
    """A right recording is trusted, and the run stands where it stood."""
    run = run_of(config)
    before, batches = moment_of(run), run.batches.state()
    static, said = prepared_as_if_on_cuda(run)
    assert (said, bool(static)) == (", captured", True), config.chosen()
    after = moment_of(run)
    assert torch.equal(after.parameters, before.parameters), config.chosen()
    assert after.state.count == 0
    assert all(map(torch.equal, after.state.vectors, before.state.vectors)), config.chosen()
    assert all(map(torch.equal, after.noise, before.noise)), config.chosen()
    assert torch.equal(run.batches.state(), batches), config.chosen()


def test_a_right_recording_is_trusted_and_the_run_stands_where_it_stood():
    right(dataclasses.replace(CHANGING, optimizer="pi_adam"))


@pytest.mark.long
def test_right_recordings_of_all_runs_are_trusted():
    for config in RIGHT:
        right(config)


@pytest.mark.parametrize("optimizer", ["sgd", pytest.param("pi_adam", marks=pytest.mark.long)])
def test_the_noise_of_a_played_run_is_where_as_many_ordinary_steps_leave_it(optimizer):
    config = dataclasses.replace(CHANGING, optimizer=optimizer)
    played, ordinary, unproven = run_of(config), run_of(config), run_of(config)
    played.static, said = prepared_as_if_on_cuda(played)
    unproven.static = StaticStep(unproven.engine, unproven.descent, unproven.train, config.q)
    unproven.static.record(unproven.noise)
    assert said == ", captured"
    for run in (played, ordinary, unproven):
        ended(run, 3)
    assert all(map(torch.equal, played.noise.states(), ordinary.noise.states()))
    assert torch.equal(played.batches.state(), ordinary.batches.state())
    assert torch.equal(played.engine.parameters, unproven.engine.parameters)  # the rehearsal left no trace


def test_what_is_said_first_is_what_came_of_it_and_nothing_is_said_of_what_was_tried(monkeypatch):
    expected = [*train(CNN, ticking())]
    monkeypatch.setattr(module, "prepared", prepared_as_if_on_cuda)
    spoil(monkeypatch, draws_once_more)
    events = [*train(CNN, ticking())]
    started = events[0]
    assert isinstance(started, Started)
    assert started.engine == "book-keeping; not captured: it draws another amount of noise"
    assert isinstance(events[-1], Finished)
    assert events[1:-1] == expected[1:-1]


def test_a_run_without_noise_has_none_that_could_be_left_off(monkeypatch):
    tried: list[float] = []
    take = StaticStep.step
    monkeypatch.setattr(StaticStep, "step", lambda own, *numbers: tried.append(numbers[1]) or take(own, *numbers))
    for config, louder in ((CNN, [rehearsal.LOUD]), (dataclasses.replace(CNN, sigma=0.0), [])):
        tried.clear()
        assert prepared_as_if_on_cuda(run_of(config))[1] == ", captured"
        assert tried == [config.sigma, config.sigma, 0.0, *louder]


def test_an_empty_batch_is_not_tried_and_an_example_that_is_not_in_it_has_no_say_in_it(monkeypatch):
    """The gradient of that example is not finite, and 0 times that is not 0."""
    finals = []
    monkeypatch.setattr(training_run, "poisson_sample", lambda *_: np.arange(0))
    assert [trial.drawn.tolist() for trial in rehearsal.trials(run_of(CNN), 200)] == [[0]] * 3
    for static in (False, True):
        run = run_of(CNN)
        x, y = run.train
        run.train = x[:].clone(), y  # other runs have the same images
        run.train[0][0] = float("nan")
        if static:
            statics(run)
        finals.append(ended(run, 2))
    assert finals[0].isfinite().all()
    assert torch.equal(*finals)


@pytest.mark.parametrize("fails", ["playing", "recording"])
def test_a_device_that_does_nothing_more_ends_the_run_which_says_what_to_do(fails, monkeypatch):
    """As a context of CUDA is after an illegal access: whatever is called next raises the same."""
    broken: list[int] = []

    def failing(*_: Any) -> None:
        broken.append(1)
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    def restore(self: GaussianNoise, states: list[torch.Tensor]) -> None:
        if broken:
            failing()
        own(self, states)

    own = GaussianNoise.restore
    monkeypatch.setattr(GaussianNoise, "restore", restore)
    monkeypatch.setattr(cuda_graph, "recording", failing if fails == "recording" else lambda *_: failing)
    run = run_of(CNN)
    with pytest.raises(RuntimeError, match=r"Start the run again, in another process: .* an illegal memory access"):
        prepared_as_if_on_cuda(run)
    assert broken


def test_noise_that_any_one_coordinate_lacks_is_found_beside_a_signal():
    generator, d = torch.Generator().manual_seed(1), 26_010
    for coordinate in torch.randint(d, (100,), generator=generator).tolist():
        signal = torch.randn(d, generator=generator) / d**0.5
        release = signal + rehearsal.LOUD * torch.randn(d, generator=generator)
        twin = release * (1 + 2e-6)
        assert rehearsal.close_everywhere(release, twin)
        twin[coordinate] = signal[coordinate]
        assert not rehearsal.close_everywhere(release, twin)


def test_what_is_not_finite_is_close_to_nothing_and_rounding_to_what_it_rounds():
    release = torch.randn(1000, generator=torch.Generator().manual_seed(1))
    for close in (rehearsal.close, rehearsal.close_everywhere):
        assert close(release, release * (1 + 2e-6)), close
        assert not close(release, torch.full((1000,), float("nan"))), close
        assert not close(torch.full((1000,), float("inf")), torch.full((1000,), float("inf"))), close
        assert close(torch.zeros(3), torch.zeros(3)), close
