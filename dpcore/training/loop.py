"""The training loop: a generator of events from the first step, or a checkpoint, to the last."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path

from dpcore.training import checkpoint
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Event, Finished, Preparing, Started, Unsaved
from dpcore.training.inputs import Inputs, load_inputs
from dpcore.training.plan import Plan, plan
from dpcore.training.resume_point import ResumePoint, check_origin, origin_of
from dpcore.training.step_runner import step_runner_of
from dpcore.training.training_run import TrainingRun, device_of

TOLD = 20  # reports on the progress of features, at most


def train(
    config: RunConfig,
    clock: Callable[[], float] = time.perf_counter,
    file: Path | None = None,
    planned: Plan | None = None,
    secret: int | None = None,
    resume_point: ResumePoint | None = None,
    held: Callable[[], bool] = lambda: False,
) -> Generator[Event, None, None]:
    """Train one run and yield its events; closing the generator stops it within one step.

    The run continues from the checkpoint `file` if it exists, without another Started, and keeps it
    up to date. If that cannot be written, as on a full disk, the run says so and continues.
    `planned` is the run's plan if it is known; `secret` the seed of a run without a fixed one,
    drawn here if missing. `resume_point` says how far the run was when its worker died: events
    begin behind it, from the checkpoint or, if there is none, by taking the same steps from the
    first one on. While `held` says so, every step that is reported is also tested, which draws
    nothing.

    **Guarantees:** one configuration and seed give the same parameters on the same device with as
    many threads. The times of reports and evaluations follow `clock` (seconds) and do not change
    the parameters. The training loss, the clipped fraction and the norms are exact figures of the
    training data: epsilon does not cover showing them. Errors: ValueError for missing data or a
    missing device, or a run whose noise would differ here; RuntimeError if the loss is no longer
    finite.
    """
    planned = planned or plan(config)  # before the data, since it may raise
    inputs = yield from prepare(config, silent=resume_point is not None)
    yield from events_of(
        TrainingRun(config, clock, planned, secret, inputs), file, resume_point, held
    )


def prepare(config: RunConfig, *, silent: bool) -> Generator[Event, None, Inputs]:
    """Read the network's inputs, and report the progress of features that have to be computed."""
    told = 0
    with closing(load_inputs(config, device_of(config.device))) as steps:
        while True:
            try:
                done, total = next(steps)
            except StopIteration as end:
                return end.value
            if not silent and done < total and TOLD * done // total > told:
                told = TOLD * done // total
                yield Preparing(done, total)


def events_of(
    run: TrainingRun,
    file: Path | None,
    resume_point: ResumePoint | None = None,
    held: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """Start or resume, take steps and evaluate in between, finish."""
    steps = run.plan.steps
    times = run.report_times
    done = checkpoint.resume(run, file) if file and file.exists() else 0
    if resume_point:
        check_origin(run, resume_point, done)
    run.runner = step_runner_of(run)
    if not done and not resume_point:
        yield started(run)
    times.start(done)
    resume_point = resume_point or ResumePoint()
    for step in range(done + 1, steps + 1):
        with run.cores.working():
            run.step(step)
        if step <= max(resume_point.reported, resume_point.tested):
            if step == resume_point.reported:
                run.report(step)  # empties the totals of steps that were reported
            continue
        reported = times.report_due(step) or step == steps
        if reported:
            yield run.report(step)
        tested = times.evaluation_due(step) or (reported and held())
        if step < steps and tested:
            yield run.evaluated(step)
            if file and times.save_due():
                if not reported:  # a checkpoint does not keep totals
                    yield run.report(step)
                yield saved(run, step, file)
    last = run.evaluated(steps)
    if steps > resume_point.tested:
        yield last
    accepted = run.annealing.accepted if run.annealing else None
    figures = (last.accuracy, last.averaged_accuracy, accepted, last.rmse)
    yield Finished(steps, times.elapsed(), *figures, run.confusion)


def started(run: TrainingRun) -> Started:
    """The facts about the run before its first step."""
    config = run.config
    figures = (
        config.examples,
        run.plan.steps,
        config.q,
        str(run.device),
        len(run.engine.parameters),
    )
    said = f"{run.engine.name}{run.runner.note}{'; ' if run.note else ''}{run.note}"
    return Started(*figures, said, tuple(origin_of(run).items()))


def saved(run: TrainingRun, step: int, file: Path) -> Event:
    """Try to write the run's state, and return the event of the outcome."""
    try:
        checkpoint.save(run, step, file)
    except OSError as error:
        return Unsaved(step, error.strerror or str(error))
    return Checkpointed(step)
