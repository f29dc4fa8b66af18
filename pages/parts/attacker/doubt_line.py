"""The line of a network's doubts: known members and known outsiders as dots, and one digit."""

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

from dpcore.audit.attack_game import MEMBERS, Digit, Program, by_kind
from dpcore.figures.style import ATTACK_LOOK
from dpcore.privacy import words_in
from dpcore.privacy.report.numbers import percent

WORDS = words_in(Path(__file__).with_name("words.toml"))
DECADES = 5  # of the scale: from a doubt of 1 to one of 1 in 100,000
LEAST = 1e-4  # a smaller probability is written as less than it
GOLDEN = 0.618034  # multiples of it, without their whole parts, are spread evenly


def place(doubt: float) -> float:
    """The share of the line to the left of a doubt: each tenth of a doubt is one step to the right.

    >>> place(1.0), round(place(0.01), 6), place(1e-9), place(0.0)
    (0.0, 0.4, 1.0, 1.0)
    """
    if doubt >= 1:
        return 0.0
    if doubt <= 10**-DECADES:
        return 1.0
    return -math.log10(doubt) / DECADES


def in_words(decade: int) -> str:
    """The probability at a step of the scale, as so many of so many.

    >>> [in_words(decade) for decade in (0, 1, 4)]
    ['0 of 10', '9 of 10', '9,999 of 10,000']
    """
    if decade == 0:
        return "0 of 10"
    of = 10**decade
    return f"{of - 1:,} of {of:,}"


def confidence(doubt: float) -> str:
    """The probability that belongs to a doubt in percent, with the first digit that tells.

    >>> [confidence(doubt) for doubt in (0.7, 0.008, 1.2e-4, 0.9997, 0.99996)]
    ['30 %', '99.2 %', '99.99 %', '0.03 %', 'under 0.01 %']
    """
    sure = 1 - doubt
    if sure < LEAST:
        return f"under {percent(LEAST, 2)}"
    if doubt == 0:
        return "100 %"
    rarer = min(doubt, sure)
    places = max(0, -math.floor(math.log10(100 * rarer)))
    return percent(sure, places)


def doubt_line(
    title: str, model: str, known: Sequence[Digit], asked: Digit, program: Program | None
) -> str:
    """The picture as HTML: two rows of dots over the scale, each with a line at the digit.

    A program adds its bar, dashed.
    """
    inside, outside = by_kind(known)
    lines = _at(asked.doubt(model), "asked")
    if program:
        lines += _at(program.bar, "bar")
    rows = f"<p class='kind surer'>{WORDS['surer']}</p>"
    for kind, digits in (("members", inside), ("outsiders", outside)):
        name = WORDS[kind].format(trained=MEMBERS)
        rows += f"<p class=kind>{escape(name)}</p>"
        rows += f"<p class='dots {kind}'>{_dots(model, digits)}{lines}</p>"
    alt = _alt(title, model, (inside, outside), asked, program)
    return (
        f'<div class=doubts role=img aria-label="{escape(alt)}">{rows}'
        f"<p class=scale>{_scale()}</p></div>"
    )


def _scale() -> str:
    """The steps of the scale; the last one holds what is beyond it, too."""
    steps = ""
    for decade in range(DECADES + 1):
        count, of = in_words(decade).split(" ", 1)
        if decade == DECADES:
            count = WORDS["most"].format(count=count)
        steps += f'<span style="--share: {decade / DECADES}">{count}<br>{of}</span>'
    return steps


def _dots(model: str, digits: Sequence[Digit]) -> str:
    """The digits of one kind at different heights, so that none hides many."""
    dots = ""
    for k, doubt in enumerate(sorted(each.doubt(model) for each in digits)):
        height = k * GOLDEN % 1
        dots += f'<i style="--share: {place(doubt):.4f}; --rise: {height:.2f}"></i>'
    return dots


def _at(doubt: float, kind: str) -> str:
    """A line across a row of dots."""
    look = f"--share: {place(doubt):.4f}; --hue: {ATTACK_LOOK.color}"
    return f'<b class={kind} style="{look}"></b>'


def _alt(
    title: str,
    model: str,
    kinds: tuple[Sequence[Digit], Sequence[Digit]],
    asked: Digit,
    program: Program | None,
) -> str:
    """The picture for those who hear it: how many of each kind lie at the digit or beyond it."""
    doubt = asked.doubt(model)
    counts = []
    for digits in kinds:
        surer = sum(each.doubt(model) <= doubt for each in digits)
        counts.append(f"{surer} of {len(digits)}")
    said = WORDS["alt"].format(
        title=title, sure=confidence(doubt), members=counts[0], outsiders=counts[1]
    )
    if program:
        said += " " + WORDS["alt_bar"].format(sure=confidence(program.bar))
    return said
