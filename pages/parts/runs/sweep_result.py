"""What a sweep came to, and what choosing among its runs costs in privacy."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from dpcore.figures.runs import Cell, spread_text, sweep_alt, sweep_line, sweep_map
from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.numbers import marked, plain, value_text
from dpcore.privacy.report.statement import seed_warning
from dpcore.runs.record import Run
from dpcore.runs.released import Deleted
from dpcore.runs.run_table import Wanted
from dpcore.runs.store import Store
from dpcore.runs.sweeps import Sweep, all_released, can_be_read, sweep_in
from dpcore.training.settings import SETTINGS
from pages.parts.components.live_chart import live_chart
from pages.parts.results import cache
from pages.parts.results.tables import scrolling
from pages.parts.runs.actions import cancel_runs
from pages.parts.runs.coming import drawn_until_known
from pages.parts.runs.costs import known_cost, learn, spending_of
from pages.parts.shell.present import chart_size
from pages.parts.visitors import may_change

MANY = 25  # kinds of steps: beyond, the certified accountant takes seconds, and Rényi DP's proven bound is told
CHOOSE = "Choose a sweep among the filters at the left, or start one there: what it came to is shown here."
UNREADABLE = "No run of this sweep can be read by this version of the program."
NO_PRICE = "A run that has begun cannot be read by this version of the program, so no epsilon is known of all of them."
WITHOUT = "A run without any epsilon is among them, so there is none for all of them together."
WIDE = "Its runs differ in more than two settings, so there is no chart of it: compare them one by one."
UNPROVEN = (
    "To choose the best run and release that one alone is **not** covered by its own epsilon: the choice has looked at "
    "every run, and each run at the data. What is proven is the composition of all of them, which holds for whatever "
    "is released of them, the best included."
)
SOURCES = (
    "Cheaper ways to choose privately are proven where the number of runs is drawn at random: Liu and Talwar 2019, "
    "arXiv 1811.07971; Papernot and Steinke 2022, arXiv 2110.03620. A grid of a fixed size is none of them."
)


def show_sweep(store: Store, wanted: Wanted) -> None:
    """Draw the sweep that the filters leave."""
    if not wanted.sweep:
        st.info(CHOOSE)
        return
    drawn_until_known("runs_sweep_left", _sweep, store, wanted.sweep)


def _sweep(store: Store, name: str) -> int:
    """Draw it as it stands; what is not known yet: epsilons, and runs that are not over."""
    sweep = sweep_in(store, name)
    if sweep is None:
        st.info(UNREADABLE)
        return 0
    left = learn(spending for run in sweep.runs if (spending := spending_of(run, CERTIFIED)))
    active = [run for run in sweep.runs if run.active]
    _progress(store, sweep, active)
    _chart(sweep)
    st.html(_table(sweep))
    _price(sweep)
    return left + len(active)


def _progress(store: Store, sweep: Sweep, active: Sequence[Run]) -> None:
    runs = sweep.runs
    row = st.container(horizontal=True, vertical_alignment="center")
    row.markdown(f"**{len(runs) - len(active)} of {len(runs)} runs** are over.")
    mine = [run.id for run in active if may_change(run) and not run.cancelling]
    if mine:
        row.button(f"Cancel the other {len(mine)}", key="sweep_cancel", on_click=cancel_runs, args=(store, mine))


def _chart(sweep: Sweep) -> None:
    cells = [Cell(point.values, point.accuracies) for point in sweep.points]
    labels = [SETTINGS[name].label for name in sweep.axes]
    if len(labels) > 2:
        st.info(WIDE)
        return
    if not labels or not any(each.accuracies for each in cells):
        return
    size = chart_size()
    one = len(labels) == 1
    figure = sweep_line(cells, labels[0], size=size) if one else sweep_map(cells, (labels[0], labels[1]), size=size)
    title = f"Test accuracy over {' and '.join(labels)}"
    live_chart(figure, [], key="sweep_chart", alt=sweep_alt(cells, labels), title=title, file=f"sweep-{sweep.id}")


def _table(sweep: Sweep) -> str:
    """A row for each point of the grid: how many runs are over, their accuracy, and the epsilon of one of them."""
    heads = [*(SETTINGS[name].label for name in sweep.axes), "Finished", "Accuracy", "Epsilon of each"]
    body = ""
    for point in sweep.points:
        done = f"{len(point.accuracies)} of {len(point.runs)}"
        cells = [*map(value_text, point.values), done, spread_text(point.accuracies), _epsilon(point.runs)]
        body += f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in cells)}</tr>"
    head = "".join(f"<th scope=col>{escape(each)}</th>" for each in heads)
    return scrolling("Sweep", f"<table class=measured><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _epsilon(runs: Sequence[Run]) -> str:
    """The most that one of them has spent, certified."""
    costs = [known_cost(spending) for run in runs if (spending := spending_of(run, CERTIFIED))]
    known = [cost for cost in costs if cost]
    return marked(max(cost.epsilon for cost in known), known[0].kind) if known else ""


def _price(sweep: Sweep) -> None:
    """What all runs cost together, which is what choosing among them costs; those that were deleted were looked at."""
    begun = sweep.begun
    if not begun:
        return
    mechanism = all_released(begun)
    st.subheader("What choosing among them costs", anchor=False)
    if mechanism is None:
        st.markdown(WITHOUT if all(map(can_be_read, begun)) else NO_PRICE)
        return
    accountant = CERTIFIED if len(mechanism.releases) <= MANY else "rdp"
    delta = min(run.config.delta for run in sweep.runs)
    spent = cache.final(accountant, mechanism, delta)
    number = marked(float(spent.epsilon[-1]), spent.kind)
    gone = sum(isinstance(each, Deleted) for each in begun)
    deleted = f", {gone} of them deleted meanwhile" if gone else ""
    fixed = seed_warning(list(dict.fromkeys(run.config.seed for run in sweep.runs if run.config.seed is not None)))
    st.markdown(
        f"All {len(begun)} runs together, as far as they have got{deleted}: **epsilon {number}** "
        f"at delta = {plain(delta)}. {UNPROVEN} {fixed}"
    )
    st.caption(SOURCES)
