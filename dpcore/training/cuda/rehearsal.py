"""A comparison of the recorded step with the ordinary one, before a run's first step.

A few steps are taken both ways from one state, with equal batch, noise and numbers. The recording
is trusted if all results agree. Both results are discarded, and the run is as before.

**Guarantees:** no result of this comparison is kept or shown, since two results with equal noise
would reveal the difference of their sums. Only the agreement is reported, or the part that differs,
or the beginning of an exception's text. That depends on the data, by rounding and by numbers that
are not finite, and no epsilon covers it: `NOT_COVERED` says so. Afterwards parameters, optimizer,
noise and batches are as before, also after an exception. So the run draws its noise and its batches
once, and releases each step once. **Edge cases:** an error that disables the device, such as an
illegal memory access, leaves nothing to restore. Then the run ends (`leave`).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dpcore.training.cuda.recorded_step import RecordedStep
from dpcore.training.gradients.engines import BookKeeping
from dpcore.training.inputs import Positions, moved
from dpcore.training.training_run import OrdinaryStep, Snapshot, StepRunner, TrainingRun

LOST = (
    "The device failed while a recorded step was tried, and the run's state is lost. Start the run"
    " again in another process: it continues from its last checkpoint, or from its first step if"
    " there is none."
)
# A recorded batch has another size, so the two ways add up equal numbers in different orders. In
# float32 the results differ by a millionth of a vector's length, or more if rounding chooses
# another pixel of a pooling window. A batch, noise or rate of another step differs by more. Noise
# that a few coordinates lack may not: LOUD reveals it.
CLOSE = 1e-3
# A sigma that drowns the gradient of one example in rounding, in nearly every coordinate.
LOUD = 1e9
EACH = 1e-2  # of a loud coordinate: the largest difference of equal noise
TURNED = 2e-2  # Adam's first steps are signs, which rounding can turn in coordinates near 0
STORED = 1e-6  # of the parameters' length, which rounding to float32 may cost in any step
ONE = np.arange(1)  # the batch of the first example alone


def recorded_or_ordinary(run: TrainingRun) -> StepRunner:
    """The run's recorded step, if it agrees with the ordinary step; else that one, with the reason.

    Errors: RuntimeError if the device failed and cannot restore the run. Its checkpoint is as
    before, and nothing that was tried has been reported.
    """
    why = obstacle(run)
    if not why:
        before = run.snapshot()
        try:
            recorded = RecordedStep(run)
            recorded.record(run.noise)
            why = disagreement(run, recorded)
            if not why:
                return recorded
        except Exception as error:  # a driver may raise anything; the ordinary step still works
            why = said(error)
        leave(run, before)
    return OrdinaryStep(f"; not captured: {why}")


def obstacle(run: TrainingRun) -> str:
    """The reason why the run's step cannot be recorded, as a phrase; empty if it can."""
    if not isinstance(run.engine, BookKeeping):
        return "gradients are formed example by example"
    if run.annealing:
        return "each proposal waits for its public loss"
    if not run.noise.generators:
        return "noise comes from the CPU"
    return ""


def leave(run: TrainingRun, before: Snapshot) -> None:
    """Go back to a snapshot without a recording, with generators that the recording does not hold.

    Errors: RuntimeError if the device fails, after an error that no later call of this process
    survives.
    """
    try:
        run.noise.renew()
        run.restore(before)
    # A driver may raise anything; the run must not continue from another state.
    except Exception as error:
        raise RuntimeError(f"{LOST} {said(error)}") from error


def said(error: Exception) -> str:
    """The kind of an error, and the beginning of its text on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:150]}"


class Trial(NamedTuple):
    """The inputs of a step."""

    drawn: Positions
    sigma: float
    lr: float


class Outcome(NamedTuple):
    """The results of a step, as copies."""

    released: Tensor  # (d,) the noisy mean gradient
    losses: Tensor  # (B,)
    norms: Tensor  # (B,)
    after: Snapshot


def disagreement(run: TrainingRun, recorded: RecordedStep) -> str:
    """The first difference of a played step from the ordinary one, as a phrase without any number;
    empty for none.

    Errors: any error of playing; the run is as before then, too, unless the device is disabled.
    """
    before = run.snapshot()
    try:
        for trial in trials(run, recorded.room):
            start, ordinary, played = _both_ways(run, recorded, trial)
            found = difference(start, ordinary, played)
            if found:
                return found
        return _difference_of_noise(run, recorded)
    finally:
        run.restore(before)


def trials(run: TrainingRun, room: int) -> Iterator[Trial]:
    """The run's next two batches, the second with the last step's numbers; then one example alone
    without noise.

    Sigma and the learning rate can change so slowly that two steps in a row do not reveal a
    recorded number. One example alone reveals other terms in the sum, which noise would hide. One
    example replaces an empty batch, which is never played.
    """
    steps = run.plan.steps
    first = min(run.descent.state.count + 1, steps)
    sigma, lr = run.numbers(first)
    last_sigma, last_lr = run.numbers(steps)
    yield Trial(_some(run.drawn(first)[:room]), sigma, lr)
    yield Trial(_some(run.drawn(min(first + 1, steps))[:room]), last_sigma, last_lr)
    yield Trial(ONE, 0.0, lr)


def _some(drawn: Positions) -> Positions:
    return drawn if len(drawn) else ONE


def _difference_of_noise(run: TrainingRun, recorded: RecordedStep) -> str:
    """The difference of the noise alone, coordinate by coordinate; empty for a run without noise.

    At the run's own sigma the length of a release hides a coordinate without noise as often as its
    noise is small. Sigma is an input of the recorded step, so here it is so large that a release is
    noise alone.
    """
    if not run.descent.noisy:
        return ""
    _, ordinary, played = _both_ways(run, recorded, Trial(ONE, LOUD, 0.0))
    if not close_everywhere(ordinary.released, played.released):
        return "its noise is not the ordinary step's"
    return ""


def _both_ways(
    run: TrainingRun, recorded: RecordedStep, trial: Trial
) -> tuple[Snapshot, Outcome, Outcome]:
    """The state before a step, and the outcomes of the ordinary and of the played step; the run has
    the latter.
    """
    start = run.snapshot()
    count = max(start.state.count, run.descent.optimizer.wait)
    start = start._replace(state=start.state._replace(count=count))
    run.restore(start)
    at = moved(trial.drawn, run.engine.parameters.device)
    x, y = run.train
    found = run.descent.take(x[at], y[at], trial.sigma, trial.lr)
    ordinary = Outcome(found.shares[0].clone(), found.losses, found.norms, run.snapshot())
    run.restore(start)
    losses, norms, _ = recorded.play(*trial)
    return start, ordinary, Outcome(recorded.released.clone(), losses, norms, run.snapshot())


def difference(start: Snapshot, ordinary: Outcome, played: Outcome) -> str:
    """The first part of two outcomes that differs by more than rounding, as a phrase; empty for
    none.
    """
    one = ordinary.after
    other = played.after
    if one.state.count != other.state.count:
        return "it counts other steps"
    if not all(map(torch.equal, one.noise, other.noise)):
        return "it draws another amount of noise"
    if not close(ordinary.released, played.released):
        return "its release is not the ordinary step's"
    if not close(ordinary.losses, played.losses):
        return "its losses are not the ordinary step's"
    if not close(ordinary.norms, played.norms):
        return "its norms are not the ordinary step's"
    memory = (one.state.mean, *one.state.vectors)
    if not all(map(close, memory, (other.state.mean, *other.state.vectors))):
        return "its optimizer does not remember the ordinary step"
    step = one.parameters - start.parameters
    twin = other.parameters - start.parameters
    if not close(step, twin, TURNED, STORED * length(start.parameters)):
        return "it does not move the parameters as the ordinary step"
    return ""


def close(vector: Tensor, twin: Tensor, tolerance: float = CLOSE, lost: float = 0.0) -> bool:
    """True if two vectors differ by at most `tolerance` times the first one's length, plus `lost`;
    False for NaN.

    >>> ones = torch.ones(4)
    >>> close(ones, torch.tensor([1.0, 1.0, 1.0, 1.001]))
    True
    >>> close(ones, torch.tensor([1.0, 1.0, 1.0, 0.0]))
    False
    """
    return length(twin - vector) <= tolerance * length(vector) + lost


def close_everywhere(vector: Tensor, twin: Tensor) -> bool:
    """True if each coordinate differs from its twin by at most EACH of itself; False for NaN.

    >>> one = torch.tensor([1e9, -2.0])
    >>> close_everywhere(one, one * 1.001), close_everywhere(one, torch.tensor([1e9, 0.0]))
    (True, False)
    """
    return bool((twin - vector).abs().le(EACH * vector.abs()).all())


def length(vector: Tensor) -> float:
    """The L2 norm in float64; waits for the device."""
    return float(torch.linalg.vector_norm(vector.double()))
