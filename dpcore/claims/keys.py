"""Keys with values: in configurations, calls, options of commands, and lists.

`epsilon: 3`, `"epsilon": 3`, `epsilon = 3`, `--epsilon 3`, `add_argument("--epsilon", default=3)`,
`epsilon   3` on a line of its own, and `..., epochs 15, batch 256` in a list.
"""

import re
from collections.abc import Iterator, Sequence

from dpcore.claims import vocabulary as words
from dpcore.claims.values import FIGURE
from dpcore.claims.vocabulary import REASONS, Named, named

TYPE = r"(?:float|int|Optional\[\w+\]|f32|f64|u32|usize|double|number|str)"
KEY = re.compile(  # at the end of the text before a number
    r"(?:^|[\n{(\[,;|]|(?<=\s)|[-*•]\s)\s*(?P<quote>[\"']?)"
    r"(?P<key>[^\W\d][\w.|/-]*"
    r"|[^\W\d][^\n:={}()\[\]\"',;|]{0,70}(?:\([^\n()]{0,60}\))?[^\n:={}\[\]\"',;|()]{0,10})(?P=quote)"
    rf"\s*(?::\s*(?:Final\[)?{TYPE}\]?(?:\s*\|\s*None)?\s*)?"
    r"(?:=>|:=|\?=|[:=≈]|<=|==)\s*[\"'(]?\s?$"
)
OPTION = re.compile(r"(?:^|\s)--?(?P<key>[A-Za-z][\w.-]*)(?:\s*=\s*|\s+)[\"']?$")
ALIGNED = re.compile(r"(?:wandb:)?[ \t]*(?P<key>[A-Za-z_][\w/.]*)[ \t]+")  # a whole line
LISTED = re.compile(r"(?:^|[,;(])\s*(?P<key>[^\W\d][^\W\d_ ]*(?:[ _-][^\W\d_ ]+){0,3})\s$")
LOOP = re.compile(r"\bfor\s?\(+[^()]*$")
SCRIPT_OPTIONS = {"s": "q", "n": "sigma", "e": "epochs", "d": "delta"}  # of OPACUS_SCRIPT
OPACUS_SCRIPT = "compute_dp_sgd_privacy"
RATE_OPTION = re.compile(r"(?<![\w-])-sr\b")
SEVERAL = re.compile(r"[ \t]*\w+(?:\s*,\s*\w+)+\s*=\s*(?:[\w.]+\s*,\s*)*")  # a, b = 1, 2
MAX_LINE = 200  # characters before a number of a line with one key
VALUE_KEYS = ("value", "init_value", "initial_value", "default", "val")
TRAILING_LINK = re.compile(rf"(?i)\s(?:{words.LINKS})$")
DEFAULT = re.compile(
    r"(?:add_argument|add|Option|option|DEFINE_\w{3,9})\(\s*(?P<names>[\"'][^)]{0,400}?)"
    r"(?:\bdefault\s?=\s?|(?<=[\"'],)\s?)[\"']?(?P<value>[-+]?[\d.][\w.+-]*)[\"']?(?P<rest>[^\n]*)"
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
    if OPACUS_SCRIPT in command and key in SCRIPT_OPTIONS:
        return Named(SCRIPT_OPTIONS[key])
    if key == "n":  # epochs in the examples of Opacus, which have -sr beside it
        return Named("epochs") if RATE_OPTION.search(command) else NAMELESS
    return named(key, headed=True)._replace(counts=False)


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
        alone = key.lower() in VALUE_KEYS
        outer = named(around[-1], headed=True)
        within = outer if alone else named(f"{around[-1]} {key}", headed=True)
        if within.field and (alone or outer.field or not meaning.field):
            return within
    if not meaning.field and " " in key:
        return _by_clause(key)
    return meaning


def by_line(line: str, *, ends: bool) -> Named | None:
    """What a line before a number names: a key and blanks alone, or several keys at once."""
    if len(line) > MAX_LINE:
        return None
    if SEVERAL.fullmatch(line):
        return NAMELESS
    aligned = ALIGNED.fullmatch(line)
    return named(aligned["key"], headed=True) if aligned and ends else None


def by_list(lead: str) -> Named | None:
    """What an item of a list names, as in "sigma 1.1, epochs 15"; None unless it is known."""
    listed = LISTED.search(lead)
    if listed is None or len(listed["key"]) == 1:
        return None
    meaning = named(listed["key"], headed=True)
    return meaning if meaning.field else None


def _by_clause(key: str) -> Named | None:
    """A key with a clause, as in "Epsilon with shuffled batches: 3", if that tells how."""
    key = TRAILING_LINK.sub("", key)
    whole = named(key, headed=True)
    if whole.field:
        return whole
    begins = beginning(key)
    if begins.field != "epsilon":
        return None
    if words.DOUBT["supposed"].search(key):
        return begins._replace(why=REASONS["supposed"])
    tells = any(
        field == "sampler" and pattern.search(key) for field, _, pattern in words.SAID_IN_WORDS
    )
    return begins if tells else begins._replace(why=REASONS["nameless"])


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
        helped = HELP.search(each["names"] + each["rest"])
        sentence = helped[1] if helped else ""
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
