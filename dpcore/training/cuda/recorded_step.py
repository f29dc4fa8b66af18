"""A training step that is recorded once as a CUDA graph and then played, without Python or waits
between kernels.

A recording repeats the same operations on the same memory, but each Poisson batch has another size.
So the drawn positions go into a larger buffer, and the rest of it is filled with positions whose
factor is 0. The other inputs of a step are in the same buffer: the number of positions, sigma, the
learning rate, and the number of the optimizer's steps. No number of a step is part of the
recording.

**Guarantees:** batches and noise come from the generators of the ordinary step. A batch that does
not fit takes the ordinary step, and so does an empty one; none is cut. The filling adds exactly 0
to the sum. `rehearsal` compares the recording with the ordinary step before it is trusted. Source:
CUDA graphs with generators that a graph advances, torch.cuda.CUDAGraph.register_generator_state.
"""

import math
from collections.abc import Callable, Sequence
from typing import final

import numpy as np
import torch
from torch import Tensor

from dpcore.training.inputs import Positions, moved
from dpcore.training.optimizers.base import State
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from dpcore.training.training_run import Figures, OrdinaryStep, StepRunner, TrainingRun

# Room in standard deviations of the batch size above its mean; one batch in 740 does not fit.
SPARE = 3.0
MULTIPLE = 32  # such sizes suit products of matrices
WARM = 3  # steps before the recording, in which libraries initialise


@final
class RecordedStep(StepRunner):
    """A whole step as a function without arguments or results, on memory that does not move.

    It keeps the run's engine, descent and data, and takes no other run's steps.
    """

    note = ", captured"

    def __init__(self, run: TrainingRun) -> None:
        self._engine = run.engine
        self._descent = run.descent
        self._data = run.train
        self._ordinary = OrdinaryStep()
        self.room = room(len(self._data[0]), run.config.q)
        new = self._engine.parameters.new_zeros
        # Positions, their number, sigma, lr, steps.
        self._inputs = new(self.room + 4, dtype=torch.float64)
        self._places = torch.arange(self.room, device=self._inputs.device)
        self._figures = new(3, self.room)  # losses, norms, clipped or not
        self.released = new(0)  # (d,) the noisy mean gradient of the latest step
        self._play: Callable[[], None] = self._run

    def take(self, run: TrainingRun, step: int, drawn: Positions) -> Figures:
        if not self.takes(drawn):
            return self._ordinary.take(run, step, drawn)
        return self.play(drawn, *run.numbers(step))

    def takes(self, drawn: Positions) -> bool:
        """True if the step can be played for these positions: they fit, and the optimizer has its
        scale.

        An empty batch is not played: it would be filled with an example outside it, and 0 times a
        gradient of that example is not 0 if the gradient is not finite.
        """
        fits = 0 < len(drawn) <= self.room
        return fits and self._descent.state.count >= self._descent.optimizer.wait

    def play(self, drawn: Positions, sigma: float, lr: float) -> Figures:
        """Take one step for at least one position; return losses, norms, and 1 if clipped, else 0;
        (B,) each.
        """
        descent = self._descent
        done = descent.state.count + 1
        inputs = np.zeros(self.room + 4)
        # The filling is a drawn position: if its gradient is not finite, that of the batch is not
        # either.
        inputs[: self.room] = drawn[0]
        inputs[: len(drawn)] = drawn
        inputs[self.room :] = len(drawn), sigma, lr, done
        self._inputs.copy_(moved(inputs, self._inputs.device))
        self._play()
        descent.state = descent.state._replace(count=done)
        # The next step overwrites the figures themselves.
        losses, norms, clipped = self._figures[:, : len(drawn)].clone().unbind()
        return losses, norms, clipped

    def record(self, noise: GaussianNoise) -> None:
        """Record the step, to play it from now on; all state is as before afterwards, also after an
        exception.
        """
        descent = self._descent
        parameters = self._engine.parameters.clone()
        state = descent.snapshot()
        stream = noise.states()
        descent.state = descent.state._replace(count=max(state.count, descent.optimizer.wait))
        try:
            self._play = recording(self._run, noise.generators)
        except Exception:
            noise.renew()
            raise
        finally:
            self._engine.parameters.copy_(parameters)
            descent.restore(state)
            noise.restore(stream)

    def _run(self) -> None:
        """The recorded operations.

        They keep no results in new memory, since the recording owns that.
        """
        x, y = self._data
        rows = self._inputs[: self.room].long()
        drawn, sigma, lr, done = self._inputs[self.room :].unbind()
        padding = self._places >= drawn
        own_step = self._descent.optimizer.step

        def step(parameters: Tensor, gradient: Tensor, state: State, rate: Tensor) -> None:
            """The optimizer's step, of which the recording holds neither the rate nor the count."""
            change = torch.zeros_like(gradient)
            own_step(change, gradient, state._replace(count=done), 1.0)
            parameters.add_(change.mul_(rate))

        found = self._descent.take(x[rows], y[rows], sigma, lr, padding=padding, step=step)
        self.released = found.shares[0]  # the engine's own memory
        for figure, values in zip(self._figures, found[1:], strict=True):
            figure.copy_(values)


class Recording:
    """A recorded step, played by a call; it keeps the step, which owns the memory of the graph."""

    def __init__(self, graph: torch.cuda.CUDAGraph, owner: Callable[[], None]) -> None:
        self._graph = graph
        self._owner = owner

    def __call__(self) -> None:
        self._graph.replay()


def recording(step: Callable[[], None], generators: Sequence[torch.Generator]) -> Recording:
    """Record the step, to be played with the generators; the step runs a few times before."""
    graph = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()
    for generator in generators:
        graph.register_generator_state(generator)
    stream.wait_stream(torch.cuda.current_stream())
    try:
        # Restores the current stream, even after a failed recording.
        with torch.cuda.stream(stream):
            for _ in range(WARM):
                step()
            with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                step()
    finally:
        torch.cuda.current_stream().wait_stream(stream)
    return Recording(graph, step)


def room(examples: int, q: float) -> int:
    """The number of positions in the buffer: nearly every Poisson(q) batch fits, at q = 1 the whole
    data.

    >>> room(60_000, 512 / 60_000), room(100, 1.0)
    (608, 100)
    """
    most = examples * q + SPARE * math.sqrt(examples * q * (1 - q))
    return min(examples, math.ceil(most / MULTIPLE) * MULTIPLE)
