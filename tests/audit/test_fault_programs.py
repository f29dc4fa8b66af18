"""The programs of "Spot the fault" take the steps of the real trainers, broken and sound."""

import json
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from dpcore.audit.broken_trainers import BROKEN, OWN, Trainer, Wrapper, replace_parts
from dpcore.audit.faults import Program, programs
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan
from dpcore.training.training_run import TrainingRun
from tests.audit.record_faults import SETTINGS, command_of

STEPS = 3
WIDTH = 4
CONFIG = RunConfig(
    model="linear",
    width=WIDTH,
    batch=40,
    epochs=STEPS * 40 / 10_000,
    clip_norm=0.1,
    lr=0.5,
    momentum=0.0,
    sigma=1.0,
    seed=1,
    device="cpu",
)
# Faults in what one step does with its batch and its noise, so that both can be compared exactly.
OF_A_STEP = (
    "no_noise",
    "half_noise",
    "noise_divided_twice",
    "no_clipping",
    "layers_charged_once",
    "realised_divisor",
)


def waves(count: int) -> np.ndarray:
    """What stands in for standard normal numbers, in the trainer and in the program."""
    return np.sin(np.arange(count))


def flat_layers(sizes: list[tuple[int, ...]], w: torch.Tensor) -> list[torch.Tensor]:
    """The parameters within w (layers, most), whose rows end in zeros."""
    found = []
    for row, (rows, columns) in zip(w, sizes, strict=True):
        count = rows * columns
        found += [row[:count].view(rows, columns), row[count : count + rows]]
    return found


def gradient_of(sizes: list[tuple[int, ...]]) -> Any:
    def gradient(w: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        weights = torch.tensor(w, requires_grad=True)
        first, bias, *rest = flat_layers(sizes, weights)
        values = first @ torch.tensor(a).flatten().double() + bias
        if rest:
            values = rest[0] @ torch.tanh(values) + rest[1]
        (found,) = torch.autograd.grad(cross_entropy(values, torch.tensor(b)), weights)
        return found.numpy()

    return gradient


def trained(trainer: Trainer, config: RunConfig) -> tuple[TrainingRun, list[np.ndarray]]:
    """The real trainer after some steps from zero, with constants for noise; and its batches."""
    run = TrainingRun(trainer.trains(config), time.perf_counter)
    run.engine.parameters.zero_()
    noise = run.noise

    def add(piece: int, target: torch.Tensor, std: Any, *scale: Any) -> None:
        assert piece == 0
        target += float(std) * torch.tensor(waves(len(target)))

    replace_parts(run, noise=Wrapper(noise, add=add))
    trainer.alter(run)
    batches = []
    draw = run.drawn

    def drawn(step: int) -> Any:
        positions = draw(step)
        batches.append(np.asarray(positions))
        return positions

    run.drawn = drawn  # type: ignore[method-assign]
    for step in range(1, STEPS + 1):
        run.step(step)
    return run, batches


def executed(code: str, run: TrainingRun, batches: list[np.ndarray]) -> np.ndarray:
    """The weights of the program after the same batches, as the run's vector."""
    config = run.config
    sizes = [(10, 784)] if config.model == "linear" else [(WIDTH, 784), (10, WIDTH)]
    shape = (len(sizes), max(rows * (columns + 1) for rows, columns in sizes))
    x, y = run.train
    x = x[:].numpy()
    numbers = waves(len(run.engine.parameters))
    waved = np.zeros(shape)
    for row, (rows, columns) in zip(waved, sizes, strict=True):
        taken, numbers = np.split(numbers, [rows * (columns + 1)])
        row[: len(taken)] = taken

    def generator(secret: int, kind: str, step: int) -> SimpleNamespace:
        coins = np.ones(len(x))
        coins[batches[step]] = 0.0
        return SimpleNamespace(
            random=lambda count: coins,
            normal=lambda mean, std, size: std * waved,
        )

    names = {
        "np": np,
        "SHAPE": shape,
        "generator": generator,
        "gradient": gradient_of(sizes),
        "epsilon": lambda q, sigma, steps: steps,
    }
    exec(code, names)
    w, charged = names["train"](
        x, y.numpy(), STEPS, config.q, config.sigma, config.clip_norm, config.lr, 0
    )
    assert charged == STEPS
    return np.concatenate([each.numpy().ravel() for each in flat_layers(sizes, torch.tensor(w))])


@pytest.mark.parametrize("name", OF_A_STEP)
def test_a_program_takes_the_steps_of_the_broken_trainer_and_repaired_those_of_ours(name: str):
    config = CONFIG
    if name == "layers_charged_once":
        config = replace(CONFIG, model="mlp", sigma=50.0)
    program = programs()[name]
    found = {}
    for trainer, code in ((BROKEN[name], program.text), (OWN, program.repaired)):
        run, batches = trained(trainer, config)
        assert all(len(each) for each in batches)
        found[trainer.name] = executed(code, run, batches)
        np.testing.assert_allclose(found[trainer.name], run.engine.parameters, rtol=2e-4, atol=2e-6)
    assert np.abs(found[name] - found["own"]).max() > 1e-4, "the fault is to be seen"


def asked_of_generators(program: Program, steps: int, q: float, **names: Any) -> list[Any]:
    """The arguments of all generators that the program asks for, then what it is charged."""
    asked: list[Any] = []

    def generator(secret: int, kind: str, step: int) -> np.random.Generator:
        asked.append((kind, step))
        return np.random.default_rng([secret, len(kind), step])

    given = {
        "np": np,
        "SHAPE": (1, 3),
        "PUBLIC": None,
        "generator": generator,
        "gradient": lambda w, a, b: np.full((1, 3), float(a)),
        "epsilon": lambda q, sigma, steps: steps,
        "loss": lambda w, data: float(w.sum()),
    }
    exec(program.text, given | names, names)
    w, charged = names["train"](np.ones(8), np.ones(8), steps, q, 9.0, 1.0, 0.1, 5)
    return [*asked, charged, w]


def test_batches_and_noise_repeat_in_the_programs_where_they_do_in_the_trainers():
    reused = asked_of_generators(programs()["batches_reused"], 6, 1 / 3)
    assert [step for kind, step in reused[:-2] if kind == "batches"] == [0, 1, 2, 0, 1, 2]
    run, _ = trained(BROKEN["batches_reused"], replace(CONFIG, batch=5000, epochs=3.0))
    batches = [np.asarray(run.drawn(step)) for step in range(4)]
    assert np.array_equal(batches[0], batches[2])
    assert not np.array_equal(batches[0], batches[1])
    same = asked_of_generators(programs()["same_noise"], 4, 0.5)
    assert [step for kind, step in same[:-2] if kind == "noise"] == [0, 0, 0, 0]
    run = TrainingRun(CONFIG, time.perf_counter)
    BROKEN["same_noise"].alter(run)
    drawn = [torch.zeros(10) for _ in range(2)]
    for target in drawn:
        run.noise.add(0, target, 1.0)
    assert torch.equal(*drawn)


def test_only_accepted_steps_are_charged_as_the_trainer_claims():
    *_, charged, _ = asked_of_generators(programs()["accepted_only"], 30, 0.5)
    assert 0 < charged < 30
    annealed = BROKEN["accepted_only"].trains(replace(CONFIG, batch=500, epochs=2.0))
    claim = BROKEN["accepted_only"].claims(annealed, charged)
    assert claim
    assert claim.steps == charged < plan(annealed).steps


def test_the_history_of_the_broken_program_sees_no_noise():
    """With noise of other sizes the repaired one divides by other numbers."""
    for text, same in (
        (programs()["raw_state"].text, True),
        (programs()["raw_state"].repaired, False),
    ):
        sums = []
        for sigma in (1.0, 1000.0):
            seen: list[Any] = []

            def clipped_at(c: Any, seen: list[Any] = seen) -> Any:
                return lambda one, norms: seen.append(norms * c) or np.maximum(one, norms)

            spy = SimpleNamespace(
                zeros=np.zeros, sqrt=np.sqrt, linalg=np.linalg, maximum=clipped_at(1.0)
            )
            names: dict[str, Any] = {
                "np": spy,
                "SHAPE": (1, 3),
                "generator": lambda *asked: np.random.default_rng(asked[2]),
                "gradient": lambda w, a, b: np.full((1, 3), 0.01),
                "epsilon": lambda *asked: 0,
            }
            exec(text, names)
            names["train"](np.ones(8), np.ones(8), 5, 0.9, sigma, 1.0, 0.1, 5)
            sums.append(seen)
        assert np.allclose(*sums) is same


def test_each_program_is_some_20_lines_with_one_fault_and_a_reason_for_each_line():
    assert list(programs()) == list(BROKEN)
    for program in programs().values():
        assert 15 <= len(program.lines) <= 22
        assert program.text != program.repaired
        for line in program.lines:
            assert len(line.code) <= 66
            assert line.why.count(".") == 1
            assert line.why.endswith(".")
        assert not program.lines[program.fault - 1].code.rstrip().endswith("#")


def test_the_evidence_is_the_record_of_the_command_beside_it():
    for name, program in programs().items():
        evidence = program.evidence
        assert evidence.command == command_of(name)
        assert SETTINGS in evidence.command
        assert BROKEN[name].fails in evidence.failed
        assert evidence.promised > 0
        assert evidence.verdict.startswith("Promised ")
    half = programs()["half_noise"].evidence
    assert half.least > 4 * half.promised
    assert "Really at least 13.0." in half.verdict


def test_the_record_holds_what_json_can(tmp_path: Any):
    assert json.loads(json.dumps([each.evidence.least for each in programs().values()]))
