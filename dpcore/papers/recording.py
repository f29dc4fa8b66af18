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
import math
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

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
from dpcore.training.events import Evaluated, Finished, Stepped
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
        wanted = paper.printed_runs if printed else paper.printed_runs + paper.figure_runs
        watched = [each.config for each in paper.trained if each.watched]
        for run in wanted:
            if only.lower() not in run.label.lower():
                continue
            here = records.trainable(run.config)
            for seed in range(min(run.seeds, seeds)):
                seeded = replace(here, seed=seed)
                found.append(Job(paper.id, run.label, seeded, run.config in watched))
    return sorted(found, key=lambda job: (job.config.seed, job.length))


def perform(
    job: Job, deadline: float = float("inf"), clock: Callable[[], float] = time.monotonic
) -> bool:
    """Train the run and record it, and return True.

    If the deadline ends it first, record how long it would take, and return False.
    """
    from dpcore.training.loop import train

    path = checkpoint_of(job)
    checkpoint = label_of(path) if path.exists() else None
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
            complete = checkpoint is None  # tests before a checkpoint are lost
            kept_course = thinned(course) if job.watched and complete else ()
            steps_before = checkpoint.step if checkpoint else 0
            share = 1 - steps_before / event.step  # of the steps taken here
            record(job, _results(job, event, kept_course), event.seconds / share)
        elif clock() > deadline:
            events.close()
            if paces:
                record(job, None, plan(job.config).steps / statistics.median(paces))
            return False
    path.unlink(missing_ok=True)
    return True


def _results(job: Job, end: Finished, course: tuple[records.OnTheWay, ...]) -> records.Seeded:
    assert job.config.seed is not None
    return records.Seeded(
        seed=job.config.seed,
        accuracy=end.accuracy,
        accepted=end.accepted,
        rmse=end.rmse,
        averaged=end.averaged_accuracy,
        course=course,
    )


def thinned(course: list[records.OnTheWay]) -> tuple[records.OnTheWay, ...]:
    """Select at most `COURSE` tests of a run, evenly spaced, with the last one."""
    every = max(1, math.ceil(len(course) / COURSE))
    last_first = course[::-1][::every]
    return tuple(reversed(last_first))


def record(job: Job, run: records.Seeded | None, seconds: float) -> None:
    """Add a run to its paper's records; without one, its seconds, unless these are known."""
    epsilon = certified(job.config)  # slow, so before the records are read
    name = records.named(job.config)
    with _locked(job.paper):
        records.records_of.cache_clear()  # another process may have written
        known = dict(records.records_of(job.paper))
        before = known.get(name)
        if run is None and before:
            return
        runs = before.runs if before else ()
        if run:
            seconds_before = before.seconds if before else 0.0
            seconds = (seconds + seconds_before * len(runs)) / (len(runs) + 1)
            runs = (*runs, run)
        device, versions = _where(job.config)
        known[name] = records.Recorded(
            settings=records.kept(job.config),
            runs=tuple(sorted(runs, key=lambda each: each.seed)),
            epsilon=epsilon,
            date=datetime.date.today().isoformat(),
            device=device,
            versions=versions,
            seconds=float(f"{seconds:.3g}"),
        )
        records.written(job.paper, known)


@contextmanager
def _locked(paper: str) -> Iterator[None]:
    """Lock the paper's records against other processes."""
    path = state_directory() / "recordings" / f"{paper}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        yield


def certified(config: RunConfig) -> float | None:
    """Return the certified epsilon of a run at its delta; None without privacy."""
    mechanism = plan(config).mechanism
    if mechanism is None:
        return None
    return ACCOUNTANTS[CERTIFIED].spent(mechanism, config.delta).value


def checkpoint_of(job: Job) -> Path:
    """Return the checkpoint's path, which exists until the run is done."""
    run = f"{job.paper} {records.named(job.config)} {job.config.seed}"
    digest = hashlib.sha256(run.encode()).hexdigest()
    return state_directory() / "recordings" / f"{digest[:16]}.pt"


def _where(config: RunConfig) -> tuple[str, dict[str, str]]:
    """Return the device, with the number of threads on a processor, and the versions."""
    import torch

    from dpcore.training.randomness.random_words import machine_of
    from dpcore.training.training_run import device_of

    device = device_of(config.device)
    machine = machine_of(device, torch.get_num_threads())
    name = machine["device"]
    if device.type == "cpu":
        threads = machine["threads"]
        name += ", 1 thread" if threads == "1" else f", {threads} threads"
    versions = {
        "python": platform.python_version(),
        "torch": machine["torch"],
        "dpcore": dpcore.__version__,
    }
    return name, versions


def main(arguments: list[str] | None = None) -> None:
    """Train and record the missing runs, and print them."""
    asked = _parser().parse_args(arguments)
    deadline = time.monotonic() + 60 * asked.minutes
    papers = [PAPERS[asked.paper]] if asked.paper else list(PAPERS.values())
    every = jobs(papers, asked.seeds, asked.only, printed=asked.missing)
    left = [job for job in every if not job.done]
    if left:
        print(time_of(left), flush=True)
    for job in left:
        late = time.monotonic() > deadline
        if not late and not job.done:  # two labels may share a run
            _train_and_print(job, deadline)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dpcore.papers.recording", description=str(__doc__).split("\n\n")[0]
    )
    parser.add_argument(
        "--missing",
        action="store_true",
        help="runs whose accuracy a paper prints, not those of figures",
    )
    parser.add_argument("--paper", choices=PAPERS, help="this paper only")
    parser.add_argument(
        "--seeds",
        type=int,
        default=SEEDS,
        help=f"seeds at most, for claims that need several: {SEEDS}",
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="runs with this text in their place or quantity"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=float("inf"),
        help="stop after so long; the next call resumes",
    )
    return parser


def _train_and_print(job: Job, deadline: float) -> None:
    """Train a run if its data are here; print what comes, and its outcome."""
    name = f"{job.paper}, {job.label}, seed {job.config.seed}"
    if job.config.source not in available(job.config.dataset):
        print(f"{name}: no {job.config.source} {job.config.dataset} here", flush=True)
        return
    seconds = records.expected_seconds(job.config)
    expected = f"about {duration(seconds)}" if seconds else "time unknown"
    print(f"{name}: {plan(job.config).steps} steps, {expected} ...", flush=True)
    print(f"  {outcome(job, deadline)}", flush=True)


def time_of(left: list[Job]) -> str:
    """Return the expected time of runs, in a sentence."""
    seconds = [records.expected_seconds(job.config) or 0.0 for job in left]
    unknown = seconds.count(0.0)
    parts = []
    if unknown < len(left):
        parts.append(f"about {duration(sum(seconds))}")
    if unknown:
        parts.append(f"{unknown} of unknown time")
    return f"{len(left)} to train: {' and '.join(parts)}."


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
