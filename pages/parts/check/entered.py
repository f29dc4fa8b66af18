"""The entry of a claim: a pasted text has runs, one of which fills the fields; each can be changed.

A field that differs from the text is set by hand. What was set for a run is kept while another one
is open.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import streamlit as st

from dpcore.claims.claim import Claim
from dpcore.claims.reading import Read, Run, read
from dpcore.claims.worked import EXAMPLES, WorkedExample
from dpcore.privacy.report import glossary
from pages.parts.check.claim_fields import (
    NAMES,
    claim_of,
    draw_fields,
    faults_of,
    field_texts,
    fill_in,
    fits,
    said_by_hand,
    texts_of,
)
from pages.parts.check.examples import name_of
from pages.parts.controls.url_state import by_the_reader, look_again, page_text, write
from pages.parts.results.odds import linked
from pages.parts.shell.streamlit_internals import uninterrupted

TEXT = "claim_text"
# In the session. The number of the open run of the text, from 0:
OPENED = "claim_opened"
# Number of a run -> the texts of its fields that a person has set, while another run is open.
SET = "claim_set"
# Number of a run -> field -> the place in the text that it was filled from by a click.
PLACES = "claim_places"
PLACEHOLDER = (
    "We train for 15 epochs on 60,000 examples with batch size 256 and noise multiplier 1.1: (ε, δ)"
    " = (2.92, 1e-5)."
)
OUTSIDE = (
    "A text or a table, an Opacus accountant's state, or a DpEvent of dp-accounting. Nothing in it"
    " is run. Several runs in one text are judged one by one."
)

read_once = lru_cache(maxsize=64)(read)


@dataclass(frozen=True)
class Entered:
    """A claim, its places in a pasted text, and the problem if there is none."""

    claim: Claim
    read: Read | None = None
    text: str = ""
    problem: str = ""  # sentences; empty for a claim
    opened: int = 0  # the run of the text that the fields hold
    by_hand: tuple[str, ...] = ()  # fields that differ from the text
    left_out: tuple[str, ...] = ()  # fields without a text, whose texts are no values

    @property
    def empty(self) -> bool:
        """True before the first entry."""
        return self.claim == Claim() and not self.text.strip()

    @property
    def says_nothing(self) -> bool:
        """True for a text of which nothing was taken, with nothing in the fields."""
        return self.read is not None and self.claim == Claim() and len(self.read.runs) == 1

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of the text."""
        return self.read.runs if self.read else ()

    def claims(self) -> list[Claim]:
        """The claims of all runs with what was set by hand; that of the open one as it was read
        while a field holds no value.
        """
        found = []
        for number, run in enumerate(self.runs):
            if number != self.opened:
                found.append(_with(run, set_of(number)))
            elif self.problem:
                found.append(run.claim)
            else:
                found.append(self.claim)
        return found

    @property
    def told(self) -> frozenset[str]:
        """The facts of a claim that the words of the text state."""
        if self.read is None:
            return frozenset()
        return self.runs[self.opened].told


def set_of(number: int) -> dict[str, str]:
    """The texts of the fields that a person has set for a run that is not open."""
    return st.session_state.get(SET, {}).get(number, {})


def places_of(number: int) -> dict[str, int]:
    """The places from which a click has filled fields of a run."""
    return st.session_state.setdefault(PLACES, {}).setdefault(number, {})


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
    found: Read | None = None
    try:
        if pasted:
            found = read_once(text)
    except ValueError as error:  # there is nothing to edit
        return Entered(Claim(), None, text, str(error))
    typed = any(page_text(f"claim_{name}", "").strip() for name in NAMES)
    label = "Edit what was read" if pasted else "Type it instead"
    place = st.container(key="claim_fields")
    with place:
        # One with a key would stay as it was.
        box = st.expander(label, expanded=pasted or typed)
    opened = 0
    by_hand: dict[str, str] = {}
    if found is not None:
        opened = opened_of(found)
        by_hand = changed(found.runs[opened])
    try:
        with box:
            draw_fields()
            if by_hand and found is not None:
                _show_by_hand(tuple(by_hand), found, opened)
        if found is not None:
            claim = _with(found.runs[opened], by_hand)
        else:
            return _typed()
    except ValueError as error:
        return Entered(Claim(), found, text, str(error), opened, tuple(by_hand))
    return Entered(claim, found, text, "", opened, tuple(by_hand))


def _typed() -> Entered:
    """The claim of the fields that hold values; beside each other one stands what to write."""
    texts = field_texts()
    faults = faults_of(texts)
    claim = claim_of({name: text for name, text in texts.items() if name not in faults})
    return Entered(claim, left_out=tuple(faults))


def opened_of(found: Read) -> int:
    """The number of the open run."""
    return min(st.session_state.get(OPENED, 0), len(found.runs) - 1)


def changed(run: Run) -> dict[str, str]:
    """The texts of the fields that differ from those of a run, by field."""
    said = texts_of(run.claim)
    return {name: text for name, text in field_texts().items() if text != said[name]}


def _with(run: Run, texts: Mapping[str, str]) -> Claim:
    """The claim of a run with fields that a person has set; they replace the releases of a record,
    if they can hold them.

    Errors: ValueError says what to write instead.
    """
    typed = claim_of(texts)
    values = {name: getattr(typed, name) for name in texts}
    claim = replace(run.claim, **values)
    several = claim.mechanism is not None and len(claim.mechanism.releases) > 1
    if texts and not several:
        claim = replace(claim, mechanism=None)
    return claim


def _show_by_hand(by_hand: tuple[str, ...], found: Read, opened: int) -> None:
    """Mark the fields that were set by hand, and offer to take that back, or use it for all."""
    after_labels = []
    for name in by_hand:
        after_labels.append(f".st-key-claim_{name} [data-testid=stWidgetLabel] p::after")
    marks = ", ".join(after_labels)
    st.html(f'<style>{marks} {{content: " (by hand)"}}</style>')
    row = st.container(horizontal=True, gap="small", vertical_alignment="center", key="by_hand")
    row.caption(said_by_hand(by_hand), width="content")
    row.button("Back to what was read", key="claim_back", on_click=open_run, args=(opened, True))
    if len(found.runs) > 1:
        label = f"Use it for all {len(found.runs)} runs"
        row.button(label, key="claim_for_all", on_click=set_for_all)


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
    _begin(claim)


def _begin(claim: Claim) -> None:
    """Fill the fields with a claim, and forget what was set by hand."""
    st.session_state[OPENED] = 0
    st.session_state[SET] = {}
    st.session_state[PLACES] = {}
    fill_in(texts_of(claim))


@uninterrupted
def open_run(number: int, as_read: bool = False) -> None:
    """Fill the fields from a run of the text, with what a person has set, unless `as_read`.

    As a callback.
    """
    look_again()
    try:
        found = read_once(st.session_state.get(TEXT, ""))
    except ValueError:
        return
    if not 0 <= number < len(found.runs):
        return
    opened = opened_of(found)
    kept = st.session_state.setdefault(SET, {})
    kept[opened] = _readable(changed(found.runs[opened]))
    if as_read:
        kept[number] = {}
        places_of(number).clear()
    st.session_state[OPENED] = number
    fill_in(texts_of(found.runs[number].claim) | set_of(number))


@uninterrupted
def set_for_all() -> None:
    """Set the fields of all runs that a person has set for the open one. As a callback."""
    look_again()
    try:
        found = read_once(st.session_state.get(TEXT, ""))
    except ValueError:
        return
    texts = _readable(changed(found.runs[opened_of(found)]))
    kept = st.session_state.setdefault(SET, {})
    for number, run in enumerate(found.runs):
        said = texts_of(run.claim)
        own = {name: text for name, text in texts.items() if text != said[name]}
        kept[number] = set_of(number) | own


def _readable(texts: Mapping[str, str]) -> dict[str, str]:
    """Those texts that are values of their fields, or empty."""
    return {name: text for name, text in texts.items() if not text or fits(name, text)}


@uninterrupted
def _open(claim: Claim) -> None:
    write({TEXT: ""})
    _begin(claim)


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
