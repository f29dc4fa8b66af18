"""What a plain text says: values with their names, and numbers that have none.

A number counts only beside its name: the head of a table, the key or option that holds it, the
words before it, or the unit after it.
"""

import re
from collections.abc import Iterator

from dpcore.claims import vocabulary as words
from dpcore.claims.doubts import (
    CITED,
    FAILED,
    OWN,
    REMARK,
    doubt_of,
    doubt_of_labels,
    passed_lines,
    why_unsettled,
)
from dpcore.claims.keys import COUNTED, NAMELESS, SEVERAL, by_key, by_option, defaults_of
from dpcore.claims.prose import (
    K_OF_N,
    ORDINAL,
    PAIR,
    RESULT,
    SAMPLED,
    SPLITS,
    by_unit,
    by_words,
    is_pair,
)
from dpcore.claims.scopes import EPSILON, Kind, Scope, counter_of, lines_of, outline
from dpcore.claims.sentences import Sentence, part
from dpcore.claims.tables import Cell, Table, tables_of
from dpcore.claims.values import FIGURE, LIST, RANGE, Said, valued
from dpcore.claims.vocabulary import FINAL, PLAIN, REASONS, TARGET, Named, named

PROSE = (Kind.TEXT, Kind.SECTION, Kind.BLOCK, Kind.LINE)
MAX_LEAD = 160  # characters before a number that may tell its meaning
AFTER = 60  # and after it
STOP = re.compile(
    r"(?<!vs)(?<!e\.g)(?<!i\.e)(?<!al)(?<!approx)(?<!ca)[.!?;]\s"  # but not of "et al. "
    r"|[.;]$|。"
    r"|\n(?=[^\S\n]*(?:[\[{|>#*-]|\(?[a-z\d]{1,2}[.)]\s|\d{4}-\d|\d\d:\d\d))"  # an item
)
SCRIPT = re.compile(  # that trains nothing
    r"(?i)\b(?:sampl(?:e|ing)|eval\w*|test\w*|infer\w*|attack\w*|generate\w*)\.py\b"
)
PRINTED = re.compile(  # by a program: no line of prose
    r"\s*(?:\[[^\]\n]*[A-Za-z:][^\]\n]*\]|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|[IWEF]\d{4}\s"
    r"|(?:INFO|DEBUG|WARN\w*|ERROR)\b|>>>\s|[^\n]*\s\|\s)"
)
DEFAULTS = re.compile(r"(?i)\W*defaults?\b")  # a column's head
MAX_CAPTION = 300
CAPTION = re.compile(r"(?i)^[ \t]*(tab(?:le|elle|leau|\.)? \d[^\n]{0,200})[\s|]*\Z", re.MULTILINE)
COLON = re.compile(r"[^.:=\n]{1,80}:\s")
ENDED = re.compile(rf"{STOP.pattern}|\n[^\S\n]*\n")
DENIED = re.compile(  # before a word
    r"(?i)(?:\b(?:no|not|nor|never|neither|non|without|unlike|than|instead of|in place of|kein\w*"
    r"|nicht|ohne|pas|sans)|n['’]t)(?:[\s(-]{1,3}(?!but\b)\w{1,12}){0,2}[\s(-]{1,3}$"
)
DENIED_AFTER = re.compile(
    r"(?i)(?:[ _]\w+){0,2}[\"']?\s?[=:]\s?[\"']?(?:false|no|none|off|0(?!\.\d))\b"
    r"|(?: \w+){0,2} (?:is|are|was|were|does|do|did)(?:n['’]t| not)\b"
)


class Statements:
    """All that one plain text says, each in its scope."""

    def __init__(self, text: str) -> None:
        self.text = text
        tables = tables_of(text)
        self.root = outline(text, [each.scope for each in tables])
        self._taken: set[int] = set()  # places of numbers and words that were read
        self._passed_lines = list(passed_lines(text))
        self._unsettled = why_unsettled(text)
        for table in tables:
            self._read_table(table)
        defaults = self._read_defaults()
        self._read_forms()
        self._read_counters()
        self._read_figures()
        self._read_words()
        part(self._sentences())
        for said in defaults:  # they hold for each command that does not set them
            self._note(said._replace(rank=TARGET, counts=False), self.root)

    def _note(self, said: Said, scope: Scope | None = None, *, taken: bool = True) -> None:
        """Note a statement; a word may be read by another pattern, too."""
        if taken:
            self._taken.update(range(said.start, said.end))
        for low, high, why in self._passed_lines:
            if low <= said.start < high:
                said = said._replace(why=said.why or why)
        said = said._replace(why=said.why or self._unsettled)
        (scope or self.root.at(said.start)).said.append(said)

    def _free(self, start: int, end: int) -> bool:
        return self._taken.isdisjoint(range(start, end))

    def _value(self, meaning: Named, text: str, start: int) -> Said:
        """Read a number as what it means, with the doubts that its sentence raises."""
        if not meaning.field:
            why = meaning.why or REASONS["nameless"]
            return Said("", text.strip(), start, start + len(text), why)
        lead = self.sentence(start)
        end = start + len(text)
        labels = [each.label for each in self.root.path(start)]
        why = (
            meaning.why
            or doubt_of(meaning, text, lead, self.text[end : end + MAX_LEAD])
            or doubt_of_labels(labels)
            or self._doubt_of_line(meaning, start)
        )
        rank = meaning.rank
        aimed = meaning.field == "epsilon" and words.DOUBT["aimed"].search(lead[-80:])
        if rank == PLAIN and aimed:
            rank = TARGET
        said = Said(meaning.field, text, start, start + len(text), why, rank, meaning.counts)
        return valued(said)

    def _doubt_of_line(self, meaning: Named, start: int) -> str:
        """The reason why a number is not the training's, by the line or command that it is in."""
        scope = self.root.at(start)
        if scope.kind is Kind.COMMAND and SCRIPT.search(self.text[scope.start : scope.end]):
            return REASONS["another"]
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        if meaning.field == "examples" and words.DOUBT["not_training"].search(line):
            return REASONS["other"]
        if meaning.field == "epsilon" and REMARK.match(line):
            return REASONS["unclear"]
        return ""

    def sentence(self, start: int) -> str:
        """The sentence before a place, within its line, item or paragraph."""
        low = max(self.root.at(start).start, start - 2 * MAX_LEAD)
        before = self.text[low:start]
        begins = 0
        for stop in STOP.finditer(before):
            begins = stop.end()
        return before[begins:]

    def _read_table(self, table: Table) -> None:
        """Read the cells of a table, and leave the heads of epsilons alone."""
        values = [(cell, said) for cell in table.cells if (said := self._in_cell(cell))]
        labels = {cell.scope.label for cell, _ in values}
        cited = {each for each in labels if CITED.search(each)}
        own = {each for each in labels if OWN.fullmatch(each)}
        if own:
            cited |= labels - own
        start = table.scope.start
        caption = CAPTION.search(self.text, max(0, start - MAX_CAPTION), start)
        others = bool(caption) and doubt_of_labels([caption[1]])
        for cell, said in values:
            if others:
                said = said._replace(why=said.why or REASONS["another"])
            row = cell.scope
            if row.label in cited and cited < labels:
                said = said._replace(why=said.why or REASONS["cited"])
            if row.kind is Kind.ROW and FAILED.search(self.text[row.start : row.end]):
                said = said._replace(why=said.why or REASONS["failed"])
            if said.why == REASONS["another"]:
                said = said._replace(why=REASONS["part_of_another"])
            self._note(said, cell.scope)
        for low, high in table.heads:
            if named(self.text[low:high], headed=True).field == "epsilon":
                self._taken.update(range(low, high))

    def _in_cell(self, cell: Cell) -> Said | None:
        """The number of a cell that holds a number alone, or one with something in brackets."""
        text = self.text[cell.start : cell.end]
        found = FIGURE.search(text)
        if found is None:
            return None
        lead = text[: found.start()].strip(" \"'=≈~").removesuffix("<=")
        rest = text[found.end() :].strip(" \"'")
        if lead or (rest and rest[0] not in "(%["):
            return None
        meaning = named(cell.head, headed=True)
        if meaning.why == REASONS["nameless"] and EPSILON.search(cell.head):
            meaning = Named("epsilon", why=REASONS["unclear"])
        label = cell.scope.label
        if doubt_of_labels([label]):
            meaning = meaning._replace(why=REASONS["another"])
        elif cell.scope.kind is Kind.COLUMN and DEFAULTS.match(label):
            meaning = meaning._replace(why=REASONS["supposed"])
        return self._value(meaning, found[0], cell.start + found.start())

    def _read_defaults(self) -> list[Said]:
        """Read the defaults of options in Python."""
        found = []
        for meaning, number, place in defaults_of(self.text):
            if number and meaning.field:
                found.append(self._value(meaning, number[0], number.start()))
            self._taken.update(range(*place))
        return found

    def _read_forms(self) -> None:
        """Read (3, 1e-5)-DP, 10 of 100 clients, results of accountants, and "20th epoch"."""
        for each in PAIR.finditer(self.text):
            if is_pair(each) and self._free(*each.span("delta")):
                for field in ("epsilon", "delta"):
                    self._note(self._value(Named(field), each[field], each.start(field)))
        for each in K_OF_N.finditer(self.text):
            around = self.sentence(each.start()) + self.text[each.end() : each.end() + AFTER]
            if SAMPLED.search(around):
                share = each["k"]
                if "%" not in share:
                    share = f"{share}/{each['n']}"
                said = self._value(Named("share"), share, each.start("k"))
                self._note(said._replace(end=each.end("k")))
                self._note(self._value(Named("clients"), each["n"], each.start("n")))
        forms = [("epsilon", RESULT), ("epochs", ORDINAL)]
        forms += [("examples", each) for each in SPLITS]
        for field, pattern in forms:
            for each in pattern.finditer(self.text):
                self._note(self._value(Named(field), each["value"], each.start("value")))

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
            if self._free(low, high):
                value: float = int(found["count"])
                if field == "epochs":
                    value = float(value)
                self._note(Said(field, value, low, high, "", FINAL, counts=True))

    def _read_figures(self) -> None:
        """Read all other numbers, each by what stands around it."""
        last = 0
        for each in FIGURE.finditer(self.text):
            start, end = each.span()
            ranged = RANGE.search(self.text[max(0, start - 8) : start])
            if self._free(start, end) and not ranged:
                meaning = self._meaning(each, last)
                if not meaning.why and LIST.match(self.text[end : end + AFTER]):
                    meaning = meaning._replace(why=REASONS["listed"])
                self._note(self._value(meaning, each[0], start))
            last = end

    def _meaning(self, figure: re.Match[str], last: int) -> Named:
        """What a number is, which stands after the number that ends at `last`."""
        start, end = figure.span()
        scope = self.root.at(start)
        within = self.text[scope.start : scope.end]
        path = self.root.path(start)
        lead = self.text[max(last, start - MAX_LEAD) : start]
        wide = self.text[max(0, start - MAX_LEAD) : start]
        keys = [each.label for each in path if each.kind is Kind.GROUP]
        found = NAMELESS
        counted = 0 < last == start - len(lead) and COUNTED.match(lead)
        if not SEVERAL.search(wide):
            found = (
                by_option(lead, within)
                or (None if counted else by_key(lead, keys))
                or (None if counted else by_words(figure[0], lead))
                or by_unit(figure[0], wide, self.text[end : end + 2 * AFTER])
                or NAMELESS
            )
        return found

    def _read_words(self) -> None:
        """Read samplers, accountants and adjacencies, which are said in words."""
        for field, value, pattern in words.SAID_IN_WORDS:
            for each in pattern.finditer(self.text):
                before = self.sentence(each.start())
                after = self.text[each.end() : each.end() + AFTER]
                denied = DENIED.search(before[-60:]) or DENIED_AFTER.match(after)
                if denied or not self._free(each.start(), each.start() + 1):
                    continue
                supposed = words.DOUBT["supposed"].search(before)
                supposed = supposed or words.DOUBT["after"].match(after)
                why = ""
                if supposed or words.DOUBT["elsewhere"].search(before):
                    why = REASONS["supposed"]
                elif self._is_remark(each.start()):
                    why = REASONS["unclear"]
                self._note(Said(field, value, *each.span(), why), taken=False)

    def _is_remark(self, place: int) -> bool:
        """True for a place after the sign of a comment in a command."""
        scope = self.root.at(place)
        return scope.kind is Kind.COMMAND and " #" in self.text[scope.start : place]

    def _sentences(self) -> list[Sentence]:
        """The sentences with values."""
        found: dict[int, list[tuple[Scope, Said]]] = {}
        for scope in self._prose(self.root):
            for each in scope.said:
                line = self.text.rfind("\n", 0, each.start) + 1
                if each.field and not each.why and not PRINTED.match(self.text, line):
                    start = each.start - len(self.sentence(each.start))
                    found.setdefault(start, []).append((scope, each))
        sentences = []
        for start, said in found.items():
            last = max(each.end for _, each in said)
            end = last + 2 * MAX_LEAD
            stop = ENDED.search(self.text, last, end)
            if stop:
                end = stop.start()
            text = self.text[start:end]
            ends = len(self.text[:start].rstrip(" .!?;\n"))
            sentences.append(Sentence(start, text, self.sentence(ends), said))
        return sentences

    def _prose(self, scope: Scope) -> Iterator[Scope]:
        """Yield the scopes with sentences; a line with one key is none."""
        starts = set()
        for each in scope.said:
            if each.field:
                starts.add(each.start - len(self.sentence(each.start)))
        keyed = len(starts) < 2 and self._has_key(scope)
        logged = scope.kind is Kind.LINE and any(each.counts for each in scope.said)
        if scope.kind in PROSE and not keyed and not logged:
            yield scope
        for each in scope.children:
            yield from self._prose(each)

    def _has_key(self, scope: Scope) -> bool:
        """True for a line that begins with a key, not with a sentence in which a sign stands."""
        if scope.kind is not Kind.LINE:
            return False
        named_key = scope.label and (" " not in scope.label or named(scope.label).field)
        return bool(named_key or COLON.match(self.text, scope.start))
