"""The step that is recorded as a CUDA graph: trusted only if it agrees with the ordinary step, and
then played.

On the CPU a stand-in plays it: operations are repeated on the same memory, and no Python runs.
Marked `cuda`, the same tests and those of all optimizers play CUDA graphs.
"""

import copy
import dataclasses
import gc
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence
from scipy import stats
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from dpcore.training import checkpoint, training_run
from dpcore.training import loop as module
from dpcore.training.config import RunConfig
from dpcore.training.cuda import recorded_step, rehearsal
from dpcore.training.cuda.recorded_step import RecordedStep, room
from dpcore.training.events import Started
from dpcore.training.loop import train
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.randomness import gaussian_noise
from dpcore.training.randomness.gaussian_noise import device_words
from dpcore.training.step_runner import step_runner_of
from dpcore.training.training_run import OrdinaryStep, StepRunner, TrainingRun
from tests.training.small_runs import CNN, ended, run_of, ticking

ROOT = Path(__file__).parents[2]
STEPS = 6
CHANGING = dataclasses.replace(
    CNN,
    lr=0.05,
    lr_schedule="linear",
    lr_end=0.01,
    schedule="exponential",
    rate=0.2,
    level_steps=2,
    epochs=0.1,
)
ADAM = dataclasses.replace(CHANGING, optimizer="adam")
# By less than 0.1 % a step.
SLOWLY = dataclasses.replace(CNN, lr=0.05, lr_schedule="linear", lr_end=0.045, epochs=1.0)
LOUD = dataclasses.replace(CNN, sigma=500.0, lr=1e-4)  # which hides one example
WORDS_OF = gaussian_noise.words_of
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)]
Play = Callable[[], None]
Spoiled = Callable[[Play, RecordedStep, Sequence[torch.Generator]], None]


class Recorder(TorchDispatchMode):
    """Every operation with the memory that it reads and writes; noise comes from registered
    generators alone.
    """

    def __init__(self, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        self.seeds = {generator.initial_seed() for generator in generators}
        self.calls: list[tuple[Callable, Any, Any, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket is torch.ops.aten.random_:
            assert kwargs["generator"].initial_seed() in self.seeds, (
                "a generator that was not registered"
            )
        kept = torch.Tensor, torch.Tensor.detach  # squeeze_ changes a shape later
        before = tree_map_only(*kept, (args, kwargs or {}))
        result = func(*args, **(kwargs or {}))
        self.calls.append((func, *before, tree_map_only(*kept, result)))
        return result

    def play(self) -> None:
        for func, args, kwargs, result in self.calls:
            fresh = tree_leaves(func(*args, **kwargs))
            for old, new in zip(tree_leaves(result), fresh, strict=True):
                if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                    old.copy_(new)


def recording(step: Play, generators: Sequence[torch.Generator]) -> Play:
    """A stand-in for `recorded_step.recording` without CUDA."""
    for _ in range(recorded_step.WARM):
        step()
    recorder = Recorder(generators)
    with recorder:
        step()
    return recorder.play


def as_if_on(device: str, run: TrainingRun) -> Any:
    """The run, as `step_runner_of` sees it on another device."""
    seen = copy.copy(run)
    seen.device = torch.device(device)
    return seen


def runner_as_if_on_cuda(run: TrainingRun) -> StepRunner:
    return step_runner_of(as_if_on("cuda", run))


@pytest.fixture(autouse=True)
def stand_in(request, monkeypatch):
    """Unless a test is marked `cuda`, the stand-in records, from generators that a recording can
    hold; one thread.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    if not request.node.get_closest_marker("cuda"):
        monkeypatch.setattr(recorded_step, "recording", recording)
        monkeypatch.setattr(
            gaussian_noise, "words_of", lambda secret, device, secure: device_words(secret, device)
        )
        monkeypatch.setattr(module, "step_runner_of", runner_as_if_on_cuda)
    yield
    torch.set_num_threads(before)
    gc.collect()  # a recording and its step hold each other


def plays_from_now(run: TrainingRun) -> list[int]:
    """Let the run play a recorded step from now on; the sizes of the batches that it plays."""
    step, taken = RecordedStep(run), []
    own = step.play

    def counting(drawn, sigma, lr):
        taken.append(len(drawn))
        return own(drawn, sigma, lr)

    step.play = counting  # type: ignore[method-assign]
    step.record(run.noise)
    run.runner = step
    return taken


def played_batches(config: RunConfig) -> list[int]:
    """The batches that a recorded run plays, which goes the way of the ordinary one.

    Rounding may choose another pixel of a pooling window, and so move a few weights.
    """
    run = run_of(config)
    start, taken = run.engine.parameters.clone(), plays_from_now(run)
    ordinary = ended(run_of(config), STEPS)
    assert (ended(run, STEPS) - ordinary).norm() < 1e-3 * (ordinary - start).norm()
    return taken


@pytest.mark.parametrize(
    ("device", "optimizer"),
    [
        ("cpu", "sgd"),
        ("cpu", "pi_adam"),
        *(pytest.param("cuda", name, marks=pytest.mark.cuda) for name in OPTIMIZERS),
    ],
)
def test_played_back_with_other_numbers_each_step_it_is_the_ordinary_run(
    device, optimizer, monkeypatch
):
    monkeypatch.setattr(sys.modules["dpcore.training.optimizers.adadp"], "INFORMATIVE", 3)
    taken = played_batches(dataclasses.replace(CHANGING, optimizer=optimizer, device=device))
    assert len(taken) == {"adadp": STEPS - 3}.get(optimizer, STEPS - optimizer.startswith("pi_"))


@pytest.mark.parametrize("device", DEVICES)
def test_empty_full_and_overflowing_batches_are_steps_like_any_other(device, monkeypatch):
    config = dataclasses.replace(CNN, clipping="per_layer", device=device)
    most = room(config.examples, config.q)
    draws = np.random.default_rng(3)
    batches = [
        np.sort(draws.choice(config.examples, size, replace=False))
        for size in (5, 0, most, most + 1, 1, 0)
    ]
    left = iter([*batches, *batches])
    monkeypatch.setattr(training_run, "batch_of_step", lambda *_: next(left))
    assert played_batches(config) == [5, most, 1]


@pytest.mark.parametrize("device", DEVICES)
def test_the_noise_that_is_played_has_std_sigma_times_clip_norm_and_never_repeats(device):
    draws = []
    for sigma in (1.7, 0.0):
        run = run_of(
            dataclasses.replace(
                CNN, sigma=sigma, clip_norm=3.0, momentum=0.0, lr=1e-30, device=device
            )
        )
        run.engine.parameters.zero_()
        taken = plays_from_now(run)
        sums = []
        for k in (1, 2, 3):
            run.engine.parameters.zero_()
            run.step(k)
            sums.append(run.engine.parameters.cpu().double() * -64 / 1e-30)
        draws.append(torch.stack(sums))
        assert len(taken) == 3
    noise = (draws[0] - draws[1]).numpy()
    for sample in noise:
        assert stats.kstest(sample, stats.norm(0, 1.7 * 3.0).cdf).pvalue > 1e-6
        for wrong in (2 / 3, 3 / 2):
            assert stats.kstest(sample, stats.norm(0, 1.7 * 3.0 * wrong).cdf).pvalue < 1e-9
    correlations = np.corrcoef(noise)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 5 / noise.shape[1] ** 0.5


@pytest.mark.parametrize("device", DEVICES)
def test_a_resumed_recording_is_bit_for_bit_the_one_that_never_stopped_or_saved(device, tmp_path):
    config, finals = dataclasses.replace(CHANGING, optimizer="pi_adam", ema=0.9, device=device), []
    for stopped in (False, True):
        run = run_of(config)
        plays_from_now(run)
        for step in range(1, 9):
            run.step(step)
            if stopped and step == 5:
                checkpoint.save(run, step, tmp_path / "state.pt")
                run = run_of(config)
                assert checkpoint.resume(run, tmp_path / "state.pt") == 5
                plays_from_now(run)
        finals += [run.engine.parameters, run.average.vector]
    assert torch.equal(*finals[::2])
    assert torch.equal(*finals[1::2])


OBSTACLES = [
    ("cpu", {}, ""),
    ("mps", {}, "; not captured: no CUDA graphs on mps"),
    (
        "cuda",
        {"optimizer": "pi_adam", "reading": "literal"},
        "; not captured: gradients are formed example by",
    ),
    ("cuda", {}, "; not captured: noise comes from the CPU"),
    (
        "cuda",
        {"acceptance": "sa", "public": 500},
        "; not captured: each proposal waits for its public loss",
    ),
]


def test_a_run_without_a_recording_says_why(monkeypatch):
    monkeypatch.setattr(gaussian_noise, "words_of", WORDS_OF)
    for device, options, sentence in OBSTACLES:
        runner = step_runner_of(as_if_on(device, run_of(dataclasses.replace(CNN, **options))))
        assert isinstance(runner, OrdinaryStep), sentence
        assert runner.note.startswith(sentence)
        assert bool(runner.note) == bool(sentence), runner.note


def test_secure_noise_comes_from_the_cpu_on_cuda_too(monkeypatch):
    cuda = torch.device("cuda")
    monkeypatch.setattr(
        gaussian_noise, "words_of", lambda secret, device, secure: WORDS_OF(secret, cuda, secure)
    )
    run = run_of(dataclasses.replace(CNN, noise_generator="secure"))
    assert runner_as_if_on_cuda(run).note == "; not captured: noise comes from the CPU"
    once = run._once(10, SeedSequence(1))
    assert once is not None
    assert not once.generators


@pytest.mark.parametrize("device", DEVICES)
def test_a_recorded_run_says_so(device):
    started = next(train(dataclasses.replace(CNN, device=device), ticking()))
    assert isinstance(started, Started)
    assert started.engine == "book-keeping, captured"


def spoil(monkeypatch: pytest.MonkeyPatch, how: Spoiled) -> list[int]:
    """Recordings that are played in this way from now on; how often they were."""
    played: list[int] = []

    def spoiled(step: Play, generators: Sequence[torch.Generator]) -> Play:
        recorded, play = step.__self__, recording(step, generators)  # type: ignore[attr-defined]

        def playing() -> None:
            played.append(1)
            how(play, recorded, generators)

        return playing

    monkeypatch.setattr(recorded_step, "recording", spoiled)
    return played


def changing(place: int, value: Callable[[float], float]) -> Spoiled:
    """It reads another number than it was given: 0 how many are drawn, 1 sigma, 2 the rate, 3 the
    steps.
    """

    def play_with(
        play: Play, recorded: RecordedStep, generators: Sequence[torch.Generator]
    ) -> None:
        recorded._inputs[recorded.room + place] = value(
            float(recorded._inputs[recorded.room + place])
        )
        play()

    return play_with


def keeping(place: int) -> Spoiled:
    """It keeps the first number that it ever got."""
    first: list[float] = []

    def kept(value: float) -> float:
        first.append(value)
        return first[0]

    return changing(place, kept)


def draws_once_more(
    play: Play, recorded: RecordedStep, generators: Sequence[torch.Generator]
) -> None:
    play()
    torch.empty(2, dtype=torch.int64).random_(generator=generators[0])


def afterwards(change: Callable[[RecordedStep], object]) -> Spoiled:
    """It takes the step, and then does something more."""

    def play_and_change(
        play: Play, recorded: RecordedStep, generators: Sequence[torch.Generator]
    ) -> None:
        play()
        change(recorded)

    return play_and_change


def moves_nothing(
    play: Play, recorded: RecordedStep, generators: Sequence[torch.Generator]
) -> None:
    before = recorded._engine.parameters.clone()
    play()
    recorded._engine.parameters.copy_(before)


def quieted(recorded: RecordedStep) -> None:
    """A coordinate is left without noise where it would not show in the length of a release at the
    run's own sigma.
    """
    if recorded.released.abs().max() > 1e3:
        recorded.released[7] = 0.0


WRONG: dict[str, tuple[RunConfig, Spoiled, str]] = {
    "draws once more": (CNN, draws_once_more, "it draws another amount of noise"),
    "does nothing": (
        CNN,
        lambda play, recorded, generators: None,
        "it draws another amount of noise",
    ),
    "one example more": (LOUD, changing(0, lambda count: count + 1), "its release is not"),
    "less noise": (CNN, changing(1, lambda sigma: 0.99 * sigma), "its release is not"),
    "the first sigma": (CHANGING, keeping(1), "its release is not"),
    "a slowly falling rate kept": (SLOWLY, keeping(2), "it does not move the parameters"),
    "a coordinate without noise": (
        CNN,
        afterwards(lambda recorded: recorded.released[7].zero_()),
        "its release is not",
    ),
    "a coordinate without loud noise": (
        CNN,
        afterwards(quieted),
        "its noise is not the ordinary step's",
    ),
    "the steps of Adam kept": (ADAM, keeping(3), "it does not move the parameters"),
    "no move": (CNN, moves_nothing, "it does not move the parameters"),
    "not finite": (
        CNN,
        afterwards(lambda recorded: recorded._engine.parameters[3].fill_(float("nan"))),
        "it does not move the parameters",
    ),
    "other memory": (
        CNN,
        afterwards(lambda recorded: recorded._descent.state.vectors[0].mul_(1.01)),
        "its optimizer does not remember",
    ),
    "other norms": (
        CNN,
        afterwards(lambda recorded: recorded._figures[1].mul_(1.01)),
        "its norms are not",
    ),
    "other losses": (
        CNN,
        afterwards(lambda recorded: recorded._figures[0].add_(1.0)),
        "its losses are not",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_recording_is_found_and_leaves_the_ordinary_run_bit_for_bit(name, monkeypatch):
    config, how, sentence = WRONG[name]
    played = spoil(monkeypatch, how)
    run = run_of(config)
    run.runner = runner_as_if_on_cuda(run)
    assert isinstance(run.runner, OrdinaryStep)
    assert run.runner.note.startswith(f"; not captured: {sentence}")
    assert not re.search(r"\d", run.runner.note), (
        "a number would give away what noise does not cover"
    )
    assert played
    assert_ends_as_the_ordinary(run, config)


def assert_ends_as_the_ordinary(run: TrainingRun, config: RunConfig) -> None:
    """Equal parameters, and noise and batches at equal positions."""
    ordinary = run_of(config)
    assert torch.equal(ended(run, 3), ended(ordinary, 3))
    assert all(map(torch.equal, run.noise.states(), ordinary.noise.states()))
    assert torch.equal(run.batches.state(), ordinary.batches.state())
    assert run.descent.state.count == 3


@pytest.mark.parametrize(("at", "half"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_recording_that_fails_or_raises_when_it_is_played_leaves_the_ordinary_run_bit_for_bit(
    at, half, monkeypatch
):
    def raising(play, recorded, generators):
        if len(played) < at or half:
            play()
        if len(played) == at:
            raise RuntimeError("CUDA error: an illegal\ninstruction")

    def failing(step, generators):
        step()
        raising(step, None, generators)

    played = spoil(monkeypatch, raising)
    if not at:
        monkeypatch.setattr(recorded_step, "recording", failing)
    run = run_of(ADAM)
    generator = run.noise.generators[0]
    run.runner = runner_as_if_on_cuda(run)
    assert run.runner.note == "; not captured: RuntimeError: CUDA error: an illegal instruction"
    assert len(played) == at
    assert isinstance(run.runner, OrdinaryStep)
    assert run.noise.generators[0] is not generator  # the recording may still hold that one
    assert_ends_as_the_ordinary(run, ADAM)


STEADY = {"schedule": "constant", "rate": 0.0, "level_steps": 0}
RIGHT = (
    {"model": "mlp", "clipping": "per_layer"},
    {"private": False},
    STEADY | {"sigma": 0.0},
    STEADY | {"momentum": 0.0, "lr": 1e-30},
    STEADY | {"batch": 1},
    {"batch": 1_000, "epochs": 1.0},
    {"epochs": 0.02},
)


@pytest.mark.parametrize(
    ("device", "options"),
    [
        ("cpu", {"optimizer": "pi_adam"}),
        *(pytest.param("cuda", {"optimizer": name}, marks=pytest.mark.cuda) for name in OPTIMIZERS),
        *(pytest.param("cuda", options, marks=pytest.mark.cuda) for options in RIGHT),
    ],
    ids=str,
)
def test_a_right_recording_is_trusted_and_the_run_stands_where_it_stood(device, options):
    run = run_of(dataclasses.replace(CHANGING, **options, device=device))
    before = run.snapshot()
    runner = runner_as_if_on_cuda(run)
    assert isinstance(runner, RecordedStep)
    assert runner.note == ", captured"
    after = run.snapshot()
    assert torch.equal(after.parameters, before.parameters)
    assert after.state.count == 0
    assert all(map(torch.equal, after.state.vectors, before.state.vectors))
    assert all(map(torch.equal, after.noise, before.noise))
    assert torch.equal(after.batches, before.batches)


def test_the_noise_of_a_played_run_is_where_as_many_ordinary_steps_leave_it():
    played, ordinary = run_of(CHANGING), run_of(CHANGING)
    played.runner = runner_as_if_on_cuda(played)
    assert isinstance(played.runner, RecordedStep)
    for run in (played, ordinary):
        ended(run, 3)
    assert all(map(torch.equal, played.noise.states(), ordinary.noise.states()))
    assert torch.equal(played.batches.state(), ordinary.batches.state())


def test_an_empty_batch_is_not_tried_and_an_example_that_is_not_in_it_has_no_say_in_it(monkeypatch):
    """The gradient of that example is not finite, and 0 times that is not 0."""
    finals = []
    monkeypatch.setattr(training_run, "batch_of_step", lambda *_: np.arange(0))
    assert [trial.drawn.tolist() for trial in rehearsal.trials(run_of(CNN), 200)] == [[0]] * 3
    for recorded in (False, True):
        run = run_of(CNN)
        x, y = run.train
        run.train = x[:].clone(), y  # other runs have the same images
        run.train[0][0] = float("nan")
        if recorded:
            plays_from_now(run)
        finals.append(ended(run, 2))
    assert finals[0].isfinite().all()
    assert torch.equal(*finals)


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
        assert not close(torch.full((1000,), float("inf")), torch.full((1000,), float("inf"))), (
            close
        )
        assert close(torch.zeros(3), torch.zeros(3)), close


def test_a_run_on_the_cpu_imports_nothing_of_the_recorded_step():
    code = """import dataclasses, sys
from dpcore.training.loop import train
from tests.training.small_runs import SMALL
list(train(dataclasses.replace(SMALL, model="linear", epochs=0.02)))
print([name for name in sys.modules if name.startswith("dpcore.training.cuda")])"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[]"]


@pytest.mark.cuda
def test_on_cuda_a_recording_that_fails_leaves_the_ordinary_run_and_later_ones_are_recorded(
    monkeypatch,
):
    config = dataclasses.replace(CNN, optimizer="adam", device="cuda")
    expected, own = ended(run_of(config), 3), RecordedStep._run

    def waiting(step):
        own(step)
        step._figures.sum().item()

    with monkeypatch.context() as patch:
        patch.setattr(RecordedStep, "_run", waiting)
        run = run_of(config)
        run.runner = step_runner_of(run)
    assert run.runner.note.startswith("; not captured: ")
    assert torch.equal(ended(run, 3), expected)
    assert step_runner_of(run_of(config)).note == ", captured"


@pytest.mark.cuda
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
@pytest.mark.parametrize("record", [False, True], ids=["ordinary", "played"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_on_cuda_no_step_waits_for_the_device(optimizer, record):
    run = run_of(dataclasses.replace(CHANGING, optimizer=optimizer, device="cuda", ema=0.9))
    if record:
        run.runner = step_runner_of(run)
        assert run.runner.note == ", captured"
    ended(run, 3)
    try:
        torch.cuda.set_sync_debug_mode("error")
        for step in range(4, 8):
            run.step(step)
    finally:
        torch.cuda.set_sync_debug_mode("default")
