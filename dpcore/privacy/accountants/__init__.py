"""The accountants in display order. A new accountant is one file and one line here."""

from dpcore.privacy.accountants.base import (
    CERTIFIED,
    Accountant,
    AdditiveAccountant,
    Curve,
    Kind,
    TradeoffCurve,
)
from dpcore.privacy.accountants.gdp import Gdp
from dpcore.privacy.accountants.mma import Mma
from dpcore.privacy.accountants.moments import Moments
from dpcore.privacy.accountants.naive import Naive
from dpcore.privacy.accountants.pld import Pld
from dpcore.privacy.accountants.rdp import Rdp
from dpcore.privacy.accountants.strong import Strong
from dpcore.privacy.accountants.zcdp import Zcdp

ACCOUNTANTS: dict[str, Accountant] = {
    each.name: each for each in (Moments(), Rdp(), Mma(), Gdp(), Zcdp(), Strong(), Naive(), Pld())
}

__all__ = [
    "ACCOUNTANTS",
    "CERTIFIED",
    "Accountant",
    "AdditiveAccountant",
    "Curve",
    "Kind",
    "TradeoffCurve",
]
