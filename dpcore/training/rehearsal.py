"""Whether a recorded step does what the ordinary one does, tried out in front of a run's first step.

A few steps are taken both ways from the same moment: the same batch, the same noise, the same numbers. If all that they
leave behind agrees, the recording is trusted. Both results are thrown away, and the run stands where it stood.

**Guarantees:** nothing that is computed here is kept or shown, for two results with the same noise would give away the
difference of their sums. What is said of it is whether they agreed, or else which part did not or the beginning of an
exception's text. That depends on the data, as far as rounding does and where a number is not finite, and no epsilon
covers it: `NOT_COVERED` says so. Afterwards parameters, optimizer, noise and batches are as before, also after an
exception, so that the run draws its noise and its batches once, and releases each step once.
**Edge cases:** after an error that leaves a device without use, as an illegal access of its memory does, nothing can be
put back. The run ends then (`prepared` of the training loop).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dpcore.training.cuda_graph import StaticStep, moved
from dpcore.training.training_run import Snapshot, TrainingRun

# Both ways add up the same numbers in another order, as a recorded batch has another size: float32 makes of that a
# millionth of a vector's length, and more where rounding chooses another pixel of a pooling window. A batch or noise of
# another step and a rate of another level make more. Noise that a few coordinates lack need not: LOUD shows it.
CLOSE = 1e-3
LOUD = 1e9  # a sigma beside which the gradient of one example is less than rounding in nearly every coordinate
EACH = 1e-2  # of a loud coordinate: further apart, its noise is not the ordinary step's
# A step of Adam's first ones has the sign of each coordinate, which rounding can turn where there is next to nothing.
TURNED = 2e-2
STORED = 1e-6  # of their length, which parameters in float32 lose to rounding whatever the step is
ONE = np.arange(1)  # the batch of the first example alone


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
    after: Snapshot


def disagreement(run: TrainingRun, static: StaticStep) -> str:
    """What a played step does otherwise than the ordinary one, as a phrase without any number; empty for nothing.

    Errors: whatever playing raises; the run is as before then, too, unless the device lets nothing be put back.
    """
    before, batches = run.snapshot(), run.batches.state()
    try:
        differing = (difference(*_both_ways(run, static, trial)) for trial in trials(run, static.room))
        return next(filter(None, differing), "") or _difference_of_noise(run, static)
    finally:
        run.batches.restore(batches)
        run.restore(before)


def trials(run: TrainingRun, room: int) -> Iterator[Trial]:
    """The run's next two batches, the second with the last step's numbers; then one example alone without noise.

    Sigma and the learning rate can change so slowly that two steps in a row do not show a number that the recording
    has kept. Alone, one example shows what else is in the sum, which noise would hide. An empty batch is never played:
    one example is tried in its place.
    """
    steps = run.plan.steps
    first = min(run.descent.state.count + 1, steps)
    (sigma, lr), last = run.numbers(first), run.numbers(steps)
    yield Trial(_some(run.drawn(first)[:room]), sigma, lr)
    yield Trial(_some(run.drawn(min(first + 1, steps))[:room]), *last)
    yield Trial(ONE, 0.0, lr)


def _some(drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    return drawn if len(drawn) else ONE


def _difference_of_noise(run: TrainingRun, static: StaticStep) -> str:
    """The same of the noise alone, coordinate by coordinate; empty for a run without any.

    At a run's own sigma the length of a whole release hides a coordinate without noise as often as the noise of that
    coordinate is small; at sigma 0 every coordinate is without. Sigma is an input of the recorded step, so that it may
    be so large here that a release is noise and nothing else.
    """
    if not run.descent.noisy:
        return ""
    _, ordinary, played = _both_ways(run, static, Trial(ONE, LOUD, 0.0))
    return "" if close_everywhere(ordinary.released, played.released) else "its noise is not the ordinary step's"


def _both_ways(run: TrainingRun, static: StaticStep, trial: Trial) -> tuple[Snapshot, Outcome, Outcome]:
    """Where a step began, what the ordinary one leaves and what the played one does. The run goes on from that."""
    state = run.descent.snapshot()
    start = run.snapshot()._replace(state=state._replace(count=max(state.count, run.descent.optimizer.wait)))
    run.restore(start)
    ordinary = _ordinary(run, trial)
    run.restore(start)
    losses, norms, _ = static.step(*trial)
    return start, ordinary, Outcome(static.released.clone(), losses, norms, run.snapshot())


def _ordinary(run: TrainingRun, trial: Trial) -> Outcome:
    """Take the step as a run without a recording does."""
    at = moved(trial.drawn, run.engine.parameters.device)
    x, y = run.train
    found = run.descent.take(x[at], y[at], trial.sigma, trial.lr)
    return Outcome(found.shares[0].clone(), found.losses, found.norms, run.snapshot())


def difference(start: Snapshot, ordinary: Outcome, played: Outcome) -> str:
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


def close_everywhere(vector: Tensor, twin: Tensor) -> bool:
    """Whether each coordinate is where its twin is but for a small part of itself; never where one is not finite.

    >>> one = torch.tensor([1e9, -2.0])
    >>> close_everywhere(one, one * 1.001), close_everywhere(one, torch.tensor([1e9, 0.0]))
    (True, False)
    """
    return bool((twin - vector).abs().le(EACH * vector.abs()).all())


def length(vector: Tensor) -> float:
    """The L2 norm in float64; it waits for the device."""
    return float(torch.linalg.vector_norm(vector.double()))
