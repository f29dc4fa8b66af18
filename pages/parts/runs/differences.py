"""How the ticked runs were trained: the settings in which they differ, and where each of them comes from."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from dpcore.privacy.report.numbers import value_text
from dpcore.runs.in_words import name_of, when
from dpcore.runs.record import Run
from dpcore.training.config import RunConfig
from dpcore.training.settings import SETTINGS
from pages.parts.papers.opening import link_of_run
from pages.parts.results.tables import scrolling
from pages.parts.runs.choosing import Chosen
from pages.parts.train.run_labels import NAMES

ORIGINS = {
    "dpcore": "Version of this program", "python": "Python", "numpy": "NumPy", "torch": "PyTorch", "device": "Device",
    "machine": "Machine", "threads": "Threads", "data": "Fingerprint of the data", "imported": "Imported: it was",
}  # fmt: skip
OTHERS = "Of the ticked runs that are no training runs of this version, the settings are not compared."
SAME = "These runs have the same settings: only chance tells them apart."


def show_differences(chosen: Chosen) -> None:
    """Draw the settings that differ, and below each other where the runs come from."""
    runs = chosen.every
    st.subheader("Where their settings differ" if len(runs) > 1 else "Its settings", anchor=False)
    charted = chosen.charted
    rows = different([run.config for run in charted])
    if charted and rows:
        st.html(_table("Settings", charted, rows, _ways(charted)))
    elif len(charted) > 1:
        st.markdown(SAME)
        st.html(_ways_alone(charted))
    if chosen.others:
        st.markdown(OTHERS)
    st.subheader("Where they come from" if len(runs) > 1 else "Where it comes from", anchor=False)
    st.html(_table("Origin", runs, origins(runs)))


def different(configs: Sequence[RunConfig]) -> dict[str, list[str]]:
    """The settings in which the configurations differ, by their labels, or of one those that are not at a default.

    >>> different([RunConfig(), RunConfig(sigma=2.0)])
    {'Noise multiplier sigma': ['1.23', '2']}
    """
    if len(configs) == 1:
        names = [name for name in [*NAMES, "private"] if name in configs[0].chosen()]
    else:
        names = [name for name in [*NAMES, "private"] if len({getattr(each, name) for each in configs}) > 1]
    return {SETTINGS[name].label: [_written(name, each) for each in configs] for name in names}


def origins(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Of each run what is recorded of where and when it was trained."""
    known = [run.origin or {} for run in runs]
    names = list(dict.fromkeys(name for each in known for name in each if name in ORIGINS))
    rows = {"Id": [run.id for run in runs], "Asked for": [when(run.created) for run in runs]}
    rows |= {ORIGINS[name]: [str(each.get(name, "")) for each in known] for name in names}
    rows["Seed"] = [_seed(run) for run in runs]
    for title, values in (("Goes on with", [run.parent or "" for run in runs]),
                          ("Sweep", [run.sweep or "" for run in runs]),
                          ("Note", [run.note for run in runs])):  # fmt: skip
        if any(values):
            rows[title] = values
    return rows


def _seed(run: Run) -> str:
    seed = run.settings.get("seed")
    if seed is None and run.imported:
        return "secret: it stayed where the run was trained"
    return "secret: kept with the run, never shown" if seed is None else f"{seed}, which was chosen"


def _written(name: str, config: RunConfig) -> str:
    value, setting = getattr(config, name), SETTINGS[name]
    if not setting.is_used(config):
        return "–"
    return "secret" if value is None else value_text(value)


def _ways(runs: Sequence[Run]) -> list[str]:
    return [link_of_run(run.config, f"the settings of {name_of(run)}") for run in runs]


def _ways_alone(runs: Sequence[Run]) -> str:
    return " ".join(_ways(runs)[:1])


def _table(label: str, runs: Sequence[Run], rows: dict[str, list[str]], ways: Sequence[str] = ()) -> str:
    """A table with a column for each run; all texts stand in it as they are."""
    heads = "".join(f"<th scope=col>{escape(_cut(name_of(run)))}</th>" for run in runs)
    body = "".join(
        f"<tr><th scope=row>{escape(title)}</th>{''.join(f'<td>{escape(each)}</td>' for each in values)}</tr>"
        for title, values in rows.items()
    )
    if any(ways):
        body += f"<tr><th scope=row>Load these settings</th>{''.join(f'<td>{each}</td>' for each in ways)}</tr>"
    return scrolling(
        label, f"<table class=measured><thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cut(text: str, longest: int = 60) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
