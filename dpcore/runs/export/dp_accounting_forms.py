"""The releases of a run for dp-accounting, which shares nothing with this program: a script, and a DpEvent in JSON."""

import json
from collections.abc import Sequence

from dpcore.claims.dp_event import event_of
from dpcore.runs.export.base import RunRecord, TextForm

SCRIPT = '''"""The epsilon of run {run}, by the privacy loss distributions of dp-accounting (pip install dp-accounting).

What it prints is an upper bound for neighbouring data sets that differ by one example, present or absent, after the
{steps} training steps of the run. {several}{before}
{imported}"""

import sys

sys.path.append(sys.path.pop(0))  # this file may have the name of a package
from dp_accounting import GaussianDpEvent, NeighboringRelation, PoissonSampledDpEvent, SelfComposedDpEvent
from dp_accounting.pld import PLDAccountant

DELTA = {delta!r}
RELEASES = [  # sampling rate, noise multiplier, how often
{releases}
]

accountant = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE)
for q, sigma, count in RELEASES:
    step = GaussianDpEvent(sigma) if q == 1 else PoissonSampledDpEvent(q, GaussianDpEvent(sigma))
    accountant.compose(SelfComposedDpEvent(step, count))
print("epsilon", accountant.get_epsilon(DELTA), "at delta", DELTA)
'''
ALIKE = "All of them have the same noise."
UNALIKE = "It composes {kinds} kinds of releases one by one, which takes its time."

BEFORE = """
The first {count} releases are those of runs that this one began anew with fresh noise."""


def dp_accounting_script(records: Sequence[RunRecord]) -> str:
    """The script of a run. Errors: ValueError for one that has no epsilon."""
    (record,) = records
    mechanism = record.released
    if mechanism is None:
        why = record.plan.unaccounted or "It has released nothing yet."
        raise ValueError(f"Expected run={record.run.id!r} to have an epsilon to recompute. {why}")
    kinds = len(mechanism.releases)
    return SCRIPT.format(
        run=record.run.id,
        steps=record.steps,
        before=BEFORE.format(count=record.plan.repeated) if record.plan.spent else "",
        imported=f"{record.not_measured}\n" if record.not_measured else "",
        several=ALIKE if kinds == 1 else UNALIKE.format(kinds=kinds),
        delta=float(record.config.delta),
        releases="\n".join(
            f"    ({float(each.q)!r}, {float(each.sigma)!r}, {each.count})," for each in mechanism.releases
        ),
    )


DP_ACCOUNTING = TextForm(
    "dp-accounting", "A script that recomputes epsilon with dp-accounting", ".py", "text/x-python", dp_accounting_script
)


def dp_event_json(records: Sequence[RunRecord]) -> str:
    """The event as an object of its fields, with a note for an imported run.

    Errors: ValueError for a run that has no epsilon.
    """
    (record,) = records
    mechanism = record.released
    if mechanism is None:
        why = record.plan.unaccounted or "It has released nothing yet."
        raise ValueError(f"Expected run={record.run.id!r} to have an epsilon to account for. {why}")
    told = {"note": record.not_measured} if record.not_measured else {}
    return json.dumps(event_of(mechanism) | told, allow_nan=False, indent=1) + "\n"


DP_EVENT = TextForm(
    "dp-event",
    "What it has released, as a DpEvent of dp-accounting (JSON)",
    ".dp-event.json",
    "application/json",
    dp_event_json,
)
