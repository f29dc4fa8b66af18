"""How long three things take: the numbers of the papers, a comparison of perturbation methods,
curves of samplers.

    python -m benchmarks.seconds papers|perturbation|samplers [--repeat 5]

`papers`: every number that follows from accounting, with the certified bound of each epsilon that
is claimed, in fresh processes that have imported the package; wanted are at most 2,000 ms in all.
`perturbation`: Breast Cancer without noise, and six methods at 10 epsilons with 10 seeds each;
wanted are at most 10 s on 2 cores. `samplers`: 100 horizons of some settings, and how wide the band
is. Prints medians, or each repeat of the comparison.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.counts import repeats

SETTINGS = [  # q, sigma, epochs, delta
    (512 / 60_000, 1.068, 40, 1e-5),
    (1 / 30, 1.82, 40, 1e-5),
    (1 / 234, 0.7, 20, 1e-5),
    (0.01, 1.0, 1, 1e-5),
    (0.001, 0.5, 1, 1e-6),
]


def of_papers() -> dict[str, float]:
    """Milliseconds of each paper, in this process."""
    from dpcore.papers.catalogue import PAPERS, comparisons
    from dpcore.papers.entry import Computed

    found = {}
    for paper in PAPERS.values():
        computed = tuple(each for each in paper.entries if isinstance(each, Computed))
        start = time.perf_counter()
        comparisons(replace(paper, entries=computed))
        found[f"{paper.id} ({len(computed)} numbers)"] = 1e3 * (time.perf_counter() - start)
    return found


def papers(repeat: int) -> None:
    """Print a line for each paper."""
    command = [sys.executable, "-m", "benchmarks.seconds", "alone"]
    asked = {"cwd": Path(__file__).parents[1], "capture_output": True, "text": True, "check": True}
    runs = [json.loads(subprocess.run(command, **asked).stdout) for _ in range(repeat)]
    found = {name: median(run[name] for run in runs) for name in runs[0]}
    for name, value in (found | {"all": median(sum(run.values()) for run in runs)}).items():
        print(f"{name:<20} {value:7.0f} ms")


def perturbation(repeat: int) -> None:
    """Print a line for each repeat."""
    from dpcore.training.perturbation.comparison import compare
    from dpcore.training.perturbation.events import Measured
    from dpcore.training.perturbation.request import Request

    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        fits = sum(len(event.gaps) for event in compare(Request()) if isinstance(event, Measured))
        print(
            f"{fits} fits: {time.perf_counter() - wall:.1f} s, {time.process_time() - cpu:.1f} s of"
            " a core"
        )


def samplers(repeat: int) -> None:
    """Print a line for each setting and sampler."""
    from dpcore.privacy.sampling import SAMPLERS, steps_of_epoch

    print(
        f"{'q':>9} {'sigma':>6} {'epochs':>6}  {'sampler':<20} {'ms':>8} {'lower':>9} {'upper':>9}"
        f" {'apart':>8}"
    )
    for q, sigma, epochs, delta in SETTINGS:
        horizons = np.unique(
            np.ceil(np.linspace(0, epochs * steps_of_epoch(q), 101)[1:]).astype(np.int64)
        )
        for name, sampler in SAMPLERS.items():
            seconds = []
            for _ in range(repeat):
                start = time.perf_counter()
                curve = sampler.curve(q, sigma, horizons, delta)
                seconds.append(time.perf_counter() - start)
            lower, upper = float(curve.last.lower or 0.0), curve.last.value
            apart = f"{100 * (upper / lower - 1):.2f} %" if lower else "-"
            took = f"{1000 * median(seconds):8.1f} {lower:9.4f} {upper:9.4f} {apart:>8}"
            print(f"{q:9.5f} {sigma:6g} {epochs:6}  {name:<20} {took}", flush=True)


def main() -> None:
    """Measure one of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = {"papers": papers, "perturbation": perturbation, "samplers": samplers}
    parser.add_argument("part", choices=[*parts, "alone"])
    parser.add_argument("--repeat", type=repeats, default=5)
    options = parser.parse_args()
    if options.part == "alone":
        print(json.dumps(of_papers()))
    else:
        parts[options.part](options.repeat)


if __name__ == "__main__":
    main()
