"""Single numbers, each under its name, that keep up with the events of runs by themselves."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from pages.parts.components.served_component import charts_follow, mount


@dataclass(frozen=True)
class ByCount:
    """What is said after each of some numbers of steps; between two of them, what is said after the later one."""

    counts: tuple[int, ...]
    texts: tuple[str, ...]
    field: str = "step"  # of the event: what is counted


@dataclass(frozen=True)
class Reading:
    """A number as it stands when the page is drawn, and what of which run changes it."""

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
    texts: ByCount | None = None  # in place of a field


def live_figures(readings: Sequence[Reading], key: str) -> None:
    """Show the numbers in a row; where charts cannot follow, Streamlit shows them as they stand."""
    if charts_follow():
        mount("live_figures", key, {"readings": [asdict(each) for each in readings]})
        return
    row = st.container(horizontal=True, gap="large")
    for each in readings:
        row.metric(each.label, each.value, width="content")
