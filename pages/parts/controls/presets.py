"""Settings from the papers and from popular tutorials, which stand in presets.toml."""

import tomllib
from pathlib import Path

import streamlit as st

from pages.parts.shell.streamlit_internals import uninterrupted

CUSTOM = "My own settings"
SHOWN = "n_shown"  # how many examples the data had when they were drawn last; 0: choose data that fit n
FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"), parse_float=str)
PRESETS = {  # the texts of the exact fields, and where the setting comes from
    title: FILE["usual"] | {name: str(value) for name, value in settings.items()} | {"source": each["source"]}
    for each in FILE["sources"]
    for title, settings in each["presets"].items()
}
FIGURES = FILE["figures"]  # of Bu et al. 2020: the preset that each shows, and how


@uninterrupted
def apply_figure(name: str) -> None:
    """Show what a figure of the paper shows."""
    figure = FIGURES[name]
    st.session_state["preset"] = figure["preset"]
    apply(figure["preset"])
    st.session_state.update(figure["shown"])


@uninterrupted
def apply(name: str) -> None:
    """Fill in the fields of a preset; the custom entry leaves them as they are."""
    if name not in PRESETS:
        return
    preset = PRESETS[name]
    st.session_state.update(sampling="batch", length="epochs")
    st.session_state[SHOWN] = 0
    for field in ("n", "batch", "sigma", "epochs", "delta", "clip_norm", "optimizer", "schedule", "dataset"):
        st.session_state[field] = preset[field]
    if preset["rate"]:
        st.session_state[f"rate_{preset['schedule']}"] = preset["rate"]


def current(values: dict[str, str], chosen: str) -> str:
    """The preset that the fields match, `chosen` before others that say the same, or the custom entry."""
    fits = lambda wanted: all(_same(values[key], wanted[key]) for key in values.keys() & wanted.keys())  # noqa: E731
    return next((name for name in (chosen, *PRESETS) if name in PRESETS and fits(PRESETS[name])), CUSTOM)


def _same(text: str, wanted: str) -> bool:
    try:
        return float(text) == float(wanted)
    except ValueError:
        return text == wanted
