"""The tables of a paper: its numbers beside ours with their verdicts, and the accuracies of its sweeps and ladders."""

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import streamlit as st

from dpcore.papers.comparison import Comparison
from dpcore.papers.entry import PrintedSetting, Trained
from dpcore.papers.paper import Ladder, Paper, Sweep
from dpcore.papers.records import Recorded, recorded
from dpcore.privacy.report.numbers import epochs_of, outward, plain, value_text
from dpcore.runs.expected import duration
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.settings import SETTINGS
from pages.parts.papers.choices import sign
from pages.parts.papers.opening import link_of_run, links
from pages.parts.results.exports import Columns, csv_button
from pages.parts.results.odds import head, linked, term
from pages.parts.results.tables import scrolling

HEADS = ("Theirs", "Ours")
OPEN = "Open it in"
NONE = "No number of this paper has one of these verdicts."
WITHOUT = "without privacy"
DETAILS = ("Recipe and settings", "Accuracy recorded here", "A run took", "Accuracy of each seed")


def table(name: str, heads: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "papers") -> str:
    """An HTML table of HTML texts; the first of a row is its head, and on a narrow screen the others name theirs."""
    body = "".join(
        f"<tr><th scope=row>{first}</th>"
        + "".join(f'<td data-label="{label}">{cell}</td>' for label, cell in zip(heads[1:], rest, strict=True))
        + "</tr>"
        for first, *rest in rows
    )
    return _framed(name, "".join(f"<th scope=col>{each}</th>" for each in heads), body, kind)


def _framed(name: str, heads: str, rows: str, kind: str = "papers") -> str:
    return scrolling(
        name, f"<table class='verdicts {kind}'><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def columns_of(names: Sequence[str], rows: Sequence[Sequence[Any]], link: str) -> Columns:
    """Rows as columns by these names, with the link in a last one."""
    return {name: [row[place] for row in rows] for place, name in enumerate(names)} | {"link": link}


def show_numbers(found: Sequence[Comparison]) -> None:
    """Draw what is accounted for and what is trained, each as a table, or say that there is nothing in them."""
    if not found:
        st.info(NONE)
    accuracies = [each for each in found if isinstance(each.entry, Trained)]
    numbers = [each for each in found if each not in accuracies]
    for name, rows in (("Numbers", numbers), ("Accuracies", accuracies)):
        if rows:
            st.subheader(f"Its {name.lower()}, and ours", anchor=False)
            st.html(_numbers_table(name, rows))


def numbers_download(paper: str, found: Callable[[], Sequence[Comparison]], link: str) -> None:
    """A button for the numbers as tidy CSV."""
    columns = lambda: numbers_columns(found(), link)  # noqa: E731
    csv_button("Download the numbers (CSV)", columns, f"paper-{paper}-numbers.csv", "download_numbers")


def numbers_columns(found: Sequence[Comparison], link: str) -> Columns:
    """One row a number: paper, place, quantity, theirs, ours, lower, spread, seeds, date, verdict, why, link."""
    rows = [
        (each.paper, each.entry.place, each.entry.quantity, each.entry.theirs, each.ours, each.lower,
         each.record and each.record.spread, each.record and len(each.record.runs), each.record and each.record.date,
         each.outcome.value, each.why)
        for each in found
    ]  # fmt: skip
    names = "paper place quantity theirs ours lower spread seeds recorded verdict why"
    return columns_of(names.split(), rows, link)


def line_of(setting: PrintedSetting) -> str:
    """A setting in one line.

    >>> line_of(PrintedSetting(n=60_000, batch=256, sigma=1.1, epochs=60))
    'sigma 1.1, batch 256 of 60,000, 60 epochs, delta 1e-5'
    """
    schedule = "" if setting.schedule == "constant" else f", {setting.schedule} noise"
    size = f"batch {setting.batch:,} of {setting.n:,}"
    return f"sigma {plain(setting.sigma)}{schedule}, {size}, {epochs_of(setting.epochs)}, delta {plain(setting.delta)}"


def _numbers_table(name: str, found: Sequence[Comparison]) -> str:
    """A row for each number; on a narrow screen each row is a block."""
    opened = [links(each) for each in found]
    place = name.lower()
    heads = "<th scope=col>Where</th>"
    heads += "".join(f"<th scope=col class=number>{head(each, place)}</th>" for each in HEADS)
    heads += f"<th scope=col>{term('outcome', place, 'Verdict')}</th>"
    heads += f"<th scope=col>{OPEN}</th>" if any(opened) else ""
    return _framed(
        name, heads, "".join(_row(each, ways, any(opened)) for each, ways in zip(found, opened, strict=True))
    )


def _row(found: Comparison, ways: str, opened: bool) -> str:
    entry, record = found.entry, found.record
    small = f"<small>{escape(line_of(entry.setting))}</small>" if entry.setting else ""
    texts = zip(HEADS, (escape(entry.printed), escape(found.ours_text) or "–"), strict=True)
    cells = "".join(f'<td class=number data-label="{head}">{text}</td>' for head, text in texts)
    recording = ""
    if record:
        spent = "" if record.epsilon is None else f", epsilon ≤ {outward(record.epsilon, math.ceil)} (certified)"
        recording = escape(f"Recorded on {record.date}: {_seeds(record)} on {record.where}{spent}.")
    why = " ".join(filter(None, (linked(found.why), recording)))
    last = f'<td class=ways data-label="{OPEN}">{ways}</td>' if opened else ""
    return (
        f"<tr><th scope=row>{escape(entry.place)}: {escape(entry.quantity)}{small}</th>{cells}"
        f"<td class=verdict>{sign(found.outcome)} <b>{found.outcome.value}</b> {why}</td>{last}</tr>"
    )


def value_of(sweep: Sweep, config: RunConfig) -> str:
    """The setting that changes, of one run of a sweep."""
    return value_text(getattr(config, sweep.setting))


def sweep_table(paper: Paper, sweep: Sweep) -> str:
    """An HTML table with a row for each value of the setting, and a way to train it."""
    rows = ""
    for config in sweep.configs:
        value, accuracy = value_of(sweep, config), _accuracy(recorded(paper.id, config))
        way = link_of_run(config, f"{sweep.title}, {value}")
        rows += f"<tr><th scope=row>{value}</th><td data-label=Accuracy>{accuracy}</td>"
        rows += f'<td class=ways data-label="{OPEN}">{way}</td></tr>'
    label = escape(SETTINGS[sweep.setting].label)
    heads = "".join(f"<th scope=col>{each}</th>" for each in (label, "Accuracy recorded here", OPEN))
    return _framed(sweep.place, heads, rows)


def ladder_table(paper: Paper, ladder: Ladder) -> str:
    """An HTML table with a row for each rung, the plainest first, and a column for each epsilon."""
    heads = [*(f"ε = {plain(epsilon)}" for epsilon in ladder.epsilons), WITHOUT]
    rows = [
        [escape(rung.name)]
        + [
            _cell(recorded(paper.id, config), link_of_run(config, f"{rung.name}, {head}") if config.private else "")
            for head, config in zip(heads, (*(run for _, run in rung.configs), rung.plain), strict=True)
        ]
        for rung in ladder.rungs
    ]
    return table(f"{ladder.place}: accuracies", ("Test accuracy, %", *heads), rows)


def details_table(paper: Paper, ladder: Ladder) -> str:
    """An HTML table with a row for each run that has been recorded: its settings, where, when and how long."""
    rows = [
        (
            f"{escape(name)}<br><small>{escape(described(config))}</small>",
            _accuracy(record),
            escape(duration(record.seconds)),
            ", ".join(f"{run.score:.2f}" for run in record.runs),
        )
        for name, config in ladder.runs
        if (record := recorded(paper.id, config))
    ]
    return table(f"{ladder.place}: runs", DETAILS, rows)


def _cell(record: Recorded | None, way: str) -> str:
    if record is None:
        return f"– {way}".strip()
    return f"<b>{record.mean:.2f}</b>{_spread(record)}<br>{way}".removesuffix("<br>")


def _accuracy(record: Recorded | None) -> str:
    """A recorded accuracy with its spread, where it was measured, and when."""
    if record is None:
        return "not recorded yet"
    where = f"{escape(record.where)}, {escape(record.date)}"
    return f"{record.mean:.2f} %{_spread(record)} ({_seeds(record)}, {where})"


def _spread(record: Recorded) -> str:
    return "" if record.spread is None else f" ± {record.spread:.2f}"


def _seeds(record: Recorded) -> str:
    return "one seed" if len(record.runs) == 1 else record.seeds
