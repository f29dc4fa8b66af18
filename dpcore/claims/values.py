"""Numbers in texts, what they may be, and statements of them.

A number is read whole or not at all: 3 is not read in 3-5, 3 x 4, 3 ± 1 or 3.1.2.
"""

import re
from typing import Any, NamedTuple

from dpcore.claims.printed import Printed, printed_epsilon
from dpcore.claims.vocabulary import PLAIN, REASONS
from dpcore.privacy.report.numbers import plain
from dpcore.written_number import read_number

DIGITS = r"(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
POWER = rf"(?:{DIGITS}\s{{0,3}}[x×*·]\s{{0,3}})?10 ?\^ ?[-+]?\d+"
FLOAT = rf"{DIGITS}[eE][-+]?\d+"
SIGNED = rf"[-+]?(?:{POWER}|{FLOAT}|{DIGITS} ?/ ?{DIGITS}(?! ?/)|{DIGITS}(?: ?%|[kKM])?)"
GOES_ON = "|".join(  # with what a number is not whole, or one of a range or product
    (
        r"[\w^{√±]",
        r"/(?![a-zA-Z]{2})",
        r" ?\+ ?[A-Za-z(]",
        r"[*×·][A-Za-z(]",
        r" ?[*×·±] ?[(\d]",
        r"[.,]\d",
        r":\d\d",
        r" ?[-x] ?\d",
        r" ?(?:\^|\*\*)",
        r" ?(?:GPUs?|TPUs?|cards?|卡|nodes?|devices)\b ?[x×]",
        r"\s?(?:to|or|and)\s?[-\d.]+\s?(?:[,;.)](?!\d)|$)",
    )
)
NUMBER = rf"{SIGNED}(?!{GOES_ON})"
OF_N = r"1\s?/\s?(?:[nN](?![a-z])|\|D\|)(?:\^(?P<power>1(?:\.\d+)?))?(?![\w^])"
FIGURE = re.compile(rf"(?<![\w.^])(?<!\d[,:])(?<![×*·]\s)(?<![×*·])(?:{OF_N}|{NUMBER})")
RANGE = re.compile(r"\d\s?(?:to|or|-|±|x|×)\s?$")  # before a number
LIST = re.compile(  # after a number
    "|".join(
        (
            (
                rf"(?:,\s?{SIGNED})*,?\s?(?:and|or|und|et|y)\s{SIGNED}(?!\.?\d)"
                r"(?=\s?(?:[,;.)\n:]|$|(?:with|at)\b))"  # at the end of a clause
            ),
            r"\s?=\s[a-z]{3}",
            rf"(?:\s?,\s?{NUMBER})+\s*[\]}})]",
            rf"\s?[,/]\s?{NUMBER}\s*(?:[,/]\s?{NUMBER}\s*)*(?:\n|$)",
            rf"(?:\s{NUMBER})+\s*(?:-|\n|$)",
        )
    )
)
WHOLE = (
    *("batch", "examples", "steps", "rounds", "clients", "cohort"),
    *("devices", "device_batch", "device_count", "node_count", "accumulation"),
)
SHARES = ("q", "delta", "share")  # fields printed as fractions
CAREFUL = ("epsilon", "delta", "sigma", "q", "share")  # 1,068 of these is seldom more than 10
GROUPED = re.compile(r"[1-9]\d{0,2},\d{3}")
POINTED = re.compile(r"[1-9]\d{0,2}\.\d{3}")  # which many write for thousands
SHORT = 6  # characters of a number that has lost no digit
MIN_EPSILON = 1e-3  # a smaller epsilon is an optimizer's
MAX_SIGMA = 100.0  # a larger sigma is asked back


class Said(NamedTuple):
    """A value with its place, and the reason if it is not taken; without a field it has no name."""

    field: str
    value: Any
    start: int
    end: int
    why: str = ""
    rank: int = PLAIN
    counts: bool = False  # it is the counter of a line of a log


def valued(said: Said) -> Said:
    """A statement whose text is read as the value of its field; passed over if it is none."""
    text = said.value
    if said.field in WHOLE and POINTED.fullmatch(text.strip()):
        return said._replace(why=said.why or REASONS["comma"])
    try:
        value = read_value(said.field, text)
    except ValueError as error:
        return said._replace(why=said.why or str(error))
    odd = _odd(said.field, text, value)
    if odd:  # it is offered as it is written
        return said._replace(value=text.strip(), why=said.why or odd)
    return said._replace(value=value)


def _odd(field: str, text: str, value: Any) -> str:
    """The reason to ask whether this number of the field is meant; "" if it is usual."""
    if "/" in text and field not in SHARES:
        return REASONS["nameless"]
    grouped = field in CAREFUL and GROUPED.fullmatch(text.strip())
    pointed = field == "epochs" and POINTED.fullmatch(text.strip())
    if grouped or pointed:
        return REASONS["comma"]
    if field == "epsilon" and value.value < MIN_EPSILON:
        return REASONS["small"]
    if field == "sigma" and value > MAX_SIGMA:
        return REASONS["loud"]
    return ""


def read_value(field: str, text: str) -> Any:
    """Read a value. Errors: ValueError for a text that is no value of the field.

    >>> read_value("epsilon", "3.0").text, read_value("steps", "1,000"), read_value("q", "1/4")
    ('3.0', 1000, 0.25)
    """
    if field == "delta" and re.fullmatch(OF_N, text.strip()):
        return text.strip()  # until the number of examples is known
    if field == "epsilon":
        return printed_epsilon(text)
    number = float(read_number(text, field))
    if field not in WHOLE:
        return number
    if not number.is_integer():
        raise ValueError(f"Expected {field}={text} to be a whole number.")
    return int(number)


def same(value: Any, shown: Any) -> bool:
    """True if a value is the shown one, which may have fewer digits.

    >>> same(Printed("2.917"), Printed("2.92")), same(Printed("2.92"), Printed("2.917"))
    (True, False)
    """
    if isinstance(value, Printed) and isinstance(shown, Printed):
        finer = len(value.text) >= len(shown.text)
        return value == shown or (finer and shown.low <= value.value < shown.high)
    return value == shown


def written(value: object) -> str:
    """A value as a reader writes it."""
    if not isinstance(value, float):
        return str(getattr(value, "text", value))
    short = plain(value)
    if len(short) < SHORT:
        return short
    return repr(value)
