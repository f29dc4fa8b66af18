"""A text with what was read of it, and its other numbers: a press says what one of them is.

A press on a number opens a list of the fields that it may fill, and a press there fills one.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import islice
from operator import attrgetter
from textwrap import shorten
from typing import Any, NamedTuple
from zlib import crc32

import streamlit as st

from dpcore.claims.reading import NONE_PASSED, Read
from dpcore.claims.values import Said
from dpcore.claims.vocabulary import REASONS
from dpcore.runs.plain_text import escaped
from pages.parts.check.claim_fields import (
    CHOICES,
    FIELDS,
    fill_in,
    fits,
    key_of,
    label_of,
    text_of,
    texts_of,
    titles_of,
)
from pages.parts.check.entered import TEXT, Entered, opened_of, places_of, read_once
from pages.parts.components.elements import mount, sent
from pages.parts.controls.url_state import look_again, write
from pages.parts.shell.streamlit_internals import uninterrupted

KEY = "claim_marked"
HEARD = "claim_filled"  # in the session: the number of the last press that was taken note of
READ = "Read from the text"
MAX_UNMARKED = 1000  # characters of a part without a value
MAX_AROUND = 300  # characters of each end of a longer one, and of any other part
MAX_NUMBERS = 200  # that can be pressed
MAX_OFFERS = 6
MAX_REASONS = 4  # sentences that are not folded
LEGEND = (
    "**Underlined**: what was read. **Framed**: what was not taken; a press takes it under the name"
    " beside it, or asks what it is."
)
ALL = "Take all {} as one training"
MAY_BE_OF_ONE = tuple(
    REASONS[name]
    for name in ("several", "unclear", "after_runs", "taken_back", "incomplete", "clash")
)
TOLD_HERE = (  # of one paragraph
    *MAY_BE_OF_ONE,
    *(REASONS[name] for name in ("quoted", "another", "part_of_another")),
)
MAX_PARAGRAPHS = 3  # with a button of their own
MIN_VALUES = 2  # of a paragraph with a button
PARAGRAPH = "Take {} from \u201c{}\u201d"
PARAGRAPH_HELP = "This says that the paragraph speaks of one training: {}."
BEGINNING = 24  # characters that tell a paragraph
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
ONE_TRAINING = "The text may mean several trainings. This says that it is one: {}."


def show_text(entered: Entered) -> None:
    """Draw the pasted text with what was read, and what was passed over."""
    found = entered.read
    assert found is not None
    parts = list(marked_parts(entered))
    st.html(f"<h2 class=part>{READ}</h2>")
    any_offers = any(each.get("offers") for each in parts)
    if any_offers:
        st.caption(LEGEND)
    titles = {name: label_of(name) for name in (*FIELDS, *CHOICES)}
    data = {
        "label": READ,
        "of": _mark_of(entered.text, entered.opened),
        "heard": st.session_state.get(HEARD, 0),
        "parts": parts,
        "titles": titles,
    }
    mount("claim_text", KEY, data, filled=_fill)
    _show_offers(entered, found)
    if found.left_out or not found.passed:
        _show_reasons(found.left_out or (NONE_PASSED,))


def _show_reasons(reasons: tuple[str, ...]) -> None:
    place = st.container()
    if len(reasons) > MAX_REASONS:
        place = st.expander(f"{len(reasons)} remarks on what was not taken")
    place.caption("\n".join(f"- {escaped(each)}" for each in reasons))


def marked_parts(entered: Entered) -> Iterator[dict[str, Any]]:
    """Yield the text in parts: plain, taken, set by hand, or offered.

    Long parts without any value are cut.
    """
    found = entered.read
    assert found is not None
    said = found.runs[entered.opened]
    shown = found._replace(runs=(said,), passed=tuple(_pressed(found)))
    empty = [name for name in FIELDS if getattr(entered.claim, name) is None]
    plain = ""
    for text, each in shown.parts(entered.text):
        if each is None:
            plain += text
            continue
        yield from _plain(plain)
        plain = ""
        yield _part(text[:MAX_AROUND], each, empty, entered)
    yield from _plain(plain)


def _plain(text: str) -> Iterator[dict[str, Any]]:
    if len(text) > MAX_UNMARKED:
        text = f"{text[:MAX_AROUND]} … {text[-MAX_AROUND:]}"
    if text:
        yield {"text": text}


def _pressed(found: Read) -> list[Said]:
    """What was passed over and can be pressed, in the order of the text; what may be right first,
    where there is too much.
    """
    ranked = sorted(found.passed, key=lambda each: (not may_be_right(each), bool(each.field)))
    return sorted(ranked[:MAX_NUMBERS], key=lambda each: each.start)


def _part(text: str, said: Said, empty: list[str], entered: Entered) -> dict[str, Any]:
    if not said.why:
        taken: dict[str, Any] = {"text": text, "field": said.field}
        if said.field in entered.by_hand:
            taken |= {"passed": True, "why": "it was changed by hand"}
        return taken
    offers = offers_of(said, empty)
    part: dict[str, Any] = {"text": text, "why": said.why, "passed": True}
    if not offers:
        return part
    part |= {"start": said.start, "offers": offers}
    filled = []
    for name, place in places_of(entered.opened).items():
        if place == said.start and name in entered.by_hand:
            filled.append(name)
    if filled:
        part |= {"field": f"{filled[0]}, by hand", "passed": False}
    elif may_be_right(said):
        empty_own = getattr(entered.claim, said.field) is None and offers[0][0] == said.field
        part |= {"field": f"{said.field}?", "at_once": empty_own}
    return part


def offers_of(said: Said, empty: list[str]) -> list[list[str]]:
    """The fields that a passed value may fill, each with its text: its own, then empty ones.

    The text is a number in plain letters, whatever commas the pasted text has.

    >>> [name for name, _ in offers_of(Said("", "0.5", 0, 3, "nameless"), ["sigma"])]
    ['sigma', 'epsilon', 'delta', 'q', 'epochs']
    """
    own = text_of(said.value)
    if said.field in CHOICES:
        if not fits(said.field, own):
            return []
        return [[said.field, titles_of(said.field)[own]]]
    names = sorted(FIELDS, key=lambda name: (name != said.field, name not in empty))
    return [[name, own] for name in names if fits(name, own)]


def may_be_right(each: Said) -> bool:
    """True for a value under its name that a person may well want to use."""
    number = each.field in FIELDS and not isinstance(each.value, str)
    if each.field not in CHOICES and not number:
        return False
    told = (REASONS["earlier"], REASONS["commented"], REASONS["off"])
    return each.why not in told and not each.why.startswith("Expected ")


def _mark_of(text: str, opened: int) -> str:
    """What tells a text and its open run from others, for a press that comes late."""
    return f"{crc32(text.encode('utf-8', 'replace')):x}-{opened}"


@uninterrupted
def _fill() -> None:
    """Fill fields as the reader has pressed. As a callback; browsers can send any value."""
    look_again()
    text = st.session_state.get(TEXT, "")
    try:
        found = read_once(text)
    except ValueError:
        return
    presses = sent(KEY, "filled")
    if not isinstance(presses, list):
        return
    opened = opened_of(found)
    for each in presses:
        match each:
            case [int(number), str(of), int(start), str(name)]:
                new = number > st.session_state.get(HEARD, 0)
                if new and of == _mark_of(text, opened):
                    _fill_from(found, opened, start, name)
                if new:
                    st.session_state[HEARD] = number


def _fill_from(found: Read, opened: int, start: int, name: str) -> None:
    """Fill a field from a place in the text, if that offers it."""
    for said in found.passed:
        if said.start != start:
            continue
        offers = dict(offers_of(said, []))
        if name in offers:
            value = text_of(said.value) if name in CHOICES else offers[name]
            _take_back(found, opened, start)
            write({key_of(name): value})
            places_of(opened)[name] = start
        return


def _take_back(found: Read, opened: int, start: int) -> None:
    """Give the fields that were filled from a place what was read for them: it is another's now."""
    places = places_of(opened)
    said = texts_of(found.runs[opened].claim)
    for name, place in list(places.items()):
        if place == start:
            del places[name]
            fill_in({name: said[name]})


def offered_values(found: Read, now: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Why each value under its name was passed over that may be right, by its field and its text.

    `now` has the texts of the fields.
    """
    offered: dict[tuple[str, str], str] = {}
    for each in found.passed:
        text = text_of(each.value)
        if may_be_right(each) and now[each.field] != text and fits(each.field, text):
            offered[each.field, text] = each.why
    return offered


def together(offered: Mapping[tuple[str, str], str], now: Mapping[str, str]) -> dict[str, str]:
    """The texts of empty fields for which one value each is offered that is no other run's; empty
    if it is one alone.

    >>> why = REASONS["several"]
    >>> offered = {("sigma", "1"): why, ("q", "0.1"): why, ("q", "0.2"): why, ("steps", "9"): why}
    >>> together(offered, {"sigma": "", "q": "", "steps": ""})
    {'sigma': '1', 'steps': '9'}
    """
    names = [name for name, _ in offered]
    found = {}
    for (name, text), why in offered.items():
        if names.count(name) == 1 and not now[name] and why in MAY_BE_OF_ONE:
            found[name] = text
    return found if len(found) > 1 else {}


class Paragraph(NamedTuple):
    """A paragraph by its place and its beginning, and the texts of fields that it says once."""

    place: int
    beginning: str
    values: dict[str, str]


def by_paragraph(found: Read, text: str, now: Mapping[str, str]) -> Iterator[Paragraph]:
    """Yield each paragraph that offers values for several fields.

    >>> from dpcore.claims.reading import read
    >>> text = "Model A uses sigma 1 and 9 steps.\\n\\nModel B uses sigma 2 and 8 steps."
    >>> now = dict.fromkeys([*FIELDS, *CHOICES], "")
    >>> for each in by_paragraph(read(text), text, now): print(each.beginning, each.values)
    Model A uses sigma 1 … {'sigma': '1', 'steps': '9'}
    Model B uses sigma 2 … {'sigma': '2', 'steps': '8'}
    """
    passed = sorted(found.passed, key=attrgetter("start"))
    places = [each.start for each in passed]
    start = 0
    for end in (*(each.start() for each in BLANK_LINE.finditer(text)), len(text)):
        within = tuple(passed[bisect_left(places, start) : bisect_left(places, end)])
        offered = offered_values(found._replace(passed=within), now)
        names = [name for name, _ in offered]
        values = {}
        for (name, said), why in offered.items():
            contested = why.startswith(REASONS["twice"].partition("{}")[0])
            if names.count(name) == 1 and (contested or why in TOLD_HERE):
                values[name] = said
        if len(values) >= MIN_VALUES:
            yield Paragraph(start, shorten(text[start:end], BEGINNING, placeholder=" …"), values)
        start = end


def _show_offers(entered: Entered, found: Read) -> None:
    """Draw a button for each value under its name that was passed over and may be right, for those
    of each paragraph, and one for all of which there are no others.
    """
    now = texts_of(entered.claim)
    offered = offered_values(found, now)
    row = st.container(horizontal=True, gap="small")
    whole = together(offered, now)
    if whole:
        fields = {key_of(name): text for name, text in whole.items()}
        labels = ", ".join(map(label_of, whole))
        row.button(
            ALL.format(len(whole)),
            key="offer_all",
            on_click=write,
            args=(fields,),
            help=ONE_TRAINING.format(labels),
        )
    paragraphs = by_paragraph(found, entered.text, now)
    for place, beginning, values in islice(paragraphs, MAX_PARAGRAPHS):
        if values == whole:
            continue
        row.button(
            PARAGRAPH.format(len(values), escaped(beginning)),
            key=f"offer_paragraph_{place}",
            on_click=write,
            args=({key_of(name): text for name, text in values.items()},),
            help=PARAGRAPH_HELP.format(", ".join(map(label_of, values))),
        )
    for (name, text), why in list(offered.items())[:MAX_OFFERS]:
        instead = " instead" if now[name] else ""
        row.button(
            f"{label_of(name)}: {_title(name, text)}{instead}",
            key=f"offer_{name}_{text}",
            on_click=write,
            args=({key_of(name): text},),
            help=why,
        )


def _title(name: str, text: str) -> str:
    if name in CHOICES:
        return titles_of(name)[text]
    return text
