"""A stand-in for CUDA graphs on the CPU: played back, it repeats operations on the same memory and runs no Python."""

import copy
import dataclasses
import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from dpcore.training import cuda_graph
from dpcore.training.cuda_graph import StaticStep
from dpcore.training.loop import prepared
from dpcore.training.randomness import gaussian_noise
from dpcore.training.randomness.gaussian_noise import device_words
from dpcore.training.randomness.random_words import DeviceWords
from dpcore.training.training_run import TrainingRun
from tests.training.small_runs import CNN

STEPS = 6
CHANGING = dataclasses.replace(
    CNN, lr=0.05, lr_schedule="linear", lr_end=0.01, schedule="exponential", rate=0.2, level_steps=2, epochs=0.1
)
aten = torch.ops.aten
WAITING = (aten._local_scalar_dense, aten.nonzero, aten.masked_select, aten.equal, aten.is_nonzero, aten.lift_fresh)


class Recorder(TorchDispatchMode):
    """Every operation with the memory that it reads and writes; an error where CUDA would have to wait for the host."""

    def __init__(self, generators: Sequence[torch.Generator] = ()) -> None:
        super().__init__()
        self.seeds = {generator.initial_seed() for generator in generators}
        self.calls: list[tuple[Callable, Any, Any, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        by_mask = func.overloadpacket in (aten.index, aten.index_put_) and any(
            index is not None and index.dtype == torch.bool for index in args[1]
        )
        if by_mask or func.overloadpacket in WAITING:
            raise RuntimeError(f"operation not permitted when stream is capturing: {func}")
        if func.overloadpacket is aten.random_:
            assert kwargs["generator"].initial_seed() in self.seeds, "a generator that was not registered"
        before = tree_map_only(
            torch.Tensor, torch.Tensor.detach, (args, kwargs or {})
        )  # squeeze_ changes a shape later
        result = func(*args, **(kwargs or {}))
        self.calls.append((func, *before, tree_map_only(torch.Tensor, torch.Tensor.detach, result)))
        return result

    def play(self) -> None:
        for func, args, kwargs, result in self.calls:
            fresh = tree_leaves(func(*args, **kwargs))
            for old, new in zip(tree_leaves(result), fresh, strict=True):
                if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                    old.copy_(new)


def recording(step: Callable[[], None], generators: Sequence[torch.Generator]) -> Callable[[], None]:
    """What `cuda_graph.recording` does, without CUDA."""
    for _ in range(cuda_graph.WARM):
        step()
    recorder = Recorder(generators)
    with recorder:
        step()
    return recorder.play


def as_if_on(device: str, run: TrainingRun) -> Any:
    """The run, as `prepared` sees it on another device."""
    seen = copy.copy(run)
    seen.device = torch.device(device)
    return seen


def as_on_cuda(secret: bytes, device: torch.device, secure: bool) -> DeviceWords:
    """The words that a vector on CUDA is drawn from, wherever it is."""
    return device_words(secret, device)


def on_one_core_as_on_cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For a fixture: noise comes from a generator that a recording can hold, and one thread does the work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setattr(gaussian_noise, "words_of", as_on_cuda)
    monkeypatch.setattr(cuda_graph, "recording", recording)
    yield
    torch.set_num_threads(before)
    gc.collect()  # a recording and its step hold each other


def prepared_as_if_on_cuda(run: TrainingRun) -> tuple[StaticStep | None, str]:
    return prepared(as_if_on("cuda", run))


def ended(run: TrainingRun, steps: int = STEPS) -> torch.Tensor:
    for step in range(1, steps + 1):
        run.step(step)
    return run.engine.parameters.clone()


def statics(run: TrainingRun) -> tuple[StaticStep, list[int]]:
    """A static step for the run, which takes it from now on, and the sizes of the batches that it takes."""
    step, taken = StaticStep(run.engine, run.descent, run.train, run.config.q), []
    own = step.step

    def counting(drawn, sigma, lr):
        taken.append(len(drawn))
        return own(drawn, sigma, lr)

    step.step = counting  # type: ignore[method-assign]
    run.static = step
    return step, taken
