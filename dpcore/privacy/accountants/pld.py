"""The certified band: proven lower and upper bounds around the exact epsilon."""

from typing import final

from dpcore.privacy.accountants.base import Accountant, Curve, Kind, TradeoffCurve
from dpcore.privacy.certified.epsilon_bounds import epsilon_bounds, width_note
from dpcore.privacy.certified.gaussian_bounds import unsampled
from dpcore.privacy.certified.lattice import SMALLEST_SIGMA
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import FloatArray, IntArray, Mechanism


@final
class Pld(Accountant):
    """Bounds from a dominating and a dominated law of each step, composed (certified/README.md)."""

    name = "pld"
    title = "Certified band (PLD)"
    short = "Certified"
    source = (
        "Doroshenko et al. 2022, arXiv 2207.04380 (connect the dots); Zhu, Dong, Wang 2022, arXiv"
        " 2106.08567"
    )
    spellings = r"(?-i:\bPLD\b|\bPRV\b)|\bprivacy[ -]loss distributions?\b"
    note = (
        "The grey band comes from the privacy-loss distribution itself, composed numerically with"
        " every rounding error charged to the bounds: the exact epsilon lies inside it, so whatever"
        " lies below the band claims more privacy than there is."
    )
    caveat = (
        "Proven up to floating-point rounding, for which a margin of at least one millionth of"
        " delta is charged."
    )
    kind = Kind.CERTIFIED

    def own_tradeoff(self, mechanism: Mechanism) -> TradeoffCurve:
        """The certified trade-off curves, below and above the exact one."""
        band = tradeoff_bounds(mechanism)
        lower = None if band.empty else band.lower
        return TradeoffCurve(lower, band.upper, self.kind, band.note)

    def hopeless(self, mechanism: Mechanism) -> bool:
        """True if a sigma is too small for any lattice."""
        return not unsampled(mechanism) and mechanism.least_sigma < SMALLEST_SIGMA

    def _account(self, mechanism: Mechanism, steps: IntArray, delta: FloatArray) -> Curve:
        lower, upper, note = epsilon_bounds(mechanism, steps, delta)
        if not note:
            last = steps == steps[-1]
            note = width_note(lower[last], upper[last])
        return Curve(steps, delta, upper, lower, self.kind, note)
