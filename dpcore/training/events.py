"""What a run says while it goes: plain values that cross processes as JSON."""

from dataclasses import dataclass
from typing import get_args

REPORT_SECONDS = 0.25  # between two reports of steps
SHOWN_EXAMPLES = 20  # of the test set, the first ones: what the network answers for them is told one by one
NORM_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of the gradients' norms, which each report gives


@dataclass(frozen=True)
class Started:
    """The run has its data, model and device."""

    examples: int  # training examples n
    steps: int  # T
    q: float
    device: str
    parameters: int
    engine: str  # "book-keeping", or "vmap: " and why; on a GPU ", captured" or "; not captured: " and why
    origin: tuple[tuple[str, str], ...] = ()  # where it is trained, and by what: (name, value)


@dataclass(frozen=True)
class Stepped:
    """Sums over the steps since the last such event."""

    step: int  # steps done
    epoch: float
    loss: float  # mean over the examples drawn; NaN is never sent, an empty batch repeats the last value
    clipped: float  # fraction of examples whose gradient was clipped
    norms: tuple[float, ...]  # per-example gradient norms before clipping: the quantiles `NORM_QUANTILES`
    steps_per_second: float
    decisions: str = ""  # of `sa`, one letter a step since the last report: "a" accepted, "r" rejected
    accepted: int | None = None  # of `sa`: steps accepted so far, which the paper charges and nothing proves


@dataclass(frozen=True)
class Evaluated:
    """Test set figures after `step` steps."""

    step: int
    epoch: float
    accuracy: float  # in [0, 1]
    loss: float
    per_class: tuple[float, ...]  # accuracy of each class
    averaged_accuracy: float | None = None  # of the weights' moving average, where one is kept
    rmse: float | None = None  # root mean square error of the expected class, where classes are numbers
    answers: tuple[tuple[float, ...], ...] | None = None  # for the first test images: the probability of each class


@dataclass(frozen=True)
class Checkpointed:
    """The state after `step` steps is in the run's file: it can go on from there."""

    step: int


@dataclass(frozen=True)
class Unsaved:
    """The state after `step` steps could not be written. The run goes on, and tries again at the next time."""

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
    confusion: tuple[tuple[int, ...], ...] | None = None  # test examples by class and by answer; none in older runs


@dataclass(frozen=True)
class Preparing:
    """How far the features of the images are, before the first step; nothing is said where they are at hand."""

    done: int  # images
    total: int
    step: int = 0


Event = Preparing | Started | Stepped | Evaluated | Checkpointed | Unsaved | Finished
KINDS: dict[str, type] = {kind.__name__.lower(): kind for kind in get_args(Event)}  # by their names in the store
