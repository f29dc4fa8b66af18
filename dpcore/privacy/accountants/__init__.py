"""The accountants, in display order. Adding one is its file and its line here."""

from dpcore.privacy.accountants.base import Accountant, AdditiveAccountant, Curve, Kind
from dpcore.privacy.accountants.gdp import Gdp
from dpcore.privacy.accountants.moments import Moments
from dpcore.privacy.accountants.rdp import Rdp

ACCOUNTANTS: dict[str, Accountant] = {
    each.name: each
    for each in (
        Moments(),
        Rdp(),
        Gdp(),
    )
}

__all__ = ["ACCOUNTANTS", "Accountant", "AdditiveAccountant", "Curve", "Kind"]
