"""The fields of a page as texts: the value of each, and the faults in them.

Nothing here asks Streamlit.

A page reads its fields through `Fields`, which notes the fields that it was asked for, in their
order, and draws those (`pages/parts/controls/widgets.py`). A preview reads the same texts with one
changed, by the same function.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from dpcore import check
from dpcore.check import verbatim
from dpcore.privacy import words_in
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.sampling.base import Parameter
from dpcore.training.settings import SETTINGS, Count, Number, Slider, worded
from dpcore.training.slider_stops import show
from dpcore.written_number import read_number

NAMED = re.compile(r"Expected (\w+)=(?:`[^`]*`|.*?) to ")  # how a sentence about a value begins
INSTEAD = {"epochs": "steps", "batch": "q"}  # the field that may stand in place of another
QUANTITIES = words_in(Path(__file__).with_name("quantities.toml"))
T = TypeVar("T")


@dataclass(frozen=True)
class Quantity:
    """A number that a reader may choose, with its key in the URL, its words and its condition."""

    key: str
    label: str
    default: str
    slider: Slider
    # Raises ValueError naming the thing, its value and the condition.
    accept: Callable[[float], None]
    help: str = ""
    whole: bool = False
    name: str = ""  # what sentences call it, where that is not its key


@dataclass(frozen=True)
class Options:
    """One of a list; the first is the default, unless another one is the `start`.

    With `title` the reader sees titles, and the URL holds the options. `note` is a sentence on the
    chosen one, below the field.
    """

    key: str
    label: str
    names: tuple[str, ...]
    title: Callable[[str], str] | None = None
    help: str | None = None
    note: Callable[[str], str] | None = None
    start: str = ""

    @property
    def default(self) -> str:
        return self.start or self.names[0]

    def nearest(self, text: str) -> str:
        """The option that a text names; the default for any other text."""
        return text if text in self.names else self.default


@dataclass(frozen=True)
class Line:
    """A line of text, empty to begin with."""

    key: str
    label: str
    help: str
    max_chars: int
    default: ClassVar[str] = ""


class Row(NamedTuple):
    """A field as it is drawn, with the text in use, or a note between fields."""

    field: Quantity | Options | Line | None
    text: str = ""
    value: float = 0.0  # of a number
    fault: str = ""  # why another text than the one in the field is in use
    note: str = ""  # below the field
    # Of a choice between two fields: the value of the other one, and the help on both.
    beside: str = ""
    help: str = ""
    same: Mapping[str, str] = {}  # texts of the other one that say the same


class Fields:
    """Reads fields by their texts, and notes a row for each.

    A text that cannot be read, and values that do not go together, are noted where there are good
    texts to go on with; else they are a ValueError.
    """

    def __init__(self, texts: Mapping[str, str], good: Mapping[str, str] | None = None) -> None:
        self.texts = texts
        self._good = good
        self.rows: dict[str, Row] = {}
        self._problem = ""  # the first error of values that do not go together

    def number(self, quantity: Quantity) -> float:
        """The value of a number."""
        text = self.texts.get(quantity.key, quantity.default)
        fault = ""
        try:
            value = read(quantity, text)
        except ValueError as error:
            if self._good is None:
                raise
            text, value = self._last_good(self._good, quantity)
            fault = f"{labelled(str(error), quantity)} Showing {text}."
        self.rows[quantity.key] = Row(quantity, text, value, fault)
        return value

    def _last_good(self, good: Mapping[str, str], quantity: Quantity) -> tuple[str, float]:
        """The last good text and its value; the default if that text was good elsewhere alone."""
        text = good.get(quantity.key, quantity.default)
        try:
            return text, read(quantity, text)
        except ValueError:
            return quantity.default, read(quantity, quantity.default)

    def choice(self, options: Options) -> str:
        """The option that is chosen, else the first."""
        chosen = options.nearest(self.texts.get(options.key, ""))
        note = options.note(chosen) if options.note else ""
        self.rows[options.key] = Row(options, chosen, note=note)
        return chosen

    def line(self, line: Line) -> str:
        """The text of a line."""
        text = self.texts.get(line.key, "")
        self.rows[line.key] = Row(line, text)
        return text.strip()

    def beside(self, options: Options, words: str, help: str, same: Mapping[str, str]) -> None:
        """Note beside a choice between two fields what follows for the other one."""
        self.rows[options.key] = self.rows[options.key]._replace(beside=words, help=help, same=same)

    def note(self, sentence: str) -> None:
        """A note between the fields."""
        self.rows[sentence] = Row(None, note=sentence)

    def together(self, made: Callable[[], T], otherwise: T) -> T:
        """Return made(). If it raises ValueError, note the error and return `otherwise`."""
        try:
            return made()
        except ValueError as error:
            if self._good is None:
                raise
            self._problem = self._problem or str(error)
            return otherwise

    @property
    def problem(self) -> str:
        """The first error of values that do not go together, in words; "" if they do."""
        return self.in_words(self._problem)

    def in_words(self, sentence: str) -> str:
        """An error about a value, as a sentence with the label of its field if it has one."""
        named = NAMED.match(sentence)
        if not named:
            return sentence
        fields = {}  # by the name in sentences
        for key, row in self.rows.items():
            if row.field:
                fields[getattr(row.field, "name", "") or key] = row.field
        name = named[1]
        field = fields.get(name) or fields.get(INSTEAD.get(name, ""))
        return labelled(sentence, field) if field else sentence

    def named_in(self, sentence: str) -> str:
        """The key of the field whose label begins a sentence; "" if there is none."""
        for key, row in self.rows.items():
            if row.field and sentence.startswith(_subject(row.field)):
                return key
        return ""

    @property
    def read_texts(self) -> dict[str, str]:
        """The text in use of each field that was read."""
        return {key: row.text for key, row in self.rows.items() if row.field}

    @property
    def defaults(self) -> dict[str, str]:
        """The default text of each field that was read."""
        return {key: row.field.default for key, row in self.rows.items() if row.field}


def _subject(field: Quantity | Options | Line) -> str:
    return f"{field.label.partition(' (')[0]} must "


def labelled(error: str, field: Quantity | Options | Line) -> str:
    """The error with the label of the field in place of the name and the value.

    >>> labelled("Expected lr=0 to be above 0.", Line("lr", "Learning rate (per step)", "", 9))
    'Learning rate must be above 0.'
    """
    return NAMED.sub(lambda _: _subject(field), error, count=1)


def moved_texts(texts: Mapping[str, str], key: str, text: str) -> dict[str, str]:
    """The texts with another one at this key; ValueError if there is no such field."""
    if key not in texts:
        raise ValueError(f"Expected key={verbatim(key)} to be one of {', '.join(texts)}.")
    return {**texts, key: text}


def quantity_of(name: str, *, start: float | None = None, key: str | None = None) -> Quantity:
    """The field of a number among the settings of a run, with the default or `start` at first."""
    setting = SETTINGS[name]
    if not isinstance(setting, Number | Count):
        raise ValueError(f"Expected setting={name!r} to be a number with a slider.")
    return _quantity(setting, name, key or name, start, setting.unit_said)


def own_quantity(key: str, start: float | str | None = None, most: float | None = None) -> Quantity:
    """The field of a number that is no setting of a run, by its entry in quantities.toml.

    It starts from `start`, if that is given, and is at most `most`, if the entry does not say.
    """
    entry = QUANTITIES[key]
    default = entry.get("default")
    least = entry.get("least", 0)
    high: Any = entry.get("most", most)
    if entry.get("whole"):
        number = Count(default=default, low=least, high=high)
    elif high is None:
        number = Number(default=default, low=0, rule=check.positive)
    else:
        number = Number(default=default, low=least, high=high, ends=entry.get("ends", "[]"))
    setting = worded(number, {"label": entry["label"], "slider": entry["slider"]})
    return _quantity(setting, entry.get("name", key), key, start, entry.get("help", ""))


def quantity_in_id(parameter: Parameter) -> Quantity:
    """The field of a number in the id of a sampler."""
    return Quantity(
        key=parameter.name,
        label=parameter.label,
        default=show(parameter.start),
        slider=Slider(1, parameter.far, parameter.fewer, parameter.more),
        accept=parameter.check,
        help=parameter.note,
        whole=True,
        name=parameter.name,
    )


def _quantity(
    setting: Any, name: str, key: str, start: float | str | None, more_help: str
) -> Quantity:
    return Quantity(
        key=key,
        label=setting.label,
        default=text_of(setting.default if start is None else start),
        slider=setting.slider,
        accept=partial(setting.check, name),
        help="\n\n".join(filter(None, (setting.slider.help, more_help))),
        whole=isinstance(setting, Count),
        name=name,
    )


def text_of(value: Any) -> str:
    """The text of a setting's field."""
    if value is None:
        return ""
    return value if isinstance(value, str) else show(value)


def read(quantity: Quantity, text: str) -> float:
    """The number in a text: 4, 1e-5, 60_000, 60,000 or 256/60000; ValueError says what is wrong.

    >>> read(Quantity("q", "q", "1", Slider(0, 1), lambda q: None), "256/60000")
    0.004266666666666667
    """
    value = float(read_number(text, quantity.name or quantity.key))
    exact_integer = value.is_integer() and abs(value) < 1e15
    quantity.accept(int(value) if exact_integer else value)  # a message says 0, not 0.0
    return value


def epochs_text(steps: int, q: float) -> str:
    """The shortest number of epochs that is exactly so many steps, when rounded up to steps.

    >>> epochs_text(196, 256 / 10_000), epochs_text(734, 256 / 10_000)
    ('5', '18.79')
    """
    check.whole(1, MAX_STEPS, steps=steps)
    for digits in range(1, 13):
        text = show(float(f"{steps * q:.{digits}g}"))
        if math.ceil(float(text) / q - 1e-9) == steps:
            return text
    return show((steps - 0.5) * q)
