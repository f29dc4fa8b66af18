"""How far a comparison is, and what it has found: drawn twice a second while it goes on, then once."""

from collections.abc import Sequence

import streamlit as st

from dpcore.check import verbatim
from dpcore.data.tabular import TABLES
from dpcore.runs.expected import duration, start_of
from dpcore.runs.in_words import status_of
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.models import MODELS
from pages.parts.controls.faults import MAX_REASON
from pages.parts.perturbation.charts import charts
from pages.parts.perturbation.comparison import begun_here, cancel
from pages.parts.perturbation.conditions import promise
from pages.parts.perturbation.numbers import numbers
from pages.parts.perturbation.results import Results, results
from pages.parts.train.cancel_button import cancel_button

EVERY = 0.5  # seconds between two looks while it goes on
OTHERS = "Another session began this comparison."  # and may wait for it


def watch(store: Store, run: Run, picked: Sequence[str]) -> None:
    """Draw the comparison and keep it up to date; the lines of some methods are picked out."""
    st.fragment(_panel, run_every=EVERY if run.active else None)(store, run.id, run.active, tuple(picked))


def _panel(store: Store, run_id: str, active: bool, picked: tuple[str, ...]) -> None:
    try:
        found = results(store, store.run(run_id))
    except (UnknownRun, StoreError) as error:
        st.error(str(error))
        return
    except (ValueError, TypeError) as error:  # settings of another version
        st.error(f"This comparison was made by another version of this program. {error}")
        return
    if active and not found.run.active:
        st.rerun()
    st.markdown(f"**{described(found)}**")
    _status(store, found)
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


def _status(store: Store, found: Results) -> None:
    run = found.run
    if run.active:
        bar, button = st.container(key=f"progress_{run.id}").columns([5, 1], vertical_alignment="center")
        bar.progress(min(found.done / found.total, 1.0), text=_progress(store, found))
        cancel_button(button, store, run, cancel, "" if begun_here(run.id) else OTHERS)
    elif run.status is Status.FINISHED:
        st.caption(" ".join([_measured(found), *_notes(found)]))
    else:
        _ended_early(found)


def _progress(store: Store, found: Results) -> str:
    run, place = found.run, f"{found.done} of {found.total} results"
    if run.status is Status.QUEUED:
        place = f"{status_of(run)} of runs and comparisons" if run.position else status_of(run)
        return ", ".join(filter(None, [place, start_of(store, run.id)]))
    if found.prepared is None:
        return "reading the data"
    done = {each.method for each in (*found.measured, *found.skipped)}
    waiting = [METHODS[name].title.lower() for name in found.request.methods if name not in done]
    return f"{place}, now {waiting[0]}" if waiting else place


def _ended_early(found: Results) -> None:
    run = found.run
    until = f"What it had found until then is shown: {found.done} of {found.total} results."
    until = until if found.done else "It had found nothing until then."
    if run.status is Status.CANCELLED:
        st.info(f"The comparison was cancelled. {until}")
    elif run.status is Status.LOST:
        why = f"{verbatim(run.error, MAX_REASON)} " if run.error else ""
        st.error(f"The comparison was lost. {why}{until} Compare again.")
    else:
        lines = (run.error or "").strip().splitlines() or ["The worker gave no reason."]
        st.error(f"The comparison failed: {verbatim(lines[-1].removeprefix('ValueError: '), MAX_REASON)}")
        if not lines[-1].startswith("ValueError: "):
            with st.expander("Traceback"):
                st.code("\n".join(lines), language=None)


def _measured(found: Results) -> str:
    """How the numbers came about."""
    tests = f" on {found.prepared.tests:,} rows that nothing was learnt from" if found.prepared else ""
    seeds = found.request.seeds
    over = f": means over {seeds} seeds, the shade from the worst to the best of them" if seeds > 1 else ""
    return f"Measured here in {duration(found.seconds or 1)}{tests}{over}."


def _notes(found: Results) -> list[str]:
    """What whoever reads the figures should know."""
    return list(found.prepared.notes) if found.prepared else []
