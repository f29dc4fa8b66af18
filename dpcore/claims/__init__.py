"""Checks of privacy claims, as papers, model cards and logs print them, against proven bounds."""

from dpcore.claims.claim import Claim
from dpcore.claims.printed import Printed, printed_epsilon
from dpcore.claims.reading import read
from dpcore.claims.verdict import Certificate, ClaimVerdict, Standing, judge

__all__ = [
    "Certificate",
    "Claim",
    "ClaimVerdict",
    "Printed",
    "Standing",
    "judge",
    "printed_epsilon",
    "read",
]
