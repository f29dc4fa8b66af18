"""What a text says as a whole that puts a training of it in doubt.

What one place says of a training may be of another one. Nobody can foresee all words for that. So
trainings are taken only where nothing else in the text contradicts it: each has what the others
have, and one epsilon, and hardly any number is another's.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from dpcore.claims.cases import clashes
from dpcore.claims.claim import Claim, values_of
from dpcore.claims.runs import RELEASES, Draft, Drafts
from dpcore.claims.values import Said, same, written
from dpcore.claims.vocabulary import REASONS, TARGET

LENGTHS = ("steps", "epochs", "rounds")
NUMBERS = frozenset(["sigma", "q", "batch", "examples", *LENGTHS])
# Fields of which a training has one where the text has any.
NOISE = frozenset(["epsilon", "sigma", "spread"])
SETTINGS = NUMBERS | {*RELEASES}
# What the cost of a training follows from; one of each.
COMPLETE = (frozenset(["sigma"]), frozenset(["steps", "epochs"]), frozenset(["q", "batch"]))
SHORT = 600  # bytes: a sign of Chinese says as much as a few letters
# Of a value that may be the training's, though it is not taken.
MAY_BE = (
    "unclear",
    "listed",
    "several",
    "after_runs",
    "earlier",
    "comma",
    "taken_back",
    "supposed",
    "commented",
)
OPEN = ("", *(REASONS[each] for each in MAY_BE))
# Of an epsilon that may be a training's, though none is found that it is of.
PUT_ASIDE = ("quoted", "cited", "failed", "other", "place", "outcome")
ITS_OR_NOT = (*OPEN, *(REASONS[each] for each in PUT_ASIDE))
# Of a value that is another's, or may be, in a part that is not another's.
ANOTHERS = tuple(REASONS[each] for each in ("another", "supposed", "unclear", "several"))
MAX_ANOTHERS = 1  # of them, in a text whose other values are taken
READ = frozenset(["", *REASONS.values()])  # reasons that leave a value one


class Whole(NamedTuple):
    """What a whole text says, by which its trainings are judged."""

    text: str
    short: bool
    spoken: frozenset[str]  # fields of which no target and no default is taken
    kinds: tuple[frozenset[str], ...]  # fields of each kind that the text has a value of
    usual: frozenset[str]  # fields that half of its trainings have
    off: bool  # no privacy was applied
    accumulated: bool  # a batch may be a part of one
    mixed: bool  # its trainings may not be its own, or places in one

    def own(self, draft: Draft) -> Draft:
        """The draft of a training, without what may be another's."""
        draft = _without_targets(draft, self.spoken)
        if self.accumulated and draft.get("accumulation") is None:
            draft = draft.without("batch", REASONS["parts"])
        noise = draft.get("sigma")
        if self.off or (noise and noise.value == 0):
            return draft.without_all(REASONS["off"])
        if self.mixed or self._is_unlike(draft) or _has_two_of_one(draft):
            return draft.without_all(REASONS["several"])
        epsilon = draft.get("epsilon")
        if epsilon:
            return self._beside_its_own(draft, epsilon)
        return _without_ends(draft)

    def doubt_of(self, claim: Claim) -> str:
        """Why a claim of a training is not taken from a long text; "" if it is."""
        if self.short:
            return ""
        if clashes(claim):
            return REASONS["clash"]
        fields = values_of(claim).keys()
        needed = COMPLETE if claim.mechanism is None else ()
        if any(fields.isdisjoint(kind) for kind in (*needed, *self.kinds)):
            return REASONS["incomplete"]
        return ""

    def _is_unlike(self, draft: Draft) -> bool:
        """True for a training without what the text says of others, or of nobody.

        Where it has an epsilon, a training without one may not be the one that it means. So it is
        with a noise, and with what a training is made with.
        """
        fields = _fields_of(draft)
        return not self.usual <= fields or any(fields.isdisjoint(kind) for kind in self.kinds)

    def _beside_its_own(self, draft: Draft, epsilon: Said) -> Draft:
        """The draft without what stands in a line with another epsilon, and not with its own."""
        lines = set()
        others = set()
        for each in draft.said:
            if each.field != "epsilon":
                continue
            if same(each.value, epsilon.value) or same(epsilon.value, each.value):
                lines.add(self._line_of(each))
            elif each.rank < TARGET:
                others.add(self._line_of(each))
        others -= lines
        said = []
        for each in draft.said:
            if each.field != "epsilon" and self._line_of(each) in others:
                each = each._replace(why=each.why or REASONS["several"])
            said.append(each)
        return draft._replace(said=tuple(said))

    def _line_of(self, said: Said) -> int:
        """The place where the line of a statement ends."""
        return self.text.find("\n", said.start)


def whole_text(text: str, drafts: Drafts, *, off: bool, accumulated: bool) -> Whole:
    """What a text says as a whole, whose trainings are known."""
    said = [*drafts.passed]
    for draft in drafts.runs:
        said += draft.said
    values = [each for each in said if each.why in READ]
    spent = {each.why for each in values if each.field == "epsilon" and each.rank < TARGET}
    kinds = []
    if not spent.isdisjoint(ITS_OR_NOT):
        kinds.append(frozenset(["epsilon"]))
    for kind in (NOISE, SETTINGS):
        if any(each.field in kind for each in values):
            kinds.append(kind)
    spoken = {each.field for each in values if each.rank < TARGET and each.field != "epsilon"}
    short = len(text.encode(errors="replace")) <= SHORT
    if not short or not spent.isdisjoint(OPEN):
        spoken.add("epsilon")
    return Whole(
        text=text,
        short=short,
        spoken=frozenset(spoken),
        kinds=tuple(kinds),
        usual=_usual(drafts.runs),
        off=off,
        accumulated=accumulated,
        mixed=_has_others(said, drafts.runs) or _are_places_in_one(drafts.runs),
    )


def _fields_of(draft: Draft) -> frozenset[str]:
    return frozenset(each.field for each in draft.said if not each.why)


def _without_targets(draft: Draft, spoken: frozenset[str]) -> Draft:
    """A draft without the targets and defaults of fields that are `spoken` of: they are used only
    where nothing else is.
    """
    kept = []
    for each in draft.said:
        if each.field in spoken and each.rank == TARGET and not each.counts:
            reason = "target" if each.field == "epsilon" else "outcome"
            each = each._replace(why=each.why or REASONS[reason])
        kept.append(each)
    return draft._replace(said=tuple(kept))


def _without_ends(draft: Draft) -> Draft:
    """A training without one epsilon, without the end of its log: that holds beside an epsilon.

    Of two epsilons nobody knows which one the planned length is of.
    """
    planned = "epsilon" in _fields_of(draft)
    said = []
    for each in draft.said:
        if each.counts or (planned and each.rank == TARGET):
            each = each._replace(why=each.why or REASONS["place"])
        said.append(each)
    return draft._replace(said=tuple(said))


def _has_two_of_one(draft: Draft) -> bool:
    """True for a training of one epsilon with two values of another number."""
    two = any(draft.get(field) is None for field in NUMBERS & _fields_of(draft))
    return two and draft.get("epsilon") is not None


def _usual(runs: Sequence[Draft]) -> frozenset[str]:
    """What half of several trainings have; nothing of one training alone."""
    counts = Counter[str]()
    if len(runs) > 1:
        for draft in runs:
            spoken = {each.field for each in draft.said if not each.why and each.rank < TARGET}
            counts.update((NUMBERS | {"epsilon"}) & spoken)
    return frozenset(field for field, count in counts.items() if 2 * count >= len(runs))


def _has_others(said: Sequence[Said], runs: Sequence[Draft]) -> bool:
    """True where more than one value may be another's; beside several trainings, where any may.

    One that says what is said without doubt, too, is none.
    """
    known = set()
    others = set()
    for each in said:
        value = (RELEASES.get(each.field, each.field), written(each.value))
        if not each.why:
            known.add(value)
        elif each.field and each.why in ANOTHERS:
            others.add(value)
    others -= known
    return len(others) > MAX_ANOTHERS or (len(runs) > 1 and bool(others))


def _are_places_in_one(runs: Sequence[Draft]) -> bool:
    """True for trainings that may be one at several places: noise, rate and delta are the same, and
    from each to the next epsilon and length grow.
    """
    for field in ("sigma", "q", "delta"):
        found = [each.get(field) for each in runs]
        values = [each.value for each in found if each]
        if not all(same(each, values[0]) for each in values):
            return False
    longer = any(_grows(runs, field) for field in LENGTHS)
    return len(runs) > 1 and longer and _grows(runs, "epsilon")


def _grows(runs: Sequence[Draft], field: str) -> bool:
    """True if each training has a value of a field, above that of the one before."""
    found = [each.get(field) for each in runs]
    values = [float(getattr(each.value, "text", each.value)) for each in found if each]
    return len(values) == len(runs) and all(one < two for one, two in pairwise(values))
