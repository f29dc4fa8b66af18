"""Lesson 0 as HTML: its cards, with their numbers from the table."""

import re
from collections.abc import Sequence
from html import escape
from types import SimpleNamespace

from dpcore.labfile.codes import text_of, value_of
from dpcore.labfile.learnt import Learnt
from dpcore.labfile.row import CODES, COUNTS
from dpcore.labfile.stops import Stop
from dpcore.labfile.table import Table
from dpcore.lessons import SIXTY_SECONDS
from dpcore.privacy import words_in
from dpcore.privacy.mechanism import Kind
from dpcore.privacy.report.attack_risk import PEOPLE
from dpcore.privacy.report.numbers import MARKS
from dpcore.privacy.report.ruler import range_of

COST = "train"  # the control of the card on what privacy costs, which the file has not
MARKDOWN = (  # in this order
    (re.compile(r"\[([^\]]+)\]\((https://[^)\s]+)\)"), r'<a href="\2" rel="noopener">\1</a>'),
    (re.compile(r"\*\*([^*]+)\*\*"), r"<b>\1</b>"),
    (re.compile(r"\*([^*]+)\*"), r"<em>\1</em>"),
)


def lesson_of(table: Table, start: Stop, records: Sequence[Learnt], words: dict[str, str]) -> str:
    """The section with the cards; "" for a table without the stops of their scenes."""
    lesson = words_in(SIXTY_SECONDS)
    sigmas = {name: float(scene["sigma"]) for name, scene in lesson["scenes"].items()}
    if not set(sigmas.values()) <= set(table.stops.sigma):
        return ""
    scenes = {}
    for name, sigma in sigmas.items():
        scenes[name] = _numbers(table, start._replace(sigma=sigma))
    cards = []
    for step in lesson["steps"]:
        numbers = scenes[step["scene"]]
        text = step["text"]
        if COST in step["points"]:
            text = _cost(numbers.upper, records, words)
        filled = text.format(**vars(numbers), **scenes)
        button = words["show"].format(sigma=f"{numbers.sigma:g}")
        cards.append(
            f"<li><h3>{escape(step['head'])}</h3><p>{in_html(filled)}</p>"
            f'<button type="button" data-sigma="{numbers.sigma:g}">{button}</button></li>'
        )
    title = escape(lesson["title"])
    return f'<section id="lesson"><h2>{title}</h2><ol class="cards">{"".join(cards)}</ol></section>'


def in_html(markdown: str) -> str:
    """A sentence of Markdown as HTML: links, strong and emphasised words.

    >>> in_html("*one* **two** <3>")
    '<em>one</em> <b>two</b> &lt;3&gt;'
    """
    text = escape(markdown, quote=False)
    for pattern, tag in MARKDOWN:
        text = pattern.sub(tag, text)
    return text


def _numbers(table: Table, stop: Stop) -> SimpleNamespace:
    """The numbers of a scene, by the names that the cards have for them."""
    numbers = dict(zip((*CODES, *COUNTS), table.numbers(stop), strict=False))
    upper = numbers["upper"]
    text = table.apart_at(stop).get("upper") or text_of(upper, bound=True)
    return SimpleNamespace(
        examples=table.n,
        sigma=stop.sigma,
        people=f"**{numbers['people']} of {PEOPLE}**",
        cost=f"**{MARKS[Kind.CERTIFIED]} {text}**",
        upper=upper,
        tier=range_of(value_of(upper)).name,
    )


def _cost(upper: int, records: Sequence[Learnt], words: dict[str, str]) -> str:
    """What privacy costs: the most that was recorded with at most an epsilon, given as its code."""
    kept = [each for each in records if each.code <= upper]
    if not kept:
        return words["cost"]
    right = words["right"].format(right=kept[-1].right)
    return f"{words['cost']} {right} {kept[-1].sentence}"
