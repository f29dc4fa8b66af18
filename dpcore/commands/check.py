"""`python -m dpcore check`: judge a claimed epsilon, and write a sentence for a review."""

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from dpcore import check
from dpcore.claims import Claim, ClaimVerdict, judge, printed_epsilon, read_claim
from dpcore.claims.claim import ADJACENCIES, FORMS, joined
from dpcore.claims.reading import MAX_JSON_CHARS, NONE_PASSED, Read
from dpcore.claims.verdict import as_object
from dpcore.claims.worked import EXAMPLES
from dpcore.commands import DELTA, NOISE, Parser, add_best_of, number, parser_of, refuse_idle, whole
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.regular_file import open_regular

WIDTH = 110
FIELDS = (
    "delta",
    "q",
    "batch",
    "examples",
    "sigma",
    "epochs",
    "steps",
    "sampler",
    "adjacency",
    "accountant",
    "runs",
)
LINE = "\u0332"  # below the letter before it
TAKEN = "Read from the text:"
NOT_TAKEN = "No value of a claim was found in the text."
NOTHING = (
    "Expected a claim: give its numbers as options, a file with --text, or a name with --example."
)


def parser() -> Parser:
    made = parser_of("check", "Check a claimed epsilon. All options may be left out.")
    made.add_argument(
        "--epsilon", metavar="E", help="the claim, with its digits: 3.0 may stand for 2.95 to 3.05"
    )
    made.add_argument("--delta", type=number, help=DELTA)
    made.add_argument("--q", type=number, help="sampling rate, above 0 and at most 1")
    made.add_argument("--batch", type=whole, help="expected batch, instead of q; needs --examples")
    made.add_argument("--examples", type=whole, help="number of training examples n")
    made.add_argument("--sigma", type=number, help=NOISE)
    made.add_argument("--epochs", type=number, help="passes over the data, instead of steps")
    made.add_argument("--steps", type=whole, help="number of steps T")
    made.add_argument(
        "--sampler",
        metavar="NAME",
        help=f"how batches are drawn (default poisson): {'; '.join(FORMS)}",
    )
    made.add_argument(
        "--adjacency", metavar="NAME", help=f"neighbouring data sets: {', '.join(ADJACENCIES)}"
    )
    made.add_argument(
        "--accountant", metavar="ID", help=f"accountant of the claim: {', '.join(ACCOUNTANTS)}"
    )
    add_best_of(made)
    made.add_argument(
        "--text",
        metavar="FILE",
        help="a text, an Opacus history or a DpEvent; - reads standard input",
    )
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
    text = ""
    read = Read(Claim())
    if arguments.text is not None:
        text = _text(arguments.text)
        read = read_claim(text)
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
    values = {name: getattr(arguments, name) for name in FIELDS}
    if arguments.epsilon is not None:
        values["epsilon"] = printed_epsilon(arguments.epsilon)
    return Claim(**values)


def _text(path: str) -> str:
    try:
        source = nullcontext(sys.stdin.buffer) if path == "-" else open_regular(path)
        with source as file:
            return file.read(4 * MAX_JSON_CHARS + 1).decode("utf-8-sig")
    # ValueError for a NUL byte in the name, or bytes that are no text.
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise ValueError(
            f"Expected text={path[:200]!r} to be a readable file, but: {why}."
        ) from None


def _as_read(read: Read) -> dict[str, Any]:
    taken = []
    passed_over = []
    for each in (*read.found, *read.passed):
        values = {
            "field": each.field,
            "value": getattr(each.value, "text", each.value),
            "at": [each.start, each.end],
            "why": each.why,
        }
        group = passed_over if each.why else taken
        group.append(values)
    return {"read": taken, "passed_over": passed_over, "left_out": list(read.left_out)}


def _underlined(text: str, read: Read) -> Iterator[str]:
    """Yield the lines of a text that hold values taken, which are underlined and named."""
    marked = ""
    for part, each in read.parts(text):
        if each is None or each.why:
            marked += part
        else:
            underlined = "".join(f"{letter}{LINE}" for letter in part[:WIDTH])
            marked += f"{underlined} [{each.field}]"
    for line in marked.splitlines():
        for piece in textwrap.wrap(line, WIDTH):
            if LINE in piece:
                yield f"  {piece}"


def _lines(verdict: ClaimVerdict, text: str, read: Read) -> list[str]:
    parts = [f"{verdict.standing.value.upper()}. {verdict.sentence}"]
    if verdict.certificate:
        parts.append(f"Judged: {verdict.certificate.setup}.")
    if verdict.given_by:
        given = "; ".join(f"{each.accountant}, {each.how}" for each in verdict.given_by)
        parts.append(
            f"These accountants give the claimed number for one run on Poisson batches: {given}."
        )
    parts += verdict.notes
    parts.append(f"For a review: {verdict.review}")
    if text:
        parts.append(TAKEN if read.found else NOT_TAKEN)
        parts += _underlined(text, read)
        parts += read.left_out or (NONE_PASSED,)
    lines = []
    for part in parts:
        if part.startswith("  "):  # a line of the text
            lines.append(part)
        else:
            lines += textwrap.wrap(part, WIDTH, subsequent_indent="  ")
    return lines
