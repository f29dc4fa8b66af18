"""Settings from the papers and from popular tutorials, which stand in presets.toml."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from pages.parts.controls.url_state import write
from pages.parts.shell.streamlit_internals import uninterrupted

CUSTOM = "My own settings"
PRESET = "preset"  # in the session: the entry that the choice shows
PRESETS_DRAWN = "presets_drawn"  # counts its changes; each makes a new widget
# How many examples the data had when they were drawn last; 0: choose data that fit n.
SHOWN = "n_shown"
FILE = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"), parse_float=str
)
PRESETS: dict[str, dict[str, str]] = {}  # the texts of the exact fields, and the setting's source
for _each in FILE["sources"]:
    for _title, _settings in _each["presets"].items():
        _texts = {name: str(value) for name, value in _settings.items()}
        PRESETS[_title] = {**FILE["usual"], **_texts, "source": _each["source"]}
FIGURES = FILE["figures"]  # of Bu et al. 2020: the preset that each shows, and how
FIELDS = ("n", "batch", "sigma", "epochs", "delta", "clip_norm", "optimizer", "schedule")


def choose(name: str) -> None:
    """Let the choice of a preset show an entry, in a new widget.

    The entry follows from the fields. A browser that missed the change would send the old entry of
    an old widget, and Streamlit would take it for the reader's: it would be filled in over what was
    typed since.
    """
    st.session_state[PRESET] = name
    st.session_state[PRESETS_DRAWN] = st.session_state.get(PRESETS_DRAWN, 0) + 1


@uninterrupted
def apply_figure(name: str) -> None:
    """Show what a figure of the paper shows."""
    figure = FIGURES[name]
    apply(figure["preset"])
    write(figure["shown"])


@uninterrupted
def apply(name: str) -> None:
    """Fill in the fields of a preset; the custom entry leaves them as they are."""
    choose(name)
    if name not in PRESETS:
        return
    preset = PRESETS[name]
    st.session_state[SHOWN] = 0
    fields = {"sampling": "batch", "length": "epochs"}
    for field in (*FIELDS, "dataset"):
        fields[field] = preset[field]
    if preset["rate"]:
        fields[f"rate_{preset['schedule']}"] = preset["rate"]
    write(fields)


def current(texts: Mapping[str, str], chosen: str) -> str:
    """The preset that the fields match, `chosen` before others like it, or the custom entry."""
    for name in (chosen, *PRESETS):
        wanted = PRESETS.get(name)
        if wanted and all(_same(texts.get(key, ""), wanted[key]) for key in (*FIELDS, "rate")):
            return name
    return CUSTOM


def _same(text: str, wanted: str) -> bool:
    try:
        return float(text) == float(wanted)
    except ValueError:
        return text == wanted
