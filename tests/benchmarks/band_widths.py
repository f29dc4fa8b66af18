"""How often the certified band is wider than 1 %, over random settings, and whether its note says so.

    python tests/benchmarks/band_widths.py [--settings 1000] [--seed 0] [--levels 1]

A setting has q in 1e-6..1, sigma in 0.06..300, up to 1e7 steps (even on logarithmic scales; one q in ten is 1) and
delta in 1e-15..0.1; with --levels N it has one to N releases, each drawn like that. Wide is a band whose upper end less
its lower end is above 1 % of the lower end, or of 1e-4 if that is larger; `far` counts those wider than 1 % of the
larger of the lower end and 1. Prints the widest settings, then one JSON object.
"""

import argparse
import json
import math
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism, Release

SHOWN = 12  # widest settings


def random_setting(generator: np.random.Generator, levels: int) -> tuple[Mechanism, float]:
    """One random mechanism and delta."""
    releases = tuple(
        Release(
            q=1.0 if generator.random() < 0.1 else float(10 ** generator.uniform(-6, 0)),
            sigma=float(10 ** generator.uniform(math.log10(0.06), math.log10(300))),
            count=int(10 ** generator.uniform(0, 7)),
        )
        for _ in range(int(generator.integers(1, levels + 1)))
    )
    return Mechanism(releases), float(10 ** generator.uniform(-15, -1))


def excess(lower: float, upper: float) -> float:
    """Width of the band over the width that counts as narrow."""
    return (upper - lower) / (0.01 * max(lower, 1e-4))


def main() -> None:
    """Measure, print the widest settings and one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--levels", type=int, default=1)
    options = parser.parse_args()
    generator, rows = np.random.default_rng(options.seed), []
    for _ in range(options.settings):
        mechanism, delta = random_setting(generator, options.levels)
        begin = time.perf_counter()
        curve = ACCOUNTANTS["pld"].curve(mechanism, mechanism.steps, delta)
        seconds = time.perf_counter() - begin
        assert curve.lower is not None
        lower, upper = float(curve.lower[0]), float(curve.epsilon[0])
        rows.append((excess(lower, upper), lower, upper, seconds, bool(curve.note), mechanism, delta))
    rows.sort(key=lambda row: row[0], reverse=True)
    wide = [row for row in rows if row[0] > 1]
    for over, lower, upper, seconds, told, mechanism, delta in wide[:SHOWN]:
        releases = [(each.q, each.sigma, each.count) for each in mechanism.releases]
        print(
            f"{over:9.3g} [{lower:.5g}, {upper:.5g}] {seconds:6.2f} s {'told' if told else 'untold'} {releases} {delta}"
        )
    print(
        json.dumps(
            {
                "settings": options.settings,
                "levels": options.levels,
                "wide": len(wide),
                "untold": sum(not row[4] for row in wide),
                "far": sum(upper - lower > 0.01 * max(lower, 1.0) for _, lower, upper, *_ in wide),
                "infinite": sum(math.isinf(row[2]) for row in rows),
                "seconds": sum(row[3] for row in rows),
                "slowest": max(row[3] for row in rows),
            }
        )
    )


if __name__ == "__main__":
    main()
