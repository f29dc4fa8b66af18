"""How fast sigma is solved for, beside dp-accounting's calibration on the same question, and heat maps; in one run.

    python tests/benchmarks/calibrate.py [--repeat 9] [--peer-repeat 3]

The peer: dp-accounting's calibrate_dp_mechanism with its privacy-loss distribution (connect the dots, mesh 1e-4), from
a bracket [0.3, 1] on, to the same 0.1 % of sigma. Heat maps: 40 sigmas by 40 numbers of steps, from cold caches.
Prints a table, then one JSON object; times in milliseconds, medians.
"""

import argparse
import json
import logging
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

from dpcore.privacy import renyi
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.calibration.epsilon_grid import epsilon_grid
from dpcore.privacy.calibration.solve import sigma_for, steps_for
from dpcore.privacy.calibration.targets import AdvantageTarget, EpsilonTarget
from tests.benchmarks.timing import milliseconds

DELTA = 1e-5
SETTINGS = {  # name: (epsilon, q, steps)
    "abadi": (1.0, 0.01, 10_000),
    "pigdo": (3.0, 0.01, 10_000),
    "gdp-row2": (2.32, 256 / 60000, 14_062),
    "gdp-row3": (5.07, 256 / 60000, 10_546),
    "few": (2.0, 0.1, 100),
    "long": (8.0, 1e-3, 100_000),
}
MAPS = {  # name: (q, last steps, least sigma, largest)
    "abadi": (0.01, 10_000, 0.5, 10.0),
    "mnist": (256 / 60000, 23_437, 0.5, 5.0),
    "short": (0.01, 2000, 0.5, 4.0),
}


def cold(work: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Median milliseconds of `work` from cold caches, and what it returned last."""
    return milliseconds(work, repeat, renyi.log_moments.cache_clear)


def peer_sigma(epsilon: float, q: float, steps: int, tolerance: float) -> float:
    """dp-accounting's smallest sigma."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    def event(sigma: float) -> dp_accounting.DpEvent:
        step = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(sigma))
        return dp_accounting.SelfComposedDpEvent(step, steps)

    bracket = dp_accounting.LowerEndpointAndGuess(0.3, 1.0)
    return float(
        dp_accounting.calibrate_dp_mechanism(
            PLDAccountant, event, epsilon, DELTA, bracket_interval=bracket, tol=tolerance
        )
    )


def solved(name: str, repeat: int, peer_repeat: int) -> dict[str, Any]:
    """One question, ours and the peer's."""
    epsilon, q, steps = SETTINGS[name]
    target = EpsilonTarget(epsilon, DELTA)
    ours, answer = cold(lambda: sigma_for(target, q, steps), repeat)
    peer, sigma = cold(lambda: peer_sigma(epsilon, q, steps, 1e-3 * answer.value), peer_repeat)
    others = {
        "steps": cold(lambda: steps_for(target, q, answer.value), repeat)[0],
        "rdp": cold(lambda: sigma_for(target, q, steps, accountant="rdp"), repeat)[0],
        "advantage": cold(lambda: sigma_for(AdvantageTarget(0.2), q, steps), repeat)[0],
    }
    return {
        "setting": name,
        "sigma_ms": ours,
        "sigma": answer.value,
        "epsilon": [answer.reading.lower, answer.reading.value],
        "others_ms": others,
        "peer_ms": peer,
        "peer": sigma,
        "agrees": bool(abs(answer.value / sigma - 1) < 5e-3),
        "times_faster": peer / ours,
    }


def mapped(name: str, repeat: int) -> dict[str, Any]:
    """One heat map by every accountant."""
    q, last, least, largest = MAPS[name]
    sigmas, steps = np.geomspace(least, largest, 40), np.linspace(last / 40, last, 40).astype(int)
    row: dict[str, Any] = {"map": name}
    for accountant in ACCOUNTANTS:
        row[accountant], grid = cold(lambda: epsilon_grid(sigmas, steps, q, DELTA, accountant), repeat)  # noqa: B023
        if grid.lower is not None:
            row["widest_percent"] = float(100 * np.max((grid.epsilon - grid.lower) / grid.epsilon))
    return row


def main() -> None:
    """Measure, print two tables and one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--peer-repeat", type=int, default=3)
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    rows = [solved(name, arguments.repeat, arguments.peer_repeat) for name in SETTINGS]
    heads = f"{'dp-accounting ms':>17} {'ratio':>7} {'steps':>7} {'rdp':>6} {'advantage':>10}"
    print(f"{'setting':10} {'sigma ms':>9} {heads}")
    for each in rows:
        others = each["others_ms"]
        print(
            f"{each['setting']:10} {each['sigma_ms']:9.1f} {each['peer_ms']:17.0f} {each['times_faster']:6.0f}x "
            f"{others['steps']:7.1f} {others['rdp']:6.1f} {others['advantage']:10.1f}  sigma {each['sigma']:.5g}"
            f" peer {each['peer']:.5g}{'' if each['agrees'] else '  DISAGREES'}"
        )
    mean = statistics.geometric_mean(each["times_faster"] for each in rows)
    print(f"geometric mean: {mean:.0f} times faster\n\nheat maps of 40 x 40, ms")
    maps = [mapped(name, max(arguments.repeat // 3, 1)) for name in MAPS]
    print(" ".join([f"{'map':8}", *(f"{name:>8}" for name in ACCOUNTANTS), " widest band"]))
    for each in maps:
        times = " ".join(f"{each[name]:8.1f}" for name in ACCOUNTANTS)
        print(f"{each['map']:8} {times} {each['widest_percent']:11.2f}%")
    print(json.dumps({"rows": rows, "geometric_mean": mean, "maps": maps}))


if __name__ == "__main__":
    main()
