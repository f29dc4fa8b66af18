"""How long the curve of each sampler takes, and how wide its band is: 100 horizons of some settings.

python tests/benchmarks/samplers.py [--repeat 5]
"""

import argparse
import time
from statistics import median

import numpy as np

from dpcore.privacy.sampling import SAMPLERS, steps_of_epoch

SETTINGS = [  # q, sigma, epochs, delta
    (512 / 60_000, 1.068, 40, 1e-5),
    (1 / 30, 1.82, 40, 1e-5),
    (1 / 234, 0.7, 20, 1e-5),
    (0.01, 1.0, 1, 1e-5),
    (0.001, 0.5, 1, 1e-6),
    (0.05, 2.0, 100, 1e-5),
]


def main() -> None:
    """Print a line for each setting and sampler."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5, help="curves to take the median of (default 5)")
    repeat = parser.parse_args().repeat
    print(f"{'q':>9} {'sigma':>6} {'epochs':>6}  {'sampler':<20} {'ms':>8} {'lower':>9} {'upper':>9} {'apart':>8}")
    for q, sigma, epochs, delta in SETTINGS:
        steps = epochs * steps_of_epoch(q)
        horizons = np.unique(np.ceil(np.linspace(0, steps, 101)[1:]).astype(np.int64))
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


if __name__ == "__main__":
    main()
