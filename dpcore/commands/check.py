"""`python -m dpcore check`: judge a claimed epsilon, with a certificate and a sentence for a review."""

import argparse
import json
import sys
import textwrap
import unicodedata
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from dpcore import check
from dpcore.claims import Claim, ClaimVerdict, judge, printed_epsilon, read_claim
from dpcore.claims.claim import ADJACENCIES, BATCHES, joined
from dpcore.claims.layout import lines_of
from dpcore.claims.reading import MAX_JSON_CHARS, NONE_PASSED, Read, written
from dpcore.claims.verdict import as_object
from dpcore.claims.worked import EXAMPLES
from dpcore.commands import DELTA, NOISE, Parser, number, parser_of, refuse_idle, whole
from dpcore.privacy.accountants import ACCOUNTANTS

WIDTH = 110
FIELDS = ("delta", "q", "batch", "examples", "sigma", "epochs", "steps", "sampler", "adjacency", "accountant")
TAKEN = "Taken from the text, with signs below:"
NOT_TAKEN = "No value of a claim was found in the text."
NOTHING = "Expected a claim: give its numbers as options, a file with --text, or a name with --example."


def parser() -> Parser:
    made = parser_of("check", "Check a claimed epsilon. All options may be left out.")
    made.add_argument("--epsilon", metavar="E", help="the claim, with its digits: 3.0 may stand for 2.95 to 3.05")
    made.add_argument("--delta", type=number, help=DELTA)
    made.add_argument("--q", type=number, help="sampling rate, above 0 and at most 1")
    made.add_argument("--batch", type=whole, help="expected batch, instead of q; needs --examples")
    made.add_argument("--examples", type=whole, help="number of training examples n")
    made.add_argument("--sigma", type=number, help=NOISE)
    made.add_argument("--epochs", type=number, help="passes over the data, instead of steps")
    made.add_argument("--steps", type=whole, help="number of steps T")
    made.add_argument(
        "--sampler", metavar="NAME", help=f"how batches are drawn (default poisson): {', '.join(BATCHES)}"
    )
    made.add_argument("--adjacency", metavar="NAME", help=f"neighbouring data sets: {', '.join(ADJACENCIES)}")
    made.add_argument("--accountant", metavar="ID", help=f"accountant of the claim: {', '.join(ACCOUNTANTS)}")
    made.add_argument("--text", metavar="FILE", help="a text, an Opacus history or a DpEvent; - reads standard input")
    names = ", ".join(each.name for each in EXAMPLES)
    made.add_argument("--example", metavar="NAME", help=f"a published claim: {names}")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Print the verdict; exit status 0 for every verdict."""
    examples = {each.name: each.claim for each in EXAMPLES}
    if arguments.example is not None:
        refuse_idle(arguments, ("text",), "a claim of your own, instead of --example")
        check.one_of(examples, example=arguments.example)
    text = "" if arguments.text is None else _text(arguments.text)
    read = Read(Claim()) if arguments.text is None else read_claim(text)
    claim = joined([examples.get(arguments.example or "", Claim()), read.claim, _given(arguments)])
    if claim == Claim() and arguments.text is None:
        raise ValueError(NOTHING)
    verdict = judge(claim)
    if arguments.json:
        print(json.dumps(as_object(verdict) | _as_read(read), allow_nan=False, ensure_ascii=False))
    else:
        print("\n".join(_lines(verdict, text, read)))
    return 0


def _given(arguments: argparse.Namespace) -> Claim:
    values = {name: getattr(arguments, name) for name in FIELDS if getattr(arguments, name) is not None}
    if arguments.epsilon is not None:
        values["epsilon"] = printed_epsilon(arguments.epsilon)
    return Claim(**values)


def _text(path: str) -> str:
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as file:
            return file.read(4 * MAX_JSON_CHARS + 1).decode("utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError for a NUL byte in the name, or bytes that are no text
        why = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise ValueError(f"Expected text={path[:200]!r} to be a readable file, but: {why}.") from None


def _as_read(read: Read) -> dict[str, Any]:
    taken, passed = (
        [
            {"field": each.field, "value": getattr(each.value, "text", each.value), "at": [each.start, each.end]}
            | ({"why": each.why} if each.why else {})
            for each in several
        ]
        for several in (read.found, read.passed)
    )
    return {"read": taken, "passed_over": passed, "left_out": list(read.left_out)}


def _marked(text: str, read: Read) -> Iterator[str]:
    """Yield the lines of a text that hold values taken, each with signs below the values, and the values."""
    pieces = (
        (start + at, line[at : at + WIDTH - 2].rstrip("\n"))
        for start, line in lines_of(text)
        for at in range(0, len(line), WIDTH - 2)
    )
    for start, line in pieces:
        inside = [each for each in read.found if start <= each.start < start + len(line)]
        if inside:
            places = {place for each in inside for place in range(each.start, each.end)}
            signs = ("^" if start + at in places else " " for at in range(len(line)))
            below = "".join(sign * _width(letter) for sign, letter in zip(signs, line, strict=True))
            taken = ", ".join(dict.fromkeys(f"{each.field} {written(each.value)}" for each in inside))
            yield f"  {line.expandtabs(1)}"
            yield from (
                [f"  {below.rstrip()}  {taken}"]
                if len(below.rstrip()) + len(taken) < WIDTH - 4
                else (f"  {below.rstrip()}", f"    {taken}")
            )


def _width(letter: str) -> int:
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _lines(verdict: ClaimVerdict, text: str, read: Read) -> list[str]:
    given = "; ".join(f"{each.accountant}, {each.how}" for each in verdict.given_by)
    about = verdict.certificate
    parts = [
        f"{verdict.standing.value.upper()}. {verdict.sentence}",
        f"Judged: {about.setup}." if about else "",
        f"These accountants give the claimed number for Poisson batches: {given}." if given else "",
        *verdict.notes,
        f"For a review: {verdict.review}",
    ]
    told = (
        (TAKEN if read.found else NOT_TAKEN, *_marked(text, read), *(read.left_out or (NONE_PASSED,))) if text else ()
    )
    return [
        line
        for part in (*parts, *told)
        if part
        for line in ([part] if part.startswith("  ") else textwrap.wrap(part, WIDTH, subsequent_indent="  "))
    ]
