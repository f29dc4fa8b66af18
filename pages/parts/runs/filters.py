"""Which runs the table shows: what the reader looks for, kept in the address."""

from collections.abc import Callable, Sequence

import streamlit as st

from dpcore.runs.record import Status
from dpcore.runs.run_table import Wanted, counted, owners_of, sweeps_of, tags_of
from dpcore.runs.store import Store
from pages.parts.controls.faults import say_unknown, unknown, verbatim
from pages.parts.controls.url_state import keep, recall, recall_ids, write_ids
from pages.parts.runs.run_rows import owner_told

LONGEST = 200  # characters that are looked for
ALL = ""


def wanted_runs(store: Store) -> Wanted:
    """Draw what the runs can be narrowed by, and return what is wanted."""
    recall("find", "")
    text = st.text_input(
        "Find", key="find", placeholder="name, tag, note, setting or id", max_chars=LONGEST, bind="query-params",
        persist_state="session",
    )  # fmt: skip
    keep("find", text)
    statuses = _statuses(counted(store))
    tag = _one_of("Tag", "tag", tags_of(store), str)
    sweeps = sweeps_of(store)
    sweep = _one_of("Sweep", "sweep", list(sweeps), lambda each: sweeps[each])
    owner = _one_of("Owner", "owner", owners_of(store), owner_told)
    return Wanted(text, tuple(statuses), tag, sweep, owner)


def _statuses(counts: dict[str, int]) -> list[str]:
    options = [each.value for each in Status]
    strange = unknown("status", options)
    recall_ids("status", options, (), several=True)
    chosen = st.pills(
        "Status", options, selection_mode="multi", wrap=True, key="status", persist_state="session",
        format_func=lambda each: f"{each} {counts.get(each, 0):,}",
    )  # fmt: skip
    write_ids("status", chosen, ())
    keep("status", chosen)
    say_unknown("status", strange, options, chosen)
    return chosen


def _one_of(label: str, key: str, options: Sequence[str], said: Callable[[str], str]) -> str:
    """One of what others have made up, or all; nothing is drawn where there is nothing to choose."""
    asked = [each for each in st.query_params.get_all(key) if each]
    if not options and not asked:
        return ALL
    if asked and asked[0] not in options:
        st.caption(f"No run here has {verbatim(f'{key}={asked[0]}')}.")
    recall_ids(key, [ALL, *options], [ALL])
    if st.session_state[key] not in ("", *options):  # the last run that had it is gone
        st.session_state[key] = ALL
    titles = {ALL: "all", **{each: said(each) for each in options}}
    shown = lambda each: titles.get(each, "") or verbatim(each)  # noqa: E731
    chosen = st.selectbox(label, [*titles], key=key, format_func=shown, persist_state="session")
    write_ids(key, [chosen] if chosen else [], [])
    keep(key, chosen)
    return chosen
