"""The record of "Spot the fault": python -m tests.audit.record_faults audits every broken trainer
by the command that stands beside its evidence, and writes what the audit said.
"""

import json
import shlex
import subprocess
import sys
from typing import Any

from dpcore.audit.broken_trainers import BROKEN
from dpcore.audit.faults import RECORD

SETTINGS = "--model mlp --sigma 1 --batch 512 --epochs 2 --seed 1 --device cpu"
# Trainers that take gradients one by one, or judge each step: minutes with as many weights.
SMALL = {"raw_state": " --width 50", "accepted_only": " --width 50"}


def command_of(trainer: str) -> str:
    """The command of one audit."""
    settings = SETTINGS + SMALL.get(trainer, "")
    return f"python -m dpcore audit --trainer {trainer} {settings} --json"


def audited(trainer: str) -> dict[str, Any]:
    """Run the command; return what it printed. Exit status 1 says that it found a fault."""
    command = [sys.executable, *shlex.split(command_of(trainer))[1:]]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    assert done.returncode == 1, trainer
    return json.loads(done.stdout)


def evidence_of(trainer: str, found: dict[str, Any]) -> dict[str, Any]:
    """What is kept of an audit: what is promised, and what the test named for the fault shows."""
    tests = {each["audit"]: each for each in found["audits"]}
    named = tests[BROKEN[trainer].fails]
    assert named["failed"], trainer
    return {
        "command": command_of(trainer),
        "promised": found["epsilon"]["claimed"],
        "least": named["epsilon"] or 0.0,
        "unbounded": named["unbounded"],
        "failed": found["failed"],
        "title": named["title"],
        "shows": named["shows"],
    }


def record() -> None:
    """Audit all and write."""
    written = {}
    for trainer in BROKEN:
        written[trainer] = evidence_of(trainer, audited(trainer))
        print(trainer, written[trainer], file=sys.stderr)
    RECORD.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
