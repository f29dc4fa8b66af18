"""The numbers of a paper as a table: theirs, ours, and the verdict, with a way to open each setting elsewhere."""

import math
from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from dpcore.papers.comparison import Comparison
from dpcore.papers.entry import PrintedSetting, Trained
from dpcore.privacy.report.numbers import epochs_of, outward, plain
from pages.parts.papers.choices import sign
from pages.parts.papers.opening import links
from pages.parts.results.exports import Columns, csv_button
from pages.parts.results.odds import head, linked, term
from pages.parts.results.tables import scrolling

HEADS = ("Theirs", "Ours")
OPEN = "Open it in"
NONE = "No number of this paper has one of these verdicts."


def show_numbers(found: Sequence[Comparison]) -> None:
    """Draw what is accounted for and what is trained, each as a table, or say that there is nothing in them."""
    if not found:
        st.info(NONE)
    accuracies = [each for each in found if isinstance(each.entry, Trained)]
    numbers = [each for each in found if each not in accuracies]
    for name, rows in (("Numbers", numbers), ("Accuracies", accuracies)):
        if rows:
            st.subheader(f"Its {name.lower()}, and ours", anchor=False)
            st.html(numbers_table(name, rows))


def numbers_table(name: str, found: Sequence[Comparison]) -> str:
    """An HTML table of this name with a row for each number; on a narrow screen each row is a block."""
    opened = [links(each) for each in found]
    place = name.lower()
    heads = "<th scope=col>Where</th>"
    heads += "".join(f"<th scope=col class=number>{head(each, place)}</th>" for each in HEADS)
    heads += f"<th scope=col>{term('outcome', place, 'Verdict')}</th>"
    heads += f"<th scope=col>{OPEN}</th>" if any(opened) else ""
    rows = "".join(_row(each, ways, any(opened)) for each, ways in zip(found, opened, strict=True))
    table = f"<table class='verdicts papers'><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return scrolling(name, table)


def numbers_download(paper: str, found: Callable[[], Sequence[Comparison]], link: str) -> None:
    """A button for the numbers as tidy CSV."""
    csv_button(
        "Download the numbers (CSV)",
        lambda: numbers_columns(found(), link),
        f"paper-{paper}-numbers.csv",
        "download_numbers",
    )


def numbers_columns(found: Sequence[Comparison], link: str) -> Columns:
    """One row a number: paper, place, quantity, theirs, ours, lower, spread, seeds, date, verdict, why, link."""
    rows = [
        (each.paper, each.entry.place, each.entry.quantity, each.entry.theirs, each.ours, each.lower,
         each.record and each.record.spread, each.record and len(each.record.runs), each.record and each.record.date,
         each.outcome.value, each.why, link)
        for each in found
    ]  # fmt: skip
    names = ("paper", "place", "quantity", "theirs", "ours", "lower", "spread", "seeds", "recorded", "verdict", "why",
             "link")  # fmt: skip
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def told(setting: PrintedSetting) -> str:
    """A setting in one line.

    >>> told(PrintedSetting(n=60_000, batch=256, sigma=1.1, epochs=60))
    'sigma 1.1, batch 256 of 60,000, 60 epochs, delta 1e-5'
    """
    schedule = "" if setting.schedule == "constant" else f", {setting.schedule} noise"
    size = f"batch {setting.batch:,} of {setting.n:,}"
    return f"sigma {plain(setting.sigma)}{schedule}, {size}, {epochs_of(setting.epochs)}, delta {plain(setting.delta)}"


def recording(found: Comparison) -> str:
    """How an accuracy was recorded; "" where there is nothing to say."""
    record = found.record
    if record is None:
        return ""
    seeds = f"{len(record.runs)} seeds" if len(record.runs) > 1 else "one seed"
    spent = "" if record.epsilon is None else f", epsilon ≤ {outward(record.epsilon, math.ceil)} (certified)"
    return f"Recorded on {record.date}: {seeds} on {record.where}{spent}."


def _row(found: Comparison, ways: str, opened: bool) -> str:
    entry = found.entry
    small = f"<small>{escape(told(entry.setting))}</small>" if entry.setting else ""
    ours = escape(found.ours_text) or "–"
    texts = zip(HEADS, (escape(entry.printed), ours), strict=True)
    cells = "".join(f'<td class=number data-label="{head}">{text}</td>' for head, text in texts)
    why = " ".join(filter(None, (linked(found.why), escape(recording(found)))))
    last = f'<td class=ways data-label="{OPEN}">{ways}</td>' if opened else ""
    return (
        f"<tr><th scope=row>{escape(entry.place)}: {escape(entry.quantity)}{small}</th>{cells}"
        f"<td class=verdict>{sign(found.outcome)} <b>{found.outcome.value}</b> {why}</td>{last}</tr>"
    )
