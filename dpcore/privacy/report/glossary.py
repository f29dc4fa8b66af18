"""The glossary: an entry of glossary.toml for each term on the pages and each kind of number."""

import re
from dataclasses import dataclass
from pathlib import Path

from dpcore.privacy import words_in

ARXIV = re.compile(r"arXiv[: ](\d{4}\.\d{4,5}(?:v\d+)?)")


@dataclass(frozen=True)
class Term:
    """A term, its meaning in a few sentences, their source, and the table heads it explains."""

    name: str
    meaning: str
    source: str
    heads: tuple[str, ...] = ()


GLOSSARY = {
    key: Term(each["name"], each["meaning"], each["source"], tuple(each.get("heads", ())))
    for key, each in words_in(Path(__file__).with_name("glossary.toml")).items()
}
OF_HEAD: dict[str, str] = {}  # table head -> term
for _name, _term in GLOSSARY.items():
    OF_HEAD |= dict.fromkeys(_term.heads, _name)


def help_on(*names: str) -> str:
    """The entries as Markdown, for the help of a control.

    >>> help_on("delta")[:64]
    '**Delta.** The probability that the promise of epsilon fails out'
    """
    return "\n\n".join([_entry(GLOSSARY[name]) for name in names])


def _entry(term: Term) -> str:
    text = f"**{term.name}.** {term.meaning}"
    if not term.source:
        return text
    return f"{text} *{linked(term.source)}*"


def linked(source: str) -> str:
    """The text as Markdown, with links for its arXiv numbers.

    >>> linked("Abadi et al. 2016, arXiv:1607.00133")
    'Abadi et al. 2016, [arXiv:1607.00133](https://arxiv.org/abs/1607.00133)'
    """
    return ARXIV.sub(r"[\g<0>](https://arxiv.org/abs/\1)", source)
