"""Texts as people post them, each with what a careful person reads in it.

They were written by people who had not seen the reader. First comes that no value is read that a
text does not state of that run, and that no verdict is one on a training that nobody made.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dpcore.claims import judge, read
from dpcore.claims.claim import Claim, values_of

TEXTS = Path(__file__).with_name("texts")
EXPECTED: dict[str, dict[str, Any]] = json.loads(
    (TEXTS / "expected.json").read_text(encoding="utf-8")
)
FIELDS = (
    *("epsilon", "delta", "sigma", "q", "batch", "examples", "epochs", "steps"),
    *("sampler", "accountant", "adjacency"),
)
IN_FULL = 70  # of 150 texts: the others lack a value, which is offered


def number(value: Any) -> Any:
    """A value as a number, also 1/4, where it is one."""
    above, stroke, below = str(value).partition("/")
    try:
        return float(above) / float(below) if stroke else float(value)
    except ValueError:
        return value


def same(one: Any, other: Any) -> bool:
    one, other = number(one), number(other)
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-6 * max(abs(one), abs(other))
    return one == other


def values(claim: Claim) -> dict[str, Any]:
    found = values_of(claim)
    return {
        field: getattr(found[field], "text", found[field]) for field in FIELDS if field in found
    }


def misread(got: Mapping[str, Any], want: Mapping[str, Any], may: list[str]) -> list[str]:
    """The fields whose values a run does not state."""
    return [
        field
        for field, value in got.items()
        if field not in may and not (field in want and same(value, want[field]))
    ]


def closest(got: Mapping[str, Any], runs: list[dict[str, Any]], may: list[str]) -> dict[str, Any]:
    """The stated run that explains most of what was read."""
    return min(runs or [{}], key=lambda want: (len(misread(got, want, may)), len({*want} - {*got})))


@pytest.mark.parametrize("name", EXPECTED)
def test_no_value_is_read_that_no_run_states_and_no_verdict_is_of_a_training_that_nobody_made(
    name: str,
) -> None:
    expected = EXPECTED[name]
    found = read((TEXTS / name).read_text(encoding="utf-8"))
    for run in found.runs:
        got = values(run.claim)
        want = closest(got, expected["runs"], expected["may"])
        assert not misread(got, want, expected["may"]), (got, want)
        for field, never in expected.get("never", {}).items():
            wrong = got.get(field) if never == "*" else None
            if never != "*" and field in got:
                wrong = [value for value in never if same(got[field], value)]
            assert not wrong, (field, wrong)
        verdict = judge(run.claim, run.told).standing.value
        if verdict in ("holds", "refuted") and expected["runs"]:
            allowed = expected["verdict"][expected["runs"].index(want)].split("|")
            assert verdict in allowed, (got, allowed)


def test_most_texts_are_read_in_full() -> None:
    whole = []
    for name, expected in EXPECTED.items():
        found = read((TEXTS / name).read_text(encoding="utf-8"))
        read_runs = [values(run.claim) for run in found.runs]
        stated = expected["runs"]
        in_full = [
            {*closest(got, stated, expected["may"])} - {*expected["may"]} <= {*got}
            for got in read_runs
        ]
        if all(in_full) and len(read_runs) >= len(stated):
            whole.append(name)
    assert len(whole) >= IN_FULL, len(whole)
