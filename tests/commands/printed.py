"""What a command prints, read as strictly as JSON is defined."""

import json
import signal
from typing import Any

import pytest

from dpcore.__main__ import main

Output, Patch = pytest.CaptureFixture[str], pytest.MonkeyPatch  # what tests of commands are given


def strict(constant: str) -> None:
    """Refuse what Python's JSON would let pass: NaN and infinities."""
    raise AssertionError(f"{constant} is not JSON")


def printed(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> dict[str, Any]:
    """The one object that a command prints with --json, and nothing beside it."""
    assert main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    return json.loads(out, parse_constant=strict)


def interruptible() -> None:
    """Have processes started from here on heed SIGINT, which those of a job in the background
    ignore.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
