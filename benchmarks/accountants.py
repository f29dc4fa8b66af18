"""How fast certified curves, trade-off curves and calibrations are, beside other packages on the
same work.

    python -m benchmarks.accountants curves|tradeoff|calibrate [--repeat 15] [--peer-repeat 3]

`curves`: up to 100 horizons at delta 1e-5. Ours: the certified band (lower and upper), and all
other accountants together, from cold caches. The peer: dp-accounting's privacy-loss distribution
(connect the dots, mesh 1e-4), an upper bound alone. `tradeoff`: 200 points of beta against alpha,
certified below and above; the peer is riskcal, an estimate from one side. `calibrate`: sigma for an
epsilon, beside dp-accounting's calibration to the same 0.1 %, and maps of 40 sigmas by 40 numbers
of steps, from cold caches. Prints a line for each setting and the geometric mean of the ratios;
times in milliseconds, medians.
"""

import argparse
import logging
import os
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

# For both: more threads wait for each other on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.counts import repeats
from dpcore.privacy import renyi
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.accountants.base import Accountant, Curve
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism

DELTA = 1e-5
ALPHA = np.linspace(0.0, 1.0, 200)
CURVES = {  # name: (q, sigma, steps between points, points)
    "abadi": (0.01, 4.0, 100, 100),
    "pigdo": (0.01, 2.0, 400, 100),
    "gdp-row2": (256 / 60000, 1.1, 234, 60),
    "gdp-row3": (256 / 60000, 0.7, 234, 45),
    "long": (1e-3, 0.6, 1000, 100),
}
TRADEOFFS = {  # name: (q, sigma, steps)
    "abadi": (0.01, 4.0, 10_000),
    "pigdo": (0.01, 2.0, 40_000),
    "gdp-row1": (256 / 60000, 1.3, 3_515),
    "gdp-row3": (256 / 60000, 0.7, 10_546),
    "gdp-row6": (256 / 60000, 0.5, 23_437),
}
QUESTIONS = {  # name: (epsilon, q, steps)
    "abadi": (1.0, 0.01, 10_000),
    "pigdo": (3.0, 0.01, 10_000),
    "gdp-row2": (2.32, 256 / 60000, 14_062),
    "gdp-row3": (5.07, 256 / 60000, 10_546),
    "few": (2.0, 0.1, 100),
    "long": (8.0, 1e-3, 100_000),
}
MAPS = {  # name: (q, last steps, least sigma, largest)
    "map abadi": (0.01, 10_000, 0.5, 10.0),
    "map mnist": (256 / 60000, 23_437, 0.5, 5.0),
    "map short": (0.01, 2000, 0.5, 4.0),
}
Row = dict[str, Any]


def cold(work: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Median milliseconds of `work` from cold caches, and what it returned last."""
    times, result = [], None
    for _ in range(repeat):
        renyi.log_moments.cache_clear()
        start = time.perf_counter()
        result = work()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times), result


def curves(repeat: int, peer_repeat: int) -> Iterator[tuple[str, Row]]:
    """Epsilon at many horizons."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    def peer(q: float, sigma: float, horizons: list[int]) -> Any:
        mesh = {"value_discretization_interval": 1e-4, "use_connect_dots": True}
        one = pld.from_gaussian_mechanism(sigma, sampling_prob=q, **mesh)
        return np.array(
            [float(one.self_compose(steps).get_epsilon_for_delta(DELTA)) for steps in horizons]
        )

    for name, (q, sigma, stride, points) in CURVES.items():
        steps, whole = (
            stride * np.arange(1, points + 1),
            Mechanism.constant(q, sigma, stride * points),
        )
        ours, band = cold(lambda: ACCOUNTANTS["pld"].curve(whole, steps, DELTA), repeat)  # noqa: B023
        rest = [accountant for other, accountant in ACCOUNTANTS.items() if other != "pld"]
        others, _ = cold(lambda: [each.curve(whole, steps, DELTA) for each in rest], repeat)  # noqa: B023
        theirs, epsilon = cold(lambda: peer(q, sigma, steps.tolist()), peer_repeat)  # noqa: B023
        widest = float(100 * np.max((band.epsilon - band.lower) / band.epsilon))
        agrees = np.all(band.lower <= epsilon * (1 + 1e-6)) and np.all(
            epsilon <= band.epsilon * 1.005 + 1e-3
        )
        row = {
            "ours": ours,
            "others": others,
            "peer": theirs,
            "widest %": widest,
            "agrees": bool(agrees),
        }
        yield name, row


def tradeoff(repeat: int, peer_repeat: int) -> Iterator[tuple[str, Row]]:
    """The errors of any test."""
    from riskcal.calibration.dpsgd import get_beta_for_dpsgd

    def both(mechanism: Mechanism) -> tuple[Any, Any]:
        band = tradeoff_bounds(mechanism)
        return band.lower.beta(ALPHA), band.upper.beta(ALPHA)

    for name, (q, sigma, steps) in TRADEOFFS.items():
        mechanism = Mechanism.constant(q, sigma, steps)
        asked = {"alpha": ALPHA, "noise_multiplier": sigma, "sample_rate": q, "num_steps": steps}
        ours, (low, high) = cold(lambda: both(mechanism), repeat)  # noqa: B023
        theirs, beta = cold(lambda: np.asarray(get_beta_for_dpsgd(**asked)), peer_repeat)  # noqa: B023
        # How far the peer leaves the band.
        outside = float(np.max(np.maximum(beta - high, low - beta)))
        yield (
            name,
            {
                "ours": ours,
                "peer": theirs,
                "widest": float(np.max(high - low)),
                "outside by": outside,
            },
        )


def calibrate(repeat: int, peer_repeat: int) -> Iterator[tuple[str, Row]]:
    """Sigma for an epsilon, and maps."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    def peer(epsilon: float, q: float, steps: int, tolerance: float) -> float:
        def event(sigma: float) -> dp_accounting.DpEvent:
            step = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(sigma))
            return dp_accounting.SelfComposedDpEvent(step, steps)

        search = {
            "bracket_interval": dp_accounting.LowerEndpointAndGuess(0.3, 1.0),
            "tol": tolerance,
        }
        return float(
            dp_accounting.calibrate_dp_mechanism(PLDAccountant, event, epsilon, DELTA, **search)
        )

    for name, (epsilon, q, steps) in QUESTIONS.items():
        target = EpsilonTarget(epsilon, DELTA)
        ours, answer = cold(lambda: solve("sigma", target, q=q, steps=steps), repeat)  # noqa: B023
        theirs, sigma = cold(lambda: peer(epsilon, q, steps, 1e-3 * answer.value), peer_repeat)  # noqa: B023
        yield (
            name,
            {"ours": ours, "peer": theirs, "agrees": bool(abs(answer.value / sigma - 1) < 5e-3)},
        )
    for name, (q, last, least, largest) in MAPS.items():
        sigmas, lengths = (
            np.geomspace(least, largest, 40),
            np.linspace(last / 40, last, 40).astype(int),
        )
        settings = [Mechanism.constant(q, sigma, last) for sigma in sigmas.tolist()]
        row: Row = {}
        for word, accountant in ACCOUNTANTS.items():
            curves = partial(_curves, accountant, settings, lengths)
            row[word], rows = cold(curves, 3)
            if word == CERTIFIED:
                row["widest %"] = max(
                    float(100 * np.max(1 - each.lower / each.epsilon)) for each in rows
                )
        yield name, row


def _curves(
    accountant: Accountant, settings: Sequence[Mechanism], lengths: np.ndarray
) -> list[Curve]:
    return [accountant.curve(each, lengths, DELTA) for each in settings]


def main() -> None:
    """Measure one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = {"curves": curves, "tradeoff": tradeoff, "calibrate": calibrate}
    parser.add_argument("part", choices=parts)
    parser.add_argument("--repeat", type=repeats, default=15)
    parser.add_argument("--peer-repeat", type=repeats, default=3)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    ratios = []
    for name, row in parts[options.part](options.repeat, options.peer_repeat):
        if "peer" in row:
            row["ratio"] = row["peer"] / row["ours"]
            ratios.append(row["ratio"])
        figures = (
            f"{what} {each:.4g}" if isinstance(each, float) else f"{what} {each}"
            for what, each in row.items()
        )
        print(f"{name:<10} {', '.join(figures)}", flush=True)
    print(f"geometric mean: {statistics.geometric_mean(ratios):.0f} times faster")


if __name__ == "__main__":
    main()
