"""What a page shows of a followed run: its name, and its plan as far ahead as a chart reaches."""

from dpcore.runs.followed.budget import affordable_steps
from dpcore.runs.followed.count import Releases, phases_of, releases_of
from dpcore.runs.followed.keeping import plan_of
from dpcore.runs.followed.request import Followed
from dpcore.runs.plain_text import printable
from dpcore.runs.record import Run
from dpcore.training.plan import Plan

LEAST = 64  # steps on a chart


def named_followed(run: Run) -> str:
    """A followed run in a few words.

    Its page says the rest: `told_of`.
    """
    return printable(run.name) or "Followed training"


def told_of(run: Run) -> str:
    """What stands wherever the run is shown."""
    request: Followed = run.request
    return f"{run.mark}. Epsilon protects one {request.unit} of {request.examples:,}."


def budget_of(request: Followed, plan: Plan) -> int | None:
    """The most steps in all that its target allows; None without a target."""
    if not request.target_epsilon:
        return None
    if plan.unaccounted:
        return 0
    *before, last = plan.drawn
    kept: Releases = tuple(before)
    return affordable_steps(kept, last.q, last.sigma, request.target_epsilon, request.delta)


def ahead_of(request: Followed, plan: Plan, done: int) -> Plan:
    """The plan of a run that goes on with its last sigma and q, as far as a chart reaches.

    That is to the end that its program planned or its target allows, or else to a power of two, so
    that a chart that grows is drawn anew now and then.
    """
    reach = request.steps or budget_of(request, plan) or 0
    if reach < done:
        reach = LEAST
        while reach < done:
            reach *= 2
    reach = max(reach, plan.steps)
    return plan_of(releases_of(phases_of(plan.drawn), reach), plan.unaccounted)
