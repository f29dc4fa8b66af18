"""What a plain text says: values with their names, and numbers that have none.

A number counts only beside its name: the key, option or head of a table that holds it, the words
before it, or the unit after it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from dpcore.claims import vocabulary as words
from dpcore.claims.printed import Printed, printed_epsilon
from dpcore.claims.scopes import COMMENTED, Kind, Scope, counter_of, lines_of, outline
from dpcore.claims.tables import Table, tables_of
from dpcore.claims.vocabulary import FINAL, PLAIN, REASONS, TARGET, Named, named
from dpcore.written_number import read_number

DIGITS = r"(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
POWER = rf"(?:{DIGITS}\s{{0,3}}[x×*·]\s{{0,3}})?10 ?\^ ?[-+]?\d+"
SIGNED = (
    rf"[-+]?(?:{POWER}|{DIGITS}[eE][-+]?\d+|{DIGITS} ?/ ?{DIGITS}(?! ?/)|{DIGITS}(?: ?%|[kKM])?)"
)
# The whole number, no range, no product and no formula.
NUMBER = rf"{SIGNED}(?![\w^{{√±]|/(?![a-zA-Z]{{2}})| ?\+ ?[A-Za-z(]|[*×·][A-Za-z(]| ?[*×·±] ?[(\d]|[.,]\d| ?[-x] ?\d|\s?(?:to|or|and)\s?[-\d.]+\s?(?:[,;.)]|$))"
OF_N = r"1\s?/\s?(?:[nN](?![a-z])|\|D\|)(?:\^(?P<power>1(?:\.\d+)?))?(?![\w^])"
FIGURE = re.compile(
    rf"(?<![\w.^])(?<!\d,)(?<![×*·]\s)(?<![×*·])(?:(?P<of_n>{OF_N})|(?P<number>{NUMBER}))"
)
LIST = re.compile(
    rf"(?:,\s?{SIGNED})*,?\s?(?:and|or|und|et|y)\s{SIGNED}(?=\s?(?:[,;.)\n:]|$))|\s?=\s[a-z]{{3}}|(?:\s?,\s?{NUMBER})+\s*[\]}})]|\s?[,/]\s?{NUMBER}\s*(?:[,/]\s?{NUMBER}\s*)*(?:\n|$)|(?:\s{NUMBER})+\s*(?:-|\n|$)"
)
PAIR = re.compile(
    r"(?i)(?P<named>\(?\s{0,2}(?:epsilon|ε)\s{0,2}[,;/]\s{0,2}(?:delta|δ)\s{0,2}\)?\W{1,8}(?:(?:is|of|at|gives|budget)\s){0,2})?"
    rf"(?P<open>\()?\s{{0,2}}(?:(?:epsilon|ε)\s?=\s?)?(?P<epsilon>{POWER}|{DIGITS}[eE][-+]?\d+|{DIGITS})\s{{0,2}}[,;/]\s{{0,2}}"
    rf"(?P<delta>{OF_N.replace('<power>', '<of_power>')}|{SIGNED})(?P<close>\s{{0,2}}\))?(?P<after>\s?-?\s?(?:differential|DP\b|approximate|user-level|example-level))?"
)
TINY = re.compile(r"[eE]-\d|\^ ?-|^0?\.0{3}|^1 ?/")
K_OF_N = re.compile(
    rf"(?i)(?<![\w.,])(?P<k>{NUMBER})(?:\s(?:clients|users|devices|participants))?\s\(?(?:out )?of\s(?:the |all |our |[A-Z]=)?(?P<n>{NUMBER})(?:\s(?:total|available))?(?:\s(?P<who>clients|users|devices|participants))"
)
SAMPLED = re.compile(r"(?i)\b(?:round|sampl|select|participat|chos|drawn|take part|takes part)")
MAX_LEAD = 160  # characters before a number that may tell its meaning
AFTER = 60
ALIGNED = re.compile(r"(?:wandb:)?[ \t]*(?P<key>[A-Za-z_][\w/.]*)[ \t]+$")
OPTION = re.compile(r"(?:^|\s)--?(?P<key>[A-Za-z][\w.-]*)(?:\s*=\s*|\s+)[\"']?$")
KEY = re.compile(
    r"(?:^|[\n{(\[,;|]|(?<=\s)|[-*•]\s)\s*(?P<quote>[\"']?)(?P<key>[^\W\d][\w.|/-]*|[^\W\d][^\n:={}()\[\]\"',;|]{0,70}(?:\([^\n()]{0,60}\))?[^\n:={}\[\]\"',;|()]{0,10})(?P=quote)"
    r"\s*(?::\s*(?:Final\[)?(?:float|int|Optional\[\w+\]|f32|f64|u32|usize|double|number|str)\]?(?:\s*\|\s*None)?\s*)?(?:=>|:=|\?=|[:=≈]|<=|==)\s*[\"'(]?\s?$"
)
PROSE = re.compile(
    rf"(?i)(?P<name>{words.NAME})(?:\s?\([^()\n]{{0,60}}\)|\s\(?(?:[A-Za-z]|sigma|epsilon|delta|[εδσ])\s?\)?(?=[\s=:,)])|[\s_]+(?:PRV|RDP|GDP|PLD)\b)?[\"'\]\)]*[^\S\n]*\n?[^\S\n]*"
    rf"(?P<link>(?:{words.JOINED}\s?)?(?:(?:(?:is|of|to|at|was)\s[A-Za-z](?=\s?=)|[=:≈~<>]|<=|>=|==|:=|=>|->|,?\s?(?<![^\W\d_])(?:{words.LINKS})(?![^\W\d_]))\s*){{0,3}}[\"'(\[{{~]?\s?)$"
)
TRAILING_LINK = re.compile(rf"(?i)\s(?:{words.LINKS})$")
LETTER = re.compile(
    rf"(?<![\w-])(?P<letter>p(?=\s?=\s?$)|{'|'.join(map(re.escape, words.LETTER))})\s?(?:=|≈|:=)\s?$"
)
AFTER_UNIT = re.compile(
    rf"(?i)\s?-?(?:(?P<between>(?:{words.any_of(words.WORDS['between'])})\s)*)(?P<unit>{words.any_of(words.UNITS)})(?![^\W\d_])(?P<of>\s?(?:{words.OF_A_STEP})(?![^\W\d_]))?"
)
A_STEP = re.compile(rf"(?i)\s(?:{words.OF_A_STEP})(?![^\W\d_])")
LEAD_OF_DATA = re.compile(
    r"(?i)(?:^|[=:,;(\[|&\n]|\b(?:on|over|from|with|in|for|about|all|the|are|is|has|have|contains?|containing|comprises?|and|our|auf|mit|sur|sobre|de|von|aus|на|approximately|roughly|around|of))\s*$"
)
PART_OF = re.compile(r"\d\s(?:\w+\s)?(?:out )?of the\s*$")
RANGE = re.compile(r"\d\s?(?:to|or|-|±|x|×)\s?$")
WITHIN_FORMULA = re.compile(r"[/*×^√]\s?$")
ELSEWHERE_UNIT = re.compile(
    r"(?i)\s?(?:/|make\b|,? of (?:which|whom|(?:the|a) (?!train))|(?:will|would|could)\b|\(?(?:per|each|every|for (?:test|val|eval)\w*|of warm|in each|in every|an? epoch|were held|held out|as test|are test|to generate|from (?:a|the) public)\b)"
)
BEFORE_UNIT = re.compile(
    r"(?i)\b(?:every|per|within|first|last|accumulat\w*|seconds|warm(?:ed)?[ -]?up|warmup|another|additional|extra|generat\w*|pre-?train\w*|test(?:ed)?|evaluat\w*|validat\w*|synthetic|than|each)\W{0,3}(?:of\s|on\s|for\s|about\s|over\s)?$"
)
LISTED = re.compile(r"(?:^|[,;(])\s*(?P<key>[^\W\d][^\W\d_ ]*(?:[ _-][^\W\d_ ]+){0,3})\s$")
SCRIPT_OPTIONS = {"s": "q", "n": "sigma", "e": "epochs", "d": "delta"}  # of compute_dp_sgd_privacy
ARGUMENT = re.compile(rf"\bget_epsilon\(\s*(?P<value>{NUMBER})")
VALUE_KEYS = ("value", "init_value", "initial_value", "default", "val")
PLACE = re.compile(r"(?i)\b(epoch|step)\s$")  # in a training, whose end is another
LOOP = re.compile(r"\bfor\s?\(+[^()]*$")
OPTION_CALL = re.compile(
    r"(?:add_argument|add|Option|option|DEFINE_\w{3,9})\(\s*(?P<names>[\"'][^)]{0,400}?)(?:\bdefault\s?=\s?|(?<=[\"'],)\s?)[\"']?(?P<value>[-+]?[\d.][\w.+-]*)[\"']?(?P<rest>[^\n]*)"
)
QUOTED = re.compile(r"[\"']([^\"']+)[\"']")
HELP = re.compile(r"help\s?=\s?f?[\"']{1,3}([^\"\n]*)")
SCRIPT = re.compile(
    r"(?i)\b(?:sampl(?:e|ing)|eval\w*|test\w*|infer\w*|attack\w*|generate\w*)\.py\b"
)
DENIED = re.compile(
    r"(?i)(?:\b(?:no|not|nor|never|neither|non|without|unlike|than|instead of|in place of|kein\w*|nicht|ohne|pas|sans)|n['’]t)(?:[\s(-]{1,3}(?!but\b)\w{1,12}){0,2}[\s(-]{1,3}$"
)
DENIED_AFTER = re.compile(
    r"(?i)(?:[ _]\w+){0,2}[\"']?\s?[=:]\s?[\"']?(?:false|no|none|off|0(?!\.\d))\b|(?: \w+){0,2} (?:is|are|was|were|does|do|did)(?:n['’]t| not)\b"
)
RESULT = re.compile(
    rf"\bget_(?:privacy_spent|epsilon)\([^()\n]{{0,60}}(?:\([^()\n]{{0,60}}\)[^()\n]{{0,20}})?\)\)?\s{{0,3}}(?:(?:#+\s?)?(?:==?>|->|→|result|returns?|returned|Out\[\d+\]:|:|=|gives|gave)\s?){{0,3}}(?P<value>{NUMBER})"
)
ORDINAL = re.compile(r"(?<![\w.])(?P<count>\d{1,5})(?=(?:st|nd|rd|th) epoch\b)")
STOP = re.compile(r"(?<!vs)(?<!e\.g)(?<!i\.e)(?<!al)(?<!approx)(?<!ca)[.!?;]\s|[.;]$|。")
WHOLE = (
    "batch",
    "examples",
    "steps",
    "rounds",
    "clients",
    "cohort",
    "device_batch",
    "device_count",
    "accumulation",
)
SHARES = ("q", "delta", "share")  # fields printed as fractions
CAREFUL = ("epsilon", "delta", "sigma", "q", "share")  # 1,068 of these is seldom more than 10
COUNTED = (
    "examples",
    "clients",
    "steps",
    "rounds",
    "cohort",
    "share",
)  # "steps 5" is no name with a number
MIN_EPSILON = 1e-3  # a smaller epsilon is an optimizer's
MAX_SIGMA = 100.0  # a larger sigma is asked back
GROUPED = re.compile(r"[1-9]\d{0,2},\d{3}")


class Said(NamedTuple):
    """A value with its place, and the reason if it is not taken; without a field it has no name."""

    field: str
    value: Any
    start: int
    end: int
    why: str = ""
    rank: int = PLAIN
    counts: bool = False  # it is the counter of a line of a log


class Statements:
    """All that one plain text says, each in its scope."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tables = tables_of(text)
        self.root = outline(text, [each.scope for each in self.tables])
        self._taken: set[int] = set()
        self._commented = _commented(text)
        for table in self.tables:
            self._read_table(table)
        self._read_options()
        self._read_pairs()
        self._read_shares()
        self._read_counters()
        self._read_results()
        self._read_figures()
        self._read_words()

    def _note(self, said: Said, scope: Scope | None = None) -> None:
        self._taken.update(range(said.start, said.end))
        if not said.why and any(low <= said.start < high for low, high in self._commented):
            said = said._replace(why=REASONS["commented"])
        (scope or self.root.at(said.start)).said.append(said)

    def _value(self, meaning: Named, text: str, start: int) -> Said:
        """Read a value of a field, with the doubts that its sentence raises."""
        end = start + len(text)
        why = meaning.why
        rank = meaning.rank
        lead = self.sentence(start)
        if not why and words.DOUBT["elsewhere"].search(lead):
            why = REASONS["another"]
        if not why and meaning.field in ("batch", "examples", "clients") and rank == TARGET:
            why = REASONS["other"]
        if not why and meaning.field == "delta" and "/" in text and re.search(r"<\s?$", lead):
            why = REASONS["other"]
        if not why and words.DOUBT["after"].match(self.text[end : end + AFTER]):
            why = REASONS["another"]
        if not why and words.DOUBT["supposed"].search(lead):
            why = REASONS["supposed"]
        if rank == PLAIN and meaning.field == "epsilon":
            near = lead[-80:]
            if words.DOUBT["done"].search(near):
                rank = FINAL
            elif words.DOUBT["aimed"].search(near):
                rank = TARGET
        return valued(Said(meaning.field, text, start, end, why, rank, meaning.counts))

    def sentence(self, start: int) -> str:
        """The sentence before a place, within its line, item or paragraph."""
        low = max(self.root.at(start).start, start - MAX_LEAD * 2)
        part = self.text[low:start]
        return part[max((each.end() for each in STOP.finditer(part)), default=0) :]

    def _read_table(self, table: Table) -> None:
        several = (
            sum(
                named(self.text[low:high], headed=True).field == "epsilon"
                for low, high in table.heads
            )
            > 1
        )
        for cell in table.cells:
            text = self.text[cell.start : cell.end]
            found = FIGURE.search(text)
            rest = "" if found is None else text[found.end() :].strip(" \"'")
            lead = (
                "" if found is None else text[: found.start()].strip(" \"'=≈~").removesuffix("<=")
            )
            if found is None or lead or (rest and rest[0] not in "(%["):
                continue
            meaning = named(cell.head, headed=True)
            if words.OTHER.search(cell.scope.label):
                meaning = meaning._replace(why=REASONS["another"])
            said = (
                self._value(meaning, found[0], cell.start + found.start())
                if meaning.field
                else Said(
                    "",
                    found[0],
                    cell.start + found.start(),
                    cell.start + found.end(),
                    REASONS["nameless"],
                )
            )
            accountants = [
                value
                for field, value, pattern in words.SAID_IN_WORDS
                if field == "accountant" and pattern.search(cell.head)
            ]
            if meaning.field == "epsilon" and meaning.rank != TARGET and (several or accountants):
                own = Scope(Kind.CELL, cell.start, cell.end, cell.head)
                cell.scope.children.append(own)
                self._note(said, own)
                own.said += [Said("accountant", value, *table.heads[0]) for value in accountants]
            else:
                self._note(said, cell.scope)
        for low, high in table.heads:
            if named(self.text[low:high], headed=True).field == "epsilon":
                self._taken.update(range(low, high))

    def _read_options(self) -> None:
        """Read the defaults of options in Python."""
        for each in OPTION_CALL.finditer(self.text):
            names = QUOTED.findall(each["names"])
            helped = HELP.search(each["names"] + each["rest"])
            said = helped[1] if helped else ""
            meaning = next(
                (
                    found
                    for found in (
                        named(name.lstrip("-"), headed=True)
                        for name in sorted(names, key=len, reverse=True)
                        if name.startswith("-") or "DEFINE" in each[0]
                    )
                    if found.field
                ),
                Named("", why=REASONS["nameless"]),
            )
            if not meaning.field and said:
                meaning = _beginning(said)
            if words.OTHER.search(said):
                meaning = meaning._replace(why=REASONS["other"])
            number = FIGURE.match(self.text, each.start("value"))
            if number and meaning.field:
                self._note(self._value(meaning, number[0], number.start()))
            self._taken.update(range(each.start(), each.end()))

    def _read_pairs(self) -> None:
        """Read (3, 1e-5) as an epsilon and a delta, where that is what it is."""
        for each in PAIR.finditer(self.text):
            tiny = TINY.search(each["delta"]) and not TINY.search(each["epsilon"])
            bracketed = each["open"] and each["close"] and tiny
            if not (
                each["named"] or (each["after"] and each["close"]) or bracketed
            ) or self._taken & {*range(*each.span("delta"))}:
                continue
            for field in ("epsilon", "delta"):
                self._note(self._value(Named(field), each[field], each.start(field)))

    def _read_shares(self) -> None:
        """Read 10 of 100 clients as a sampling rate, where it is one."""
        for each in K_OF_N.finditer(self.text):
            around = self.sentence(each.start()) + self.text[each.end() : each.end() + AFTER]
            if not SAMPLED.search(around):
                continue
            share = each["k"] if "%" in each["k"] else f"{each['k']}/{each['n']}"
            said = self._value(Named("share"), share, each.start("k"))
            self._note(said._replace(end=each.end("k")))
            self._note(self._value(Named("clients"), each["n"], each.start("n")))

    def _read_results(self) -> None:
        """Read what a call of an accountant returned, which stands after it, and "20th epoch"."""
        for each in RESULT.finditer(self.text):
            self._note(self._value(Named("epsilon"), each["value"], each.start("value")))
        for each in ARGUMENT.finditer(self.text):
            self._note(self._value(Named("delta"), each["value"], each.start("value")))
        for each in ORDINAL.finditer(self.text):
            self._note(self._value(Named("epochs"), each["count"], each.start("count")))

    def _read_counters(self) -> None:
        """Read the counters of lines that print an epsilon."""
        for start, line in lines_of(self.text):
            found = counter_of(line)
            if found is None:
                continue
            unit = found["unit"].lower()
            field = "steps"
            if unit[0] in "eéエ에轮":
                field = "epochs"
            elif unit[0] in "rtラ라":
                field = "rounds"
            low, high = start + found.start("count"), start + found.end()
            if not self._taken & {*range(low, high)}:
                value = float(found["count"]) if field == "epochs" else int(found["count"])
                self._note(Said(field, value, low, high, "", FINAL, counts=True))

    def _read_figures(self) -> None:
        last = 0
        for each in FIGURE.finditer(self.text):
            start, end = each.span()
            if not self._taken & {*range(start, end)} and not RANGE.search(
                self.text[max(0, start - 8) : start]
            ):
                lead = self.text[max(last, start - MAX_LEAD) : start]
                meaning = self._meaning(each, lead)
                after = self.text[end : end + AFTER]
                if meaning.field and not meaning.why and LIST.match(after):
                    meaning = meaning._replace(why=REASONS["nameless"])
                if meaning.field:
                    self._note(self._value(meaning, each[0], start))
                else:
                    self._note(
                        Said("", each[0].strip(), start, end, meaning.why or REASONS["nameless"])
                    )
            last = end

    def _meaning(self, figure: re.Match[str], lead: str) -> Named:
        """What a number is, by its key, the words before it, or its unit."""
        scope = self.root.at(figure.start())
        path = self.root.path(figure.start())
        around = " ".join(each.label for each in path)
        keys = [each.label for each in path if each.kind is Kind.GROUP]
        line = self.text[self.text.rfind("\n", 0, figure.start()) + 1 : figure.start()]
        aligned = ALIGNED.fullmatch(line)
        if aligned and self.text[figure.end() : figure.end() + 1] in ("", "\n"):
            return named(aligned["key"], headed=True)
        listed = LISTED.search(lead)
        if listed and (
            self.text[: figure.start()].endswith(lead)
            and (lead[:1] in ",;" or figure.start() == len(lead))
        ):
            short = named(listed["key"], headed=True)
            if short.field and len(listed["key"]) > 1:
                return short
        found = (
            self._by_key(scope, lead, keys)
            or self._by_words(figure, lead)
            or self._by_unit(figure, lead)
        )
        if found is None:
            return Named("", why=REASONS["nameless"])
        if found.field and words.OTHER.search(re.sub(r"[_.-]", " ", around)):
            return found._replace(why=REASONS["other"])
        if scope.kind is Kind.COMMAND and SCRIPT.search(self.text[scope.start : scope.end]):
            return found._replace(why=REASONS["another"])
        return found

    def _by_key(self, scope: Scope, lead: str, keys: Sequence[str]) -> Named | None:
        option = OPTION.search(lead)
        if option:
            key = option["key"]
            if (
                "compute_dp_sgd_privacy" in self.text[scope.start : scope.end]
                and key in SCRIPT_OPTIONS
            ):
                return Named(SCRIPT_OPTIONS[key])
            if key == "n":  # epochs in the examples of Opacus, which have -sr beside it
                rated = re.search(r"(?<![\w-])-sr\b", self.text[scope.start : scope.end])
                return Named("epochs") if rated else Named("", why=REASONS["nameless"])
            return named(key, headed=True)
        found = KEY.search(lead)
        if found is None or LOOP.search(lead):
            return None
        key = found["key"].strip()
        if len(key) == 1:
            return None
        meaning = named(key, headed=True)
        if keys and not named(key).field:  # a key within a key
            own = key.lower() in VALUE_KEYS
            within = named(keys[-1] if own else f"{keys[-1]} {key}", headed=True)
            if within.field and (own or not meaning.field or named(keys[-1], headed=True).field):
                return within
        if not meaning.field and " " in key:
            return self._by_clause(key)
        return meaning

    def _by_clause(self, key: str) -> Named | None:
        """Read a key with a clause, as in "Epsilon with shuffled batches: 3", if that tells how."""
        key = TRAILING_LINK.sub("", key)
        whole = named(key, headed=True)
        if whole.field:
            return whole
        begins = _beginning(key)
        if begins.field != "epsilon":
            return None
        if words.DOUBT["supposed"].search(key):
            return begins._replace(why=REASONS["supposed"])
        told = any(
            field == "sampler" and pattern.search(key) for field, _, pattern in words.SAID_IN_WORDS
        )
        return begins if told else begins._replace(why=REASONS["nameless"])

    def _by_words(self, figure: re.Match[str], lead: str) -> Named | None:
        found = PROSE.search(lead)
        if found is None:
            place = PLACE.search(lead)
            if place:
                return Named("steps" if place[1] == "step" else "epochs", why=REASONS["unclear"])
            letter = LETTER.search(lead)
            if (
                letter and letter["letter"] == "p"
            ):  # of the papers on Gaussian privacy: p = 256/60000
                return Named("q") if "/" in figure[0] else None
            return Named(words.LETTER[letter["letter"]]) if letter else None
        if found["link"].strip(" \t\n\"'([{") == "" and words.named(found["name"]).field in COUNTED:
            return None
        start = found.start("name")
        glued = re.search(r"[\w./-]+\Z", lead[:start])
        name = found["name"]
        if glued and ord(name[0]) < 0x2E80:
            return named((glued[0] + name).lstrip("-"))
        meaning = named(name)
        rank = meaning.rank
        before = lead[:start]
        while True:  # words that belong to the name
            inner = re.search(
                rf"(?i)(?<![^\W\d_])(?P<word>{words.any_of([*words.WORDS['plain'], *words.WORDS['final'], *words.WORDS['target'], *words.OPACUS])})[\s\"'(]+$",
                before,
            )
            if inner is None:
                break
            if words.rank_of(inner["word"]) != PLAIN:
                rank = words.rank_of(inner["word"])
            before = before[: inner.start()]
        if WITHIN_FORMULA.search(before):
            return None
        word = before.rstrip()[-1:]
        symbol = name in "εδσ" and not words.OTHER.search(before[-20:])
        if word and ord(word) < 0x2E80 and not symbol and not words.BEFORE.search(before):
            another = words.OTHER.search(before[-30:])
            return Named(meaning.field, why=REASONS["other" if another else "unclear"])
        return Named(meaning.field, rank)

    def _by_unit(self, figure: re.Match[str], lead: str) -> Named | None:
        after = self.text[figure.end() : figure.end() + 2 * AFTER]
        found = AFTER_UNIT.match(after)
        a_step = A_STEP.match(after)
        if found is None and a_step:
            return Named("cohort" if "round" in a_step[0].lower() else "batch")
        if found is None:
            return None
        unit = re.sub(r"[\s_-]+", " ", found["unit"]).lower()
        field = words.UNITS[unit]
        if found["of"]:
            field = {"examples": "batch", "clients": "cohort"}.get(field, "")
            return Named(field) if field else None
        part = PART_OF.search(self.text[max(0, figure.start() - 40) : figure.start()])
        if field in ("examples", "clients") and (part or not LEAD_OF_DATA.search(lead)):
            return None
        if ELSEWHERE_UNIT.match(after[found.end() :]) or BEFORE_UNIT.search(lead[-40:]):
            return Named(field, why=REASONS["other"])
        if figure[0].rstrip().endswith("%"):
            return Named("share") if field == "clients" and SAMPLED.search(lead + after) else None
        return Named(field)

    def _read_words(self) -> None:
        for field, value, pattern in words.SAID_IN_WORDS:
            for each in pattern.finditer(self.text):
                if self._taken & {each.start()}:
                    continue
                before = self.sentence(each.start())
                why = ""
                if DENIED.search(before[-60:]) or DENIED_AFTER.match(
                    self.text[each.end() : each.end() + AFTER]
                ):
                    continue
                if words.DOUBT["supposed"].search(before) or words.DOUBT["elsewhere"].search(
                    before
                ):
                    why = REASONS["supposed"]
                scope = self.root.at(each.start())
                said = Said(field, value, *each.span(), why)
                if any(low <= each.start() < high for low, high in self._commented):
                    said = said._replace(why=REASONS["commented"])
                scope.said.append(said)
        for each in words.NAMED_ACCOUNTANT.finditer(self.text):
            name = each["name"].lower()
            self.root.at(each.start("name")).said.append(
                Said("accountant", words.OPACUS.get(name, name), *each.span("name"))
            )


def _beginning(sentence: str) -> Named:
    """What the first words of a sentence name."""
    plain = re.sub(r"\([^)]*\)?", "", sentence).split()
    for length in range(min(len(plain), 5), 0, -1):
        found = named(" ".join(plain[:length]))
        if found.field:
            return found
    return Named("", why=REASONS["nameless"])


def _commented(text: str) -> list[tuple[int, int]]:
    """The places of lines that are commented out."""
    return [(start, start + len(line)) for start, line in lines_of(text) if COMMENTED.match(line)]


def valued(said: Said) -> Said:
    """A statement whose text is read as the value of its field; passed over if it is none."""
    text = said.value
    try:
        value = read_value(said.field, text)
    except ValueError as error:
        return said._replace(why=said.why or str(error))
    why = said.why
    if not why and "/" in text and said.field not in SHARES:
        why = REASONS["nameless"]
    if not why and said.field in CAREFUL and GROUPED.fullmatch(text.strip()):
        why = REASONS["comma"]
    if not why and said.field == "epsilon" and value.value < MIN_EPSILON:
        why = REASONS["small"]
    if not why and said.field == "sigma" and value > MAX_SIGMA:
        why = REASONS["loud"]
    return said._replace(value=value, why=why)


def read_value(field: str, text: str) -> Any:
    """Read a value. Errors: ValueError for a text that is no value of the field."""
    if field == "delta" and re.fullmatch(OF_N, text.strip()):
        return text.strip()  # until the number of examples is known
    if field == "epsilon":
        return printed_epsilon(text)
    number = float(read_number(text, field))
    if field in WHOLE and number.is_integer():
        return int(number)
    if field in WHOLE:
        raise ValueError(f"Expected {field}={text} to be a whole number.")
    return number


def same(value: Any, shown: Any) -> bool:
    """True if a value is the shown one, which may have fewer digits."""
    if isinstance(value, Printed) and isinstance(shown, Printed):
        finer = len(value.text) >= len(shown.text)
        return value == shown or (finer and shown.low <= value.value < shown.high)
    return value == shown


def statements(text: str) -> Iterator[Said]:
    """Yield all statements of a text in their order; for tests."""
    yield from sorted(_all(Statements(text).root), key=lambda each: each.start)


def _all(scope: Scope) -> Iterator[Said]:
    yield from scope.said
    for each in scope.children:
        yield from _all(each)
