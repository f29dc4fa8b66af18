"""The one reader of numbers, for fields of a page, options of a command and pasted texts.

A number may look like 1.5, 1e-5, 10^-5, 10⁻⁵, 2.0 × 10⁻⁶, 256/60000, 1 %, 60k or 60,000, with any
of Unicode's digits, minus signs and blanks. An ambiguous text is refused: a comma separates
thousands and nothing else.
"""

import math
import re
import unicodedata
from decimal import Decimal, DecimalException

from dpcore.check import verbatim

SUFFIXES = {"k": 3, "K": 3, "M": 6, "%": -2}
# With any other comma a text is no number.
GROUPS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
PLAIN = r"(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)"
POWER = re.compile(rf"(?:({PLAIN})(?:x|\*))?10\^\{{?([-+]?\d+)\}}?")
SCIENTIFIC = re.compile(rf"{PLAIN}(?:e[-+]?\d+)?", re.IGNORECASE)
RAISED = re.compile(r"[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
LOWERED = re.compile(r"(?<=10)−(?=\d)")  # a power of ten that lost its place: 10−5
DIGIT = re.compile(r"\d")  # of any script
TEX = {"{,}": ",", "\\times": "x", "\\cdot": "x", "\\%": "%", "$": ""}
SAME = str.maketrans(
    dict.fromkeys("−–‐‑", "-") | dict.fromkeys("×·⋅∙", "x") | dict.fromkeys("⁄∕", "/")
)
COMMA = "write decimals with a point, as in 3.5, and thousands with a comma, as in 60,000"
RANGE = "it must lie between 1e-308 and 1e308"
FORMS = "write it like 0.5, 1e-5, 1/3 or 60,000"


def normalised(text: str) -> str:
    """Convert a text to ASCII, without blanks at its ends or around signs; raised digits follow a
    ^.

    >>> normalised(" 1 × 10⁻⁵ "), normalised("１．５"), normalised("1e−5"), normalised("٣")
    ('1x10^-5', '1.5', '1e-5', '3')
    """
    for written, plain in TEX.items():
        text = text.replace(written, plain)
    text = RAISED.sub(lambda each: f"^{unicodedata.normalize('NFKC', each[0])}", text)
    text = LOWERED.sub("^-", text)
    text = unicodedata.normalize("NFKC", text).translate(SAME)
    text = DIGIT.sub(lambda each: str(unicodedata.decimal(each[0])), text)
    return re.sub(r"\s*([x*/^%{}])\s*", r"\1", text.strip())


def read_number(text: str, name: str = "") -> Decimal:
    """Read a number exactly. Errors: ValueError names it and says how to write a number.

    >>> texts = ("1e-5", "10⁻⁵", "2.0 × 10^{-6}", "60k", "1/4", "1 %", "60,000")
    >>> [str(read_number(text, "delta")) for text in texts]
    ['0.00001', '0.00001', '0.0000020', '6.0E+4', '0.25', '0.01', '60000']
    >>> read_number("three", "sigma")
    Traceback (most recent call last):
    ...
    ValueError: Expected sigma=`three` to be a number: write it like 0.5, 1e-5, 1/3 or 60,000.
    """
    try:
        return _decimal(GROUPS.sub(lambda each: each[0].replace(",", ""), normalised(text)))
    except (DecimalException, OverflowError, ValueError) as error:
        hint = RANGE if isinstance(error, OverflowError) else COMMA if "," in text else FORMS
        raise ValueError(
            f"Expected {name}{'=' if name else ''}{verbatim(text)} to be a number: {hint}."
        ) from None


def read_whole(text: str, name: str = "") -> int:
    """Read a whole number with all its digits. Errors: ValueError, as of `read_number`.

    >>> read_whole("1e4"), read_whole("60,000"), read_whole("9,223,372,036,854,775,807")
    (10000, 60000, 9223372036854775807)
    """
    exact = read_number(text, name)
    if exact != exact.to_integral_value():
        raise ValueError(
            f"Expected {name}{'=' if name else ''}{verbatim(text)} to be a whole number."
        )
    return int(exact)


def _decimal(text: str) -> Decimal:
    if text[:1] in ("-", "+"):
        value = _unsigned(text[1:])
        return -value if text[0] == "-" else value
    return _unsigned(text)


def _unsigned(text: str) -> Decimal:
    above, stroke, below = text.rpartition("/")
    if stroke and "/" not in above:
        return _in_range(_unsigned(above) / _unsigned(below))
    if text[-1:] in SUFFIXES:
        return _unsigned(text[:-1].rstrip()).scaleb(SUFFIXES[text[-1]])
    if power := POWER.fullmatch(text):
        text = f"{power[1] or 1}e{power[2]}"
    if not SCIENTIFIC.fullmatch(text):
        raise ValueError(text)
    return _in_range(Decimal(text.replace("_", "")))


def _in_range(value: Decimal) -> Decimal:
    """Return the number. Errors: OverflowError for one outside the range of floats."""
    if value and not 0 < abs(float(value)) < math.inf:
        raise OverflowError(value)
    return value
