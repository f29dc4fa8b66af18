"""What accuracy each epsilon has bought, over all runs that the filters leave: their Pareto front, and their seeds."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from dpcore.figures.runs import MAX_POINTS, Outcome, front, front_alt, front_figure
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import percent
from dpcore.runs.in_words import OTHER_VERSION
from dpcore.runs.printable import as_text
from dpcore.runs.run_table import Ended, Wanted, ended, imported
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.described import described
from dpcore.training.seed_summary import summary
from pages.parts.components.live_chart import live_chart
from pages.parts.controls.widgets import titled
from pages.parts.results.exports import numbers_table
from pages.parts.results.tables import scrolling
from pages.parts.runs.coming import drawn_until_known
from pages.parts.runs.costs import Spending, known_cost, learn
from pages.parts.shell.present import chart_size

LATEST = 2000  # finished runs that are looked at
GROUPS = 20  # settings with several seeds that are listed
READING = (
    "Each point is a finished run, at the epsilon of its own delta. The staircase joins those that no other run beats "
    "in both accuracy and epsilon; a bar at a point reaches to what its epsilon is at least. Accuracy is of the test "
    "set. The front is chosen among many runs: to release what it shows costs more than the epsilon of one of them."
)
NONE = "No finished run is among them: what each reaches is drawn here."


def show_tradeoffs(store: Store, wanted: Wanted, accountant: str) -> None:
    """Draw the front of all finished runs that are wanted, and what several seeds of one setting reached."""
    drawn_until_known("runs_front_left", _tradeoffs, store, wanted, accountant)


def _tradeoffs(store: Store, wanted: Wanted, accountant: str) -> int:
    found = ended(store, wanted, LATEST)
    elsewhere = _elsewhere(imported(store, wanted))
    if not found:
        st.info(f"{NONE}{elsewhere}")
        return 0
    left = learn(spending for each in found if (spending := spent_by_run(each, accountant)))
    outcomes = outcomes_of(found, accountant)
    title = titled(accountant)
    figure, alt = front_figure(outcomes, title, size=chart_size()), front_alt(outcomes, title)
    live_chart(figure, [], key="front_chart", alt=alt, title=f"Accuracy against epsilon, {title}", file="pareto-front")
    st.caption(f"{READING}{_left_out(found, outcomes, left)}{elsewhere}")
    numbers_table("The numbers in the chart", "front_numbers", lambda: _columns(outcomes))
    _seeds(found)
    return left


def outcomes_of(found: Sequence[Ended], accountant: str) -> list[Outcome]:
    """The runs as points, without those whose epsilon is not known, or that have none although they are private."""
    points = []
    for each in found:
        if not each.settings.get("private", True):
            points.append(Outcome(each.name or _words(each), each.accuracy, None))
            continue
        spending = spent_by_run(each, accountant)
        if spending and (cost := known_cost(spending)):
            points.append(Outcome(each.name or _words(each), each.accuracy, cost.epsilon, cost.lower, cost.kind))
    return points


def spent_by_run(each: Ended, accountant: str = CERTIFIED) -> Spending | None:
    """What a finished run's epsilon follows from; None of one without privacy."""
    if not each.settings.get("private", True):
        return None
    return Spending(accountant, each.plan, each.settings["delta"], each.step)


def _left_out(found: Sequence[Ended], outcomes: Sequence[Outcome], left: int) -> str:
    said = []
    if len(found) == LATEST:
        said.append(f"Of more than {LATEST:,} finished runs the latest are looked at.")
    private = [each for each in outcomes if each.epsilon is not None]
    if len(private) > MAX_POINTS + len(front(outcomes)):
        said.append(f"Beside the front {MAX_POINTS:,} of {len(private):,} are drawn.")
    if left:
        said.append(f"{left:,} epsilon{'s are' if left > 1 else ' is'} still computed.")
    elif without := len(found) - len(outcomes):
        said.append(f"{without:,} private run{'s' * (without > 1)} without any epsilon cannot be drawn.")
    return "".join(f" {each}" for each in said)


def _elsewhere(runs: int) -> str:
    """What is said of imported runs, as a sentence behind others."""
    if not runs:
        return ""
    left_out, whose = ("One imported run is", "its") if runs == 1 else (f"{runs:,} imported runs are", "their")
    return f" {left_out} left out: nothing here has measured {whose} figures."


def _columns(outcomes: Sequence[Outcome]) -> dict[str, list[Any]]:
    return {
        "run": [as_text(each.label) for each in outcomes],
        "test accuracy": [each.accuracy for each in outcomes],
        "epsilon": [each.epsilon for each in outcomes],
        "at least": [each.lower for each in outcomes],
        "kind": [each.kind.value if each.epsilon is not None else "" for each in outcomes],
    }


def _seeds(found: Sequence[Ended]) -> None:
    """Mean and spread of each setting that several runs share."""
    groups: dict[str, list[Ended]] = {}
    for each in found:
        groups.setdefault(json.dumps({**each.settings, "seed": None}, sort_keys=True), []).append(each)
    several = [(group, summary([each.accuracy for each in group])) for group in groups.values() if len(group) > 1]
    if not several:
        return
    several.sort(key=lambda each: -each[1].mean)
    st.subheader("Several runs of one setting", anchor=False)
    rows = "".join(
        f"<tr><th scope=row>{escape(_words(group[0]))}</th><td>{figures.runs}</td>"
        f"<td>{percent(figures.mean, 2)} ± {percent(figures.spread, 2)}</td>"
        f"<td>{percent(figures.least, 2)} to {percent(figures.most, 2)}</td></tr>"
        for group, figures in several[:GROUPS]
    )
    heads = "".join(f"<th scope=col>{each}</th>" for each in ("Setting", "Runs", "Mean ± spread", "From, to"))
    st.html(scrolling("Seeds", f"<table class=measured><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"))
    st.caption("Test accuracy; the spread is the sample standard deviation. The most accurate settings come first.")


def _words(each: Ended) -> str:
    try:
        config = RunConfig.from_json(each.settings)
    except (ValueError, TypeError):
        return OTHER_VERSION
    return f"{described(config)}, batch {config.batch}, lr {config.lr:g}, {config.epochs:g} epochs"
