"""Many runs under random kills of their workers and of the processes that serve them: none may be lost or done twice.

    python tests/benchmarks/faults.py [--runs 200] [--servers 2] [--slots 2] [--most 60] [--seed 1] [--app]

The runs train with a double whose every number follows from the secret seed, so that what they say can be compared with
what undisturbed runs say. Between two kills they say up to `--most` events. With `--app` the servers are the app as
users have it, else processes that hold a pool. Prints a table, then one JSON object. Status 1 where a run is gone, has
not finished exactly once, or has said anything else.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from dpcore.runs.store import Store  # noqa: E402
from dpcore.training.config import RunConfig  # noqa: E402
from tests.runs.faults.afterwards import note_endings, wrongs  # noqa: E402
from tests.runs.faults.killing import App, Server, until_done  # noqa: E402


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """The figures."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "home") as store:
        note_endings(store)
        runs = [store.submit(RunConfig(seed=None if number % 2 else number)) for number in range(options.runs)]
        start = partial(App, store.home) if options.app else partial(Server, store.home, "train", options.slots)
        begun = time.monotonic()
        killed = until_done(
            store, start, random.Random(options.seed), servers=options.servers, most=options.most, within=options.within
        )
        statuses = Counter(run.status.value for run in store.runs(kind=None))
        wrong = wrongs(store, runs)
    return {
        "runs": options.runs,
        "seconds": round(time.monotonic() - begun, 1),
        "workers killed": killed.workers,
        "servers killed": killed.servers,
        "how they ended": dict(statuses),
        "wrong": len(wrong),
        "the first of them": wrong[:3],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--most", type=int, default=60, help="events between two kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--within", type=float, default=3600.0, help="seconds")
    parser.add_argument("--app", action="store_true")
    figures = measured(parser.parse_args())
    for name, value in figures.items():
        print(f"{name:20} {value}")
    print(json.dumps(figures))
    sys.exit(bool(figures["wrong"]))


if __name__ == "__main__":
    main()
