"""Functions for what scripts of this app draw in the browser; `live_chart` has a file of its own.

Most scripts are modules that this server's routes serve, since they share others. Those that share
nothing but `mounted.js` go to Streamlit together with that, and work where a page's file is opened
by itself, too.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components import v2

from pages.parts.serving import files
from pages.parts.serving.files import served

HERE = Path(__file__).parent
FAILED = "modules_failed"  # in the session, once its browser could not load a module
ONCE = "This is drawn once: to follow runs, open the page through app.py, or load it again."
# In the address that is written while a page is left from its code: the entry stays as it is.
LEAVING = "leaving"
FRAME = "frame"
MOUNTED = re.compile(r'^import .* from "\./mounted\.js";$', re.MULTILINE)
MAX_CHARS = 40  # of a slider's value, as in the field beside it


def follows() -> bool:
    """True if charts can follow runs: routes are served, and the browser could load its modules."""
    return served() and FAILED not in st.session_state


def mount(
    name: str, key: str, data: Mapping[str, Any], *tells: str, **calls: Callable[[], None] | None
) -> None:
    """Show what the script `<name>.js` draws of the data.

    `tells` are the triggers by which it runs the page again, `calls` those that call something
    before they do so, unless it is None.
    """
    called = dict.fromkeys(tells, lambda: None) | calls
    callbacks = {f"on_{each}_change": call for each, call in called.items() if call}
    if f"{name}.js" in files.MODULES:
        data = {**data, "module": files.address(f"{name}.js")}
        callbacks["on_failed_change"] = lambda: st.session_state.update(
            {FAILED: sent(key, "failed")}
        )
    mounted(name)(key=key, data=dict(data), **callbacks)


@cache
def mounted(name: str) -> Any:
    """The component of a script, with its style sheet if any, registered with Streamlit once."""
    style = HERE / f"{name}.css"
    css = style.read_text(encoding="utf-8") if style.exists() else None
    script = script_of("served" if f"{name}.js" in files.MODULES else name)
    # The style of sliders is the page's: once, not with each of them.
    draws = css is not None or name == "slider"
    return v2.component(name, css=css, js=script, isolate_styles=not draws)  # one page, one style


def script_of(name: str) -> str:
    """The script `<name>.js` for Streamlit: with `mounted.js` in it, since it cannot import."""
    shared = (HERE / "mounted.js").read_text(encoding="utf-8").replace("export ", "")
    return MOUNTED.sub(lambda _: shared, (HERE / f"{name}.js").read_text(encoding="utf-8"))


def sent(key: str, event: str) -> Any:
    """The value that the script of this key sent with an event; browsers can send any value."""
    return (st.session_state.get(key) or {}).get(event)


def text_sent(key: str, event: str) -> str:
    """The text that the script of this key sent with an event; "" for any other value."""
    asked = sent(key, event)
    return asked if isinstance(asked, str) else ""


def slider(
    label: str, stops: Sequence[str], value: str, ends: tuple[str, str], *, field: str
) -> None:
    """Draw the slider of a field at `value`, one of the stops; the field has been drawn before it.

    Its last move, with a number, is state of the browser that every later request brings along, so
    that no move is lost; `unheard_move` gives it to the field, and the slider is told the number
    once the field has it. The browser sends one value at a time, the latest, and the next only when
    the answer has been drawn. A chart that draws the stops of `field` by itself (`live_chart.py`)
    does so first, and the page is asked once the hand rests. `ends` says what it means to go left
    and right.
    """
    data = {
        "label": label,
        "stops": stops,
        "value": value,
        "ends": ends,
        "heard": hear(field),
        "field": field,
    }
    mount("slider", f"{field}_slider", data, "moved")


def unheard_move(field: str) -> str | None:
    """The text to which a slider was moved since its field was drawn last; None without a move."""
    text, number = _move(field)
    return None if number == st.session_state.get(f"{field}_heard", 0) else text


def hear(field: str) -> int:
    """Note that the field has the slider's last move, or a newer text; return the move's number."""
    _, number = _move(field)
    st.session_state[f"{field}_heard"] = number
    return number


def _move(field: str) -> tuple[str | None, int]:
    """The slider's last move and its number; None and 0 without a move, or for another value."""
    match sent(f"{field}_slider", "moved"):
        case [str(text), int(number)] if len(text) <= MAX_CHARS:
            return text, number
    return None, 0


@dataclass(frozen=True)
class Table:
    """Values after some numbers of steps, as epsilon; between two of them the later one holds.

    Numbers must be rounded to the safe side, and must not fall.
    """

    steps: tuple[int, ...]
    values: tuple[float, ...] | tuple[str, ...]
    field: str = "step"  # of the event: what is counted


@dataclass(frozen=True)
class LiveNumber:
    """A number as the page is drawn, and the field of a run's events that changes it."""

    label: str
    value: str
    run: str = ""  # "" where it stays as it is
    after: int = 0  # number of the last event that is known
    event: str = "stepped"
    y: str = ""  # field of the event
    of: str = ""  # field with what it is a part of: behind a stroke, what is left of that
    scale: float = 1.0
    digits: int = 1  # behind the point
    unit: str = ""
    texts: Table | None = None  # in place of a field
    latest: str | None = None  # where `value` is the number before the latest one: that one


def live_figures(readings: Sequence[LiveNumber], key: str) -> None:
    """Show the numbers in a row under their names; they change with the events of their runs."""
    if follows():
        mount("live_figures", key, {"readings": [asdict(each) for each in readings]})
        return
    row = st.container(horizontal=True, gap="large")
    for each in readings:
        row.metric(each.label, each.value, width="content")


def headline(
    sentences: Sequence[str], numbers: Mapping[str, LiveNumber], key: str = "headline"
) -> None:
    """Show the last of the sentences whose numbers, {accuracy} and others in braces, are known.

    Where {accuracy} and {baseline} are, {lost} or {gained} is the difference.
    """
    if follows():
        readings = [asdict(each) | {"label": name} for name, each in numbers.items()]
        mount("live_figures", key, {"sentences": sentences, "readings": readings})
    else:
        st.html(f"<p class=headline>{escape(sentences[0])}</p>")


def replay(runs: Sequence[str], turn: int, seconds: float, ended: Callable[[], None]) -> None:
    """Let what the page shows of these finished runs, drawn as before their first event, hear their
    events again over so many seconds; a new `turn` begins anew.
    """
    data = {"runs": runs, "turn": turn, "seconds": seconds}
    mount("replay", "replay", data, ended=ended)


def run_progress(run: str, after: int, label: str, state: Mapping[str, Any], key: str) -> None:
    """Show the progress of a run in a bar and a sentence; a new status runs the page or fragment.

    `state` is that of `state_of` after the event number `after`.
    """
    if follows():
        data = {"run": run, "after": after, "label": label, "state": state}
        mount("run_progress", key, data, "changed")
        return
    words = f"**{label}** · {state['said']}."
    st.caption(f"{words} {ONCE}" if state["active"] else words)


@dataclass(frozen=True)
class Row:
    """A run when the table is drawn: texts by the names of the columns, shown unchanged."""

    id: str
    cells: dict[str, str]
    after: int = 0  # number of the last event that is known
    state: dict[str, Any] | None = None  # what `state_of` says, while the run is active


def runs_table(
    columns: Sequence[Mapping[str, Any]],
    rows: Sequence[Row],
    *,
    key: str,
    ticking: Mapping[str, Any],
    **calls: Callable[[], None],
) -> None:
    """Draw a table of runs, in which some can be ticked; those that are active keep up with their
    events.

    A column has the `id` of its cells, what words.toml says of it, and how the table is `sorted` by
    it: "ascending", "descending" or "". `ticking` says which runs are `ticked`, here or elsewhere,
    that at most so many can be, `most`, why no more can be, `full`, and the number of the last tick
    that was taken note of, `heard`. The `calls` `ticked`, `opened`, `sorted` and `changed` come
    before the next run of the page: for what `ticks` and `text_sent` say, and where a run has begun
    or ended, or is being cancelled.
    """
    data = {"label": "Runs", "columns": columns, "rows": [asdict(each) for each in rows]}
    data["following"] = files.address("runs.js") if follows() else ""
    mount("runs_table", key, data | {**ticking}, **calls)
    if not follows() and any(each.state for each in rows):
        st.caption(ONCE)


def ticks(key: str) -> tuple[int, list[str]]:
    """A number, higher for later ticks, and the ids ticked then; 0 for any other value."""
    match sent(key, "ticked"):
        case [int(number), *runs] if all(isinstance(run, str) for run in runs):
            return number, runs
    return 0, []
