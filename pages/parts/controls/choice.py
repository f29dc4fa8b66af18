"""One of a list, or several: as buttons, pills or a menu; the address bar holds what was chosen."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.glossary import help_on
from pages.parts.controls.faults import say_unknown, unknown
from pages.parts.controls.url_state import keep, recall, recall_ids, write_ids


def choice(label: str, options: Sequence[str], key: str, help: str | None = None) -> str:
    """One of a list of options; the first is the default, the URL holds the others."""
    strange = unknown(key, options)
    recall(key, options[0])
    chosen = st.selectbox(label, options, key=key, help=help, bind="query-params", persist_state="session")
    keep(key, chosen)
    say_unknown(key, strange, options, [chosen])
    return chosen


def choice_by_title(
    label: str, options: Sequence[str], key: str, title: Callable[[str], str], help: str | None = None
) -> str:
    """The same for ids: the reader sees their titles, the URL holds the ids."""
    strange = unknown(key, options)
    recall_ids(key, options, [options[0]])
    chosen = st.selectbox(label, options, key=key, format_func=title, help=help, persist_state="session")
    write_ids(key, [chosen], [options[0]])
    keep(key, chosen)
    say_unknown(key, strange, options, [chosen])
    return chosen


def accountant_choice(label: str, key: str, word: str = "accountant") -> str:
    """One accountant; the certified one is the default. `word` is what the glossary calls the choice."""
    first_the_band = (CERTIFIED, *(name for name in ACCOUNTANTS if name != CERTIFIED))
    return choice_by_title(label, first_the_band, key, titled, help_on(word))


def accountant_pills(place: Any) -> list[str]:
    """The accountants to draw over the certified band."""
    options, default = [name for name in ACCOUNTANTS if name != CERTIFIED], list(DEFAULT_ACCOUNTANTS)
    strange = unknown("accountants", options)
    recall_ids("accountants", options, default, several=True)
    chosen = place.pills(
        "Accountants, over the certified band",
        options,
        selection_mode="multi",
        wrap=True,
        format_func=titled,
        key="accountants",
        help=help_on("accountant", "band"),
        persist_state="session",
    )
    write_ids("accountants", chosen, default)
    keep("accountants", chosen)
    say_unknown("accountants", strange, options, chosen)
    return chosen


def choice_of(
    place: Any,
    label: str,
    options: tuple[str, ...],
    key: str,
    changed: Callable[[], None] | None = None,
    show_label: bool = True,
    help: str | None = None,
    wrap: bool | None = None,
) -> str:
    """One of a few options as buttons; the first is the default, the URL holds the others."""
    strange = unknown(key, options)
    recall(key, options[0])
    chosen = place.segmented_control(
        label,
        options,
        default=options[0],
        required=True,
        key=key,
        on_change=changed,
        label_visibility="visible" if show_label else "collapsed",
        help=help,
        wrap=wrap,
        bind="query-params",
        persist_state="session",
    )
    keep(key, chosen)
    say_unknown(key, strange, options, [chosen])
    return chosen


def titled(accountant: str) -> str:
    """An accountant's title."""
    return ACCOUNTANTS[accountant].title
