"""Why a number beside a name is not the training's.

It is quoted, commented out, asked, supposed, of a part, of another's work, or taken back.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dpcore.claims import vocabulary as words
from dpcore.claims.scopes import AHEAD, ANOTHERS, COMMENTED, lines_of
from dpcore.claims.vocabulary import REASONS, TARGET, Named

AFTER = 60  # characters after a number that may tell its meaning
PATCH = re.compile(r"(?m)^@@ -\d")
QUOTED = re.compile(  # a line of another's text, in mails and threads; no prompt
    r"(?m)^[ \t]{0,3}>(?!>>)(?:[ \t>]*$|[ \t>]*(?!(?:python3?|torchrun|bash|sh|\./)\b)\S)"
)
UNQUOTED = re.compile(r"(?m)^[ \t]*[^\s>]")
ASKED = re.compile(r"[^.!?\n]{0,120}\?(?![\w=&/])")  # the rest of a question
REMARK = re.compile(r"[^\n#]{0,100}[^\s#]\s+(?:#|//)\s")  # a comment after what a line sets
CITED = re.compile(  # a row of another's work, or with a footnote
    r"(?i)[†‡§]|\\d?dagger|\bet al\b|\b(?:19|20)\d\d[a-z]?\)|\\cite|\[\d{1,3}\]"
    r"|\b(?:published|reported) (?:by|in)\b"
)
OWN = re.compile(  # of a row beside others'
    r"(?i)\W*(?:mine|ours?|my run|our run|this work|this paper)\W*"
)
FAILED = re.compile(r"(?i)\b(?:failed|killed|crashed|aborted|cancel+ed|diverged|oom)\b")  # of a row
BEFORE = re.compile(  # a change that the text tells of, or beside a private training
    r"(?i)\W*(?:(?:before|vorher|avant|antes)\b|(?:plain|reference|no[ _-]?dp)\W*$)"
)
BELOW = re.compile(r"<\s?$")
CORRECTED = words.DOUBT["corrected"]  # the text takes back what it says elsewhere
UNTRAINED = words.DOUBT["untrained"]
TIME = r"\d{1,2}:\d\d(?!:)(?:\s?[AaPp]\.?[Mm]\.?)?"  # without seconds, as logs have them
SPEAKER = re.compile(  # "[18:02] name: text", and "Name  9:31 AM" above a message
    rf"(?m)^\W{{0,2}}{TIME}\W{{1,3}}(?!INFO|DEBUG|WARN|ERROR)(?P<after>[A-Za-z][\w .-]{{0,20}}):\s"
    rf"|^(?P<before>[A-Z]\w+(?: [A-Z]\w+)?)\s{{1,3}}\[?{TIME}\]?\s*$"
)


class Doubt(NamedTuple):
    """A reason why a number is not what its name says, and the patterns of words that tell it."""

    reason: str
    before: str = ""
    after: str = ""
    fields: tuple[str, ...] = ()  # of all, if there are none


LENGTHS = ("epochs", "steps", "rounds")
DOUBTS = (
    Doubt("another", "elsewhere", "after"),
    Doubt("supposed", "supposed"),
    Doubt("of_a_part", "of_a_part", "of_a_part_after", ("epsilon",)),
    Doubt("parts", "", "of_a_device", ("batch",)),
    Doubt("other", "of_a_rate", "", LENGTHS),
    Doubt("unclear", "", "stops", LENGTHS),
    Doubt("unclear", "", "changes", ("sigma", "q", "batch")),
    Doubt("unclear", "", "except"),
    Doubt("unclear", "", "of_a_model", ("examples",)),
    Doubt("unclear", "", "becomes"),
    Doubt("unclear", "", "formula", ("sigma", "q", "batch", "examples", *LENGTHS)),
    Doubt("other", "not_training", "", ("examples", "clients", "devices")),
)


def passed_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the places of lines that are comments, quoted, or taken out by a patch, and why."""
    patched = bool(PATCH.search(text))
    quotes = bool(QUOTED.search(text)) and bool(UNQUOTED.search(text))
    for start, line in lines_of(text):
        if patched and line.startswith("-"):
            yield start, start + len(line), REASONS["another"]
        elif COMMENTED.match(line):
            yield start, start + len(line), REASONS["commented"]
        elif quotes and QUOTED.match(line):
            yield start, start + len(line), REASONS["quoted"]


def why_unsettled(text: str) -> str:
    """Why nothing of a text is taken: it tells of no training, has several speakers, or takes back
    what it says; "" for another text.

    >>> why_unsettled("The epsilon is 9.1, not 5.7."), why_unsettled("The epsilon is 9.1.")
    ('the text takes back a number, and may mean this one', '')
    """
    if CORRECTED.search(text):
        return REASONS["taken_back"]
    speakers = {each["after"] or each["before"] for each in SPEAKER.finditer(text)}
    if len(speakers) > 1 or UNTRAINED.search(text):
        return REASONS["several"]
    return ""


def doubt_of(meaning: Named, number: str, before: str, after: str) -> str:
    """The reason why a number is not what its name says, by its sentence; "" if there is none."""
    if ASKED.match(after):
        return REASONS["supposed"]
    for doubt in DOUBTS:
        if doubt.fields and meaning.field not in doubt.fields:
            continue
        if doubt.before and words.DOUBT[doubt.before].search(before):
            return REASONS[doubt.reason]
        if doubt.after and words.DOUBT[doubt.after].match(after[:AFTER]):
            return REASONS[doubt.reason]
    most = meaning.rank == TARGET and meaning.field in ("batch", "examples", "clients", "sigma")
    below = meaning.field == "delta" and "/" in number and BELOW.search(before)
    if most or below:
        return REASONS["other"]
    return ""


def doubt_of_labels(labels: Sequence[str]) -> str:
    """The reason why numbers below these headings or keys are not the training's."""
    together = re.sub(r"[_.-]", " ", " ".join(labels))
    if words.OTHER.search(together):
        return REASONS["other"]
    if any(AHEAD.match(each) for each in labels):
        return REASONS["supposed"]
    before = any(BEFORE.match(each) for each in labels)
    if before or words.DOUBT["elsewhere"].search(together) or ANOTHERS.search(together):
        return REASONS["part_of_another"]
    return ""
