"""Try a setting on training images alone, and write down how it did.

python -m benchmarks.trials --epsilon 3 --dataset mnist --features scatter --model linear --lr
8 ...

A trial trains on all training images but the last 10,000 and is tested on those. The settings of a
ladder are chosen by such trials, each of which is recorded; the test images have no say.
`--epsilon` finds the sigma.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from benchmarks.counts import repeats
from dpcore.commands import Parser, number
from dpcore.commands.train import add_settings, config_of
from dpcore.papers.recording import Job, certified, record
from dpcore.papers.records import Recorded, Seeded, recorded
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.training.config import RunConfig

HELD_OUT = 10_000
PER_ONE = 1000  # sigmas that are tried between one whole number and the next
BOOK = "trials"  # the file of `recorded` that they are kept in


def trial_of(config: RunConfig, epsilon: float | None) -> RunConfig:
    """The run on all training examples but those held out; sigma is the least whose certified
    epsilon is at most that.

    It has three digits behind the point; without an epsilon it stays as it is.
    """
    held = replace(config, public=HELD_OUT)
    if epsilon is None:
        return held
    least = solve(
        "sigma", EpsilonTarget(epsilon, held.delta), q=held.q, steps=held.steps_of_epochs
    ).value
    sigma = ceil(least * PER_ONE) / PER_ONE
    # What is released before the steps costs a little.
    while (certified(replace(held, sigma=sigma)) or 0.0) > epsilon:
        sigma = round(sigma * PER_ONE + 1) / PER_ONE
    return replace(held, sigma=sigma)


def tried(config: RunConfig, seed: int) -> Recorded:
    """Train one trial, or take what was recorded of it."""
    from dpcore.training.events import Finished
    from dpcore.training.inputs import inputs_of
    from dpcore.training.loop import events_of
    from dpcore.training.training_run import TrainingRun, device_of

    found = recorded(BOOK, config)
    if found and seed in {run.seed for run in found.runs}:
        return found
    own = replace(config, seed=seed)
    inputs = inputs_of(own, device_of(own.device))
    run = TrainingRun(own, time.perf_counter, inputs=replace(inputs, test=inputs.public))
    for event in events_of(run, None):
        if isinstance(event, Finished):
            scores = Seeded(seed, event.accuracy, averaged=event.averaged_accuracy)
            record(Job(BOOK, "trial", own), scores, event.seconds)
    done = recorded(BOOK, config)
    assert done
    return done


def main(arguments: Sequence[str] | None = None) -> None:
    """Try one setting, for so many seeds."""
    parser = Parser(prog="python -m benchmarks.trials", description=str(__doc__).split("\n\n")[0])
    add_settings(parser)
    parser.add_argument(
        "--epsilon", type=number, metavar="NUMBER", help="find the sigma that spends so much"
    )
    parser.add_argument(
        "--seeds", type=repeats, default=1, metavar="COUNT", help="train the seeds 0, 1, ..."
    )
    asked = parser.parse_args(arguments)
    config = trial_of(config_of(asked), asked.epsilon)
    for seed in range(asked.seeds):
        done = tried(config, seed)
        said = ", ".join(f"{run.score:.2f}" for run in done.runs)
        print(
            f"{said} % of the held-out images, epsilon {done.epsilon}, {done.seconds:g} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
