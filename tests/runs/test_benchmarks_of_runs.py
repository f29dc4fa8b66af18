"""The scripts that measure how much the runs bear work: with few of everything, they find what they must find."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def figures_of(script: str, *words: str) -> dict[str, Any]:
    """What a script measures; where a target is missed, as on a busy machine, it says so by its status."""
    command = [sys.executable, str(ROOT / "tests" / "benchmarks" / script), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert ("MISSED" in done.stdout) == bool(done.returncode), done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
def test_queued_runs_are_done_once_each_by_workers_that_are_killed() -> None:
    figures = figures_of("runs.py", "claim", "--runs", "10", "--workers", "3", "--kills", "3", "--within", "120")
    assert figures["not finished exactly once, or with other events"] == 0
    assert figures["the first of them"] == []


@pytest.mark.long
def test_a_store_of_many_runs_is_filled_drawn_and_written_to() -> None:
    figures = figures_of("runs.py", "store", "--runs", "30", "--events", "3000", "--seconds", "0.2")
    assert figures["runs, events"] == [30, 3000]
    assert figures["events a second, eight writers"] > 0


@pytest.mark.long
def test_sessions_and_a_browser_miss_no_event_and_get_their_charts() -> None:
    words = ["--viewers", "2", "--browsers", "1", "--servers", "2", "--seconds", "10"]
    figures = figures_of("runs.py", "watch", *words)
    assert figures["events, received"][1] == 2 * figures["events, received"][0] > 0
    assert (figures["lost"], figures["doubled"], figures["workers' logs agree"]) == (0, 0, True)
    assert figures["slider to chart, ms"]
    assert figures["event to picture, ms"]
    assert min(figures["MiB of each server"][0]) > 50


@pytest.mark.long
def test_runs_outlive_kills_of_the_app_too() -> None:
    figures = figures_of("faults.py", "--runs", "3", "--servers", "1", "--app", "--within", "200")
    assert figures["how they ended"] == {"finished": 3}
    assert figures["wrong"] == 0
