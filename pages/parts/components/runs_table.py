"""A table of runs, in which some can be ticked; those that are active keep up with their events by themselves."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from streamlit.components.v2 import component

from pages.parts.components.served_component import charts_follow
from pages.parts.serving import files

HERE = Path(__file__)
_mount: Any = component(
    "runs_table",
    css=HERE.with_suffix(".css").read_text(encoding="utf-8"),
    js=HERE.with_suffix(".js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


@dataclass(frozen=True)
class Column:
    """A column, by what its cells are called."""

    id: str
    title: str
    kind: str = ""  # "number" stands to the right, "minor" is left out on a narrow screen
    sorts: bool = False  # whether a click on its head sorts by it
    sorted: str = ""  # "ascending" or "descending", where the table is sorted by it


@dataclass(frozen=True)
class Row:
    """A run as it stands when the table is drawn: texts by the names of the columns, shown as they are."""

    id: str
    cells: dict[str, str]
    ticked: bool = False
    after: int = 0  # number of the last event that is known
    step: int = 0
    steps: int = 0  # of the whole run
    state: dict[str, Any] | None = None  # what `state_of` says, while the run is active


class Tick(NamedTuple):
    """A box that was ticked, or unticked: the later, the higher the number."""

    number: int
    run: str
    on: bool


def runs_table(
    label: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    *,
    key: str,
    most: int,
    elsewhere: int,
    full: str,
    heard: int,
    ticked: Callable[[], None],
    sorted_by: Callable[[], None],
    changed: Callable[[], None],
) -> None:
    """Draw the table.

    At most `most` runs can be ticked, `elsewhere` are already that are no rows here, and `full` says why no more can
    be; `heard` is the number of the last tick that was taken note of. `ticked`, `sorted_by` and `changed` are called
    before the next run of the page: for what `ticks` and `sort_asked` say, and where a run has begun or ended.
    """
    data = {
        "label": label,
        "columns": [asdict(each) for each in columns],
        "rows": [asdict(each) for each in rows],
        "most": most,
        "elsewhere": elsewhere,
        "full": full,
        "heard": heard,
        "module": files.address("runs.js") if charts_follow() else "",
    }
    _mount(key=key, data=data, on_ticked_change=ticked, on_sorted_change=sorted_by, on_changed_change=changed)


def ticks(key: str) -> list[Tick]:
    """What was ticked, for `ticked`; nothing that the browser cannot have sent."""
    found = []
    asked = (st.session_state.get(key) or {}).get("ticked")
    for each in asked if isinstance(asked, list) else ():
        match each:
            case {"number": int(number), "run": str(run), "on": bool(on)}:
                found.append(Tick(number, run, on))
    return found


def sort_asked(key: str) -> str:
    """The column whose head was clicked, for `sorted_by`; "" if the browser sent nonsense."""
    asked = (st.session_state.get(key) or {}).get("sorted")
    return asked if isinstance(asked, str) else ""
