"""Accuracies of runs that differ in one setting: those that have been recorded, and a way to train each."""

from html import escape

import numpy as np

from dpcore.papers import Paper
from dpcore.papers.paper import Line, Sweep
from dpcore.papers.records import Recorded, recorded
from dpcore.privacy.report.numbers import value_text
from dpcore.training.config import RunConfig
from dpcore.training.settings import SETTINGS
from pages.parts.papers.opening import link_of_run
from pages.parts.results.table import scrolling

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
