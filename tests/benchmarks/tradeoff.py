"""How fast certified trade-off curves are, beside riskcal's for the same setting, in one run.

    python tests/benchmarks/tradeoff.py [--repeat 15] [--peer-repeat 3]

200 points of beta against alpha after the whole mechanism. Ours: the certified curve, lower and upper. The peer:
riskcal's, from a dominating privacy-loss distribution (an estimate from one side), at its default mesh. Prints a table,
then one JSON object; times in milliseconds, medians.
"""

import argparse
import json
import logging
import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for both: more threads wait for each other on a busy machine

import numpy as np

from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from tests.benchmarks.timing import milliseconds

ALPHA = np.linspace(0.0, 1.0, 200)
SETTINGS = {  # name: (q, sigma, steps)
    "abadi": (0.01, 4.0, 10_000),
    "pigdo": (0.01, 2.0, 40_000),
    "gdp-row1": (256 / 60000, 1.3, 3_515),
    "gdp-row3": (256 / 60000, 0.7, 10_546),
    "gdp-row6": (256 / 60000, 0.5, 23_437),
}


def ours(mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """The certified curve below and above."""
    band = tradeoff_bounds(mechanism)
    return band.lower.beta(ALPHA), band.upper.beta(ALPHA)


def peer(q: float, sigma: float, steps: int) -> np.ndarray:
    """riskcal's curve."""
    from riskcal.calibration.dpsgd import get_beta_for_dpsgd

    return np.asarray(get_beta_for_dpsgd(alpha=ALPHA, noise_multiplier=sigma, sample_rate=q, num_steps=steps))


def main() -> None:
    """Measure, print the table, print the JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--peer-repeat", type=int, default=3)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore")
    rows: dict[str, dict[str, float]] = {}
    print(f"{'setting':<10} {'certified':>10} {'riskcal':>10} {'ratio':>7} {'band':>9} {'off':>9}")
    for name, setting in SETTINGS.items():
        mechanism = Mechanism.constant(*setting)
        certified_ms, (low, high) = milliseconds(lambda mechanism=mechanism: ours(mechanism), options.repeat)
        peer_ms, beta = milliseconds(lambda setting=setting: peer(*setting), options.peer_repeat)
        off = float(np.max(np.maximum(beta - high, low - beta)))  # how far the peer leaves the band
        band = float(np.max(high - low))
        rows[name] = {
            "certified": certified_ms,
            "riskcal": peer_ms,
            "ratio": peer_ms / certified_ms,
            "band": band,
            "off": off,
        }
        print(
            f"{name:<10} {certified_ms:>10.1f} {peer_ms:>10.0f} {peer_ms / certified_ms:>7.0f} {band:>9.1e} {off:>9.1e}"
        )
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
