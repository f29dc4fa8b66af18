"""Tables of a paper: its numbers and ours with verdicts, and accuracies of grids."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from html import escape

import streamlit as st

from dpcore.figures.style import SIGNS
from dpcore.papers.comparison import Comparison, Outcome, compared
from dpcore.papers.entry import PrintedSetting, Trained
from dpcore.papers.paper import Grid, Paper
from dpcore.papers.records import Recorded, recorded
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.report.numbers import epochs_of, outward, plain, value_text
from dpcore.runs.expected import duration
from dpcore.training.defaults import described
from dpcore.training.settings import SETTINGS
from pages.parts.controls.widgets import several
from pages.parts.papers.opening import link_of_run, links
from pages.parts.results.exports import Rows
from pages.parts.results.odds import linked
from pages.parts.results.tables import place_of, table

PAPERS = "verdicts papers"  # the class of its tables
HEADS = ("Claimed", "Ours")
WAYS = "Open it in"
OPEN = 3  # numbers whose reasons are seen without a click
FOLDED = {  # the verdicts from the most telling one on, as words after a count
    Outcome.REFUTED: "refuted",
    Outcome.DIFFERS: "different, with reasons",
    Outcome.REPRODUCED: "reproduced",
    Outcome.UNTRAINED: "not trained yet",
}
_compared = lru_cache(maxsize=1024)(compared)  # once for all sessions


def numbers(paper: Paper) -> tuple[Comparison, ...]:
    """Compare every number of a paper with ours, including runs that were recorded meanwhile."""
    found = []
    for entry in paper.entries:
        compare = compared if isinstance(entry, Trained) else _compared
        found.append(compare(paper.id, entry))
    return tuple(found)


def chosen_outcomes(found: Sequence[Comparison]) -> tuple[str, ...]:
    """Draw the choice of verdicts, with how many numbers have each."""
    counts = Counter(each.outcome.value for each in found)
    return several(
        st,
        "Only numbers with these verdicts",
        [each.value for each in FOLDED],
        "verdict",
        (),
        lambda each: f"{SIGNS['outcome'][each][0]} {each} {counts[each]}",
        help_on("outcome"),
    )


def badge(outcome: Outcome) -> str:
    """Return a verdict as HTML: its mark and its word on its colour."""
    mark, color = SIGNS["outcome"][outcome]
    words = f"{mark}\N{NO-BREAK SPACE}<b>{outcome.value}</b>"
    return f'<span class=outcome style="--hue:{color}">{words}</span>'


def show_numbers(found: Sequence[Comparison], *, whole: bool) -> None:
    """Draw the most telling numbers with their reasons; the rest folded, unless `whole`."""
    if not found:
        st.info("No number of this paper has one of these verdicts.")
        return
    telling = most_telling(found)
    rest = [each for each in found if each not in telling]
    shown = [*telling, *rest] if whole else telling
    st.html(_numbers_table("Numbers", shown, len(telling)))
    if whole:
        return
    for outcome, words in FOLDED.items():
        some = [each for each in rest if each.outcome is outcome]
        if some:
            others = " more" if any(each.outcome is outcome for each in telling) else ""
            box = st.expander(f"{len(some)}{others} {words}", key=f"fold_{outcome.value}")
            box.html(_numbers_table(words.capitalize(), some, 0))


def most_telling(found: Sequence[Comparison]) -> list[Comparison]:
    """The few numbers to read first: refuted ones before those that differ, the worst first."""
    return sorted(found, key=_weight)[:OPEN]


def _weight(found: Comparison) -> tuple[int, float]:
    """The place of a verdict, and within it how far the printed number is off, as a ratio."""
    true = found.ours if found.lower is None or found.outcome is Outcome.DIFFERS else found.lower
    off = 0.0
    if true and true > 0 and found.entry.theirs > 0:
        off = abs(math.log(true / found.entry.theirs))
    return [*FOLDED].index(found.outcome), -off


def numbers_rows(found: Sequence[Comparison], link: str) -> Rows:
    """Return a row for each number: theirs and ours, with bounds, runs, verdict and link."""
    rows = []
    for each in found:
        record = each.record
        row = {
            "paper": each.paper,
            "place": each.entry.place,
            "quantity": each.entry.quantity,
            "theirs": each.entry.theirs,
            "ours": each.ours,
            "lower": each.lower,
            "spread": record and record.spread,
            "seeds": record and len(record.runs),
            "recorded": record and record.date,
            "verdict": each.outcome.value,
            "why": each.why,
            "link": link,
        }
        rows.append(row)
    return rows


def line_of(setting: PrintedSetting) -> str:
    """Return a setting in one line.

    >>> line_of(PrintedSetting(n=60_000, batch=256, sigma=1.1, epochs=60))
    'sigma 1.1, batch 256 of 60,000, 60 epochs, delta 1e-5'
    """
    parts = [
        f"sigma {plain(setting.sigma)}",
        f"batch {setting.batch:,} of {setting.n:,}",
        epochs_of(setting.epochs),
        f"delta {plain(setting.delta)}",
    ]
    if setting.schedule != "constant":
        parts.insert(1, f"{setting.schedule} noise")
    return ", ".join(parts)


def _numbers_table(name: str, found: Sequence[Comparison], opened: int) -> str:
    """A row for each number; the reasons of the first `opened` ones are seen without a click."""
    rows = []
    for place, each in enumerate(found):
        rows.append(_row(each, f"{place_of(name)}-{place}", opened=place < opened))
    heads = (name, *HEADS, "Verdict")
    return table(name, f"{PAPERS} numbers", heads, rows, HEADS, {"Verdict": "outcome"})


def _row(found: Comparison, own: str, *, opened: bool) -> list[str]:
    entry = found.entry
    reasons = []
    if entry.setting:
        reasons.append(f"{escape(line_of(entry.setting))}.")
    reasons.append(linked(found.why))
    ours = found.ours_text or "–"
    if found.outcome is Outcome.REFUTED:
        if abs((found.ours or 0.0) - entry.theirs) > entry.tolerance:
            reasons.append(f"Recomputed as printed: {escape(ours)}.")
        ours = f"≥ {found.lower_text}"
    ways = links(found)
    if ways:
        reasons.append(f"<span class=ways>{ways}</span>")
    number = _folded(f"{escape(entry.place)}: {escape(entry.quantity)}", reasons, opened=opened)
    cell = _recorded(escape(ours), found.record, own)
    return [number, escape(entry.printed), cell, badge(found.outcome)]


def _folded(name: str, reasons: Sequence[str], *, opened: bool) -> str:
    """The name of a row as HTML; pressed, it tells its reasons, if it has any."""
    text = " ".join(filter(None, reasons))
    if not text:
        return name
    look = " open" if opened else ""
    return f"<details{look}><summary>{name}</summary><small>{text}</small></details>"


def _recorded(text: str, record: Recorded | None, own: str) -> str:
    """Return a recorded result as HTML; pressed, it tells seeds, date, machine. `own` is its id."""
    if record is None:
        return text
    origin = f"Recorded on {record.date} on {record.where}."
    if record.epsilon is not None:
        origin += f" Epsilon ≤ {outward(record.epsilon, math.ceil)} (certified)."
    return (
        f'<span class=term><button popovertarget="{own}">{text}</button>'
        f'<span popover id="{own}"><b>{record.seeds}.</b> {escape(origin)}</span></span>'
    )


def values_table(paper: Paper, grid: Grid) -> str:
    """Return an HTML table with a row for each value of the setting, and a way to train it."""
    rows = []
    for place, (value, config) in enumerate(zip(grid.values, grid.curves[0].configs, strict=True)):
        text = value_text(value)
        accuracy = _accuracy(recorded(paper.id, config), f"sweep-{place}")
        rows.append([text, accuracy, link_of_run(config, f"{grid.title}, {text}")])
    heads = (SETTINGS[grid.setting].label, "Accuracy recorded here", WAYS)
    return table(grid.place, PAPERS, heads, rows)


def recipes_table(paper: Paper, grid: Grid) -> str:
    """Return an HTML table: a row for each recipe, a column for each epsilon."""
    heads = [*(f"ε = {plain(epsilon)}" for epsilon in grid.values), "without privacy"]
    rows = []
    for curve in grid.curves:
        cells = [escape(curve.recipe)]
        for head, config in zip(heads, [*curve.configs, curve.plain], strict=True):
            assert config
            way = link_of_run(config, f"{curve.recipe}, {head}") if config.private else ""
            cells.append(_cell(recorded(paper.id, config), way))
        rows.append(cells)
    return table(f"{grid.place}: accuracies", PAPERS, ("Test accuracy, %", *heads), rows)


def details_table(paper: Paper, grid: Grid) -> str:
    """Return an HTML table with a row for each recorded run: settings, accuracy, duration."""
    rows = []
    for place, (name, config) in enumerate(grid.runs):
        record = recorded(paper.id, config)
        if record is None:
            continue
        row = [
            f"{escape(name)}<br><small>{escape(described(config))}</small>",
            _accuracy(record, f"ladder-{place}"),
            escape(duration(record.seconds)),
            ", ".join(f"{run.score:.2f}" for run in record.runs),
        ]
        rows.append(row)
    heads = ("Recipe and settings", "Accuracy recorded here", "A run took", "Accuracy of each seed")
    return table(f"{grid.place}: runs", PAPERS, heads, rows)


def _cell(record: Recorded | None, way: str) -> str:
    if record is None:
        return f"– {way}".strip()
    return f"<b>{record.mean:.2f}</b>{_spread(record)}<br>{way}".removesuffix("<br>")


def _accuracy(record: Recorded | None, own: str) -> str:
    if record is None:
        return "not recorded yet"
    return _recorded(f"{record.mean:.2f} %{_spread(record)}", record, own)


def _spread(record: Recorded) -> str:
    return "" if record.spread is None else f" ± {record.spread:.2f}"
