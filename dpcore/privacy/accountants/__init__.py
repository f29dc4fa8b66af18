"""The accountants, in display order. Adding one is its file and its line here."""

from dpcore.privacy.accountants.base import Accountant, AdditiveAccountant, Curve, Kind

ACCOUNTANTS: dict[str, Accountant] = {each.name: each for each in ()}

__all__ = ["ACCOUNTANTS", "Accountant", "AdditiveAccountant", "Curve", "Kind"]
