"""How much the runs bear: many who watch and ask, many runs, for long.

    python tests/benchmarks/runs.py watch [--viewers 100] [--browsers 3] [--servers 1] [--seconds 300] [--still]
    python tests/benchmarks/runs.py store [--runs 10000] [--events 5000000] [--seconds 5]
    python tests/benchmarks/runs.py memory [--minutes 15] [--viewers 20]

`watch`: sessions by Streamlit's own protocol, and a few in Chromium, have the lab open, follow two runs that train for
real, and move the slider of sigma every ten seconds, or nothing if they are still; several servers stand behind a proxy
with sticky sessions. `store`: a store of many runs and events. `memory`: as `watch`, for long. Prints a table, then one
JSON object. Status 1 where a target is missed.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

GROWTH = 5.0  # % that a server's memory may grow
WARM_UP = 120.0  # seconds before memory counts


def watch(options: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Many sessions."""
    from tests.benchmarks import runs_watch

    load = runs_watch.Load(options.viewers, options.browsers, options.servers, options.seconds, still=options.still)
    figures = runs_watch.measured(load)
    return figures, runs_watch.missed(figures)


def memory(options: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """The same sessions for long."""
    from tests.benchmarks import runs_watch

    load = runs_watch.Load(options.viewers, 0, 1, 60 * options.minutes, options.warm_up)
    figures = runs_watch.measured(load)
    name = "memory grew by, %"
    return figures, [name] if figures[name] > GROWTH else []


def store(options: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Many runs and events."""
    from tests.benchmarks import runs_store

    figures = runs_store.measured(options.runs, options.events, options.seconds)
    return figures, runs_store.missed(figures)


PARTS = {"watch": watch, "store": store, "memory": memory}
OPTIONS: dict[str, dict[str, float]] = {  # of each part, with their values where none is given
    "watch": {"viewers": 100, "browsers": 3, "servers": 1, "seconds": 300.0},
    "store": {"runs": 10_000, "events": 5_000_000, "seconds": 5.0},
    "memory": {"minutes": 15.0, "viewers": 20, "warm_up": WARM_UP},
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    for name, options in OPTIONS.items():
        part = parts.add_parser(name)
        for option, value in options.items():
            part.add_argument(f"--{option.replace('_', '-')}", type=type(value), default=value)
        if name == "watch":
            part.add_argument("--still", action="store_true")
    options = parser.parse_args()
    figures, wrong = PARTS[options.part](options)
    for name, value in figures.items():
        print(f"{name:32} {value}{'   MISSED' if name in wrong else ''}")
    print(json.dumps(figures))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
