"""Keys with values: in configurations, calls, and options of commands.

`epsilon: 3`, `"epsilon": 3`, `epsilon = 3`, `--epsilon 3`, `add_argument("--epsilon", default=3)`.
"""

import re
from collections.abc import Iterator, Sequence

from dpcore.claims import vocabulary as words
from dpcore.claims.values import FIGURE
from dpcore.claims.vocabulary import REASONS, TARGET, Named, named

TYPE = r"(?:float|int|Optional\[\w+\]|f32|f64|u32|usize|double|number|str)"
KEY = re.compile(  # at the end of the text before a number
    r"(?:^|[\n{(\[,;|]|(?<=\s)|[-*•]\s)\s*"  # where a key may begin
    r"(?P<quote>[\"']?)(?P<key>[^\W\d][\w.|/-]*"  # one word
    r"|[^\W\d][^\n:={}()\[\]\"',;|]{0,70}"  # or words
    r"(?:\([^\n()]{0,60}\))?"  # with something in brackets
    r"[^\n:={}\[\]\"',;|()]{0,10})(?P=quote)"
    rf"\s*(?::\s*(?:Final\[)?{TYPE}\]?(?:\s*\|\s*None)?\s*)?"  # its type
    r"(?:=>|:=|\?=|[:=≈]|<=|==)\s*[\"'(]?\s?$"  # the sign
)
OPTION = re.compile(r"(?:^|\s)--?(?P<key>[A-Za-z][\w.-]*)(?:\s*=\s*|\s+)[\"']?$")
LOOP = re.compile(r"\bfor\s?\(+[^()]*$")
RATE_OPTION = re.compile(r"(?<![\w-])-sr\b")
COUNTED = re.compile(rf"[ \t](?:{words.any_of(words.UNITS)})\s=\s?$")  # "20 epochs = 2,400 steps"
SEVERAL = re.compile(
    r"(?:^|\n)[ \t]*(?:>>> )?\w+(?:[ \t]*,\s*\w+)+\s*=\s*(?:[\w.]+\s*,\s*)*$"
)  # a, b = 1, 2
VALUE_KEYS = ("value", "init_value", "initial_value", "default", "val")
DEFAULT = re.compile(
    r"(?:add_argument|add|Option|option|DEFINE_\w{3,9})\(\s*(?P<names>[\"'][^)]{0,400}?)"
    r"(?:\bdefault\s?=\s?|(?<=[\"'],)\s?)"  # or the second argument
    r"[\"']?(?P<value>[-+]?[\d.][\w.+-]*)[\"']?"
    r"(?P<rest>[^\n]*(?:\n\s+(?=help)[^\n]*)?)"  # with the help in the next line
)
QUOTED = re.compile(r"[\"']([^\"']+)[\"']")
HELP = re.compile(r"help\s?=\s?f?[\"']{1,3}([^\"\n]*)")
MAX_BEGINNING = 5  # words of a sentence that may be a name


def by_option(lead: str, command: str) -> Named | None:
    """What the option before a number names, in the command around it; None without an option."""
    option = OPTION.search(lead)
    if option is None:
        return None
    key = option["key"]
    if key == "n" and RATE_OPTION.search(command):  # in the examples of Opacus
        return Named("epochs")
    if key == "n":
        return NAMELESS
    meaning = named(key, headed=True)._replace(counts=False)
    if meaning.field == "epsilon":  # nobody sets what will be spent
        return meaning._replace(rank=TARGET)
    return meaning


def by_key(lead: str, around: Sequence[str]) -> Named | None:
    """What the key before a number names, within the keys around it; None without a key."""
    found = KEY.search(lead)
    if found is None or LOOP.search(lead):
        return None
    key = found["key"].strip()
    if len(key) == 1:
        return None  # a letter
    meaning = named(key, headed=True)
    if around and not named(key).field:
        outer = named(around[-1], headed=True)
        if key.lower() in VALUE_KEYS:
            if outer.field:
                return outer
        elif outer.field or not meaning.field:
            within = named(f"{around[-1]} {key}", headed=True)
            if within.field:
                return within
    if " " in key and not meaning.field:
        return None
    return meaning


def beginning(sentence: str) -> Named:
    """What the first words of a sentence name."""
    plain = re.sub(r"\([^)]*\)?", "", sentence).split()
    for length in range(min(len(plain), MAX_BEGINNING), 0, -1):
        found = named(" ".join(plain[:length]))
        if found.field:
            return found
    return NAMELESS


def defaults_of(text: str) -> Iterator[tuple[Named, re.Match[str] | None, tuple[int, int]]]:
    """Yield the defaults of options in Python: what each is, its number, and the place of all."""
    for each in DEFAULT.finditer(text):
        sentence = ""
        helped = HELP.search(each["names"] + each["rest"])
        if helped:
            sentence = helped[1]
        meaning = _by_names(each[0], QUOTED.findall(each["names"]))
        if not meaning.field and sentence:
            meaning = beginning(sentence)
        helps = beginning(sentence)
        if helps.field and helps.field != meaning.field:
            meaning = NAMELESS
        if words.OTHER.search(sentence):
            meaning = meaning._replace(why=REASONS["other"])
        yield meaning, FIGURE.match(text, each.start("value")), each.span()


def _by_names(call: str, names: Sequence[str]) -> Named:
    """What the longest of an option's names means."""
    for name in sorted(names, key=len, reverse=True):
        if name.startswith("-") or "DEFINE" in call:
            found = named(name.lstrip("-"), headed=True)
            if found.field:
                return found
    return NAMELESS


NAMELESS = Named("", why=REASONS["nameless"])
