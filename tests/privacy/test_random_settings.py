"""3,000 settings drawn over all samplers and selections are answered in order, in time and in
little memory.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 30  # of processor time: three times what is promised, since processors differ
MEGABYTES = 2000


def answered(seed: int, count: int) -> dict:
    """What was found in `count` settings drawn from a seed."""
    command = [sys.executable, "-m", "tests.privacy.random_settings", str(seed), str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def checked(seed: int, count: int) -> None:
    found = answered(seed, count)
    print(
        f"seed {seed}: {found['seconds']:.1f} s for {found['slowest']}, {found['megabytes']:.0f} MB"
    )
    assert found["faults"] == [], seed
    assert found["seconds"] < SECONDS, (seed, found["slowest"])
    assert found["megabytes"] < MEGABYTES, seed


def test_drawn_settings_are_answered_in_order() -> None:
    checked(seed=46, count=25)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_three_thousand_drawn_settings_are_answered_in_order_in_time_and_in_little_memory(
    seed: int,
) -> None:
    checked(seed, count=250)
