"""Accuracies of runs that differ in one setting: those that have been recorded, and a way to train each."""

from html import escape

import numpy as np

from dpcore.papers.paper import Ladder, Line, Paper, Sweep
from dpcore.papers.records import Recorded, recorded
from dpcore.privacy.report.numbers import plain, value_text
from dpcore.runs.expected import duration
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.settings import SETTINGS
from pages.parts.papers.opening import link_of_run
from pages.parts.results.tables import scrolling

ACCURACY = "test accuracy, %"


def value_of(sweep: Sweep, config: RunConfig) -> str:
    """What one run of a sweep has as the setting that changes."""
    return value_text(getattr(config, sweep.setting))


def recorded_lines(paper: Paper, sweep: Sweep) -> tuple[Line, ...]:
    """The mean accuracy against the setting, NaN where no run has been recorded; nothing where none has."""
    runs = [(getattr(config, sweep.setting), record) for config, record in _records(paper, sweep)]
    found = [(value, record.mean if record else np.nan) for value, record in runs if isinstance(value, int | float)]
    known = any(np.isfinite(mean) for _, mean in found)
    return (Line("Recorded here", *np.array(found, dtype=float).T),) if known else ()


def sweep_table(paper: Paper, sweep: Sweep) -> str:
    """An HTML table with a row for each value of the setting."""
    label = SETTINGS[sweep.setting].label
    heads = f"<th scope=col>{escape(label)}</th><th scope=col>Accuracy recorded here</th><th scope=col>Open it in</th>"
    rows = "".join(
        f"<tr><th scope=row>{value_of(sweep, config)}</th><td data-label=Accuracy>{said(record)}</td>"
        f'<td class=ways data-label="Open it in">{_way(sweep, config)}</td></tr>'
        for config, record in _records(paper, sweep)
    )
    table = f"<table class='verdicts papers'><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return scrolling(sweep.place, table)


def said(record: Recorded | None) -> str:
    """A recorded accuracy with its spread, where it was measured, and when."""
    if record is None:
        return "not recorded yet"
    spread = "" if record.spread is None else f" ± {record.spread:.2f}"
    seeds = f"{len(record.runs)} seeds" if len(record.runs) > 1 else "one seed"
    return f"{record.mean:.2f} %{spread} ({seeds}, {escape(record.where)}, {escape(record.date)})"


def _way(sweep: Sweep, config: RunConfig) -> str:
    return link_of_run(config, f"{sweep.title}, {value_of(sweep, config)}")


def _records(paper: Paper, sweep: Sweep) -> list[tuple[RunConfig, Recorded | None]]:
    return [(config, recorded(paper.id, config)) for config in sweep.configs]


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
