"""Two finished runs that come with the app: a page without runs shows them as examples."""

from functools import cache
from pathlib import Path

import streamlit as st

from dpcore.privacy.accountants import CERTIFIED
from dpcore.runs.export.imported import read_run
from dpcore.runs.history import History, RunRecord
from dpcore.runs.record import body_of, row_of, run_of
from pages.parts.components.elements import runs_table
from pages.parts.results.costs import drawn_until_known, learn, spending_of
from pages.parts.runs.listing import WORDS, columns_of, ids_of, order_shown, row
from pages.parts.train.live import run_key
from pages.parts.train.run_charts import large_charts, run_figures

FILES = {"Example: private": "private.json", "Example: without privacy": "without_privacy.json"}
EXAMPLE = "This is an example. You can tick your own runs."


@cache
def examples() -> tuple[RunRecord, ...]:
    """The runs of the files, as if they were watched."""
    return tuple(_read(name, file) for name, file in FILES.items())


def _read(name: str, file: str) -> RunRecord:
    path = Path(__file__).parent / "examples" / file
    found = read_run(path.read_bytes())
    columns = {
        **row_of(path.stem, found.config, name, planned=found.plan),
        **found.columns,
        "name": name,
        "origin": None,
        "cancelling": False,
        "sequence": len(found.events),
        "body": body_of(found.events[-1]),
    }
    return RunRecord(run_of(columns), History(found.events), name)


def show_examples() -> None:
    """Draw the examples as the page draws runs."""
    st.markdown(WORDS["examples"])
    drawn_until_known("runs_examples_left", _table)
    run_figures(examples()[0], CERTIFIED)
    run_key(examples())
    large_charts(examples(), examples()[0], CERTIFIED, "epoch")


def _table() -> int:
    runs = [each.run for each in examples()]
    left = learn(filter(None, map(spending_of, runs)))
    ticking = {"ticked": ids_of(runs), "most": 0, "full": EXAMPLE, "heard": 0}
    rows = [row(run, None, "", starred=run.id == "private") for run in runs]
    columns = [each | {"sorts": False} for each in columns_of(runs, order_shown())]
    runs_table(columns, rows, key="runs_examples", ticking=ticking)
    return left
