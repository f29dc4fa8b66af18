"""Examples of docs/follow.md, and data for them."""

import importlib
import re
import warnings
from pathlib import Path
from types import ModuleType

import pytest

import dpcore
from dpcore.runs.record import Run, Status
from dpcore.runs.store import Store

FOLLOW = (Path(__file__).parents[2] / "docs" / "follow.md").read_text(encoding="utf-8")


def lines_of(heading: str) -> str:
    """The lines of Python below a heading, as they stand."""
    below = FOLLOW.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    block = re.search(r"```python\n(.*?)```", below, flags=re.DOTALL)
    assert block, heading
    return block[1]


def library(name: str) -> ModuleType:
    """A library that an adapter is for; without it the test is skipped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(name, reason=f"{name} is not installed: see requirements-adapters.txt")
        return importlib.import_module(name)


def kept_in(store: Store) -> Run:
    """The one followed run of a store."""
    (run,) = store.runs(kind="followed")
    return run


def check_stopped(run: Run, target: float) -> None:
    """A run that ended by itself, at the last step that its target allows."""
    request = run.request
    assert run.status is Status.FINISHED

    def epsilon(steps: int) -> float:
        mechanism = dpcore.Mechanism.constant(request.q, request.sigma, steps)
        return float(dpcore.epsilon(mechanism, request.delta))

    assert run.plan.mechanism == dpcore.Mechanism.constant(request.q, request.sigma, run.done)
    assert epsilon(run.done) <= target < epsilon(run.done + 1)
