"""The runs of a text, of an Opacus history, or of a DpEvent: what is taken, and what is offered.

A text is read in three steps: its plain form (plain_text.py), what it says in which place
(scopes.py, tables.py, statements.py), and which of that is of one training (runs.py,
whole_text.py). Nothing is guessed: a number without a name is offered, and so are two values of one
field.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dpcore.claims.claim import NAMES, Claim, joined
from dpcore.claims.dp_event import FIELDS, MAX_DEPTH, event_in, read_event
from dpcore.claims.history import history_span, read_history
from dpcore.claims.plain_text import Plain, plain_text
from dpcore.claims.runs import Draft, contested, drafts_of, of_releases, with_share_of_n
from dpcore.claims.scopes import Kind
from dpcore.claims.statements import Statements
from dpcore.claims.values import Said, written
from dpcore.claims.vocabulary import NOT_PRIVATE, NOTES, OPACUS, OTHER, REASONS, TARGET, TOLD, UNIT
from dpcore.claims.whole_text import whole_text
from dpcore.privacy.sampling.fixed_size import FixedSize

MAX_TEXT_CHARS = 100_000
MAX_JSON_CHARS = 1_000_000
MAX_RUNS = 50
PASSED = "Passed over: {}; {}."
SHOWN = 6  # values passed over for one reason that a sentence names
NONE_PASSED = "Nothing in the text was passed over."
MAX_EVENT_CHARS = 10_000  # of an event within a text
EVENT_CALL = re.compile(
    rf"(?P<within>\bcompose\(\s*(?:\w+\.)*)?\b(?P<event>(?:{'|'.join(FIELDS)})\()"
)
EVENT_NAMES = re.compile(rf"\s*(?:[\w.]+\.)?(?:{'|'.join(FIELDS)}|\w+DpEvent)\(")
SEVERAL_EVENTS = "The text has several events: paste the one that holds the whole training."
BRACKET = re.compile(r"#[^\n]*|[()\[\]{}]")  # and comments, in which brackets mean nothing
STATE = re.compile(r"(?:OrderedDict\()?(?P<state>[\[{])[^\n\[{]{0,40}[\"']history[\"']")
ASSIGNED = re.compile(r"\bhistory\s?=\s?(?P<list>\[\([\d\s.,()e-]+\)\])")


@dataclass(frozen=True)
class Run:
    """One training that a text claims an epsilon of: its claim, with the places of its values."""

    claim: Claim
    found: tuple[Said, ...] = ()
    label: str = ""  # what tells it from the other runs of the text
    told: frozenset[str] = frozenset()  # facts of facts.py that the text's words state


class Read(NamedTuple):
    """The runs of a text, at least one; what was passed over; and sentences about the reading."""

    runs: tuple[Run, ...]
    passed: tuple[Said, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def claim(self) -> Claim:
        """The claim of the first run, which is empty where the text has none."""
        return self.runs[0].claim

    def parts(self, text: str, run: int = 0) -> Iterator[tuple[str, Said | None]]:
        """Yield the text in parts, each with what a run takes from it or was passed over in it."""
        last = 0
        marked = [*self.runs[run].found, *self.passed]
        for each in sorted(marked, key=lambda said: (said.start, bool(said.why))):
            if each.start >= last:
                yield text[last : each.start], None
                yield text[each.start : each.end], each
                last = each.end
        yield text[last:], None

    @property
    def left_out(self) -> tuple[str, ...]:
        """The notes, and a sentence for each reason that values are passed over for."""
        values: dict[tuple[str, str], dict[str, None]] = {}
        for each in self.passed:
            if each.field:
                reason = (each.field, each.why.rstrip("."))
                values.setdefault(reason, {})[written(each.value)] = None
        sentences = []
        for (field, why), texts in values.items():
            shown = ", ".join([*texts][:SHOWN])
            if len(texts) > SHOWN:
                shown += f" and {len(texts) - SHOWN} more"
            sentences.append(PASSED.format(f"{field} {shown}", why))
        return (*self.notes, *sentences)


def read(text: str) -> Read:
    """Read the runs of a text or of JSON. Errors: ValueError for other content.

    >>> found = read("Model A: sigma = 1.0, epsilon = 9\\nModel B: sigma = 2.0, epsilon = 3")
    >>> [(each.label, each.claim.sigma, each.claim.epsilon.text) for each in found.runs]
    [('Model A', 1.0, '9'), ('Model B', 2.0, '3')]
    >>> read("sigma = 1.0, later sigma = 2.0").claim.sigma is None
    True
    """
    text = text.removeprefix("\ufeff")
    if len(text) <= MAX_JSON_CHARS:
        record = _record(text)
        if record is not None:
            return record
    if len(text) > MAX_TEXT_CHARS:
        raise ValueError(
            f"The text has {len(text):,} characters: paste at most {MAX_TEXT_CHARS:,}."
        )
    return _read_text(text)


def _record(text: str) -> Read | None:
    """Read a text that is or holds the state of an accountant, or an event; None for another."""
    if EVENT_NAMES.match(text):
        return _of_event(read_event(event_in(text)), 0, len(text))
    if text.lstrip()[:1] in ("{", "["):
        record = _of_json(text)
        if record is not None:
            return record
    if len(text) > MAX_TEXT_CHARS + MAX_EVENT_CHARS:
        return None
    return _with_state(text) or _with_event(text)


def _of_json(text: str) -> Read | None:
    """Read JSON that holds the state of an accountant, or is an event; None for another text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for state in _states(found):
        if _has_history(state):
            return _around(text, *history_span(text, state["history"]), read_history(state))
    named = isinstance(found, Mapping) and "class_name" in found
    listed = isinstance(found, list) and len(found) > 1 and str(found[1]).endswith("DpEvent")
    if named or listed:
        return _of_event(read_event(found), 0, len(text))
    return None


def _states(found: Any, depth: int = MAX_DEPTH) -> Iterator[Mapping[str, Any]]:
    """Yield an object of JSON and those within it."""
    if isinstance(found, Mapping) and depth:
        yield found
        for each in found.values():
            yield from _states(each, depth - 1)


def _has_history(state: Mapping[str, Any]) -> bool:
    """True for the state of an accountant: its history is a list of lists."""
    history = state.get("history")
    listed = isinstance(history, list) and bool(history) and isinstance(history[0], list)
    return listed or ("history" in state and "mechanism" in state)


def _with_state(text: str) -> Read | None:
    """Read the state of an accountant as Python prints it, without running it."""
    for each in STATE.finditer(text):
        start = each.start("state")
        stop = _closing(text, start)
        try:
            state = dict(ast.literal_eval(text[start:stop]))
            state["history"] = [list(entry) for entry in state["history"]]
            claim = read_history(state)
        except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError):
            continue
        accountant = Claim(accountant=OPACUS.get(str(state.get("mechanism"))))
        return _around(text, each.start(), stop, joined([accountant, claim]))
    lists: dict[str, re.Match[str]] = {}
    for each in ASSIGNED.finditer(text):
        lists[each["list"]] = each
    if len(lists) != 1:
        return None
    (each,) = lists.values()
    try:
        history = [list(entry) for entry in ast.literal_eval(each["list"])]
        return _around(text, *each.span("list"), read_history({"history": history}))
    except (ValueError, SyntaxError, TypeError):
        return None


def _closing(text: str, start: int) -> int:
    """The place after the bracket that closes the first one from a place on."""
    depth = 0
    for each in BRACKET.finditer(text, start, start + MAX_EVENT_CHARS):
        if each[0] in "([{":
            depth += 1
        elif each[0] in ")]}":
            depth -= 1
            if depth == 0:
                return each.end()
    return start


def _with_event(text: str) -> Read | None:
    """Read the event that a text states, and the words around it; None without one.

    A composition is the whole training; beside one that cannot be read, no event is. A step alone
    does not say how many of it there were, nor does what `compose` repeats. Errors: ValueError if
    the text has events of other steps too.
    """
    found = _events(text)
    if not found:
        return None
    claim, start, stop = _the_event(found)
    alone = _of_event(claim, start, stop)
    around = _around(text, start, stop, alone.claim)
    return around._replace(passed=(*alone.passed, *around.passed))


def _events(text: str) -> list[tuple[Claim, int, int]]:
    """The events that a text states, with their places; none beside one that cannot be read."""
    found: list[tuple[Claim, int, int]] = []
    calls = 0
    stop = 0
    while call := EVENT_CALL.search(text, stop):
        start = call.start("event")
        stop = _closing(text, start)
        if stop <= start:
            return []
        composed = "ComposedDpEvent" in call["event"]
        within = bool(call["within"])
        calls += within
        try:
            claim = read_event(event_in(text[start:stop]))
        except ValueError:
            if "LaplaceDpEvent" in call["event"]:
                raise ValueError(SEVERAL_EVENTS) from None
            if composed or within:
                return []
            continue
        whole = composed and not (within and text[stop:].lstrip().startswith(","))
        if claim.beside and not whole:
            raise ValueError(SEVERAL_EVENTS)
        if not whole:
            claim = _step_of(claim)
        found.append((claim, start, stop))
    if calls and len(found) > 1:
        raise ValueError(SEVERAL_EVENTS)
    return found


def _the_event(found: list[tuple[Claim, int, int]]) -> tuple[Claim, int, int]:
    """The event of the whole training, of those that a text has.

    Errors: ValueError if the others are not of its steps.
    """
    whole = found[0]
    for each in found:
        if each[0].mechanism:
            whole = each
            break
    claim = whole[0]
    step = _step_of(claim)
    for other, _, _ in found:
        if other not in (claim, step):
            raise ValueError(SEVERAL_EVENTS)
    return whole


def _step_of(claim: Claim) -> Claim:
    return replace(claim, steps=None, mechanism=None)


def _of_event(claim: Claim, start: int, stop: int) -> Read:
    """An event alone. Of one without replacement the noise is offered, since dp-accounting's
    multiplier is then over the distance of replaced sums, which may be twice the clipping norm.
    """
    if claim.sampler != FixedSize.name:
        return Read((Run(claim, (Said("mechanism", "the releases", start, stop),)),))
    asked = Said("sigma", claim.sigma, start, stop, REASONS["distance"])
    return Read((Run(replace(claim, sigma=None, mechanism=None)),), (asked,))


def _around(text: str, start: int, stop: int, claim: Claim) -> Read:
    """Read the text around a record, of which it is said; its releases are kept."""
    blank = re.sub(r"[^\n]", " ", text[start:stop])
    if len(text) > MAX_TEXT_CHARS:
        return Read((Run(claim, (Said("mechanism", "the releases", start, stop),)),))
    around = _read_text(text[:start] + blank + text[stop:], claim)
    releases = Said("mechanism", "the releases", start, stop)
    runs = []
    for each in around.runs:
        whole = joined([claim, each.claim])
        runs.append(Run(whole, (*each.found, releases), each.label, each.told))
    return Read(tuple(runs), around.passed, around.notes)


def _read_text(text: str, record: Claim | None = None) -> Read:
    """Read a plain text; a record within it may say a part of its training."""
    record = record or Claim()
    bare = plain_text(text)
    statements = Statements(bare.text)
    drafts = drafts_of(statements.root)
    people = bool(UNIT["people"].search(bare.text))
    records = bool(UNIT["example"].search(bare.text))
    runs: list[Run] = []
    passed = [*drafts.passed]
    notes: dict[str, None] = {}
    off = _off(statements)
    if off:
        notes[NOTES["not_private"].format(" ".join(off[0].split()))] = None
    accumulated = bool(UNIT["accumulated"].search(bare.text))
    whole = whole_text(bare.text, drafts, off=bool(off), accumulated=accumulated)
    for draft in drafts.runs[:MAX_RUNS]:
        draft = whole.own(draft)
        run, left, told = _run(draft, people=people, records=records)
        doubt = whole.doubt_of(joined([record, run.claim]))
        if doubt:
            draft = draft.without_all(doubt)
            run, left, told = _run(draft, people=people, records=records)
        passed += left
        notes |= dict.fromkeys(told)
        if run.claim not in [each.claim for each in runs]:
            runs.append(run)
    if len(drafts.runs) > MAX_RUNS:
        notes[NOTES["many"].format(len(drafts.runs), MAX_RUNS)] = None
    runs = [each for each in runs if each.claim != Claim()] or runs[:1]
    return _in_original(bare, runs, passed, tuple(notes))


def _in_original(
    bare: Plain, runs: Sequence[Run], passed: Sequence[Said], notes: tuple[str, ...]
) -> Read:
    """The runs of a plain text with their places in the original, and what none of them takes."""
    facts = frozenset(name for name, pattern in TOLD.items() if pattern.search(bare.text))
    placed = []
    known = set()
    for run in runs:
        found = tuple(_placed(bare, run.found))
        placed.append(replace(run, found=found, told=facts))
        for each in found:
            known.add((each.field, each.start))
    others = {}  # by place; of two in one place the last
    for each in _placed(bare, passed):
        if (each.field, each.start) not in known:
            others[each.start] = each
    in_order = [others[place] for place in sorted(others)]
    return Read(tuple(placed), tuple(in_order), notes)


def _off(statements: Statements) -> re.Match[str] | None:
    """Where a text says that no privacy was applied, to the training itself."""
    for each in NOT_PRIVATE.finditer(statements.text):
        path = statements.root.path(each.start())
        labels = " ".join(scope.label for scope in path if scope.kind is not Kind.LINE)
        if not OTHER.search(labels):
            return each
    return None


def _run(draft: Draft, *, people: bool, records: bool) -> tuple[Run, list[Said], list[str]]:
    """A training as a run, with what is not taken and what is to be told."""
    said, clients = of_releases(draft, people=people, records=records)
    sizes = Draft(tuple(said)).get("examples")
    examples = sizes.value if sizes else None
    said = [*with_share_of_n(said, examples)]
    whole = Draft(tuple(said))
    chosen: dict[str, Any] = {}
    taken = []
    notes = []
    for field in NAMES:
        found = whole.get(field)
        if found is None:
            continue
        try:
            Claim(**{field: found.value})
        except ValueError as error:
            said = [*_refused(said, found, str(error))]
            continue
        chosen[field] = found.value
        taken.append(found)
        if field == "epsilon" and found.rank == TARGET:
            notes.append(NOTES["target"].format(written(found.value)))
    if clients and {"steps", "examples", "q", "batch"} & set(chosen):
        notes.append(NOTES["people"])
    left = [each for each in said if each.why]
    left += contested(said, chosen)
    label = "".join(filter(str.isprintable, draft.label))
    return Run(Claim(**chosen), tuple(taken), label), left, notes


def _refused(said: Sequence[Said], found: Said, why: str) -> Iterator[Said]:
    """The statements, with the reason why one of them is no value of a claim."""
    for each in said:
        if each == found:
            yield each._replace(why=why)
        else:
            yield each


def _placed(bare: Plain, said: Sequence[Said]) -> Iterator[Said]:
    """Statements with their places in the original text."""
    for each in said:
        start, end = bare.span(each.start, each.end)
        yield each._replace(start=start, end=end)
