"""Settings drawn over all samplers and selections, each to be answered within limits.

Run by python -m tests.privacy.random_settings. The arguments are a seed and a number of settings.
One line of JSON follows: the faults that were found, and the most seconds of processor time and
megabytes that one answer took. It is a process of its own, so that its memory is that of the
answers alone.
"""

import json
import math
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling import SAMPLERS, sampler_of
from dpcore.privacy.sampling.base import tradeoff_band
from dpcore.privacy.selection.best_of import LAWS, best_of, read_runs

POINTS = np.linspace(0.0, 1.0, 50)


def log_uniform(random: np.random.Generator, low: float, high: float) -> float:
    """A number between 10^low and 10^high."""
    return float(10 ** random.uniform(low, high))


def drawn_sampler(random: np.random.Generator) -> str:
    """A sampler's id with its numbers."""
    name = str(random.choice(list(SAMPLERS)))
    if name == "truncated_poisson":
        examples = int(log_uniform(random, 0, 9))
        largest = max(1, int(examples * log_uniform(random, -4, 0)))
        return f"{name}:{largest}:{examples}"
    numbers = SAMPLERS[name].parameters
    drawn = [int(log_uniform(random, 0, math.log10(each.most))) for each in numbers]
    return ":".join([name, *map(str, drawn)])


def drawn_runs(random: np.random.Generator) -> str:
    """The law of a number of runs, with a mean from next to nothing to 10,000."""
    law = str(random.choice(LAWS))
    mean = log_uniform(random, -12, 4)
    if law == "fixed":
        return str(int(mean) + 1)
    if law == "poisson":
        return f"{law}:{mean!r}"
    if law == "binomial":
        trials = max(2, int(mean) + int(log_uniform(random, 0, 8)))
        return f"{law}:{min(mean, 0.99 * trials)!r}:{trials}"
    if law == "negative_binomial":
        return f"{law}:{1 + mean!r}:{random.uniform(-0.5, 5)!r}"
    return f"{law}:{1 + mean!r}"


def drawn_setting(random: np.random.Generator) -> tuple[float, float, int, float]:
    """q, sigma, steps and delta: mostly usual ones, some at the ends of their ranges."""
    q = log_uniform(random, -4, 0) if random.random() < 0.5 else log_uniform(random, -9, 0)
    sigma = log_uniform(random, -1, 2) if random.random() < 0.8 else log_uniform(random, -6, 6)
    steps = log_uniform(random, 0, 5) if random.random() < 0.8 else log_uniform(random, 0, 9)
    delta = log_uniform(random, -12, -1) if random.random() < 0.6 else log_uniform(random, -60, 0)
    return (1.0 if random.random() < 0.05 else q), sigma, int(steps), min(delta, 0.999)


def fault_of_curve(name: str, q: float, sigma: float, steps: int, delta: float) -> str:
    """The first fault of a curve of three horizons, or ""."""
    horizons = np.unique(np.maximum((np.array([0.3, 0.6, 1.0]) * steps).astype(np.int64), 1))
    curve = sampler_of(name).curve(q, sigma, horizons, delta)
    assert curve.lower is not None
    if not np.all(curve.lower <= curve.epsilon):
        return "ends cross"
    if np.any(np.diff(curve.lower) < 0):
        return "a lower bound falls"
    if np.isinf(curve.epsilon).any() and not curve.note:
        return "an infinity without its reason"
    return ""


def fault_of_band(name: str, q: float, sigma: float, steps: int) -> str:
    """The fault of a trade-off band, or ""."""
    band = tradeoff_band(sampler_of(name), q, sigma, steps)
    below = np.all(band.lower.beta(POINTS) <= band.upper.beta(POINTS) + 1e-12)
    return "" if below else "the curves cross"


def fault_of_selection(runs: str, q: float, sigma: float, steps: int, delta: float) -> str:
    """The fault of the best of several runs, or ""."""
    setting = Mechanism.constant(q, sigma, steps)
    reading = best_of(read_runs(runs), [setting], ACCOUNTANTS["pld"], delta)
    if reading.lower is not None and not reading.lower <= reading.value:
        return "ends cross"
    if np.isinf(reading.value) and not reading.note:
        return "an infinity without its reason"
    return ""


def peak_memory() -> float:
    """Megabytes that this process held at its peak.

    `getrusage` will not do: its maximum begins with the memory of the process that starts it.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(each for each in status.splitlines() if each.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def main(seed: int, count: int) -> None:
    """Draw the settings and print what was found."""
    warnings.simplefilter("error")
    random = np.random.default_rng(seed)
    faults: list[str] = []
    longest, slowest = 0.0, ""
    for _ in range(count):
        setting, kind = drawn_setting(random), random.random()
        begun = time.process_time()
        try:
            if kind < 0.2:
                named = f"best of {drawn_runs(random)}"
                fault = fault_of_selection(named.removeprefix("best of "), *setting)
            elif kind < 0.3:
                named = f"band of {drawn_sampler(random)}"
                fault = fault_of_band(named.removeprefix("band of "), *setting[:3])
            else:
                named = drawn_sampler(random)
                fault = fault_of_curve(named, *setting)
        except Exception as error:  # whatever it is: an answer is a bound or a sentence
            fault = f"{type(error).__name__}: {error}"
        seconds = time.process_time() - begun
        if fault:
            faults.append(f"{named} {setting}: {fault}")
        if seconds > longest:
            longest, slowest = seconds, f"{named} {setting}"
    found = {"faults": faults, "seconds": longest, "slowest": slowest, "megabytes": peak_memory()}
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
