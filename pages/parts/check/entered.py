"""The entry of a claim, typed into fields or pasted as a text or JSON."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from dpcore.claims.claim import ADJACENCIES, BATCHES, Claim, joined, values_of
from dpcore.claims.printed import printed_epsilon
from dpcore.claims.reading import Read, read_claim
from dpcore.claims.worked import EXAMPLES, WorkedExample
from dpcore.privacy import words_in
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.report import glossary
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.report.numbers import plain
from dpcore.written_number import read_number
from pages.parts.controls.url_state import keep, page_text, put
from pages.parts.controls.widgets import choice_by_title, choice_of, text_field
from pages.parts.results.odds import linked
from pages.parts.shell.streamlit_internals import uninterrupted

WAYS = ("numbers", "text or JSON")
WAY, TEXT = "claim_by", "claim_text"
MAX_FIELD_CHARS = 40
UNSAID = "unsaid"
HELP = {"epochs": "epoch"}  # entries of the glossary with another name than the field
FIELDS = words_in(Path(__file__).with_name("fields.toml"))
PROMISED = ("epsilon", "delta")  # fields beside a text, as an accountant's state has neither
COUNTS = ("batch", "examples", "steps")
CHOICES: dict[str, tuple[str, Callable[[], Mapping[str, str]], str]] = {  # label, titles, entry of the glossary
    "sampler": ("Batches", lambda: BATCHES, "poisson"),
    "adjacency": ("Adjacency", lambda: ADJACENCIES, "adjacency"),
    "accountant": ("Counted by", lambda: {name: each.title for name, each in ACCOUNTANTS.items()}, "accountant"),
}
PLACEHOLDER = (
    "We train for 15 epochs on 60,000 examples with batch size 256 and noise multiplier 1.1: (ε, δ) = (2.92, 1e-5)."
)
OUTSIDE = "A text, an Opacus accountant's state as JSON, or a DpEvent of dp-accounting. Nothing in it is run."


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


def entered_claim() -> Entered:
    """Draw the fields, or the box for a text; wrong values give a sentence."""
    pasted = choice_of(st, "Enter it as", WAYS, WAY, show_label=False) == WAYS[1]
    text = _pasted() if pasted else ""
    try:
        if not pasted:
            return Entered(_typed(tuple(FIELDS), tuple(CHOICES), _key))
        beside = _typed(PROMISED, ("sampler",), "beside_{}".format)  # separate from the fields without a text
        read = read_claim(text)
        claim = joined([beside, read.claim])
        if (claim.mechanism is None or len(claim.mechanism.releases) == 1) and text.strip():  # the fields can hold it
            st.button("Edit it as numbers", on_click=partial(fill_in, claim), icon=":material/edit:")
        return Entered(claim, read, text)
    except ValueError as error:
        return Entered(Claim(), None, text, str(error))


@uninterrupted
def fill_in(claim: Claim) -> None:
    """Replace the fields by a claim. As a callback."""
    values = values_of(claim)
    for name in FIELDS:
        put(_key(name), _written(values.get(name)), "")
    for name in CHOICES:
        put(_key(name), values.get(name, UNSAID), UNSAID)
    put(WAY, WAYS[0], WAYS[0])


def _pasted() -> str:
    st.session_state[TEXT] = page_text(TEXT, "")
    text = st.text_area("Paste it here", key=TEXT, height=220, placeholder=PLACEHOLDER, help=OUTSIDE,
                        persist_state="session")  # fmt: skip
    keep(TEXT, text)
    return text


def _typed(fields: tuple[str, ...], choices: tuple[str, ...], key: Callable[[str], str]) -> Claim:
    """The claim of the fields; an empty field says nothing."""
    texts = {}
    columns = st.container(key="halves").columns(2, gap="small", wrap=False)
    for place, name in enumerate(fields):
        with columns[place % 2]:
            help = help_on(HELP.get(name, name))
            texts[name] = text_field(st, FIELDS[name]["label"], key(name), MAX_FIELD_CHARS, help=help)
    chosen = {name: _choice(name, key(name)) for name in choices}
    values = {name: _checked(name, text) for name, text in texts.items() if text.strip()}
    return Claim(**values, **{name: each for name, each in chosen.items() if each != UNSAID})


def _choice(name: str, key: str) -> str:
    label, choices, entry = CHOICES[name]
    titles = choices()
    titled = lambda each: "not said" if each == UNSAID else titles[each]  # noqa: E731
    return choice_by_title(label, (UNSAID, *titles), key, titled, help_on(entry))


def value_in(name: str, text: str) -> object:
    """The value of a field's text. Errors: ValueError for a text that is no number."""
    if name == "epsilon":
        return printed_epsilon(text)
    value = float(read_number(text, name))
    return int(value) if name in COUNTS and value.is_integer() else value


def _checked(name: str, text: str) -> object:
    """The value of a field. Errors: ValueError says what to write instead."""
    try:
        value = value_in(name, text)
        Claim(**{name: value})
    except ValueError:
        point = " Write a point before decimals, not a comma." if "," in text else ""
        raise ValueError(f"{FIELDS[name]['label']}: write {FIELDS[name]['write']}.{point}") from None
    return value


def _written(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value) if len(plain(value)) >= 6 else plain(value)
    return str(getattr(value, "text", value))


def _key(name: str) -> str:
    return f"claim_{name}"


def show_examples() -> None:
    """Draw a button for each example, and their sources."""
    st.html("<h2 class=part>Published claims to try</h2>")
    row = st.container(horizontal=True, gap="small")
    for each in EXAMPLES:
        source = glossary.linked(_where(each))
        row.button(each.title, key=f"example_{each.name}", on_click=partial(fill_in, each.claim), help=source)
    with st.expander("Sources"):
        items = "".join(f"<li><b>{linked(each.title)}</b>: {linked(_where(each))}</li>" for each in EXAMPLES)
        st.html(f"<ul class=remarks>{items}</ul>")


def _where(example: WorkedExample) -> str:
    return f"{example.source}, {example.place}. {example.note}".strip()
