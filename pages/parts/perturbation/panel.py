"""A comparison on its page: how it is begun and found again, how far it is, and what it has found."""

from collections.abc import Sequence

import streamlit as st

from dpcore.data.tabular import TABLES
from dpcore.figures.perturbation import perturbation_alt, perturbation_figure
from dpcore.runs.expected import duration
from dpcore.runs.kinds import PERTURBATION
from dpcore.runs.record import Run, Status
from dpcore.runs.store import Store
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.models import MODELS
from pages.parts.jobs import Asked, ShownJob, line_end
from pages.parts.perturbation.conditions import promise
from pages.parts.perturbation.results import Results, expected_seconds, numbers, results, results_of
from pages.parts.results.exports import chart
from pages.parts.shell.menu import chart_size

EXPECTED = "a comparison on this machine"
SHOWN = ShownJob(
    PERTURBATION.name, "comparison", "Compare", ":material/play_arrow:", "comparison", EXPECTED, replaces=True
)
TITLES = {"accuracy": "Accuracy against epsilon", "gap": "Optimality gap against epsilon"}
APART = (
    "**Drawn apart: not private for this model.** These methods were asked for an epsilon that nothing proves: a "
    "condition of their theorem fails here, or there is none. The table below says which."
)


def compare_button(asked: Asked, store: Store | None, past: Sequence[Run]) -> None:
    """Draw the button, with the time that pressing it takes where that is known, or why it cannot be pressed."""
    seconds = expected_seconds(asked.request, past) if asked.request else None
    SHOWN.button(store, asked.request, seconds)
    if asked.problem:
        st.info(asked.problem)
    elif seconds is None:
        st.caption("These data have not been compared here yet: how long that takes is not known.")


def line_of(run: Run) -> str:
    """What was compared, in a line that tells it from the others."""
    request = run.request
    data = TABLES[request.dataset].title
    pair = f" ({' or '.join(request.classes)})" if request.classes else ""
    count = len(request.methods)
    methods = f"{count} methods" if count > 1 else "one method"
    low, high = min(request.epsilons), max(request.epsilons)
    epsilons = f"epsilon {low:g} to {high:g}" if high > low else f"epsilon {low:g}"
    return f"{data}{pair}, {MODELS[request.model].title.lower()}, {methods}, {epsilons} {line_end(run)}"


def follow(store: Store, run: Run, picked: Sequence[str]) -> None:
    """Draw the comparison and keep it up to date; the lines of some methods are picked out."""
    SHOWN.follow(store, run, results, lambda found: _draw(store, found, picked))


def _draw(store: Store, found: Results, picked: Sequence[str]) -> None:
    st.markdown(f"**{described(found)}**")
    until = f"What it had found until then is shown: {found.done} of {results_of(found.request)} results."
    until = until if found.done else "It had found nothing until then."
    SHOWN.status(store, found.run, found.done / results_of(found.request), _progress(found), until)
    if found.run.status is Status.FINISHED:
        st.caption(" ".join([_measured(found), *(found.prepared.notes if found.prepared else ())]))
    if found.measured:
        charts(found, picked)
        numbers(found)


def described(found: Results) -> str:
    """What is compared, in a line."""
    request, table = found.request, TABLES[found.request.dataset]
    first, second = table.pair(request.classes)
    rows = f", {found.prepared.examples:,} rows to learn from" if found.prepared else ""
    seeds = f"{request.seeds} seeds" if request.seeds > 1 else "1 seed"
    what = f"{table.title} ({first} or {second}{rows}) · {MODELS[request.model].title}"
    return f"{what} · {seeds} · {promise(request.delta)}"


def _progress(found: Results) -> str:
    if found.prepared is None:
        return "reading the data"
    place = f"{found.done} of {results_of(found.request)} results"
    done = {each.method for each in (*found.measured, *found.skipped)}
    waiting = [METHODS[name].title.lower() for name in found.request.methods if name not in done]
    return f"{place}, now {waiting[0]}" if waiting else place


def _measured(found: Results) -> str:
    """How the numbers came about."""
    tests = f" on {found.prepared.tests:,} rows that nothing was learnt from" if found.prepared else ""
    seeds = found.request.seeds
    over = f": means over {seeds} seeds, the shade from the worst to the best of them" if seeds > 1 else ""
    return f"Measured here in {duration(found.seconds or 1)}{tests}{over}."


def charts(found: Results, picked: Sequence[str]) -> None:
    """Accuracy and gap side by side: of the methods that keep their epsilon, then of those that do not."""
    if any(found.spreads("accuracy", kept=True)):
        _pair(found, picked, kept=True)
    if any(found.spreads("accuracy", kept=False)):
        st.markdown(APART)
        _pair(found, picked, kept=False)
    skipped: dict[tuple[str, str], list[str]] = {}  # each reason is given once
    for each in found.skipped:
        skipped.setdefault((each.method, each.reason), []).append("" if each.epsilon is None else f"{each.epsilon:g}")
    for (method, reason), epsilons in skipped.items():
        at = f" at epsilon {', '.join(epsilons)}" if any(epsilons) else ""
        st.warning(f"{METHODS[method].title}{at}: {reason}")


def _pair(found: Results, picked: Sequence[str], *, kept: bool) -> None:
    beside = st.container(key="beside" if kept else "fan").columns(2, gap="medium")
    for column, measure in zip(beside, TITLES, strict=True):
        spreads = found.spreads(measure, kept=kept)
        levels = found.levels(measure) if kept else found.levels(measure)[-1:]
        here = [name for name in picked if any(each.method == name for each in spreads)]
        look = {"picked": here, "epsilons": found.request.epsilons, "size": chart_size()}
        figure = perturbation_figure(spreads, measure, levels=levels, kept=kept, **look)
        alt = perturbation_alt(spreads, measure, levels=levels, kept=kept)
        title = TITLES[measure] if kept else f"{TITLES[measure]}, not private"
        with column:
            chart(figure, f"{measure}_{'kept' if kept else 'apart'}", alt, title, None)
