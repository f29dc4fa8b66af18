"""A recording is trusted only where it does what the ordinary step does; what is tried out leaves no trace."""

import dataclasses
import re
from collections.abc import Callable, Sequence

import pytest
import torch

from dpcore.training import checkpoint, cuda_graph, rehearsal
from dpcore.training import loop as module
from dpcore.training.config import RunConfig
from dpcore.training.cuda_graph import StaticStep
from dpcore.training.events import Finished, Started
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.loop import train
from dpcore.training.moment import moment_of
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.training_run import TrainingRun
from tests.training.recorder import CHANGING, ended, on_one_core_as_on_cuda, prepared_as_if_on_cuda, recording
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


def draws_the_same_again(play: Play, static: StaticStep, generators: Sequence[torch.Generator]) -> None:
    state = generators[0].get_state()
    play()
    generators[0].set_state(state)


def takes_other_examples(play: Play, static: StaticStep, generators: Sequence[torch.Generator]) -> None:
    static._inputs[: static.room] = torch.arange(static.room, dtype=torch.float64)
    play()


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


def does_nothing(play: Play, static: StaticStep, generators: Sequence[torch.Generator]) -> None:
    pass


WRONG: dict[str, tuple[RunConfig, Spoiled, str]] = {
    "draws once more": (CNN, draws_once_more, "it draws another amount of noise"),
    "draws the same again": (CNN, draws_the_same_again, "it draws another amount of noise"),
    "does nothing": (CNN, does_nothing, "it draws another amount of noise"),
    "other examples": (CNN, takes_other_examples, "its release is not"),
    "one example more": (CNN, changing(0, lambda count: count + 1), "its release is not"),
    "one example less": (CNN, changing(0, lambda count: max(count - 1, 0)), "its release is not"),
    "one example more under loud noise": (LOUD, changing(0, lambda count: count + 1), "its release is not"),
    "more noise": (CNN, changing(1, lambda sigma: 1.01 * sigma), "its release is not"),
    "less noise": (CNN, changing(1, lambda sigma: 0.99 * sigma), "its release is not"),
    "the first sigma": (CHANGING, keeping(1), "its release is not"),
    "a slowly falling rate kept": (SLOWLY, keeping(2), "it does not move the parameters"),
    "a coordinate without noise": (CNN, afterwards(lambda static: static.released[7].zero_()), "its release is not"),
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


@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("half", [False, True], ids=["before it does anything", "when it has moved everything"])
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
    *(dataclasses.replace(SMALL, optimizer=name, private=False) for name in ("sgd", "adam")),
    dataclasses.replace(SMALL, optimizer="adam"),
    dataclasses.replace(CNN, sigma=0.0),
    dataclasses.replace(CNN, momentum=0.0, lr=1e-30),
    dataclasses.replace(CNN, lr_schedule="linear", lr_end=0.0),
    dataclasses.replace(CNN, batch=1),
    dataclasses.replace(CNN, batch=10_000, epochs=1.0),
]


def named(config: RunConfig) -> str:
    return ", ".join(f"{name}={value}" for name, value in config.chosen().items() if name not in ("seed", "device"))


@pytest.mark.parametrize("config", RIGHT, ids=named)
@pytest.mark.long
def test_a_right_recording_is_trusted_and_the_run_stands_where_it_stood(config):
    run = run_of(config)
    before, batches = moment_of(run), run.batches.state()
    static, said = prepared_as_if_on_cuda(run)
    assert said == ", captured"
    assert static
    after = moment_of(run)
    assert torch.equal(after.parameters, before.parameters)
    assert after.state.count == 0
    assert all(map(torch.equal, after.state.vectors, before.state.vectors))
    assert all(map(torch.equal, after.noise, before.noise))
    assert torch.equal(run.batches.state(), batches)


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


@pytest.mark.long
def test_a_run_that_is_resumed_and_tried_out_again_is_bit_for_bit_the_one_that_never_stopped(tmp_path):
    finals = []
    for stopped in (False, True):
        run = run_of(ADAM)
        run.static, _ = prepared_as_if_on_cuda(run)
        ended(run, 3)
        if stopped:
            checkpoint.save(run, 3, tmp_path / "state.pt")
            run = run_of(ADAM)
            checkpoint.resume(run, tmp_path / "state.pt")
            run.static, said = prepared_as_if_on_cuda(run)
            assert said == ", captured"
        for step in (4, 5):
            run.step(step)
        finals.append(run.engine.parameters)
    assert torch.equal(*finals)


def test_in_the_middle_of_a_run_it_is_tried_out_from_there():
    run = run_of(ADAM)
    ended(run, 4)
    before = moment_of(run)
    assert [trial.lr for trial in rehearsal.trials(run, 200)][:2] == [run.numbers(5)[1], run.numbers(run.plan.steps)[1]]
    run = run_of(ADAM)
    ended(run, 4)
    assert prepared_as_if_on_cuda(run)[1] == ", captured"
    assert run.descent.state.count == 4
    assert torch.equal(moment_of(run).parameters, before.parameters)


def test_a_run_that_is_done_can_still_be_prepared():
    config = dataclasses.replace(CNN, epochs=0.02)
    run = run_of(config)
    ended(run, run.plan.steps)
    assert prepared_as_if_on_cuda(run)[1] == ", captured"


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
