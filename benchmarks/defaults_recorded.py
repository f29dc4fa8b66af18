"""Train the pages' defaults on the bundled samples, and write what they reach for the Lab to show.

    python -m benchmarks.defaults_recorded

Writes dpcore/training/recorded.toml: for each sigma the certified epsilon, rounded up, and the mean
test accuracy of three secret seeds.
"""

import statistics
from dataclasses import replace

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import raised
from dpcore.training.config import RunConfig
from dpcore.training.defaults import described
from dpcore.training.events import Evaluated
from dpcore.training.loop import train
from dpcore.training.plan import plan
from dpcore.training.recorded import FILE, recipe

SIGMAS = (
    *(0.5, 0.6, 0.7, 0.85, 1.0, 1.23, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0),
    *(10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 40.0, 55.0, 75.0, 100.0),
)
SEEDS = 3
DATASETS = ("mnist", "fashion_mnist")


def main() -> None:
    """Train all, and write the file."""
    parts = []
    for dataset in DATASETS:
        private = recipe(dataset)
        baseline = recipe(dataset, private=False)
        rows = [_row(replace(private, sigma=sigma)) for sigma in SIGMAS]
        lines = ",\n".join(f"  {row}" for row in rows)
        parts.append(
            f"[{dataset}.sample]  # {described(private)}\n"
            f"baseline = {accuracy_of(baseline):.4f}\n"
            f"private = [  # sigma, epsilon, accuracy\n{lines},\n]\n"
        )
    head = "# Written by `python -m benchmarks.defaults_recorded`: means of three seeds, at delta 1e-5.\n"
    FILE.write_text("\n".join([head, *parts]), encoding="utf-8")


def _row(config: RunConfig) -> list[float]:
    mechanism = plan(config).mechanism
    assert mechanism, "the defaults are accounted for"
    spent = ACCOUNTANTS[CERTIFIED].spent(mechanism, config.delta)
    return [config.sigma, raised(spent.value), round(accuracy_of(config), 4)]


def accuracy_of(config: RunConfig) -> float:
    """The mean of the last test accuracies over the seeds."""
    return statistics.mean(_last_accuracy(config) for _ in range(SEEDS))


def _last_accuracy(config: RunConfig) -> float:
    tests = [event for event in train(config) if isinstance(event, Evaluated)]
    print(f"{described(config)}: {tests[-1].accuracy:.4f}", flush=True)
    return tests[-1].accuracy


if __name__ == "__main__":
    main()
