"""Train and record the runs whose accuracies are compared with those of the papers.

python -m dpcore.papers.recording [--missing] [--paper 004] [--seeds 3] [--only TEXT] [--minutes M]

Runs follow one another: all first seeds before any second one, short runs before long ones,
recorded ones never again. The first line says how long they will take, by the time of similar
recorded runs. The next call resumes an interrupted run from its last checkpoint. A record is
written when its run is done, the whole file or none; or, if `--minutes` stops a run that has no
record yet, to say how long it would take. Several commands may record at a time if each has its own
runs (`--only`).
"""

import argparse
import datetime
import fcntl
import hashlib
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dpcore
from dpcore.data.catalogue import available
from dpcore.papers import records
from dpcore.papers.catalogue import PAPERS
from dpcore.papers.paper import SEEDS, Paper
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.runs.expected import duration
from dpcore.runs.record import cost_of, state_directory
from dpcore.training.checkpoint_header import label_of
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan

COURSE = 40  # tests of a run that a figure shows


@dataclass(frozen=True)
class Job:
    """A run that a paper asks for."""

    paper: str
    label: str  # "Table 1, row 1: test accuracy"
    config: RunConfig  # with its seed
    watched: bool = False  # True if a figure needs accuracies on the way

    @property
    def done(self) -> bool:
        """True if the seed is recorded."""
        record = records.records_of(self.paper).get(records.named(self.config))
        return record is not None and self.config.seed in {run.seed for run in record.runs}

    @property
    def length(self) -> tuple[float, int]:
        """The expected seconds, infinite where unknown, and the examples that it processes."""
        return records.expected_seconds(self.config) or float("inf"), cost_of(self.config)


def jobs(
    papers: list[Paper], seeds: int = SEEDS, only: str = "", *, printed: bool = False
) -> list[Job]:
    """Return all runs to record, in the order of training; `only` is part of a label.

    With `printed` only the runs whose accuracy a paper prints, not those of figures.
    """
    found = []
    for paper in papers:
        wanted = [
            (f"{each.place}: {each.quantity}", each.config, each.seeds) for each in paper.trained
        ]
        if not printed:
            wanted += [
                (f"{each.place}: {each.title}", config, 1)
                for each in paper.sweeps
                for config in each.configs
            ]
            wanted += [
                (f"{each.place}: {name}", run, SEEDS)
                for each in paper.ladders
                for name, run in each.runs
            ]
        watched = [each.config for each in paper.trained if each.watched]
        for label, config, count in wanted:
            if only.lower() in label.lower():
                every = [
                    replace(records.trainable(config), seed=seed)
                    for seed in range(min(count, seeds))
                ]
                found += [Job(paper.id, label, each, config in watched) for each in every]
    return sorted(found, key=lambda job: (job.config.seed, job.length))


def perform(
    job: Job, deadline: float = float("inf"), clock: Callable[[], float] = time.monotonic
) -> bool:
    """Train the run and record it; if the deadline ends it first, record how long it would take,
    and return False.
    """
    from dpcore.training.events import Evaluated, Finished, Stepped
    from dpcore.training.loop import train

    path = checkpoint_of(job)
    behind = label_of(path) if path.exists() else None
    events = train(job.config, file=path)
    course: list[records.OnTheWay] = []
    accepted = None
    paces: list[float] = []
    for event in events:
        if isinstance(event, Stepped):
            accepted = event.accepted
            paces.append(event.steps_per_second)
        elif isinstance(event, Evaluated):
            course.append(records.OnTheWay(event.step, event.accuracy, accepted))
        elif isinstance(event, Finished):
            share = 1 - (behind.step if behind else 0) / event.step  # of the steps taken here
            figures = (event.accuracy, event.accepted, event.rmse, event.averaged_accuracy)
            watched = job.watched and not behind  # tests before a checkpoint are lost
            assert job.config.seed is not None
            run = records.Seeded(
                job.config.seed, *figures, course=thinned(course) if watched else ()
            )
            record(job, run, event.seconds / share)
        elif clock() > deadline:
            events.close()
            if paces:
                record(job, None, plan(job.config).steps / statistics.median(paces))
            return False
    path.unlink(missing_ok=True)
    return True


def thinned(course: list[records.OnTheWay]) -> tuple[records.OnTheWay, ...]:
    """Select at most `COURSE` tests of a run, evenly spaced, with the last one."""
    every = max(1, -(-len(course) // COURSE))
    return tuple(course[::-1][::every][::-1])


def record(job: Job, run: records.Seeded | None, seconds: float) -> None:
    """Add a run to its paper's records; without one, its seconds, unless these are known."""
    epsilon = certified(job.config)  # slow, so before the records are read
    with _turn(job.paper):
        records.records_of.cache_clear()  # another process may have written
        known = dict(records.records_of(job.paper))
        before = known.get(records.named(job.config))
        runs = before.runs if before else ()
        if run:
            seconds = (seconds + (before.seconds if before else 0.0) * len(runs)) / (len(runs) + 1)
            runs = (*runs, run)
        elif before:
            return
        known[records.named(job.config)] = records.Recorded(
            settings=records.kept(job.config),
            runs=tuple(sorted(runs, key=lambda each: each.seed)),
            epsilon=epsilon,
            date=datetime.date.today().isoformat(),
            seconds=float(f"{seconds:.3g}"),
            **_where(job.config),
        )
        records.written(job.paper, known)


@contextmanager
def _turn(paper: str) -> Iterator[None]:
    """Lock the paper's records against other processes."""
    path = state_directory() / "recordings" / f"{paper}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        yield


def certified(config: RunConfig) -> float | None:
    """Return the certified epsilon of a run at its delta; None without privacy."""
    mechanism = plan(config).mechanism
    return ACCOUNTANTS[CERTIFIED].spent(mechanism, config.delta).value if mechanism else None


def checkpoint_of(job: Job) -> Path:
    """Return the checkpoint's path, which exists until the run is done."""
    name = hashlib.sha256(
        f"{job.paper} {records.named(job.config)} {job.config.seed}".encode()
    ).hexdigest()[:16]
    return state_directory() / "recordings" / f"{name}.pt"


def _where(config: RunConfig) -> dict[str, Any]:
    import torch

    from dpcore.training.randomness.random_words import machine_of
    from dpcore.training.training_run import device_of

    device = device_of(config.device)
    machine = machine_of(device, torch.get_num_threads())
    versions = {
        "python": platform.python_version(),
        "torch": machine["torch"],
        "dpcore": dpcore.__version__,
    }
    threads = ", 1 thread" if machine["threads"] == "1" else f", {machine['threads']} threads"
    return {
        "device": machine["device"] + (threads if device.type == "cpu" else ""),
        "versions": versions,
    }


def main(arguments: list[str] | None = None) -> None:
    """Train and record the missing runs, and print them."""
    made = argparse.ArgumentParser(
        prog="python -m dpcore.papers.recording", description=str(__doc__).split("\n\n")[0]
    )
    made.add_argument(
        "--missing",
        action="store_true",
        help="runs whose accuracy a paper prints, not those of figures",
    )
    made.add_argument("--paper", choices=PAPERS, help="this paper only")
    made.add_argument(
        "--seeds",
        type=int,
        default=SEEDS,
        help=f"seeds at most, for claims that need several: {SEEDS}",
    )
    made.add_argument(
        "--only", default="", metavar="TEXT", help="runs with this text in their place or quantity"
    )
    made.add_argument(
        "--minutes",
        type=float,
        default=float("inf"),
        help="stop after so long; the next call resumes",
    )
    asked = made.parse_args(arguments)
    deadline = time.monotonic() + 60 * asked.minutes
    papers = [PAPERS[asked.paper]] if asked.paper else list(PAPERS.values())
    left = [
        job for job in jobs(papers, asked.seeds, asked.only, printed=asked.missing) if not job.done
    ]
    if left:
        print(time_of(left), flush=True)
    for job in left:
        name = f"{job.paper}, {job.label}, seed {job.config.seed}"
        if job.done or time.monotonic() > deadline:  # two labels may share a run
            continue
        if job.config.source not in available(job.config.dataset):
            print(f"{name}: no {job.config.source} {job.config.dataset} here", flush=True)
            continue
        seconds = records.expected_seconds(job.config)
        expected = f"about {duration(seconds)}" if seconds else "time unknown"
        print(f"{name}: {plan(job.config).steps} steps, {expected} ...", flush=True)
        print(f"  {outcome(job, deadline)}", flush=True)


def time_of(left: list[Job]) -> str:
    """Return the expected time of runs, in a sentence."""
    known = [seconds for job in left if (seconds := records.expected_seconds(job.config))]
    unknown = len(left) - len(known)
    said = [
        f"about {duration(sum(known))}" if known else "",
        f"{unknown} of unknown time" if unknown else "",
    ]
    return f"{len(left)} to train: {' and '.join(filter(None, said))}."


def outcome(job: Job, deadline: float) -> str:
    """Train and record the run; return the outcome in a few words."""
    try:
        if not perform(job, deadline):
            return "stopped; the next call resumes it"
    # A loss that is not finite, a checkpoint of another machine.
    except (RuntimeError, ValueError) as error:
        return f"failed: {error}"
    record = records.recorded(job.paper, job.config)
    assert record
    note = f". {record.data.note}" if record.data.stands_in_for else ""
    unit = "%" if record.runs[0].rmse is None else "RMSE"
    return (
        f"{record.mean:.2f} {unit} on average, epsilon {record.epsilon}, {record.seconds:.0f}"
        f" s{note}"
    )


if __name__ == "__main__":
    main()
