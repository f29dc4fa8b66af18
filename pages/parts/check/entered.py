"""The entry of a claim: a pasted text fills the fields, and each field can be changed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from dpcore.claims.candidates import Found, read_value
from dpcore.claims.claim import ADJACENCIES, BATCHES, Claim, values_of
from dpcore.claims.reading import Read, read_claim, written
from dpcore.claims.vocabulary import REASONS
from dpcore.claims.worked import EXAMPLES, WorkedExample
from dpcore.privacy import words_in
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.report import glossary
from dpcore.privacy.report.glossary import help_on
from pages.parts.check.examples import name_of
from pages.parts.controls.url_state import by_the_reader, page_text, write
from pages.parts.controls.widgets import best_of_field, choice_by_title, text_field
from pages.parts.results.odds import linked
from pages.parts.shell.streamlit_internals import uninterrupted

TEXT = "claim_text"
MAX_FIELD_CHARS = 40
UNSAID = "unsaid"
# Entries of the glossary with another name than the field.
HELP = {"epochs": "epoch", "sampler": "poisson"}
FIELDS = words_in(Path(__file__).with_name("fields.toml"))
MAX_OFFERS = 6
BESIDE = 4  # fields in a row
LONG = 12  # characters of a number that a field shows whole
CHOICES = {"sampler": "Batches", "adjacency": "Adjacency", "accountant": "Counted by"}  # labels
PLACEHOLDER = (
    "We train for 15 epochs on 60,000 examples with batch size 256 and noise multiplier 1.1: (ε, δ)"
    " = (2.92, 1e-5)."
)
OUTSIDE = (
    "A text, an Opacus accountant's state as JSON, or a DpEvent of dp-accounting. Nothing in it is"
    " run."
)


def _titles_of(name: str) -> Mapping[str, str]:
    """The options of a choice, with their titles."""
    if name == "sampler":
        return BATCHES
    if name == "adjacency":
        return ADJACENCIES
    return {name: each.title for name, each in ACCOUNTANTS.items()}


@dataclass(frozen=True)
class Entered:
    """A claim, its places in a pasted text, and the problem if there is none."""

    claim: Claim
    read: Read | None = None
    text: str = ""
    problem: str = ""  # sentences; empty for a claim

    @property
    def empty(self) -> bool:
        """True before the first entry."""
        return self.claim == Claim() and not self.text.strip()


read_once = lru_cache(maxsize=64)(read_claim)


def pasted_text() -> str:
    """Draw the box for a text, wide, since pasting one is the usual way; the text."""
    text = page_text(TEXT, "")
    write({TEXT: text})
    st.text_area(
        "Paste the claim of a paper, a model card or a training log",
        key=TEXT,
        height=150,
        placeholder=PLACEHOLDER,
        help=OUTSIDE,
        persist_state="session",
        on_change=by_the_reader(TEXT, take_over),
    )
    st.button("Check it", key="check_it", type="primary")  # leaving the box sends the text
    return text


def entered_claim(text: str) -> Entered:
    """Draw the fields, folded until there is something in them; wrong values give a sentence."""
    pasted = bool(text.strip())
    asked = pasted or any(page_text(_key(name), "").strip() for name in FIELDS)
    label = "Edit what was read" if pasted else "Type it instead"
    place = st.container(key="claim_fields")
    try:
        with place, st.expander(label, expanded=asked):  # one with a key would stay as it was
            typed = _typed()
        if not pasted:
            return Entered(typed, None, text)
        read = read_once(text)
        return Entered(_whole(typed, read), read, text)
    except ValueError as error:
        return Entered(Claim(), None, text, str(error))


def _whole(typed: Claim, read: Read) -> Claim:
    """Add the releases of a record to the fields, unless these were changed and can hold them."""
    mechanism = read.claim.mechanism
    several = mechanism is not None and len(mechanism.releases) > 1  # no field can hold them
    unchanged = typed == replace(read.claim, mechanism=None)
    if several or unchanged:
        return replace(typed, mechanism=mechanism)
    return typed


@uninterrupted
def take_over() -> None:
    """Fill the fields from the text. As a callback; a text that is no claim empties them."""
    text = st.session_state[TEXT]
    if not text.strip():
        return
    try:
        claim = read_once(text).claim
    except ValueError:
        claim = Claim()
    fill_in(claim)


@uninterrupted
def fill_in(claim: Claim) -> None:
    """Replace the fields by a claim. As a callback."""
    values = values_of(claim)
    fields = {_key(name): values.get(name, UNSAID) for name in CHOICES}
    for name in (*FIELDS, "runs"):
        fields[_key(name)] = short_form(written(values[name])) if name in values else ""
    write(fields)


def short_form(text: str) -> str:
    """A long decimal as the fraction 1/n where that is the same number, else as it is.

    >>> short_form("7.805383685343129e-07"), short_form("1e-5"), short_form("0.0123456789012345")
    ('1/1281167', '1e-5', '0.0123456789012345')
    """
    if len(text) <= LONG or not re.fullmatch(r"[\d.e-]+", text):
        return text
    value = float(text)
    whole = round(1 / value) if value else 0
    return f"1/{whole}" if whole and 1 / whole == value else text


@uninterrupted
def _open(claim: Claim) -> None:
    write({TEXT: ""})
    fill_in(claim)


def show_offers(read: Read) -> None:
    """Draw a button for each value that was passed over and may be right."""
    offered: dict[tuple[str, str], str] = {}
    for each in read.passed:
        if _may_be_right(each):
            offered[each.field, written(each.value)] = each.why
    row = st.container(horizontal=True, gap="small")
    for (name, text), why in list(offered.items())[:MAX_OFFERS]:
        if name in CHOICES:
            title = f"{CHOICES[name]}: {_titles_of(name)[text]} instead"
        else:
            title = f"{FIELDS[name]['label']}: {text} instead"
        row.button(
            title,
            key=f"offer_{name}_{text}",
            on_click=write,
            args=({_key(name): text},),
            help=why,
        )


def _may_be_right(each: Found) -> bool:
    number = each.field in FIELDS and not isinstance(each.value, str)
    if each.field not in CHOICES and not number:
        return False
    return each.why != REASONS["earlier"] and not each.why.startswith("Expected ")


def _typed() -> Claim:
    """The claim of the fields; an empty field says nothing."""
    texts = {}
    names = list(FIELDS)
    for first in range(0, len(names), BESIDE):  # row by row, which keeps their order on a telephone
        beside = names[first : first + BESIDE]
        for column, name in zip(st.columns(BESIDE, gap="small"), beside, strict=False):
            help = help_on(HELP.get(name, name))
            label = FIELDS[name]["label"]
            texts[name] = text_field(column, label, _key(name), MAX_FIELD_CHARS, help=help)
    values: dict[str, Any] = {}
    columns = st.columns(BESIDE, gap="small")
    for column, name in zip(columns, CHOICES, strict=False):
        with column:
            chosen = _choice(name)
        if chosen != UNSAID:
            values[name] = chosen
    with columns[-1]:
        values["runs"] = best_of_field(_key("runs"))
    for name, text in texts.items():
        if text.strip():
            values[name] = _checked(name, text)
    return Claim(**values)


def _choice(name: str) -> str:
    titles = {UNSAID: "not said", **_titles_of(name)}
    help = help_on(HELP.get(name, name))
    return choice_by_title(CHOICES[name], tuple(titles), _key(name), titles.__getitem__, help)


def _checked(name: str, text: str) -> object:
    """The value of a field. Errors: ValueError says what to write instead."""
    try:
        value = read_value(name, text)
        Claim(**{name: value})
    except ValueError:
        sentence = f"{FIELDS[name]['label']}: write {FIELDS[name]['write']}."
        if "," in text:
            sentence += " Write a point before decimals, not a comma."
        raise ValueError(sentence) from None
    return value


def _key(name: str) -> str:
    return f"claim_{name}"


def show_examples() -> None:
    """Draw a button for each example, and their sources."""
    st.html("<h2 class=part>Published claims to try</h2>")
    row = st.container(horizontal=True, gap="small")
    items = []
    for each in EXAMPLES:
        where = _where(each)
        row.button(
            name_of(each),
            key=f"example_{each.name}",
            on_click=_open,
            args=(each.claim,),
            help=glossary.linked(where),
        )
        items.append(f"<li><b>{linked(name_of(each))}</b>: {linked(where)}</li>")
    with st.expander("Sources"):
        st.html(f"<ul class=remarks>{''.join(items)}</ul>")


def _where(example: WorkedExample) -> str:
    return f"{example.source}, {example.place}. {example.note}".strip()
