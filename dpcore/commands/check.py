"""`python -m dpcore check`: judge a claimed epsilon, and write a sentence for a review."""

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from dpcore import check
from dpcore.claims import Claim, ClaimVerdict, judge, printed_epsilon, read
from dpcore.claims.certificate import certificate_of, check_again
from dpcore.claims.claim import ADJACENCIES, FORMS, joined, values_of
from dpcore.claims.reading import MAX_JSON_CHARS, NONE_PASSED, Read, Run
from dpcore.claims.several import headline, row_of
from dpcore.claims.values import written
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
BY_HAND = "Set by hand, beside the text: {}."


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
    made.add_argument(
        "--certificate", metavar="FILE", help="judge the claim of a saved certificate again"
    )
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Print the verdict on each run of a claim; exit status 0 for every verdict."""
    if arguments.certificate is not None:
        print(check_again(_json(_text(arguments.certificate, "certificate"))))
        return 0
    examples = {each.name: each.claim for each in EXAMPLES}
    if arguments.example is not None:
        refuse_idle(arguments, ("text",), "a claim of your own, instead of --example")
        check.one_of(examples, example=arguments.example)
    text = ""
    found = Read((Run(examples.get(arguments.example or "", Claim())),))
    if arguments.text is not None:
        text = _text(arguments.text)
        found = read(text)
    given = _given(arguments)
    if given == Claim() == found.claim and arguments.text is None:
        raise ValueError(NOTHING)
    verdicts = [judge(joined([each.claim, given]), each.told) for each in found.runs]
    by_hand = [*values_of(given)] if text else []
    if arguments.json:
        print(json.dumps(_as_json(found, verdicts, by_hand), allow_nan=False, ensure_ascii=False))
    else:
        print("\n".join(_lines(found, verdicts, text, by_hand)))
    return 0


def _given(arguments: argparse.Namespace) -> Claim:
    values = {name: getattr(arguments, name) for name in FIELDS}
    if arguments.epsilon is not None:
        values["epsilon"] = printed_epsilon(arguments.epsilon)
    return Claim(**values)


def _text(path: str, option: str = "text") -> str:
    try:
        source = nullcontext(sys.stdin.buffer) if path == "-" else open_regular(path)
        with source as file:
            return file.read(4 * MAX_JSON_CHARS + 1).decode("utf-8-sig")
    # ValueError for a NUL byte in the name, or bytes that are no text.
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise ValueError(
            f"Expected {option}={path[:200]!r} to be a readable file, but: {why}."
        ) from None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("Expected the certificate to be JSON.") from None


def _as_json(found: Read, verdicts: list[ClaimVerdict], by_hand: list[str]) -> dict[str, Any]:
    runs = []
    for each, verdict in zip(found.runs, verdicts, strict=True):
        read_values = [
            {"field": said.field, "value": written(said.value), "at": [said.start, said.end]}
            for said in each.found
        ]
        certificate = certificate_of(verdict, by_hand, each.told)
        runs.append({"label": each.label, "read": read_values, **certificate})
    offered = [
        {
            "field": said.field,
            "value": written(said.value),
            "at": [said.start, said.end],
            "why": said.why,
        }
        for said in found.passed
    ]
    return {"runs": runs, "offered": offered, "left_out": list(found.left_out)}


def _underlined(text: str, found: Read, run: int) -> Iterator[str]:
    """Yield the lines of a text that hold values taken, which are underlined and named."""
    marked = ""
    for part, each in found.parts(text, run):
        if each is None or each.why:
            marked += part
        else:
            underlined = "".join(f"{letter}{LINE}" for letter in part[:WIDTH])
            marked += f"{underlined} [{each.field}]"
    for line in marked.splitlines():
        for piece in textwrap.wrap(line, WIDTH):
            if LINE in piece:
                yield f"  {piece}"


def _lines(found: Read, verdicts: list[ClaimVerdict], text: str, by_hand: list[str]) -> list[str]:
    """What is printed: for several runs a table, and the reasons of each."""
    several = len(verdicts) > 1
    lines = []
    if several:
        lines += [headline(found.runs, verdicts), ""]
        rows = [row_of(run, verdict) for run, verdict in zip(found.runs, verdicts, strict=True)]
        lines += _in_columns([[*rows[0]], *([*row.values()] for row in rows)])
    for place, (run, verdict) in enumerate(zip(found.runs, verdicts, strict=True)):
        if several:
            lines += ["", f"{run.label or f'Run {place + 1}'}:"]
        lines += _of_run(verdict)
        if text:
            lines += _wrapped(TAKEN if run.found else NOT_TAKEN)
            lines += _underlined(text, found, place)
    if by_hand:
        lines += _wrapped(BY_HAND.format(", ".join(by_hand)))
    if text:
        for each in found.left_out or (NONE_PASSED,):
            lines += _wrapped(each)
    return lines


def _of_run(verdict: ClaimVerdict) -> list[str]:
    parts = [f"{verdict.standing.value.upper()}. {verdict.sentence}"]
    if verdict.certificate:
        parts.append(f"Judged: {verdict.certificate.setup}.")
    if verdict.given_by:
        given = "; ".join(f"{each.accountant}, {each.how}" for each in verdict.given_by)
        parts.append(
            f"These accountants give the claimed number for one run on Poisson batches: {given}."
        )
    parts += [*verdict.notes, verdict.complete, f"For a review: {verdict.review}"]
    lines = []
    for part in parts:
        lines += _wrapped(part)
    return lines


def _wrapped(part: str) -> list[str]:
    return textwrap.wrap(part, WIDTH, subsequent_indent="  ")


def _in_columns(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines
