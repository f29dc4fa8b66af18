"""The fields of a claim: their texts, drawn and read."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit as st

from dpcore.claims.claim import ADJACENCIES, BATCHES, Claim, values_of
from dpcore.claims.values import read_value, written
from dpcore.privacy import words_in
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.selection.best_of import read_runs
from dpcore.runs.plain_text import escaped
from pages.parts.controls.url_state import page_text, write
from pages.parts.controls.widgets import best_of_field, choice_by_title, text_field

MAX_FIELD_CHARS = 40
UNSAID = "unsaid"
# Entries of the glossary with another name than the field.
HELP = {"epochs": "epoch", "sampler": "poisson"}
FIELDS = words_in(Path(__file__).with_name("fields.toml"))
BESIDE = 4  # fields in a row
LONG = 12  # characters of a number that a field shows whole
CHOICES = {"sampler": "Batches", "adjacency": "Adjacency", "accountant": "Counted by"}  # labels
RUNS = "runs"
NAMES = (*FIELDS, *CHOICES, RUNS)


def key_of(name: str) -> str:
    """The key of a field."""
    return f"claim_{name}"


def titles_of(name: str) -> Mapping[str, str]:
    """The options of a choice, with their titles."""
    if name == "sampler":
        return BATCHES
    if name == "adjacency":
        return ADJACENCIES
    return {accountant: each.title for accountant, each in ACCOUNTANTS.items()}


def label_of(name: str) -> str:
    """The label of a field.

    >>> label_of("sigma"), label_of("sampler"), label_of("runs")
    ('Sigma', 'Batches', 'Best of so many runs')
    """
    if name in CHOICES:
        return CHOICES[name]
    if name in FIELDS:
        return FIELDS[name]["label"]
    return "Best of so many runs"


def said_by_hand(by_hand: Sequence[str]) -> str:
    """A sentence that names the fields that were set by hand.

    >>> said_by_hand(("sigma", "delta"))
    'Set by hand: Sigma, Delta.'
    """
    return f"Set by hand: {', '.join(map(label_of, by_hand))}."


def faults_of(texts: Mapping[str, str]) -> dict[str, str]:
    """The fields whose texts are no values, each with what to write instead.

    >>> faults_of({"sigma": "abc", "delta": "1e-5"})
    {'sigma': 'Sigma: write a number above 0, for example 1.1.'}
    """
    found = {}
    for name, text in texts.items():
        try:
            claim_of({name: text})
        except ValueError as error:
            found[name] = str(error)
    return found


def draw_fields() -> None:
    """Draw all fields, each with what is wrong in it."""
    faults = faults_of(field_texts())
    names = list(FIELDS)
    for first in range(0, len(names), BESIDE):  # row by row, which keeps their order on a telephone
        beside = names[first : first + BESIDE]
        for column, name in zip(st.columns(BESIDE, gap="small"), beside, strict=False):
            help = help_on(HELP.get(name, name))
            text_field(column, label_of(name), key_of(name), MAX_FIELD_CHARS, help=help)
            _say_fault(column, name, faults)
    columns = st.columns(BESIDE, gap="small")
    for column, name in zip(columns, CHOICES, strict=False):
        titles = {UNSAID: "not said", **titles_of(name)}
        help = help_on(HELP.get(name, name))
        with column:
            choice_by_title(CHOICES[name], tuple(titles), key_of(name), titles.__getitem__, help)
    with columns[-1], suppress(ValueError):  # said below it
        best_of_field(key_of(RUNS))
    _say_fault(columns[-1], RUNS, faults)


def _say_fault(place: Any, name: str, faults: Mapping[str, str]) -> None:
    if name in faults:
        place.error(escaped(faults[name]), icon=":material/edit:")


def field_texts() -> dict[str, str]:
    """The texts of the fields in this run of the page; "" for one that says nothing."""
    texts = {name: page_text(key_of(name), "").strip() for name in NAMES}
    for name in CHOICES:
        if texts[name] not in titles_of(name):
            texts[name] = ""
    return texts


def texts_of(claim: Claim) -> dict[str, str]:
    """The texts of the fields that hold a claim; "" where a field cannot."""
    texts = dict.fromkeys(NAMES, "")
    for name, value in values_of(claim).items():
        text = text_of(value)
        if name in texts and (name not in CHOICES or text in titles_of(name)):
            texts[name] = text
    return texts


def text_of(value: object) -> str:
    """A value as a field shows it.

    >>> text_of(30.0), text_of(1e-5), text_of(1 / 1_281_167)
    ('30', '1e-5', '1/1281167')
    """
    text = written(value)
    if isinstance(value, float):
        text = text.removesuffix(".0").replace("e-0", "e-")
    return short_form(text)


def fill_in(texts: Mapping[str, str]) -> None:
    """Give fields these texts. In a callback, or before the fields are drawn."""
    fields = {}
    for name, text in texts.items():
        if not text and name in CHOICES:
            text = UNSAID
        fields[key_of(name)] = text
    write(fields)


def claim_of(texts: Mapping[str, str]) -> Claim:
    """The claim that texts of the fields say. Errors: ValueError says what to write instead.

    >>> claim_of({"sigma": "1.1", "delta": ""})
    Claim(epsilon=None, delta=None, q=None, batch=None, examples=None, sigma=1.1, epochs=None, \
steps=None, sampler=None, adjacency=None, accountant=None, runs=None, mechanism=None, beside=None)
    """
    values: dict[str, Any] = {}
    for name, text in texts.items():
        if not text.strip():
            continue
        if name in FIELDS:
            values[name] = _checked(name, text)
        elif name == RUNS:
            values[name] = read_runs(text)
        else:
            values[name] = text
    return Claim(**values)


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


def fits(name: str, text: str) -> bool:
    """True if a text is a value of a field.

    >>> fits("sigma", "1.1"), fits("steps", "1.1"), fits("sampler", "shuffle")
    (True, False, True)
    """
    if name in CHOICES:
        return text in titles_of(name)
    try:
        claim_of({name: text})
    except ValueError:
        return False
    return len(text) <= MAX_FIELD_CHARS


def short_form(text: str) -> str:
    """A long decimal as the fraction 1/n where that is the same number, else as it is.

    >>> short_form("7.805383685343129e-07"), short_form("1e-5"), short_form("0.0123456789012345")
    ('1/1281167', '1e-5', '0.0123456789012345')
    """
    if len(text) <= LONG or not re.fullmatch(r"[\d.e-]+", text):
        return text
    value = float(text)
    if not value:
        return text
    whole = round(1 / value)
    same_number = bool(whole) and 1 / whole == value
    return f"1/{whole}" if same_number else text
