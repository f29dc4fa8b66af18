"""Accountants: functions from a mechanism to a curve of epsilon that carries its kind of number."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpcore import check
from dpcore.privacy.ends import safe_ends
from dpcore.privacy.mechanism import FloatArray, IntArray, Kind, Mechanism, Reading, read_only
from dpcore.privacy.tradeoff import Pairs, Tradeoff

MAX_STEPS = 10**9
CERTIFIED = "pld"  # the id of the accountant that judges every other
PAIRS = 240  # deltas at which a privacy profile becomes a trade-off function
FEW_BELOW = 0.01  # half of these deltas lie below, evenly in logarithms, the others evenly above
MAX_DELTA = 0.999


@dataclass(frozen=True, eq=False)
class Curve:
    """Epsilon at each horizon, or at each delta; arrays are read-only copies.

    It is +inf where nothing is promised, and `note` says why. Bounds that cross are not kept:
    nothing is promised there.
    """

    steps: IntArray  # (n,) non-decreasing
    delta: FloatArray  # (n,)
    epsilon: FloatArray  # (n,) the number to show
    lower: FloatArray | None  # (n,) proven lower bound, only from a certified accountant
    kind: Kind
    note: str = ""

    def __post_init__(self) -> None:
        if self.lower is not None:
            lower, epsilon, note = safe_ends(self.lower, self.epsilon, self.note)
            object.__setattr__(self, "lower", lower)
            object.__setattr__(self, "epsilon", epsilon)
            object.__setattr__(self, "note", note)
        for name in ("steps", "delta", "epsilon", "lower"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, read_only(given))

    @property
    def last(self) -> Reading:
        """The last point, to which the note refers."""
        epsilon = float(self.epsilon[-1])
        if self.lower is None:
            return Reading(epsilon, None, self.kind, self.note)
        return Reading(epsilon, float(self.lower[-1]), self.kind, self.note)


class TradeoffCurve(NamedTuple):
    """The trade-off function after the whole mechanism, by an accountant."""

    # The curve to show; None if nothing is promised, and then `note` says why.
    lower: Tradeoff | None
    # Proven not to be below the exact curve, only from a certified accountant.
    upper: Tradeoff | None
    kind: Kind
    note: str = ""


class Accountant(ABC):
    """Epsilon of a mechanism; subclasses are final and stateless and define `_account`.

    They may define `own_tradeoff` if they know more than their privacy profile, and `hopeless` if
    they know beforehand that they have no number. A RuntimeError of their numerics becomes +inf
    with the reason as note.
    """

    name: str  # the id on the command line
    title: ClassVar[str]  # on pages
    short: ClassVar[str] = ""  # its name on charts; "" for the title
    # Regular expression for its names in texts, ignoring case; "" for none.
    spellings: ClassVar[str] = ""
    note: ClassVar[str]  # one sentence on its use of the noise, which tells why curves differ
    source: ClassVar[str]  # the paper, with arXiv id and theorem
    kind: ClassVar[Kind]  # under its conditions; a curve may be of a weaker kind
    caveat: ClassVar[str]  # a warning; "" only for an unconditional bound

    def curve(self, mechanism: Mechanism, steps: ArrayLike, delta: float) -> Curve:
        """Epsilon after each of `steps` (n,), at one delta in (0, 1).

        The steps do not decrease and are at most `mechanism.steps`.
        """
        horizons = checked_steps(steps, mechanism.steps)
        deltas = checked_deltas(np.full(horizons.shape, delta))
        return self._answered(mechanism, horizons, deltas)

    def spent(self, mechanism: Mechanism, delta: float) -> Reading:
        """Epsilon after the whole mechanism alone.

        >>> from dpcore.privacy.accountants import ACCOUNTANTS
        >>> round(ACCOUNTANTS["rdp"].spent(Mechanism.constant(0.01, 4.0, 10_000), 1e-5).value, 2)
        1.04
        """
        return self.curve(mechanism, mechanism.steps, delta).last

    def profile(self, mechanism: Mechanism, deltas: ArrayLike) -> Curve:
        """Epsilon after the whole mechanism, at each of `deltas` (n,) in (0, 1)."""
        values = checked_deltas(deltas)
        all_steps = np.full(values.shape, mechanism.steps, dtype=np.int64)
        return self._answered(mechanism, all_steps, values)

    def tradeoff(self, mechanism: Mechanism, least: float) -> TradeoffCurve:
        """The trade-off function after the whole mechanism.

        It is the accountant's own, or else that of its pairs with delta >= `least`.

        >>> from dpcore.privacy.accountants import ACCOUNTANTS
        >>> whole = Mechanism.constant(1.0, 2.0, 4)  # exactly 1-GDP: beta(0.05) = 0.7405
        >>> found = ACCOUNTANTS["rdp"].tradeoff(whole, least=1e-9)
        >>> found.lower.beta(0.05).round(2), str(found.kind)
        (np.float64(0.65), 'upper')
        """
        own = self.own_tradeoff(mechanism)
        if own is not None:
            return own
        small = np.geomspace(least, FEW_BELOW, PAIRS // 2)
        large = np.linspace(FEW_BELOW, MAX_DELTA, PAIRS // 2)
        curve = self.profile(mechanism, np.unique(np.concatenate([small, large])))
        if not np.isfinite(curve.epsilon).any():
            return TradeoffCurve(None, None, curve.kind, curve.note)
        return TradeoffCurve(Pairs(curve.epsilon, curve.delta), None, curve.kind, curve.note)

    def own_tradeoff(self, mechanism: Mechanism) -> TradeoffCurve | None:
        """A trade-off function that says more than the privacy profile; None by default."""
        return None

    def hopeless(self, mechanism: Mechanism) -> bool:
        """True if it is known without counting that there is no number."""
        return False

    def _answered(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        try:
            return self._account(mechanism, steps, delta)
        except RuntimeError as error:
            return Curve(steps, delta, np.full(steps.shape, np.inf), None, self.kind, str(error))

    @abstractmethod
    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        """Epsilon for each pair of (n,) steps and (n,) delta; 0 steps cost nothing."""


class AdditiveAccountant(Accountant):
    """An accountant whose cost adds up over uses and becomes epsilon at the end."""

    # The reason why a cost is infinite; {sigma} is the smallest sigma.
    without_cost: ClassVar[str] = ""

    @abstractmethod
    def cost(self, q: float, sigma: float) -> FloatArray:
        """Cost of ONE use, (K,); +inf if the accountant has none."""

    @abstractmethod
    def epsilon(self, total: FloatArray, delta: FloatArray) -> FloatArray:
        """Epsilon of total costs (n, K) at (n,) deltas -> (n,)."""

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        # The only place where counts multiply costs; 0 uses of an infinite cost cost 0.
        uses = mechanism.compositions(steps)  # (n, L)
        costs = np.stack([self.cost(r.q, r.sigma) for r in mechanism.releases])  # (L, K)
        finite = np.isfinite(costs)
        total = uses.astype(np.float64) @ np.where(finite, costs, 0.0)  # (n, K)
        endless_uses = (uses > 0).astype(np.float64) @ (~finite).astype(np.float64)  # (n, K)
        total[endless_uses > 0] = np.inf
        epsilon = np.where(steps == 0, 0.0, np.maximum(self.epsilon(total, delta), 0.0))
        note = ""
        if not np.all(finite):
            note = self._reason(mechanism)
        return Curve(steps, delta, epsilon, None, self.kind, note)

    def _reason(self, mechanism: Mechanism) -> str:
        return self.without_cost.format(sigma=f"{mechanism.least_sigma:g}")


def checked_steps(steps: ArrayLike, most: int) -> IntArray:
    """Return (n,) numbers of steps.

    Errors: ValueError unless they are whole, from 0 to `most`, and do not decrease.
    """
    given = np.atleast_1d(np.asarray(steps))
    in_one_dimension = given.ndim == 1 and given.size > 0
    if not in_one_dimension or np.any(given != np.floor(given.astype(np.float64))):
        raise ValueError(f"Expected steps={steps!r} to be whole numbers in one dimension.")
    horizons = given.astype(np.int64)
    check.whole(0, most, steps=int(horizons.min()))
    check.whole(0, most, steps=int(horizons.max()))
    if np.any(np.diff(horizons) < 0):
        raise ValueError(f"Expected steps={steps!r} not to decrease; sort them.")
    return horizons


def checked_deltas(deltas: ArrayLike) -> FloatArray:
    """Return (n,) deltas. Errors: ValueError for a delta outside [1e-60, 1)."""
    values = np.atleast_1d(np.asarray(deltas, dtype=np.float64))
    for value in np.unique(values):
        check.delta(delta=float(value))
    return values
