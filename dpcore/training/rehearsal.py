"""Whether a recorded step does what the ordinary one does, tried out in front of a run's first step.

A few steps are taken both ways from the same moment: the same batch, the same noise, the same numbers. If all that they
leave behind agrees, the recording is trusted. Both results are thrown away, and the run stands where it stood.

**Guarantees:** nothing that is computed here is kept or shown, for two results with the same noise would give away the
difference of their sums: what comes of it is one word, which depends on the data as far as rounding does. Afterwards
parameters, optimizer, noise and batches are as before, also after an exception, so that the run draws its noise and
its batches once, and releases each step once.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dpcore.training.cuda_graph import StaticStep, moved
from dpcore.training.moment import Moment, go_back, moment_of
from dpcore.training.training_run import TrainingRun

# Both ways add up the same numbers in another order, as a recorded batch has another size: float32 makes of that a
# millionth of a vector's length, and more where rounding chooses another pixel of a pooling window. One coordinate of a
# million without its noise, a batch or noise of another step, a rate of another level, all make more.
CLOSE = 1e-3
# A step of Adam's first ones has the sign of each coordinate, which rounding can turn where there is next to nothing.
TURNED = 2e-2
STORED = 1e-6  # of their length, which parameters in float32 lose to rounding whatever the step is


class Trial(NamedTuple):
    """What a step is given."""

    drawn: NDArray[np.int64]
    sigma: float
    lr: float


class Outcome(NamedTuple):
    """What a step leaves behind, all of it copies."""

    released: Tensor  # (d,) the noisy mean gradient
    losses: Tensor  # (B,)
    norms: Tensor  # (B,)
    after: Moment


def disagreement(run: TrainingRun, static: StaticStep) -> str:
    """What a played step does otherwise than the ordinary one, as a phrase without any number; empty for nothing.

    Errors: whatever playing raises; the run is as before then, too.
    """
    before, batches = moment_of(run), run.batches.state()
    try:
        differing = (_disagreement(run, static, trial) for trial in trials(run, static.room))
        return next(filter(None, differing), "")
    finally:
        run.batches.restore(batches)
        go_back(run, before)


def trials(run: TrainingRun, room: int) -> Iterator[Trial]:
    """The run's next two batches, the second with the last step's numbers; then one example alone without noise.

    Sigma and the learning rate can change so slowly that two steps in a row do not show a number that the recording
    has kept. Alone, one example shows what else is in the sum, which noise would hide.
    """
    steps = run.plan.steps
    first = min(run.descent.state.count + 1, steps)
    (sigma, lr), last = run.numbers(first), run.numbers(steps)
    yield Trial(run.drawn(first)[:room], sigma, lr)
    yield Trial(run.drawn(min(first + 1, steps))[:room], *last)
    yield Trial(np.arange(1), 0.0, lr)


def _disagreement(run: TrainingRun, static: StaticStep, trial: Trial) -> str:
    """The same for one step. The run goes on from the played one."""
    state = run.descent.snapshot()
    start = moment_of(run)._replace(state=state._replace(count=max(state.count, run.descent.optimizer.wait)))
    go_back(run, start)
    ordinary = _ordinary(run, trial)
    go_back(run, start)
    losses, norms, _ = static.step(*trial)
    return difference(start, ordinary, Outcome(static.released.clone(), losses, norms, moment_of(run)))


def _ordinary(run: TrainingRun, trial: Trial) -> Outcome:
    """Take the step as a run without a recording does."""
    at = moved(trial.drawn, run.engine.parameters.device)
    x, y = run.train
    found = run.descent.take(x[at], y[at], trial.sigma, trial.lr)
    return Outcome(found.shares[0].clone(), found.losses, found.norms, moment_of(run))


def difference(start: Moment, ordinary: Outcome, played: Outcome) -> str:
    """Which part of two outcomes of one moment is not the same but for rounding; empty where none is."""
    one, other = ordinary.after, played.after
    if one.state.count != other.state.count:
        return "it counts other steps"
    if not all(map(torch.equal, one.noise, other.noise)):
        return "it draws another amount of noise"
    pairs = {
        "release": (ordinary.released, played.released),
        "losses": (ordinary.losses, played.losses),
        "norms": (ordinary.norms, played.norms),
    }
    for what, (vector, twin) in pairs.items():
        if not close(vector, twin):
            return f"its {what} {'is' if what == 'release' else 'are'} not the ordinary step's"
    vectors = zip((one.state.mean, *one.state.vectors), (other.state.mean, *other.state.vectors), strict=True)
    if not all(close(*pair) for pair in vectors):
        return "its optimizer does not remember the ordinary step"
    step, twin, lost = one.parameters - start.parameters, other.parameters - start.parameters, length(start.parameters)
    return "" if close(step, twin, TURNED, STORED * lost) else "it does not move the parameters as the ordinary step"


def close(vector: Tensor, twin: Tensor, tolerance: float = CLOSE, lost: float = 0.0) -> bool:
    """Whether two vectors are apart by no more than this part of the first one's length; never where one is not finite.

    >>> close(torch.ones(4), torch.tensor([1.0, 1.0, 1.0, 1.001])), close(torch.ones(4), torch.tensor([1.0, 1, 1, 0]))
    (True, False)
    """
    return length(twin - vector) <= tolerance * length(vector) + lost


def length(vector: Tensor) -> float:
    """The L2 norm in float64; it waits for the device."""
    return float(torch.linalg.vector_norm(vector.double()))
