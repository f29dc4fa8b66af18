"""The privacy statement of a followed run: of what its program told."""

from dataclasses import replace

from dpcore.privacy.report.statement import UNIT, Statement
from dpcore.runs.followed.request import MARK, Followed

NOT_COVERED = (
    "No epsilon covers the numbers that the training logged: losses, clipped shares and sizes of"
    " drawn batches are exact figures of the training data. Do not publish them."
)
AS_TOLD = (
    f"This run was {MARK}. It holds if each step drew each example by itself at the rate told,"
    " clipped its gradient, and drew the noise told."
)


def as_told(made: Statement, request: Followed) -> Statement:
    """The statement with the unit that the program named, and what it depends on."""
    facts = []
    for label, text in made.facts:
        facts.append((label, f"one {request.unit}, as told" if text == UNIT else text))
    return replace(made, facts=tuple(facts), caveats=(AS_TOLD, *made.caveats, NOT_COVERED))
