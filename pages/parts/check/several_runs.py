"""Several runs of a text: a sentence on all, and a table in which a press opens one."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from dpcore.claims import ClaimVerdict
from dpcore.claims.reading import Run
from dpcore.claims.several import headline, label_of, row_of
from dpcore.privacy.report.html_table import html_table
from pages.parts.check.entered import Entered, open_run
from pages.parts.components.elements import mount, sent
from pages.parts.results.odds import sign

KEY = "claim_table"


def show_runs(entered: Entered, verdicts: Sequence[ClaimVerdict]) -> None:
    """Draw the sentence on all runs, and the table."""
    sentence = escape(headline(entered.runs, verdicts))
    st.html(f'<h2 class=part style="font-size:1.75rem">{sentence}</h2>')
    rows = []
    for number, (run, verdict) in enumerate(zip(entered.runs, verdicts, strict=True)):
        opened = str(number == entered.opened).lower()
        name = escape(name_of_run(run, number))
        button = f"<button type=button data-run={number} aria-pressed={opened}>{name}</button>"
        cells = row_of(run, verdict)
        word = f"{sign(verdict.standing, 'claim')} {cells['verdict'].capitalize()}"
        numbers = [*cells.values()][1:-1]  # between the name and the verdict
        rows.append([button, *map(escape, numbers), word])
    heads = [each.capitalize() for each in row_of(entered.runs[0], verdicts[0])]
    made = html_table(heads, rows, kind="verdicts claimed", numbers=heads[1:-1])
    mount("claim_runs", KEY, {"table": made, "label": "Runs of the text"}, opened=_opened)


def name_of_run(run: Run, number: int) -> str:
    """What tells a run from the others, at the beginning of a line.

    >>> from dpcore.claims import Claim
    >>> name_of_run(Run(Claim(), (), "model A"), 0), name_of_run(Run(Claim()), 1)
    ('model A', 'Run 2')
    """
    label = label_of(run, number)
    return label if run.label else label.capitalize()


def _opened() -> None:
    """Open the run whose row was pressed. As a callback; browsers can send any value."""
    number = sent(KEY, "opened")
    if isinstance(number, int):
        open_run(number)
