"""Names in sentences: words before a number, or a unit after it."""

import re

from dpcore.claims import vocabulary as words
from dpcore.claims.values import DIGITS, FLOAT, NUMBER, OF_N, POWER, SIGNED
from dpcore.claims.vocabulary import REASONS, Named, named

SYMBOL = r"\s\(?(?:[A-Za-z]|sigma|epsilon|delta|[εδσ])\s?\)?(?=[\s=:,)])"
ASIDE = rf"(?:\s?\([^()\n]{{0,60}}\)|{SYMBOL}|[\s_]+(?:PRV|RDP|GDP|PLD)\b)?"
SIGN = r"(?:is|of|to|at|was)\s[A-Za-z](?=\s?=)|[=:≈~<>]|<=|>=|==|:=|=>|->"
LINK = rf"(?:{SIGN}|,?\s?(?<![^\W\d_])(?:{words.LINKS})(?![^\W\d_]))"
BEFORE_NUMBER = re.compile(  # a name, something in brackets, and what links them
    rf"(?i)(?P<name>{words.NAME}){ASIDE}[\"'\]\)]*[^\S\n]*\n?[^\S\n]*"
    rf"(?P<link>(?:{words.JOINED}\s?)?(?:{LINK}\s*){{0,3}}[\"'(\[{{~]?\s?)$"
)
GLUED = re.compile(r"[\w./-]+\Z")  # to a name, which is then another one
LETTER = re.compile(
    rf"(?<![\w-])(?P<letter>p|{'|'.join(map(re.escape, words.LETTER))})\s?(?:=|≈|:=)\s?$"
)
PLACE = re.compile(r"(?i)\b(epoch|step)\s$")  # in a training, whose end is another
WITHIN_FORMULA = re.compile(r"[/*×^√]\s?$")
CLAUSE = re.compile(r"[,.;:()|\n]")
COUNTED = ("examples", "clients", "steps", "rounds", "cohort", "share")  # no name is "steps 5"
CJK = 0x2E80  # from this letter on names have no blanks around them
BETWEEN = rf"(?:(?:{words.any_of(words.WORDS['between'])})\s)*"
UNIT = re.compile(
    r"(?i)(?:[^\S\n]|(?-i:\n(?=[a-zà-ÿ])))?-?"  # a blank, or a line that goes on
    rf"{BETWEEN}(?P<unit>{words.any_of(words.UNITS)})(?![^\W\d_])"
    rf"(?P<of>\s?(?:{words.OF_A_STEP})(?![^\W\d_]))?"
)
OF_A_STEP = {"examples": "batch", "clients": "cohort", "devices": "cohort"}
A_STEP = re.compile(rf"(?i)\s(?:{words.OF_A_STEP})(?![^\W\d_])")
OF_DATA = re.compile(  # before a number of examples
    r"(?i)(?:^|[=:,;(\[|&\n#]|\b(?:on|over|from|with|in|for|about|all|the|are|is|has|have|contains?"
    r"|containing|comprises?|and|our|auf|mit|sur|sobre|de|von|aus|на|approximately|roughly|around"
    r"|across|(?<!rounds )used|of|[A-Z]\s=))\s*$"
)
IN_EACH = re.compile(r"(?i)(?:\s[\w-]+){0,4}\s(?:per|in a|in each|in every)\b")
ALL_OF = re.compile(r"(?i)\b(?:of the|of all|all|across|total)\s(?:[A-Z]\s?=\s?)?$")
PART_OF = re.compile(r"\d\s(?:\w+\s)?(?:out )?of the\s*$")
AFTER_UNIT = re.compile(  # that make it another number
    r"(?i)[^.\n]{0,50}(?:\bof which\b|\btrain(?:ing)?:?\s\d|\bsplit\b)|\s(?:de )?test\b"
    r"|\s?(?:/|make\b|,? of (?:which|whom|(?:the|a) (?!train))"
    r"|(?:will|would|could|takes?|took)\b"
    r"|\(?(?:per|each|every|for (?:test|val|eval)\w*|of warm|in each|in every|an? epoch|were held"
    r"|held out|as test|are test|to generate|from (?:a|the) public)\b)"
)
BEFORE_UNIT = re.compile(
    r"(?i)\b(?:every|per|within|first|last|accumulat\w*|seconds|warm(?:ed)?[ -]?up|warmup|another"
    r"|additional|extra|generat\w*|pre-?train\w*|test(?:ed)?|evaluat\w*|validat\w*|synthetic|than"
    r"|each)\W{0,3}(?:of\s|on\s|for\s|about\s|over\s)?$"
)
IN_BATCH = re.compile(r"(?i)\b(?:batch|lot)e?s?\s(?:has|have|holds?|contains?)\s(?:\w+\s){0,2}$")
PRINTED = re.compile(r"(?:^|\n)\s*\($")  # by a data base: (4 rows)
MORE = re.compile(r"(?i)\b(?:another|additional|extra|further)\s$")  # than those before
SAMPLED = re.compile(r"(?i)\b(?:round|sampl|select|participat|chos|drawn|take part|takes part)")
PEOPLE = r"(?:clients|users|devices|participants)"
K_OF_N = re.compile(  # 10 of 100 clients
    rf"(?i)(?<![\w.,])(?P<k>{NUMBER})(?:\s{PEOPLE})?\s\(?(?:out )?of\s"
    r"(?:the |all |our )?(?:[A-Z]\s?=\s?)?"
    rf"(?P<n>{NUMBER})(?:\s(?:total|available))?\s{PEOPLE}"
)
PAIR = re.compile(  # (epsilon, delta) = (3, 1e-5), and (3, 1e-5)-DP
    r"(?i)(?P<named>\(?\s{0,2}(?:epsilon|ε)\s{0,2}[,;/]\s{0,2}(?:delta|δ)\s{0,2}\)?\W{1,8}"
    r"(?:(?:is|of|at|gives|budget)\s){0,2})?"
    r"(?P<open>\()?\s{0,2}(?:(?:epsilon|ε)\s?=\s?)?"
    rf"(?<![\d.])(?P<epsilon>{POWER}|{FLOAT}|{DIGITS})"
    rf"\s{{0,2}}[,;/]\s{{0,2}}(?P<delta>{OF_N}|{SIGNED})(?![\d.])(?P<close>\s{{0,2}}\))?"
    r"(?!\s?[;,]\s?\d)"  # no third number
    r"(?P<after>\s?-?\s?(?:differential|DP\b|approximate|user-level|example-level))?"
)
TINY = re.compile(r"[eE]-\d|\^ ?-|^0?\.0{3}|^1 ?/")
ARGUMENTS = r"[^()\n]{0,60}(?:\([^()\n]{0,60}\)[^()\n]{0,20})?"
ANSWER = r"(?:#+\s?)?(?:==?>|->|→|result|returns?|returned|Out\[\d+\]:|:|=|gives|gave)\s?"
RESULT = re.compile(  # of a call of an accountant
    rf"\bget_(?:privacy_spent|epsilon)\({ARGUMENTS}\)\)?\s{{0,40}}(?:{ANSWER}){{0,3}}"
    rf"(?P<value>{NUMBER})"
)
HELD_OUT = r"(?:val(?:id(?:ation)?)?|dev|test|eval(?:uation)?|hold-?out)"
SPLITS = (  # "50000 train / 10000 test", "train 49000  val 11000"
    re.compile(
        rf"(?i)(?<![\w.,/])(?P<value>{NUMBER})\strain(?:ing)?\s?(?:/|,|;|\+|and)\s?{NUMBER}\s{HELD_OUT}\b"
    ),
    re.compile(
        rf"(?i)(?<![\w{{-])train(?:ing)?(?:[ _](?:set|split|size))?[\s:=]{{1,3}}(?P<value>{NUMBER})"
        rf"[\s,;/|]{{1,6}}{HELD_OUT}\b"
    ),
)
ORDINAL = re.compile(r"(?<![\w.])(?P<value>\d{1,5})(?=(?:st|nd|rd|th) epoch\b)")


def by_words(text: str, lead: str) -> Named | None:
    """What the words before a number name; None if no name is there."""
    found = BEFORE_NUMBER.search(lead)
    if found is None:
        return _by_place(lead) or _by_letter(text, lead)
    name = found["name"]
    linked = found["link"].strip(" \t\n\"'([{")
    if not linked and named(name).field in COUNTED:
        return None
    before = lead[: found.start("name")]
    glued = GLUED.search(before)
    if glued and ord(name[0]) < CJK:
        return named((glued[0] + name).lstrip("-"))
    return _beside(named(name), name, before)


def _beside(meaning: Named, name: str, before: str) -> Named | None:
    """What a name means with the words before it."""
    if WITHIN_FORMULA.search(before):
        return None
    last = before.rstrip()[-1:]
    if words.DOUBT["not_training_cjk"].search(before.rstrip()):
        return Named(meaning.field, why=REASONS["other"])
    clause = CLAUSE.split(before)[-1]
    if words.OTHER.search(clause[-24:]):
        return Named(meaning.field, why=REASONS["other"])
    alone = not last or ord(last) >= CJK or words.BEFORE.search(before)
    if alone or name in "εδσ":
        return Named(meaning.field, meaning.rank)
    return Named(meaning.field, why=REASONS["unclear"])


def _by_place(lead: str) -> Named | None:
    place = PLACE.search(lead)
    if place is None:
        return None
    field = "steps" if place[1] == "step" else "epochs"
    return Named(field, why=REASONS["unclear"])


def _by_letter(text: str, lead: str) -> Named | None:
    letter = LETTER.search(lead)
    if letter is None:
        return None
    if letter["letter"] != "p":
        return Named(words.LETTER[letter["letter"]])
    if "/" in text:  # in papers on Gaussian privacy: p = 256/60000
        return Named("q")
    return None


def by_unit(text: str, lead: str, after: str) -> Named | None:
    """What the unit after a number makes it; `lead` ends at the number, and has others before."""
    found = UNIT.match(after)
    if found is None:
        return _by_step(after)
    field = words.UNITS[words.one_blank(found["unit"])]
    of_a_step = OF_A_STEP.get(field, "")
    rest = after[found.end() :]
    if found["of"] and not of_a_step:
        return None
    if found["of"]:
        return Named(of_a_step)
    if of_a_step == "cohort" and IN_EACH.match(rest) and not ALL_OF.search(lead):
        return Named("cohort")
    if field == "examples" and IN_BATCH.search(lead):
        return Named("batch")
    if of_a_step and (PART_OF.search(lead) or not OF_DATA.search(lead)):
        return None
    if MORE.search(lead[-40:]):
        return Named(field, why=REASONS["unclear"])
    printed = PRINTED.search(lead) and rest.startswith(")")
    if printed or AFTER_UNIT.match(rest) or BEFORE_UNIT.search(lead[-40:]):
        return Named(field, why=REASONS["other"])
    if text.rstrip().endswith("%"):
        return None
    return Named(field)


def _by_step(after: str) -> Named | None:
    """What a number is that is of each step or round, without a unit: "256 per step"."""
    step = A_STEP.match(after)
    if step is None:
        return None
    if "round" in step[0].lower():
        return Named("cohort")
    return Named("batch")


def is_pair(found: re.Match[str]) -> bool:
    """True if two numbers of `PAIR` are an epsilon and a delta."""
    tiny = TINY.search(found["delta"]) and not TINY.search(found["epsilon"])
    bracketed = found["open"] and found["close"] and tiny
    called = found["after"] and found["close"]
    return bool(found["named"] or called or bracketed)
