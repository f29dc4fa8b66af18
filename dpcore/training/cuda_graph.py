"""A training step that is recorded once, as a CUDA graph, and then played: no Python and no waiting between kernels.

A recording repeats the same operations on the same memory, but a Poisson batch has another size each time. So the
positions drawn go into a buffer with room to spare, filled up with positions whose factor is set to 0. All else that
differs between steps goes into the same buffer: how many positions are drawn, sigma, the learning rate, how many steps
the optimizer has done. So no number of a step is part of the recording.

**Guarantees:** batches and noise come from the generators of the ordinary step. A batch that does not fit takes the
ordinary step, and so does an empty one: none is cut. What fills the buffer up adds exactly 0 to the sum. Before it is
trusted, `rehearsal` holds it against the ordinary step.
Source: CUDA graphs with generators that a graph advances, torch.cuda.CUDAGraph.register_generator_state.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dpcore.training.dp_step import Descent, Recorded
from dpcore.training.gradients.clipped_sum import Engine
from dpcore.training.inputs import Rows
from dpcore.training.randomness.gaussian_noise import GaussianNoise

SPARE = 3.0  # standard deviations of the batch size above its mean that still fit: one batch in 740 does not
MULTIPLE = 32  # products of matrices like such sizes
WARM = 3  # steps before the recording, in which libraries set themselves up


class StaticStep:
    """A whole step as a function without arguments or results, on memory that stays where it is."""

    def __init__(self, engine: Engine, descent: Descent, data: tuple[Rows, Tensor], q: float) -> None:
        self._engine, self._descent, self._data = engine, descent, data
        self.room = room(len(data[0]), q)
        new = engine.parameters.new_zeros
        self._inputs = new(self.room + 4, dtype=torch.float64)  # positions, how many are drawn, sigma, lr, steps
        self._places = torch.arange(self.room, device=self._inputs.device)
        self._figures = new(3, self.room)  # losses, norms, whether clipped
        self.released = new(0)  # (d,) the noisy mean gradient of the latest step, once there is one
        self._play: Callable[[], None] = self._run

    def takes(self, drawn: NDArray[np.int64]) -> bool:
        """Whether the step can be played for these positions: they fit, and the optimizer has its scale.

        An empty batch is not played: an example outside of it would have to fill it up, and 0 times a gradient of that
        one which is not finite would put into the sum what the ordinary step does not.
        """
        return 0 < len(drawn) <= self.room and self._descent.state.count >= self._descent.optimizer.wait

    def step(self, drawn: NDArray[np.int64], sigma: float, lr: float) -> tuple[Tensor, ...]:
        """Take one step for at least one position: losses, norms and whether clipped, as 0 or 1; (B,) each."""
        descent, done = self._descent, self._descent.state.count + 1
        inputs = np.zeros(self.room + 4)
        # a drawn position fills up: what is not finite there is not finite in the batch itself
        inputs[: self.room] = drawn[0]
        inputs[: len(drawn)] = drawn
        inputs[self.room :] = len(drawn), sigma, lr, done
        self._inputs.copy_(moved(inputs, self._inputs.device))
        self._play()
        descent.state = descent.state._replace(count=done)
        return self._figures[:, : len(drawn)].clone().unbind()  # the next step overwrites the figures themselves

    def record(self, noise: GaussianNoise) -> None:
        """Play from now on; parameters, noise and the optimizer's state are as before, also after an exception."""
        descent, parameters = self._descent, self._engine.parameters.clone()
        state, stream = descent.snapshot(), noise.states()
        descent.state = descent.state._replace(count=max(state.count, descent.optimizer.wait))
        try:
            self._play = recording(self._run, noise.generators)
        except Exception:  # it is raised again
            noise.renew()
            raise
        finally:
            self._engine.parameters.copy_(parameters)
            descent.restore(state)
            noise.restore(stream)

    def _run(self) -> None:
        """What is recorded. It leaves nothing behind in memory of its own: the recording owns that."""
        x, y = self._data
        rows = self._inputs[: self.room].long()
        drawn, sigma, lr, done = self._inputs[self.room :].unbind()
        padding = self._places >= drawn
        found = self._descent.take(x[rows], y[rows], sigma, lr, recorded=Recorded(padding, done))
        self.released = found.shares[0]  # the engine's own memory
        for figure, values in zip(self._figures, found[1:], strict=True):
            figure.copy_(values)


def recording(step: Callable[[], None], generators: Sequence[torch.Generator]) -> Callable[[], None]:
    """What plays the step's operations, drawing from the generators; the step itself runs a few times before."""
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    for generator in generators:
        graph.register_generator_state(generator)
    stream.wait_stream(torch.cuda.current_stream())
    try:
        with torch.cuda.stream(stream):  # puts back the present stream, which a failed recording does not always
            for _ in range(WARM):
                step()
            with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                step()
    finally:
        torch.cuda.current_stream().wait_stream(stream)
    return partial(_played, graph, step)


def _played(graph: torch.cuda.CUDAGraph, _: Callable[[], None]) -> None:
    """Play the graph; the step comes along because it owns the memory that the graph reads and writes."""
    graph.replay()


def room(examples: int, q: float) -> int:
    """Positions that the buffer holds: nearly every batch of Poisson(q) sampling fits, at q = 1 the whole data.

    >>> room(60_000, 512 / 60_000), room(100, 1.0)
    (608, 100)
    """
    most = examples * q + SPARE * math.sqrt(examples * q * (1 - q))
    return min(examples, math.ceil(most / MULTIPLE) * MULTIPLE)


def moved(values: NDArray[Any], device: torch.device) -> Tensor:
    """The array on the device. To CUDA it goes by page-locked memory, and the calling thread does not wait."""
    tensor = torch.from_numpy(values)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)
