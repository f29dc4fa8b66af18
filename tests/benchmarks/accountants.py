"""How fast epsilon curves are, beside dp-accounting's on the same work, in one run.

    python tests/benchmarks/accountants.py [--repeat 15] [--peer-repeat 3]

Five settings of up to 100 horizons at delta 1e-5. Ours: the certified band (lower and upper), and the other seven
accountants together, their caches cleared each time. The peer: dp-accounting's privacy-loss distribution (connect the
dots, mesh 1e-4), an upper bound alone. Prints a table, then one JSON object; times in milliseconds, medians.
"""

import argparse
import json
import logging
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

from dpcore.privacy import renyi
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from tests.benchmarks.timing import milliseconds

DELTA = 1e-5
SETTINGS = {  # name: (q, sigma, steps between points, points)
    "abadi": (0.01, 4.0, 100, 100),
    "pigdo": (0.01, 2.0, 400, 100),
    "gdp-row2": (256 / 60000, 1.1, 234, 60),
    "gdp-row3": (256 / 60000, 0.7, 234, 45),
    "long": (1e-3, 0.6, 1000, 100),
}


def peer_curve(q: float, sigma: float, horizons: list[int]) -> list[float]:
    """dp-accounting's epsilon at each horizon."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    one = pld.from_gaussian_mechanism(sigma, sampling_prob=q, value_discretization_interval=1e-4, use_connect_dots=True)
    return [float(one.self_compose(steps).get_epsilon_for_delta(DELTA)) for steps in horizons]


def other_curves(mechanism: Mechanism, steps: np.ndarray) -> None:
    """The seven accountants but the certified one, from cold caches."""
    renyi.log_moments.cache_clear()
    for name, accountant in ACCOUNTANTS.items():
        if name != "pld":
            accountant.curve(mechanism, steps, DELTA)


def row(name: str, repeat: int, peer_repeat: int) -> dict[str, Any]:
    """One setting, ours and the peer's."""
    q, sigma, stride, points = SETTINGS[name]
    steps, mechanism = stride * np.arange(1, points + 1), Mechanism.constant(q, sigma, stride * points)
    ours, band = milliseconds(lambda: ACCOUNTANTS["pld"].curve(mechanism, steps, DELTA), repeat)
    others, _ = milliseconds(lambda: other_curves(mechanism, steps), repeat)
    peer, epsilon = milliseconds(lambda: peer_curve(q, sigma, steps.tolist()), peer_repeat)
    inside = np.all((band.lower <= np.array(epsilon) * (1 + 1e-6)) & (np.array(epsilon) <= band.epsilon * 1.005 + 1e-3))
    return {
        "setting": name,
        "points": points,
        "band_ms": ours,
        "band": [float(band.lower[-1]), float(band.epsilon[-1])],
        "widest_percent": float(100 * np.max((band.epsilon - band.lower) / band.epsilon)),
        "others_ms": others,
        "peer_ms": peer,
        "peer": epsilon[-1],
        "agrees": bool(inside),
        "times_faster": peer / ours,
    }


def main() -> None:
    """Measure, print a table and one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--peer-repeat", type=int, default=3)
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    rows = [row(name, arguments.repeat, arguments.peer_repeat) for name in SETTINGS]
    print(
        f"{'setting':10} {'band ms':>8} {'widest':>8} {'others ms':>10} {'dp-accounting ms':>17} {'ratio':>7}"
        "  band at the end"
    )
    for each in rows:
        print(
            f"{each['setting']:10} {each['band_ms']:8.1f} {each['widest_percent']:7.2f}% {each['others_ms']:10.1f} "
            f"{each['peer_ms']:17.0f} {each['times_faster']:6.0f}x  [{each['band'][0]:.4f}, {each['band'][1]:.4f}]"
            f" peer {each['peer']:.4f}{'' if each['agrees'] else '  DISAGREES'}"
        )
    mean = statistics.geometric_mean(each["times_faster"] for each in rows)
    print(f"geometric mean: {mean:.0f} times faster")
    print(json.dumps({"rows": rows, "geometric_mean": mean}))


if __name__ == "__main__":
    main()
