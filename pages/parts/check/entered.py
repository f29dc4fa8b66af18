"""The entry of a claim: a pasted text fills the fields, and each field can be changed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

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
from pages.parts.controls.url_state import assign, by_the_reader, keep, page_text, put
from pages.parts.controls.widgets import best_of_field, choice_by_title, text_field
from pages.parts.results.odds import linked
from pages.parts.shell.streamlit_internals import uninterrupted

TEXT = "claim_text"
MAX_FIELD_CHARS = 40
UNSAID = "unsaid"
HELP = {"epochs": "epoch"}  # entries of the glossary with another name than the field
FIELDS = words_in(Path(__file__).with_name("fields.toml"))
MAX_OFFERS = 6
# Label, titles, entry of the glossary.
CHOICES: dict[str, tuple[str, Callable[[], Mapping[str, str]], str]] = {
    "sampler": ("Batches", lambda: BATCHES, "poisson"),
    "adjacency": ("Adjacency", lambda: ADJACENCIES, "adjacency"),
    "accountant": (
        "Counted by",
        lambda: {name: each.title for name, each in ACCOUNTANTS.items()},
        "accountant",
    ),
}
PLACEHOLDER = (
    "We train for 15 epochs on 60,000 examples with batch size 256 and noise multiplier 1.1: (ε, δ)"
    " = (2.92, 1e-5)."
)
OUTSIDE = (
    "A text, an Opacus accountant's state as JSON, or a DpEvent of dp-accounting. Nothing in it is"
    " run."
)


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


def entered_claim() -> Entered:
    """Draw the box for a text and the fields; wrong values give a sentence."""
    text = page_text(TEXT, "")
    assign(TEXT, text)
    st.text_area("Paste a text, and correct what was read from it", key=TEXT, height=140, placeholder=PLACEHOLDER,
                 help=OUTSIDE, persist_state="session", on_change=by_the_reader(TEXT, take_over))  # fmt: skip
    keep(TEXT, text)
    try:
        typed = _typed()
        read = read_once(text) if text.strip() else None
        return Entered(_whole(typed, read) if read else typed, read, text)
    except ValueError as error:
        return Entered(Claim(), None, text, str(error))


def _whole(typed: Claim, read: Read) -> Claim:
    """Add the releases of a record to the fields, unless these were changed and can hold them."""
    mechanism = read.claim.mechanism
    changes = mechanism is not None and len(mechanism.releases) > 1
    kept = changes or typed == replace(read.claim, mechanism=None)
    return replace(typed, mechanism=mechanism) if kept else typed


@uninterrupted
def take_over() -> None:
    """Fill the fields from the text. As a callback; a text that is no claim empties them."""
    text = st.session_state[TEXT]
    try:
        claim = read_once(text).claim if text.strip() else None
    except ValueError:
        claim = Claim()
    if claim:
        fill_in(claim)


@uninterrupted
def fill_in(claim: Claim) -> None:
    """Replace the fields by a claim. As a callback."""
    values = values_of(claim)
    for name in (*FIELDS, "runs"):
        put(_key(name), written(values[name]) if name in values else "", "")
    for name in CHOICES:
        put(_key(name), values.get(name, UNSAID), UNSAID)


@uninterrupted
def _open(claim: Claim) -> None:
    assign(TEXT, "")
    keep(TEXT, "")
    fill_in(claim)


def show_offers(read: Read) -> None:
    """Draw a button for each value that was passed over and may be right."""
    offered = {
        (each.field, written(each.value)): each.why for each in read.passed if _may_be_right(each)
    }
    row = st.container(horizontal=True, gap="small")
    for (name, text), why in [*offered.items()][:MAX_OFFERS]:
        shown = CHOICES[name][1]()[text] if name in CHOICES else text
        changed = partial(put, _key(name), text, UNSAID if name in CHOICES else "")
        label = CHOICES[name][0] if name in CHOICES else FIELDS[name]["label"]
        row.button(
            f"{label}: {shown} instead", key=f"offer_{name}_{text}", on_click=changed, help=why
        )


def _may_be_right(each: Found) -> bool:
    readable = each.field in CHOICES or (each.field in FIELDS and not isinstance(each.value, str))
    return readable and each.why != REASONS["earlier"] and not each.why.startswith("Expected ")


def _typed() -> Claim:
    """The claim of the fields; an empty field says nothing."""
    texts = {}
    columns = st.container(key="halves").columns(2, gap="small", wrap=False)
    for place, (name, each) in enumerate(FIELDS.items()):
        help = help_on(HELP.get(name, name))
        texts[name] = text_field(
            columns[place % 2], each["label"], _key(name), MAX_FIELD_CHARS, help=help
        )
    chosen = {name: _choice(name, _key(name)) for name in CHOICES}
    runs = best_of_field(_key("runs"))
    values = {name: _checked(name, text) for name, text in texts.items() if text.strip()}
    return Claim(
        **values, runs=runs, **{name: each for name, each in chosen.items() if each != UNSAID}
    )


def _choice(name: str, key: str) -> str:
    label, choices, entry = CHOICES[name]
    titles = choices()
    titled = lambda each: "not said" if each == UNSAID else titles[each]  # noqa: E731
    return choice_by_title(label, (UNSAID, *titles), key, titled, help_on(entry))


def _checked(name: str, text: str) -> object:
    """The value of a field. Errors: ValueError says what to write instead."""
    try:
        value = read_value(name, text)
        Claim(**{name: value})
    except ValueError:
        point = " Write a point before decimals, not a comma." if "," in text else ""
        raise ValueError(
            f"{FIELDS[name]['label']}: write {FIELDS[name]['write']}.{point}"
        ) from None
    return value


def _key(name: str) -> str:
    return f"claim_{name}"


def show_examples() -> None:
    """Draw a button for each example, and their sources."""
    st.html("<h2 class=part>Published claims to try</h2>")
    row = st.container(horizontal=True, gap="small")
    for each in EXAMPLES:
        source = glossary.linked(_where(each))
        row.button(
            each.title, key=f"example_{each.name}", on_click=partial(_open, each.claim), help=source
        )
    with st.expander("Sources"):
        items = "".join(
            f"<li><b>{linked(each.title)}</b>: {linked(_where(each))}</li>" for each in EXAMPLES
        )
        st.html(f"<ul class=remarks>{items}</ul>")


def _where(example: WorkedExample) -> str:
    return f"{example.source}, {example.place}. {example.note}".strip()
