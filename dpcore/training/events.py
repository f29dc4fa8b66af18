"""Events of a run: plain values that cross processes as JSON."""

from dataclasses import dataclass
from typing import get_args

REPORT_SECONDS = 0.25  # between two reports of steps
SHOWN_EXAMPLES = 20  # first examples of the test set, whose answers are reported one by one
NORM_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of the gradients' norms in a report


@dataclass(frozen=True)
class Started:
    """The run has its data, model and device."""

    examples: int  # training examples n
    steps: int  # T
    q: float
    device: str
    parameters: int
    # "book-keeping", or "vmap: " and why; on a GPU ", captured" or "; not captured: " and why.
    engine: str
    origin: tuple[tuple[str, str], ...] = ()  # machine and versions as (name, value)


@dataclass(frozen=True)
class Stepped:
    """Figures of the steps since the last such event."""

    step: int  # steps done
    epoch: float
    loss: float  # mean over the drawn examples, never NaN; an empty batch repeats the last value
    clipped: float  # fraction of examples whose gradient was clipped
    # Quantiles `NORM_QUANTILES` of the per-example gradient norms before clipping.
    norms: tuple[float, ...]
    steps_per_second: float
    # Of `sa`, a letter for each step since the last report: "a" accepted, "r" rejected.
    decisions: str = ""
    # Of `sa`: steps accepted so far, which the paper charges without a proof.
    accepted: int | None = None


@dataclass(frozen=True)
class Evaluated:
    """Test set figures after `step` steps."""

    step: int
    epoch: float
    accuracy: float  # in [0, 1]
    loss: float | None  # None in a followed run that did not log it
    per_class: tuple[float, ...]  # accuracy of each class
    averaged_accuracy: float | None = None  # of the weights' moving average, if there is one
    # Root mean square error of the expected class, if classes are numbers.
    rmse: float | None = None
    # The probabilities of all classes for the first test images.
    answers: tuple[tuple[float, ...], ...] | None = None


@dataclass(frozen=True)
class Checkpointed:
    """The run's file has the state after `step` steps, from which the run can continue."""

    step: int


@dataclass(frozen=True)
class Unsaved:
    """The state after `step` steps could not be written; the run continues, and tries again at the
    next time.
    """

    step: int
    reason: str


@dataclass(frozen=True)
class Finished:
    """All steps are done."""

    step: int
    seconds: float
    accuracy: float
    averaged_accuracy: float | None = None
    accepted: int | None = None  # of `sa`: steps accepted
    rmse: float | None = None
    # Test examples by class and by answer; None in older runs.
    confusion: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True)
class Preparing:
    """Progress of the images' features before the first step; not sent if they are known."""

    done: int  # images
    total: int
    step: int = 0


Event = Preparing | Started | Stepped | Evaluated | Checkpointed | Unsaved | Finished
# By their names in the store.
KINDS: dict[str, type] = {kind.__name__.lower(): kind for kind in get_args(Event)}
