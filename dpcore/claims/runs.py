"""The runs of a text: which statements are of one training.

What a scope says holds for all within it. Parts beside each other are of one training where they do
not contradict; rows of a table, elements of a list, commands, and parts with alike labels or with
two fields that differ, are of a training each. Where one part says two values of a field, neither
is taken.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from dpcore.claims.scopes import APART, Kind, Scope
from dpcore.claims.values import OF_N, Said, same, written
from dpcore.claims.vocabulary import FINAL, REASONS, TARGET, is_neutral

NEAR = 20  # parts before and after one that it is compared with
MIN_DIFFERENT = 2  # fields, of two parts that are of a training each
OWN = ("epsilon", "sigma", "q", "share")  # that make a part a training of its own
SET = ("sigma", "q", "batch", "share", "cohort", "examples")  # before a training
PARTS = ("device_batch", "device_count", "node_count", "accumulation")
# Of a training that protects clients -> of its releases.
RELEASES = {
    "devices": "examples",
    "rounds": "steps",
    "clients": "examples",
    "cohort": "batch",
    "share": "q",
}


# Reasons that do not take a value, and let it stand against others of its field.
AGAINST = tuple(REASONS[each] for each in ("unclear", "listed", "several", "taken_back"))
OF_ALL = re.compile(  # a label of what holds for all trainings
    r"(?i)(?:both|all|each|every|everything|common|shared|alle|beide|tous|todos)"
    r"(?:\s(?:of (?:them|these)|models?|runs?|rows?|trainings?|settings?|experiments?))?\W*"
)
NOTHING = Said("", None, 0, 0)


class Draft(NamedTuple):
    """The statements of one training, and what tells it from others."""

    said: tuple[Said, ...]
    label: str = ""

    def get(self, field: str) -> Said | None:
        """The statement of a field, the first by rank; None where it is contested or absent."""
        found: list[Said] = []
        unclear: list[Said] = []
        for each in self.said:
            if each.field != field:
                continue
            if each.why in AGAINST:
                unclear.append(each)
            elif not each.why:
                found.append(each)
        if not found:
            return None
        least = min(each.rank for each in found)
        best = [each for each in found if each.rank == least]
        for each in best:
            if all(same(each.value, other.value) for other in (*best, *unclear)):
                return each
        return None

    def without(self, field: str, why: str) -> "Draft":
        """The draft whose statements of a field are passed over."""
        said = []
        for each in self.said:
            if each.field == field:
                each = each._replace(why=each.why or why)
            said.append(each)
        return self._replace(said=tuple(said))

    def without_all(self, why: str) -> "Draft":
        """The draft whose statements are all passed over."""
        said = [each._replace(why=each.why or why) for each in self.said]
        return self._replace(said=tuple(said))


Part = tuple[Scope, Draft]


class Drafts(NamedTuple):
    """The trainings of a scope, and what is of none."""

    runs: tuple[Draft, ...]
    passed: tuple[Said, ...] = ()


def drafts_of(scope: Scope) -> Drafts:
    """The trainings that a scope speaks of; one without any statement has one without any."""
    passed: list[Said] = []
    common: list[Said] = []
    for each in scope.said:
        if _counted(each):
            common.append(each)
        else:
            passed.append(each)
    several: list[Draft] = []
    singles: list[Part] = []
    first = math.inf  # the place of the first training that stands apart
    for child in scope.children:
        found = drafts_of(child)
        passed += found.passed
        if len(found.runs) > 1:
            several += found.runs
            first = min(first, child.start)
        elif found.runs and found.runs[0].said:
            singles.append((child, found.runs[0]))
    singles, earlier = _without_log(singles)
    passed += earlier
    _sort_out(singles, first, several, common, passed)
    if not several:
        return Drafts((Draft(tuple(common)),), tuple(passed))
    runs = [Draft(_within(common, each.said), each.label) for each in several]
    return Drafts(tuple(runs), tuple(passed))


def _sort_out(
    singles: Sequence[Part],
    first: float,
    several: list[Draft],
    common: list[Said],
    passed: list[Said],
) -> None:
    """Add each part to the trainings, to what they have in common, or to what is passed over.

    What stands after the place of the first training is common only if it says so.
    """
    apart = _apart(singles)
    for part, draft in apart:
        first = min(first, part.start)
        if _has_own(draft):
            several.append(Draft(draft.said, draft.label or part.label))
        else:
            passed += draft.without_all(REASONS["after_runs"]).said
    spent = any(each.get("epsilon") for each in several)
    for each in singles:
        part, draft = each
        if each in apart:
            continue
        behind = part.start > first and not OF_ALL.fullmatch(_label_of(part))
        behind = behind or (bool(several) and _has_rows(part))
        if behind or (spent and draft.get("epsilon")):  # nobody says of which it is
            passed += draft.without_all(REASONS["after_runs"]).said
        else:
            common += draft.said


def _has_rows(part: Scope) -> bool:
    """True for a table with rows, or a part with one."""
    return part.kind is Kind.ROW or any(_has_rows(each) for each in part.children)


def _label_of(part: Scope) -> str:
    """The label of a part, or of the only part within it."""
    if part.label or len(part.children) != 1:
        return part.label
    return _label_of(part.children[0])


def _has_own(draft: Draft) -> bool:
    """True for the statements of a part that is a training of its own."""
    return any(draft.get(field) for field in OWN)


def _counted(said: Said) -> bool:
    """True for a statement that is taken, or stands against others of its field."""
    return bool(said.field) and said.why in ("", *AGAINST)


def _within(common: Sequence[Said], own: Sequence[Said]) -> tuple[Said, ...]:
    """What a scope says with what is said around it; its own words are before those."""
    fields = {each.field for each in own if not each.why}
    said = [*own]
    for each in common:
        if each.field not in fields:
            said.append(each)
    return tuple(said)


def _apart(singles: Sequence[Part]) -> list[Part]:
    """The parts that are of a training each."""
    found = []
    for place, (part, draft) in enumerate(singles):
        for other, theirs in singles[max(0, place - NEAR) : place + NEAR]:
            if part is not other and _differ(part, draft, other, theirs):
                found.append((part, draft))
                break
    return found


def _differ(part: Scope, draft: Draft, other: Scope, theirs: Draft) -> bool:
    alike = part.kind is other.kind
    if alike and part.kind in APART:
        return True
    if alike and _named_apart(part, other):
        return True
    different = 0
    for field in {each.field for each in draft.said}:
        one, two = draft.get(field), theirs.get(field)
        if not one or not two or one.rank != two.rank:
            continue
        if not same(one.value, two.value) and not same(two.value, one.value):
            different += 1
    return different >= MIN_DIFFERENT


def _named_apart(part: Scope, other: Scope) -> bool:
    """True for two parts with names of their own."""
    if not part.label or not other.label or part.label == other.label:
        return False
    return not is_neutral(part.label) and not is_neutral(other.label)


def _without_log(singles: list[Part]) -> tuple[list[Part], list[Said]]:
    """Parts without the earlier lines of a log: counters that grow, beside an epsilon."""
    singles, passed = _without_evaluations(singles)
    lines: list[Part] = []
    kept: list[Part] = []
    kinds = set()
    for part, draft in singles:
        counter = _counter(draft)
        if counter.counts:
            lines.append((part, draft))
            kinds.add((part.kind, counter.field))
        else:
            kept.append((part, draft))
    if len(lines) < 2 or len(kinds) > 1 or _settings_change(lines):
        return singles, passed
    counts = [_counter(draft).value for _, draft in lines]
    if _falls(counts) or _spent_falls(lines):  # several logs, or several accountants
        for part, draft in lines:
            kept.append((part, draft.without_all(REASONS["listed"])))
        return kept, passed
    for _, draft in lines[:-1]:
        passed += draft.without_all(REASONS["earlier"]).said
    part, last = lines[-1]
    return [*kept, (part, _ended(_without_changes(last, lines), counts[0]))], passed


def _without_evaluations(singles: list[Part]) -> tuple[list[Part], list[Said]]:
    """Parts without the lines of a log that count and print no epsilon, where others print one."""
    if sum(_is_logged(draft) for _, draft in singles) < 2:
        return singles, []
    kept = []
    passed: list[Said] = []
    for part, draft in singles:
        if _counter(draft).counts and not _is_logged(draft):
            passed += draft.without_all(REASONS["listed"]).said
        else:
            kept.append((part, draft))
    return kept, passed


def _is_logged(draft: Draft) -> bool:
    """True for a line of a log with a counter and an epsilon."""
    return _counter(draft).counts and any(each.field == "epsilon" for each in draft.said)


def _falls(counts: Sequence[float]) -> bool:
    """True if a count is not above the one before."""
    return any(one >= two for one, two in pairwise(counts))


def _spent_falls(lines: Sequence[Part]) -> bool:
    """True if an epsilon is below the one in the line before, as no accountant's is."""
    spent = []
    for _, draft in lines:
        found = draft.get("epsilon")
        if found:
            spent.append(float(getattr(found.value, "text", found.value)))
    return any(one > two for one, two in pairwise(spent))


def _without_changes(draft: Draft, lines: Sequence[Part]) -> Draft:
    """The last line of a log without what changes from line to line, and is no end: steps that
    begin again in each epoch, and what a round drew.
    """
    for field in {each.field for each in draft.said} - {"epsilon", "epochs", "rounds"}:
        values = []
        for _, line in lines:
            values += [each.value for each in line.said if each.field == field]
        again = field == "steps" and _falls(values)
        other = field != "steps" and any(each != values[0] for each in values)
        if again or other:
            draft = draft.without(field, REASONS["place"])
    return draft


def _settings_change(lines: Sequence[Part]) -> bool:
    """True if lines of a log say two values of what is set before a training."""
    settings: dict[str, Any] = {}
    for _, draft in lines:
        for each in draft.said:
            if each.field not in SET:
                continue
            if settings.setdefault(each.field, each.value) != each.value:
                return True
    return False


def _ended(draft: Draft, first: float) -> Draft:
    """The last line of a log: its counters are the ends, one more where the log counts from 0, if
    it prints an epsilon beside them. Else the training may go on after it.
    """
    more = int(first == 0)
    said = []
    for each in draft.said:
        if each.counts and _is_logged(draft):
            each = each._replace(value=each.value + more, rank=FINAL)
        elif each.counts:
            each = each._replace(why=each.why or REASONS["place"])
        said.append(each)
    return draft._replace(said=tuple(said))


def _counter(draft: Draft) -> Said:
    """The first counter; a statement without a field if there is none."""
    for each in draft.said:
        if each.counts:
            return each
    return NOTHING


def of_releases(draft: Draft, *, people: bool, records: bool) -> tuple[list[Said], bool]:
    """The statements of a training in fields of a claim, and True if clients are protected.

    Where a text speaks of clients, rounds are steps and a client's batches and epochs are not
    counted, unless it protects examples.
    """
    told = people or _speaks_of_clients(draft)
    clients = told and not records
    of_clients = {*RELEASES}
    if not people:  # whose rounds they are is not said
        of_clients.discard("rounds")
    counted = any(each.field == "clients" for each in draft.said)
    found = []
    for each in draft.said:
        field = RELEASES.get(each.field, each.field)
        why = ""
        if each.counts and each.rank == TARGET:
            why = REASONS["place"]
        elif each.field == "devices" and not told:
            field, why = "", REASONS["other"]
        elif each.field in of_clients and not clients:
            why = REASONS["record_level"]
        elif clients and each.field == "examples" and not counted:
            why = REASONS["local"]
        elif clients and each.field in ("batch", "epochs", *PARTS):
            field = "batch" if each.field in PARTS else each.field
            why = REASONS["local"]
        elif each.field == "spread":
            field, why = "sigma", REASONS["spread"]
        found.append(each._replace(field=field, why=each.why or why))
    return list(_whole_batches(found)), clients


def _speaks_of_clients(draft: Draft) -> bool:
    """True for statements of fields that only trainings with clients have."""
    fields = {each.field for each in draft.said} - {"devices"}
    return not fields.isdisjoint(RELEASES)


def _whole_batches(said: Iterable[Said]) -> Iterator[Said]:
    """Multiply the batch of a device by the number of devices and of accumulated batches."""
    said = list(said)
    whole = Draft(tuple(said))
    values: dict[str, Any] = {}
    for field in PARTS:
        part = whole.get(field)
        if part:
            values[field] = part.value
    known = "device_batch" in values and "device_count" in values
    accumulated = values.get("accumulation", 1) > 1
    for each in said:
        if each.field == "device_batch" and known and not each.why:
            yield each._replace(field="batch", value=math.prod(values.values()))
        elif each.field in PARTS:
            yield each._replace(field="", why=each.why or REASONS["parts"])
        elif each.field == "batch" and accumulated:
            yield each._replace(why=each.why or REASONS["parts"])
        else:
            yield each


def with_share_of_n(said: Sequence[Said], examples: int | None) -> Iterator[Said]:
    """A delta of 1/N as a number, where the number of examples is known."""
    for each in said:
        found = None
        if each.field == "delta" and isinstance(each.value, str):
            found = re.fullmatch(OF_N, each.value)
        if found is None or each.why:
            yield each
        elif examples is None:
            yield each._replace(why=REASONS["unknown_n"])
        else:
            yield each._replace(value=1 / examples ** float(found["power"] or 1))


def contested(said: Sequence[Said], chosen: dict[str, Any]) -> Iterator[Said]:
    """The statements that are not taken, with the reason."""
    for each in said:
        is_chosen = each.field in chosen
        if each.why or (is_chosen and same(chosen[each.field], each.value)):
            continue
        if is_chosen:
            yield each._replace(why=REASONS["outcome"])
            continue
        values = set()
        for other in said:
            if other.field == each.field and not other.why:
                values.add(written(other.value))
        yield each._replace(why=REASONS["twice"].format(" and ".join(sorted(values))))
