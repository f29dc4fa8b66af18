"""How long every number of the papers that follows from accounting takes, in a fresh process.

    python tests/benchmarks/papers.py [--repeat 5]

Each process imports the package, and then recomputes one paper after another, with the certified bound of every epsilon
that is claimed. Prints medians in milliseconds, then one JSON object. Wanted: at most 2,000 in all.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
ALONE = "--alone"  # measure in this process, once
WANTED = 2000.0


def measured() -> dict[str, float]:
    """Milliseconds of each paper, in this process."""
    from dpcore.papers import PAPERS, comparisons

    found = {}
    for paper in PAPERS.values():
        start = time.perf_counter()
        comparisons(replace(paper, entries=paper.computed))
        found[f"{paper.id} ({len(paper.computed)} numbers)"] = 1e3 * (time.perf_counter() - start)
    return found


def main() -> None:
    """Print the table, and the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument(ALONE, action="store_true")
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(measured()))
        return
    command = [sys.executable, __file__, ALONE]
    runs = [
        json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
        for _ in range(arguments.repeat)
    ]
    found = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    found["all"] = statistics.median(sum(run.values()) for run in runs)
    for name, value in found.items():
        print(f"{name:<20} {value:7.0f} ms")
    print(json.dumps({"milliseconds": found, "wanted": WANTED}))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
