"""Fields as widgets: numbers with a slider, one of a list, several; all stand in the address."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.selection.best_of import FORMS, NumberOfRuns, read_runs
from dpcore.training.slider_stops import grid, show
from pages.parts.components.elements import MAX_CHARS, slider
from pages.parts.controls.fields import Fields, Options, Quantity, Row
from pages.parts.controls.mechanism import band_first
from pages.parts.controls.url_state import (
    by_the_reader,
    drawing,
    fields_on_screen,
    good_texts,
    page_ids,
    page_text,
    write,
)

FIELD_PIXELS = 106  # of the exact field
BEST_OF = "Best of so many runs"
MAX_BEST_OF_CHARS = 40
# A widget that the address knows.
BOUND: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}


def number(quantity: Quantity) -> float:
    """Draw a number and return its value.

    A text that cannot be read is a fault below it; the last good one is used.
    """
    key = quantity.key
    fields = Fields({key: page_text(key, quantity.default)}, good_texts())
    value = fields.number(quantity)
    _draw(fields.rows[key])
    return value


class Drawing:
    """Draws the rows of a page's fields, each once, with the sentences about values that name it.

    `read` reads the fields of the page, where one of them is given in place of another
    (`draw_either`).
    """

    def __init__(
        self, fields: Fields, obstacle: str = "", read: Callable[[Fields], object] | None = None
    ) -> None:
        self._read = read
        self._left = dict(fields.rows)
        self._problem = fields.problem
        self._fault_at = fields.named_in(fields.problem)
        self._obstacle = obstacle
        self._note_at = fields.named_in(obstacle)

    def draw(self, key: str, *, label: bool = True, slide: bool = True) -> None:
        """Draw one field; a number without its slider unless it is to `slide`."""
        _draw(self._left.pop(key), label=label, slide=slide)
        if key == self._fault_at:
            st.error(self._problem)
        if key == self._note_at:
            st.caption(f":material/info: {self._obstacle}")

    def draw_buttons(self, options: Options, wrap: bool | None = None) -> None:
        """Draw a choice as buttons."""
        del self._left[options.key]
        choice_of(st, options.label, options.names, options.key, help=options.help, wrap=wrap)

    def draw_either(self, options: Options) -> None:
        """Draw the choice which of two quantities is given, and that quantity."""
        row = st.container(horizontal=True, wrap=False, gap="small", vertical_alignment="center")
        chosen = self.draw_which(row, options, show_label=False)
        beside = row.empty()
        self.draw(chosen.text, label=False)
        if chosen.beside:
            beside.caption(chosen.beside, help=chosen.help)

    def draw_given(self, options: Options) -> None:
        """Draw the one of two quantities that is given; `draw_which` draws the choice elsewhere."""
        chosen = self._left[options.key]
        given = self._left[chosen.text].field
        assert given, "a choice is between two fields"
        row = st.container(horizontal=True, wrap=False, gap="small", vertical_alignment="center")
        row.markdown(given.label, help=chosen.help or None, width="content")
        row.caption(chosen.beside)
        self.draw(chosen.text, label=False)

    def draw_which(self, place: Any, options: Options, *, show_label: bool = True) -> Row:
        """Draw the choice which of two quantities is given; return its row."""
        chosen = self._left.pop(options.key)
        carried = partial(_carry_over, options, chosen.text, self._read)
        choice_of(place, options.label, options.names, options.key, carried, show_label=show_label)
        return chosen

    def draw_rest(self, last: str = "") -> None:
        """Draw the fields that are left, up to the last one wanted."""
        for key in [*self._left]:
            self.draw(key)
            if key == last:
                return

    def opened(self, key: str) -> bool:
        """True if a field that is left is, or was, at fault: its expander is open at first."""
        at_fault = self._fault_at in self._left or any(row.fault for row in self._left.values())
        opened = at_fault or bool(st.session_state.get(key))
        st.session_state[key] = opened
        return opened

    def say_problem(self) -> None:
        """Draw what is wrong with values where no field is named in it."""
        if self._problem and not self._fault_at:
            st.error(self._problem)


def _carry_over(options: Options, before: str, read: Callable[[Fields], object] | None) -> None:
    """Convert the value of the quantity given before for the one given now; for a callback.

    The fields are read anew: the value may have been changed since the choice was drawn.
    """
    texts = fields_on_screen().texts
    fields = Fields({**texts, options.key: before}, good_texts())
    if read:
        read(fields)
        write(fields.rows[options.key].same)


def _draw(row: Row, *, label: bool = True, slide: bool = True) -> None:
    if isinstance(row.field, Quantity):
        _draw_number(row.field, row, label=label, slide=slide)
    elif isinstance(row.field, Options):
        _draw_options(row.field, row.text)
    elif row.field:
        text_field(st, row.field.label, row.field.key, row.field.max_chars, help=row.field.help)
    if row.fault:
        st.error(row.fault, icon=":material/edit:")
    if row.note.startswith("**"):
        st.markdown(row.note)
    elif row.note:
        st.caption(row.note)


def choice_by_title(
    label: str,
    options: Sequence[str],
    key: str,
    title: Callable[[str], str],
    help: str | None = None,
) -> str:
    """Draw one of a list of ids, the first by default: readers see titles, the URL holds the id."""
    field = Options(key, label, tuple(options), title, help)
    chosen = field.nearest(page_text(key, ""))
    _draw_options(field, chosen)
    return chosen


def accountant_choice(label: str, key: str, word: str = "accountant") -> str:
    """Draw one accountant, the certified one by default; `word` is its entry in the glossary."""
    return choice_by_title(label, band_first(), key, titled, help_on(word))


def text_field(
    place: Any, label: str, key: str, max_chars: int, default: str = "", **look: Any
) -> str:
    """Draw a line of text that stands in the address too; the text."""
    text = page_text(key, default)
    with drawing(key, text, default):
        place.text_input(label, default, key=key, max_chars=max_chars, **BOUND, **look)
    return text


def best_of_field(key: str) -> NumberOfRuns | None:
    """Draw the field for the number of runs; None for one run.

    Errors: ValueError says what to write.
    """
    about = f"Epsilon then covers the choice of the best run. Write {FORMS}."
    text = text_field(st, BEST_OF, key, MAX_BEST_OF_CHARS, placeholder="one run", help=about)
    return read_runs(text) if text.strip() else None


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
    """Draw one of a few options as buttons; the first is the default, the URL holds the others."""
    chosen = Options(key, label, options).nearest(page_text(key, ""))
    with drawing(key, chosen, options[0], options):
        place.segmented_control(
            label,
            options,
            default=options[0],
            required=True,
            key=key,
            help=help,
            on_change=by_the_reader(key, changed) if changed else None,
            label_visibility="visible" if show_label else "collapsed",
            wrap=wrap,
            **BOUND,
        )
    return chosen


def several(
    place: Any,
    label: str,
    options: Sequence[str],
    key: str,
    default: Sequence[str],
    title: Callable[[str], str],
    help: str | None = None,
) -> tuple[str, ...]:
    """Draw several of a few ids as pills; return the chosen ones, in the order of the options.

    The URL holds the ids.
    """
    chosen = page_ids(key, options, default)
    with drawing(key, chosen, default, options):
        place.pills(
            label,
            options,
            format_func=title,
            key=key,
            help=help,
            selection_mode="multi",
            wrap=True,
            persist_state="session",
        )
    return tuple(each for each in options if each in chosen)


def accountant_pills() -> tuple[str, ...]:
    """Draw the accountants to show over the certified band."""
    return several(
        st,
        "Accountants, over the certified band",
        band_first()[1:],
        "accountants",
        DEFAULT_ACCOUNTANTS,
        titled,
        help_on("accountant", "band"),
    )


def titled(accountant: str) -> str:
    """An accountant's title."""
    return ACCOUNTANTS[accountant].title


def _draw_number(quantity: Quantity, row: Row, *, label: bool, slide: bool) -> None:
    """Draw the exact field and a logarithmic slider, on which the value is always a stop."""
    key = quantity.key
    # One line, below the label.
    box = st.container(horizontal=True, gap="small", key=f"{key}_number")
    if label:
        box.markdown(quantity.label, help=quantity.help or None)
    text_field(
        box,
        f"{quantity.label}, exact",
        key,
        MAX_CHARS,
        quantity.default,
        label_visibility="collapsed",
        width=FIELD_PIXELS,
    )
    good_texts()[key] = row.text
    if not slide:
        return
    shown = quantity.slider
    stops = shown.stops or grid(shown.low, shown.high, quantity.whole, shown.coarse)
    stops = [show(stop) for stop in sorted({*stops, row.value})]
    with box:
        slider(quantity.label, stops, show(row.value), (shown.left, shown.right), field=key)


def _draw_options(options: Options, text: str) -> None:
    # Streamlit would write titles into the address.
    look = {"format_func": options.title, "persist_state": "session"} if options.title else BOUND
    with drawing(options.key, text, options.default, options.names):
        st.selectbox(options.label, options.names, key=options.key, help=options.help, **look)
