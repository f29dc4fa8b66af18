"""The words of the glossary where they stand: a button that opens what it means, by pointer, keyboard or touch."""

import re
from html import escape

from dpcore.privacy.report.glossary import ARXIV, GLOSSARY, OF_HEAD
from dpcore.privacy.report.numbers import IN_A_WORD, MARKS

WORD = re.compile(r"\[([^|\]]+)\|(\w+)\]")


def term(name: str, place: str, text: str = "") -> str:
    """A word as HTML that explains itself; `place` tells this use of it from the others on the page.

    The browser opens the explanation by itself (the popover attribute), so that it needs no script, closes with Escape,
    and is never cut off by a table that scrolls.

    >>> term("mu", "table").startswith('<span class=term><button popovertarget="table-mu">mu</button>')
    True
    """
    entry = GLOSSARY[name]
    own = re.sub(r"\W+", "-", f"{place}-{text or entry.name}".lower())
    return (
        f'<span class=term><button popovertarget="{own}">{escape(text or entry.name)}</button>'
        f'<span popover id="{own}"><b>{escape(entry.name)}</b> {escape(entry.meaning)} '
        f"<small>{linked(entry.source)}</small></span></span>"
    )


def head(text: str, place: str, own: str = "") -> str:
    """The head of a table's row or column as HTML: it explains itself where it, or `own` of it, is in the glossary.

    >>> head("Kind", "table") != "Kind", head("Gaussian DP", "table")
    (True, 'Gaussian DP')
    """
    name = OF_HEAD.get(own or text)
    return term(name, place, text) if name else escape(text)


def explained(text: str, place: str) -> str:
    """A text as HTML whose words in brackets, [word|entry of the glossary], explain themselves.

    >>> explained("a [grey band|band]", "here").startswith('a <span class=term><button popovertarget="here-grey-band">')
    True
    """
    return WORD.sub(lambda found: term(found[2], place, found[1]), linked(text))


def legend(place: str) -> str:
    """The marks before numbers, and what they mean, on one line of HTML."""
    parts = (f"<span><b>{MARKS[kind]}</b> {term(kind, place, word)}</span>" for kind, word in IN_A_WORD.items())
    return f"<p class=legend><span class=legend-head>Marks:</span> {' '.join(parts)}</p>"


def linked(text: str) -> str:
    """A text as HTML, its arXiv numbers as links."""
    return ARXIV.sub(r'<a href="https://arxiv.org/abs/\1" target="_blank" rel="noopener">\g<0></a>', escape(text))
