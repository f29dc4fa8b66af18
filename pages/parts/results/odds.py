"""Words for a first visit: explained terms, marks, odds of an attack, what is not promised."""

import re
from collections.abc import Collection
from functools import lru_cache
from html import escape
from pathlib import Path
from urllib.parse import quote

import streamlit as st

from dpcore.figures.style import ATTACK_LOOK, GREY, SIGNS
from dpcore.privacy import words_in
from dpcore.privacy.report.attack_risk import EVEN_PRIOR, PEOPLE, Risks, of_hundred
from dpcore.privacy.report.glossary import ARXIV, GLOSSARY, OF_HEAD
from dpcore.privacy.report.numbers import IN_A_WORD, MARKS
from dpcore.privacy.report.statement import odds

WORD = re.compile(r"\[([^|\]]+)\|(\w+)\]")
WORDS = words_in(Path(__file__).with_name("words.toml"))
COLUMNS = 10
WIDE = 20  # columns of a low picture
PITCH, ROW = 10, 13  # units of the drawing between two people, and between two rows
HEAD, BODY = 3, 5  # widths of strokes
ABSENT = f"{GREY}60"
SAFE = " '/=:"  # in an address within double quotes
# While a reader points at it, hatching.js hatches the areas of all accountants with this mark.
UNSAFE = ' data-claims="" tabindex=0 role=button title="Hatched where one claims too much privacy"'
BEFORE = int(EVEN_PRIOR * PEOPLE)


def term(name: str, place: str, text: str = "", *, more: str = "") -> str:
    """A word with its explanation, as HTML; `place` tells this use of it from others on the page,
    and the explanation ends with `more`.

    The browser opens the explanation (the popover attribute): it needs no script, and no table cuts
    it off.

    >>> term("mu", "table").partition("mu</button>")[0]
    '<span class=term><button popovertarget="table-mu">'
    """
    entry = GLOSSARY[name]
    own = re.sub(r"\W+", "-", f"{place}-{text or entry.name}".lower())
    said = escape(f"{entry.meaning} {more}".strip())
    return (
        f'<span class=term><button popovertarget="{own}">{escape(text or entry.name)}</button>'
        f'<span popover id="{own}"><b>{escape(entry.name)}</b> {said} '
        f"<small>{linked(entry.source)}</small></span></span>"
    )


def head(text: str, place: str, own: str = "") -> str:
    """The head of a row or column as HTML, with an explanation if it, or `own`, is in the glossary.

    >>> head("Kind", "table") != "Kind", head("Gaussian DP", "table")
    (True, 'Gaussian DP')
    """
    name = OF_HEAD.get(own or text)
    return term(name, place, text) if name else escape(text)


def explained(text: str, place: str) -> str:
    """A text as HTML with explanations of the words in brackets, [word|entry of the glossary].

    >>> explained("a [grey band|band]", "here").partition("grey band</button>")[0]
    'a <span class=term><button popovertarget="here-grey-band">'
    """
    return WORD.sub(lambda found: term(found[2], place, found[1]), linked(text))


def sign(verdict: str, kind: str = "worth", said: str = "") -> str:
    """The mark of a verdict as HTML, in its colour.

    Screen readers skip it, since the words beside it say the same; without such words they read
    `said`.
    """
    mark, color = SIGNS[kind][verdict]
    words = f"<span class=unseen>{escape(said)}</span>" if said else ""
    return f'<b class=sign aria-hidden=true style="color:{color}">{mark}</b>{words}'


def legend() -> str:
    """The marks of numbers and of verdicts with their meaning, on two lines of HTML."""
    marks = ["Marks:"]
    for kind, word in IN_A_WORD.items():
        marks.append(f"<span><b>{MARKS[kind]}</b> {term(kind, 'legend', word)}</span>")
    verdicts = ["Verdicts:"]
    for name, word in WORDS["verdicts"].items():
        verdicts.append(f"<span>{sign(name)}{word}</span>")
    return f"<p class=legend>{' '.join(marks)}</p><p class=legend>{' '.join(verdicts)}</p>"


def signs_in_a_word(worths: Collection[str], *, hatched: bool) -> str:
    """The marks of these verdicts in a few words each, as a line of HTML below a chart; `hatched`
    if the chart has areas that the mark for claiming too much shows.
    """
    words = []
    for name, word in WORDS["signs"].items():
        if name in worths:
            pointed = UNSAFE if hatched and name == "claims_less" else ""
            words.append(f"<span{pointed}>{sign(name)}{word}</span>")
    return f"<p class=signs>{''.join(words)}</p>" if words else ""


def linked(text: str) -> str:
    """A text as HTML with links for arXiv numbers."""
    return ARXIV.sub(
        r'<a href="https://arxiv.org/abs/\1" target="_blank" rel="noopener">\g<0></a>', escape(text)
    )


def odds_icons(found: Risks) -> str:
    """The odds as HTML: a picture of a hundred people and a sentence."""
    after = of_hundred(found)
    guess = term("odds", "odds", "Was your example in the data?")
    most = f"up to {PEOPLE}" if found.empty or after == PEOPLE else f"at most {after}"
    sentence = (
        f"{guess} A coin is right for {_under(GREY, f'{BEFORE} of {PEOPLE}')} people. With the"
        f" model, the best attacker is right for {_under(ATTACK_LOOK[0], f'{most} of {PEOPLE}')}."
        f" {escape(odds(found))}"
    )
    return f"<figure class=odds>{_drawing(after)}<figcaption>{sentence}</figcaption></figure>"


def crowd(after: int) -> str:
    """The picture of a hundred people in a few long rows, as HTML."""
    return _drawing(after, WIDE)


def _under(color: str, text: str) -> str:
    """A strong text over a line of a colour, that of the people it speaks of."""
    return f"<b style='border-bottom: 3px solid {color}'>{text}</b>"


def not_promised() -> str:
    """The list of things that epsilon does not promise, as folded HTML."""
    items = "".join(
        f"<li><b>{escape(each['head'])}</b> {explained(each['text'], 'promise')}</li>"
        for each in WORDS["not_promised"]
    )
    return (
        "<details class=promise><summary>What this does not"
        f" promise</summary><ul>{items}</ul></details>"
    )


@lru_cache(maxsize=2 * PEOPLE)
def _drawing(after: int, columns: int = COLUMNS) -> str:
    """A hundred people in rows: by chance, added by the model, and the rest, who are faint.

    It is an image, since Streamlit removes SVG from HTML.
    """
    drawn = _people(GREY, 0, BEFORE, columns)
    drawn += _people(ATTACK_LOOK[0], BEFORE, after, columns)
    drawn += _people(ABSENT, max(after, BEFORE), PEOPLE, columns)
    size = f"0 0 {columns * PITCH} {PEOPLE // columns * ROW}"
    image = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='{size}'"
        f" stroke-linecap='round'>{drawn}</svg>"
    )
    alt = (
        f"{PEOPLE} people: {BEFORE} are guessed right by chance, at most {after} after seeing the"
        " model."
    )
    return f'<img class=people alt="{alt}" src="data:image/svg+xml,{quote(image, safe=SAFE)}">'


def _people(color: str, first: int, last: int, columns: int) -> str:
    """People as two strokes with round ends: a dot for the head, and a thicker one below it."""
    heads = ""
    bodies = ""
    for k in range(first, last):
        x = PITCH * (k % columns) + PITCH // 2
        y = ROW * (k // columns)
        heads += f"M{x} {y + 2}v0"
        bodies += f"M{x} {y + 7}v1"
    return (
        f"<g stroke='{color}'><path stroke-width='{HEAD}' d='{heads}'/>"
        f"<path stroke-width='{BODY}' d='{bodies}'/></g>"
    )


def on_screen(page: str) -> None:
    """Draw the sentence about the chart of a page."""
    st.html(f"<p class=on-screen>{explained(WORDS['on_screen'][page], 'screen')}</p>")


def visitor_line(found: Risks) -> None:
    """Draw the odds as x of 100, the legend of the marks, and the limits of the promise."""
    st.html(f"<div class=visitor>{odds_icons(found)}{legend()}{not_promised()}</div>")
