"""The certified band: proven lower and upper bounds around the exact epsilon."""

from typing import ClassVar, final

from dpcore.privacy.accountants.base import Accountant, Curve, Kind, TradeoffCurve, words_of
from dpcore.privacy.certified.epsilon_bounds import epsilon_bounds, width_note
from dpcore.privacy.certified.gaussian_bounds import unsampled
from dpcore.privacy.certified.lattice import SMALLEST_SIGMA
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism


@final
class Pld(Accountant):
    """Privacy-loss distributions: a dominating and a dominated law of each step, composed
    (certified/README.md).
    """

    name, title, source, spellings, note, caveat = words_of("pld")
    kind: ClassVar[Kind] = Kind.CERTIFIED

    def own_tradeoff(self, mechanism: Mechanism) -> TradeoffCurve:
        """The certified trade-off curves, below and above the exact one."""
        band = tradeoff_bounds(mechanism)
        return TradeoffCurve(None if band.empty else band.lower, band.upper, self.kind, band.note)

    def hopeless(self, mechanism: Mechanism) -> bool:
        """True if a sigma is too small for any lattice."""
        return (
            not unsampled(mechanism)
            and min(release.sigma for release in mechanism.releases) < SMALLEST_SIGMA
        )

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        lower, upper, note = epsilon_bounds(mechanism, steps, delta)
        last = steps == steps[-1]
        note = note or width_note(lower[last], upper[last])
        return Curve(steps, delta, upper, lower, self.kind, note)
