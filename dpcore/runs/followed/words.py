"""The privacy statement of a followed run: of what its program told."""

from dataclasses import replace

from dpcore.privacy.report.statement import UNIT, Statement
from dpcore.runs.record import Run

NOT_COVERED = (
    "No epsilon covers the numbers that the training logged: losses, clipped shares and sizes of"
    " drawn batches are exact figures of the training data. Do not publish them."
)
AS_TOLD = (
    "This run was {mark}. It holds if each step drew each example by itself at the rate told,"
    " clipped its gradient, and drew the noise told."
)


def as_told(made: Statement, run: Run) -> Statement:
    """The statement with the unit that the program named, and what it depends on."""
    facts = []
    for label, text in made.facts:
        facts.append((label, f"one {run.request.unit}, as told" if text == UNIT else text))
    marked = AS_TOLD.format(mark=run.mark)
    return replace(made, facts=tuple(facts), caveats=(marked, *made.caveats, NOT_COVERED))
