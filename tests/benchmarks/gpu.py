"""What a GPU makes of private training, in less than eight minutes: one command for any machine with CUDA.

python -m tests.benchmarks.gpu [--out FILE]

Prints a table and writes docs/measured/gpu.json, which the training page reads. Its phases: the step, private against
plain under the same kind of recording; the seconds of an epoch; what the cryptographic generator costs; several runs on
one GPU; the tests that need CUDA; one run of each recipe of the ladders at epsilon 3, and of the others. Each phase is
a process of its own with a limit on its time, and has what those before it have left over. One that fails or runs past
it is reported with what it had found, and the rest goes on; a recipe that is left out is named. At last stands which of
the wanted figures were reached. Without CUDA nothing is measured and nothing written. `--small` tries the command
itself, on the CPU, in tiny sizes.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import torch

from dpcore import __version__
from tests.benchmarks import gpu_phases, gpu_recipes
from tests.benchmarks.accuracy import commit
from tests.benchmarks.gpu_phases import SMALL, Figures, Size

RESULT = Path(__file__).parents[2] / "docs" / "measured" / "gpu.json"
NONE = "There is no CUDA device here, so nothing is measured and nothing is written."
SECONDS = 470.0  # for everything


class Phase(NamedTuple):
    """What is measured, and for how many seconds at most."""

    measure: Callable[[Size], Iterator[tuple[str, Figures]]]
    limit: float


PHASES = {
    "steps": Phase(gpu_phases.steps, 75.0),
    "epochs": Phase(gpu_phases.epochs, 45.0),
    "generator": Phase(gpu_phases.generator, 20.0),
    "sharing": Phase(gpu_phases.sharing, 75.0),
    "tests": Phase(gpu_phases.checks, 110.0),
    "ladders": Phase(gpu_recipes.ladders, 90.0),
    "recipes": Phase(gpu_recipes.named_recipes, 55.0),
}
BESIDES = 15.0  # seconds of a phase of recipes in which none is trained: its start, and the last event of a run


class Wanted(NamedTuple):
    """A figure that is wanted to be at most so much."""

    phase: str
    row: str
    key: str
    most: float


WANTED = {
    "seconds of an epoch, tanh cnn, batch 512": Wanted("epochs", "cnn-512", "seconds", 0.05),
    "seconds of an epoch, scattering and linear, batch 8192": Wanted("epochs", "scatter-8192", "seconds", 0.005),
    "private step of a plain one, tanh cnn, batch 512": Wanted("steps", "cnn-512 private", "of plain", 1.1),
    "private step of a plain one, tanh cnn, batch 4096": Wanted("steps", "cnn-4096 private", "of plain", 1.1),
}


def measured(command: Callable[[str, float], list[str]], seconds: float = SECONDS) -> dict[str, Any]:
    """What each phase found, run by the command for its name and limit, within the time for all of them."""
    end, found = time.monotonic() + seconds, {}
    later = sum(phase.limit for phase in PHASES.values())
    for name, phase in PHASES.items():
        later, left = later - phase.limit, end - time.monotonic()
        limit = min(left, max(phase.limit, left - later))
        found[name] = bounded(command(name, limit), limit) if left > 0 else {"failed": "no time was left"}
        print("\n".join(lines(name, found[name])), flush=True)
    return found


def verdicts(phases: dict[str, Any]) -> dict[str, Figures]:
    """What was found of each wanted figure, None where a phase did not get so far, and whether that is reached.

    >>> found = verdicts({"epochs": {"figures": {"cnn-512": {"seconds": 0.04}}}})
    >>> found["seconds of an epoch, tanh cnn, batch 512"]
    {'found': 0.04, 'at most': 0.05, 'reached': True}
    >>> found["private step of a plain one, tanh cnn, batch 512"]
    {'found': None, 'at most': 1.1, 'reached': False}
    """
    found = {}
    for name, wanted in WANTED.items():
        row = phases.get(wanted.phase, {}).get("figures", {}).get(wanted.row, {})
        value = row.get(wanted.key)
        found[name] = {"found": value, "at most": wanted.most, "reached": value is not None and value <= wanted.most}
    return found


def bounded(command: list[str], limit: float) -> dict[str, Any]:
    """The figures that a process prints, its seconds, and how it failed if it did; past the limit it is ended."""
    start = time.monotonic()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, start_new_session=True, **pipes)
    failed = ""
    try:
        said, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with the processes that it has started
        said, errors = process.communicate()
        failed = f"it ran past {limit:.0f} s"
    if process.returncode and not failed:
        failed = (errors.strip().splitlines() or [f"exit status {process.returncode}"])[-1][:200]
    found: dict[str, Any] = {"seconds": round(time.monotonic() - start, 1), "figures": figures_in(said)}
    return found | ({"failed": failed} if failed else {})


def figures_in(said: str) -> Figures:
    """All that a process has said in lines of JSON; its other lines, and one that was cut, are none.

    >>> figures_in('warning\\n{"a": {"ms": 1}}\\n{"b": {"m')
    {'a': {'ms': 1}}
    """
    found: Figures = {}
    for line in said.splitlines():
        try:
            figures = json.loads(line)
        except ValueError:
            continue
        found |= figures if isinstance(figures, dict) else {}
    return found


def lines(phase: str, found: dict[str, Any]) -> list[str]:
    """A phase's part of the table.

    >>> lines("steps", {"seconds": 2.0, "figures": {"cnn": {"ms": 0.25}}, "failed": "it ran past 2 s"})
    ['steps (2.0 s), failed: it ran past 2 s', '  cnn                              ms 0.25']
    """
    head = f"{phase} ({found.get('seconds', 0.0)} s)" + (f", failed: {found['failed']}" if "failed" in found else "")
    rows = found.get("figures", {}).items()
    return [
        head,
        *(f"  {name:<32} {', '.join(f'{key} {_short(each)}' for key, each in row.items())}" for name, row in rows),
    ]


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def machine(device: str) -> dict[str, str]:
    """Where and by what it is measured."""
    name = torch.cuda.get_device_name() if device == "cuda" else device
    versions = {"torch": str(torch.__version__), "cuda": str(torch.version.cuda), "python": platform.python_version()}
    date = datetime.now(UTC).date().isoformat()
    return {"device": name, "date": date, "dpcore": __version__, "commit": commit(), **versions}


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="docs/measured/gpu.json where it is not given")
    parser.add_argument("--small", action="store_true", help="on the CPU, in tiny sizes; needs --out")
    parser.add_argument("--phase", choices=list(PHASES), help="print the figures of one phase, a line of JSON each")
    parser.add_argument("--seconds", type=float, help="that the phase has")
    options = parser.parse_args(arguments)
    size = SMALL if options.small else Size()
    if size.device == "cuda" and not torch.cuda.is_available():
        print(NONE)
        return
    if options.seconds and not options.small:
        size = size._replace(time=max(0.0, options.seconds - BESIDES))
    if options.phase:
        for name, figures in PHASES[options.phase].measure(size):
            print(json.dumps({name: figures}), flush=True)
        return
    if options.small and not options.out:
        parser.error("--small needs --out: what it measures is nothing to be kept")
    small = ["--small"] if options.small else []
    write(options.out or RESULT, size.device, small)


def write(out: Path, device: str, small: list[str]) -> None:
    """Measure all phases, and write them down with where that was and which wanted figures are reached."""
    start, where = time.monotonic(), machine(device)

    def command(name: str, limit: float) -> list[str]:
        return [sys.executable, "-m", "tests.benchmarks.gpu", "--phase", name, "--seconds", f"{limit:.1f}", *small]

    phases = measured(command)
    wanted = verdicts(phases)
    print("\n".join(lines("wanted", {"figures": wanted, "seconds": round(time.monotonic() - start, 1)})))
    out.parent.mkdir(parents=True, exist_ok=True)
    result = {**where, "seconds": round(time.monotonic() - start, 1), "wanted": wanted, "phases": phases}
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
