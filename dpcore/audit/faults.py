"""Broken trainers as short programs to read, each with the record of its audit.

`python -m tests.audit.record_faults` audits the real trainers and writes the record: each entry has
the command that repeats it.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dpcore.audit.broken_trainers import BROKEN
from dpcore.privacy import words_in
from dpcore.privacy.report.numbers import outward

FILE = Path(__file__).with_suffix(".toml")
RECORD = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Line:
    """A line of a program, and why it is right: that of the fault, what is wrong with it."""

    code: str
    why: str


@dataclass(frozen=True)
class Evidence:
    """What the recorded audit of a real trainer said of it."""

    command: str
    promised: float  # epsilon
    least: float  # epsilon, by the test named below; 0 if it gives none
    unbounded: bool  # true if that test leaves no finite epsilon
    failed: tuple[str, ...]  # tests
    title: str  # of the test that had to find the fault
    shows: str

    @property
    def verdict(self) -> str:
        """The promise beside what was shown, in two short sentences."""
        promise = f"Promised {outward(self.promised, math.ceil)}."
        if self.unbounded:
            return f"{promise} Really no epsilon at all."
        if self.least > self.promised:
            return f"{promise} Really at least {outward(self.least, math.floor)}."
        return f"{promise} The promise is refuted."


@dataclass(frozen=True)
class Program:
    """The program of a broken trainer: all its lines are right but one."""

    name: str  # of the trainer
    lines: tuple[Line, ...]
    fault: int  # the number of the line, from 1
    sound: str  # the line that belongs there
    evidence: Evidence

    @property
    def text(self) -> str:
        return "\n".join(line.code for line in self.lines)

    @property
    def repaired(self) -> str:
        """The program with the line that belongs there."""
        codes = [line.code for line in self.lines]
        codes[self.fault - 1] = self.sound
        return "\n".join(codes)


@cache
def programs() -> dict[str, Program]:
    """The program of each broken trainer, in their order."""
    words = _code_words()
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))
    return {name: _program(name, words, recorded[name]) for name in BROKEN}


def _code_words() -> dict[str, Any]:
    """The file, with the spaces of its code, which `words_in` would take away."""
    import tomllib  # late, as there

    words = words_in(FILE)
    kept = tomllib.loads(FILE.read_text(encoding="utf-8"))
    for line, exact in zip(words["lines"], kept["lines"], strict=True):
        line["code"] = exact["code"]
    for name, fault in words["faults"].items():
        fault["code"] = kept["faults"][name]["code"]
    return words


def _program(name: str, words: Mapping[str, Any], recorded: Mapping[str, Any]) -> Program:
    fault = words["faults"][name]
    shown = [each for each in words["lines"] if name in each.get("only", BROKEN)]
    replaced = {each.get("beside") for each in shown}
    shown = [each for each in shown if each["id"] not in replaced]
    place = [each["id"] for each in shown].index(fault["line"])
    lines = [Line(each["code"], each["why"]) for each in shown]
    sound = lines[place].code
    lines[place] = Line(fault["code"], BROKEN[name].story)
    evidence = Evidence(**{**recorded, "failed": tuple(recorded["failed"])})
    return Program(name, tuple(lines), place + 1, sound, evidence)
