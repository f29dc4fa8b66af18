"""Which runs the table shows: what the reader looks for, kept in the address."""

from collections.abc import Callable, Sequence

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs.record import Status
from dpcore.runs.run_table import Wanted, counted, owners_of, sweeps_of, tags_of
from dpcore.runs.store import Store
from pages.parts.controls.url_state import keep, page_text, settle, write_ids
from pages.parts.controls.widgets import several
from pages.parts.runs.run_rows import owner_told

MAX_FIND_CHARS = 200
ALL = ""


def wanted_runs(store: Store) -> Wanted:
    """Draw what the runs can be narrowed by, and return what is wanted."""
    settle("find", page_text("find", ""), "")
    text = st.text_input(
        "Find", key="find", placeholder="name, tag, note, setting or id", max_chars=MAX_FIND_CHARS, bind="query-params",
        persist_state="session",
    )  # fmt: skip
    keep("find", text)
    statuses = _statuses(counted(store))
    tag = _one_of("Tag", "tag", tags_of(store), str)
    sweeps = sweeps_of(store)
    sweep = _one_of("Sweep", "sweep", list(sweeps), lambda each: sweeps[each])
    owner = _one_of("Owner", "owner", owners_of(store), owner_told)
    return Wanted(text, statuses, tag, sweep, owner)


def _statuses(counts: dict[str, int]) -> tuple[str, ...]:
    title = lambda each: f"{each} {counts.get(each, 0):,}"  # noqa: E731
    return several(st, "Status", [each.value for each in Status], "status", (), title)


def _one_of(label: str, key: str, options: Sequence[str], said: Callable[[str], str]) -> str:
    """One of what others have made up, or all; nothing is drawn where there is nothing to choose."""
    asked = [each for each in st.query_params.get_all(key) if each]
    if not options and not asked:
        return ALL
    if asked and asked[0] not in options:
        st.caption(f"No run here has {verbatim(f'{key}={asked[0]}')}.")
    wanted = page_text(key, ALL)
    st.session_state[key] = wanted if wanted in options else ALL  # the last run that had it may be gone
    titles = {ALL: "all", **{each: said(each) for each in options}}
    shown = lambda each: titles.get(each, "") or verbatim(each)  # noqa: E731
    chosen = st.selectbox(label, [*titles], key=key, format_func=shown, persist_state="session")
    write_ids(key, [chosen] if chosen else [], [])
    keep(key, chosen)
    return chosen
