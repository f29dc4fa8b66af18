"""Tables of a paper: its numbers beside ours with their verdicts, and the accuracies of its sweeps
and ladders.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from html import escape

import streamlit as st

from dpcore.figures.style import SIGNS
from dpcore.papers.comparison import Comparison, Outcome, compared
from dpcore.papers.entry import PrintedSetting, Trained
from dpcore.papers.paper import Ladder, Paper, Sweep
from dpcore.papers.records import Recorded, recorded
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.report.numbers import epochs_of, outward, plain, value_text
from dpcore.runs.expected import duration
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.settings import SETTINGS
from pages.parts.controls.widgets import several
from pages.parts.papers.opening import link_of_run, links
from pages.parts.results.exports import Rows
from pages.parts.results.odds import linked
from pages.parts.results.tables import place_of, table

PAPERS = "verdicts papers"  # the class of its tables
HEADS = ("Theirs", "Ours")
OPEN = "Open it in"
UNTRAINED = "Not trained yet"
_compared = lru_cache(maxsize=1024)(compared)  # once for all sessions


def numbers(paper: Paper) -> tuple[Comparison, ...]:
    """Compare every number of a paper with ours, including runs that were recorded meanwhile."""
    return tuple(
        (compared if isinstance(each, Trained) else _compared)(paper.id, each)
        for each in paper.entries
    )


def chosen_outcomes() -> list[str]:
    """Draw the choice of verdicts; without a choice all are shown."""
    options = [each.value for each in Outcome]
    title = lambda each: f"{SIGNS['outcome'][each][0]} {each}"  # noqa: E731
    chosen = several(
        st, "Only numbers with these verdicts", options, "verdict", (), title, help_on("outcome")
    )
    return [*chosen] or options


def badge(outcome: Outcome) -> str:
    """Return a verdict as HTML: its mark and its word on its colour."""
    mark, color = SIGNS["outcome"][outcome]
    return (
        "<span class=outcome"
        f' style="--hue:{color}">{mark}\N{NO-BREAK SPACE}<b>{outcome.value}</b></span>'
    )


def score(found: Sequence[Comparison]) -> str:
    """Return as HTML how many of a paper's numbers have each verdict."""
    counts = Counter(each.outcome for each in found)
    parts = (
        f"<span class=kept>{badge(each)} {counts[each]}</span>" for each in Outcome if counts[each]
    )
    return f"<p class=promise>{' '.join(parts)}</p>"


def show_numbers(found: Sequence[Comparison]) -> None:
    """Draw a table of numbers, one of accuracies, and, folded, one of accuracies without a recorded
    run.
    """
    if not found:
        st.info("No number of this paper has one of these verdicts.")
    groups: dict[str, list[Comparison]] = {"Numbers": [], "Accuracies": [], UNTRAINED: []}
    for each in found:
        trained = UNTRAINED if each.outcome is Outcome.UNTRAINED else "Accuracies"
        groups[trained if isinstance(each.entry, Trained) else "Numbers"].append(each)
    untrained = groups.pop(UNTRAINED)
    for name, rows in groups.items():
        if rows:
            st.html(_numbers_table(name, rows))
    if untrained:
        with st.expander(f"{UNTRAINED} ({len(untrained)})", expanded=len(untrained) == len(found)):
            st.html(_numbers_table(UNTRAINED, untrained))


def numbers_rows(found: Sequence[Comparison], link: str) -> Rows:
    """Return a row for each number: paper, place, quantity, both numbers, their bounds and runs,
    verdict, link.
    """
    return [
        {"paper": each.paper, "place": each.entry.place, "quantity": each.entry.quantity, "theirs": each.entry.theirs,
         "ours": each.ours, "lower": each.lower, "spread": each.record and each.record.spread,
         "seeds": each.record and len(each.record.runs), "recorded": each.record and each.record.date,
         "verdict": each.outcome.value, "why": each.why, "link": link}
        for each in found
    ]  # fmt: skip


def line_of(setting: PrintedSetting) -> str:
    """Return a setting in one line.

    >>> line_of(PrintedSetting(n=60_000, batch=256, sigma=1.1, epochs=60))
    'sigma 1.1, batch 256 of 60,000, 60 epochs, delta 1e-5'
    """
    schedule = "" if setting.schedule == "constant" else f", {setting.schedule} noise"
    size = f"batch {setting.batch:,} of {setting.n:,}"
    return (
        f"sigma {plain(setting.sigma)}{schedule}, {size}, {epochs_of(setting.epochs)}, delta"
        f" {plain(setting.delta)}"
    )


def _numbers_table(name: str, found: Sequence[Comparison]) -> str:
    rows = (_row(each, f"{place_of(name)}-{row}") for row, each in enumerate(found))
    return table(
        name, f"{PAPERS} numbers", (name, *HEADS, "Verdict"), rows, HEADS, {"Verdict": "outcome"}
    )


def _row(found: Comparison, own: str) -> list[str]:
    entry, ways = found.entry, links(found)
    small = f"{escape(line_of(entry.setting))} " if entry.setting else ""
    small += f"<span class=ways>{ways}</span>" if ways else ""
    number = f"{escape(entry.place)}: {escape(entry.quantity)}<small>{small}</small>"
    ours = _recorded(escape(found.ours_text) or "–", found.record, own)
    return [number, escape(entry.printed), ours, f"{badge(found.outcome)} {linked(found.why)}"]


def _recorded(text: str, record: Recorded | None, own: str) -> str:
    """Return a recorded result as HTML that tells its seeds, date and machine when it is pressed;
    `own` is its id.
    """
    if record is None:
        return text
    spent = (
        ""
        if record.epsilon is None
        else f" Epsilon ≤ {outward(record.epsilon, math.ceil)} (certified)."
    )
    told = escape(f"Recorded on {record.date} on {record.where}.{spent}")
    return (
        f'<span class=term><button popovertarget="{own}">{text}</button>'
        f'<span popover id="{own}"><b>{record.seeds}.</b> {told}</span></span>'
    )


def value_of(sweep: Sweep, config: RunConfig) -> str:
    """Return the setting that changes, of one run of a sweep."""
    return value_text(getattr(config, sweep.setting))


def sweep_table(paper: Paper, sweep: Sweep) -> str:
    """Return an HTML table with a row for each value of the setting, and a way to train it."""
    rows = []
    for place, config in enumerate(sweep.configs):
        value, accuracy = (
            value_of(sweep, config),
            _accuracy(recorded(paper.id, config), f"sweep-{place}"),
        )
        rows.append([value, accuracy, link_of_run(config, f"{sweep.title}, {value}")])
    return table(
        sweep.place, PAPERS, (SETTINGS[sweep.setting].label, "Accuracy recorded here", OPEN), rows
    )


def ladder_table(paper: Paper, ladder: Ladder) -> str:
    """Return an HTML table with a row for each rung, the plainest first, and a column for each
    epsilon.
    """
    heads = [*(f"ε = {plain(epsilon)}" for epsilon in ladder.epsilons), "without privacy"]
    rows = [
        [escape(rung.name)]
        + [
            _cell(
                recorded(paper.id, config),
                link_of_run(config, f"{rung.name}, {head}") if config.private else "",
            )
            for head, config in zip(
                heads, (*(run for _, run in rung.configs), rung.plain), strict=True
            )
        ]
        for rung in ladder.rungs
    ]
    return table(f"{ladder.place}: accuracies", PAPERS, ("Test accuracy, %", *heads), rows)


def details_table(paper: Paper, ladder: Ladder) -> str:
    """Return an HTML table with a row for each recorded run: its settings, accuracy and duration."""
    rows = [
        (
            f"{escape(name)}<br><small>{escape(described(config))}</small>",
            _accuracy(record, f"ladder-{place}"),
            escape(duration(record.seconds)),
            ", ".join(f"{run.score:.2f}" for run in record.runs),
        )
        for place, (name, config) in enumerate(ladder.runs)
        if (record := recorded(paper.id, config))
    ]
    heads = ("Recipe and settings", "Accuracy recorded here", "A run took", "Accuracy of each seed")
    return table(f"{ladder.place}: runs", PAPERS, heads, rows)


def _cell(record: Recorded | None, way: str) -> str:
    if record is None:
        return f"– {way}".strip()
    return f"<b>{record.mean:.2f}</b>{_spread(record)}<br>{way}".removesuffix("<br>")


def _accuracy(record: Recorded | None, own: str) -> str:
    return (
        _recorded(f"{record.mean:.2f} %{_spread(record)}", record, own)
        if record
        else "not recorded yet"
    )


def _spread(record: Recorded) -> str:
    return "" if record.spread is None else f" ± {record.spread:.2f}"
