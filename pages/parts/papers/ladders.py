"""Ladders of recipes: what has been recorded of each rung at each epsilon, and a way to train it again."""

from html import escape

import numpy as np

from dpcore.papers import Paper
from dpcore.papers.ladder import Ladder
from dpcore.papers.paper import Line
from dpcore.papers.records import Recorded, recorded
from dpcore.privacy.report.numbers import plain
from dpcore.runs.expected import duration
from dpcore.training.config import RunConfig
from dpcore.training.described import described
from pages.parts.papers.opening import link_of_run
from pages.parts.papers.sweeps import said
from pages.parts.results.table import scrolling

WITHOUT = "without privacy"
DETAILS = ("Recipe and settings", "Accuracy recorded here", "A run took", "Accuracy of each seed")


def ladder_lines(paper: Paper, ladder: Ladder) -> tuple[Line, ...]:
    """The mean accuracy of each rung against epsilon, NaN where no run has been recorded; rungs without any left out.

    The best comes first.
    """
    found = []
    for rung in reversed(ladder.rungs):
        records = [recorded(paper.id, config) for _, config in rung.configs]
        if any(records):
            means = np.array([record.mean if record else np.nan for record in records])
            found.append(Line(rung.name, np.array(ladder.epsilons), means))
    return tuple(found)


def ladder_table(paper: Paper, ladder: Ladder) -> str:
    """An HTML table with a row for each rung, the plainest first, and a column for each epsilon."""
    heads = [*(f"ε = {plain(epsilon)}" for epsilon in ladder.epsilons), WITHOUT]
    rows = "".join(
        f"<tr><th scope=row>{escape(rung.name)}</th>"
        + "".join(
            f'<td data-label="{head}">{_cell(paper, config, f"{rung.name}, {head}")}</td>'
            for head, config in zip(heads, (*(run for _, run in rung.configs), rung.plain), strict=True)
        )
        + "</tr>"
        for rung in ladder.rungs
    )
    return _table(f"{ladder.place}: accuracies", ("Test accuracy, %", *heads), rows)


def details_table(paper: Paper, ladder: Ladder) -> str:
    """An HTML table with a row for each run that has been recorded: its settings, where, when and how long."""
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}<br><small>{escape(described(config))}</small></th>"
        + "".join(
            f'<td data-label="{head}">{cell}</td>' for head, cell in zip(DETAILS[1:], _details(record), strict=True)
        )
        + "</tr>"
        for name, config in ladder.runs
        if (record := recorded(paper.id, config))
    )
    return _table(f"{ladder.place}: runs", DETAILS, rows)


def _table(name: str, heads: tuple[str, ...], rows: str) -> str:
    row = "".join(f"<th scope=col>{each}</th>" for each in heads)
    table = f"<table class='verdicts papers'><thead><tr>{row}</tr></thead><tbody>{rows}</tbody></table>"
    return scrolling(name, table)


def _cell(paper: Paper, config: RunConfig, what: str) -> str:
    record, way = recorded(paper.id, config), link_of_run(config, what) if config.private else ""
    if record is None:
        return f"– {way}".strip()
    spread = "" if record.spread is None else f" ± {record.spread:.2f}"
    return f"<b>{record.mean:.2f}</b>{spread}<br>{way}".removesuffix("<br>")


def _details(record: Recorded) -> tuple[str, str, str]:
    seeds = ", ".join(f"{run.score:.2f}" for run in record.runs)
    return said(record), escape(duration(record.seconds)), seeds
