"""The training loop: a generator of events, from the first step to the last or from a checkpoint on."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path

from torch import Tensor

from dpcore.training import checkpoint
from dpcore.training.config import RunConfig
from dpcore.training.cuda_graph import StaticStep
from dpcore.training.events import Checkpointed, Event, Finished, Preparing, Started, Unsaved
from dpcore.training.gradients.engines import BookKeeping
from dpcore.training.inputs import Inputs, load_inputs
from dpcore.training.plan import Plan, matching, plan
from dpcore.training.rehearsal import disagreement
from dpcore.training.resume_point import ResumePoint, check_origin, origin_of
from dpcore.training.training_run import Snapshot, TrainingRun, device_of

TOLD = 20  # times, at most, that it is said how far the features are
LOST = (
    "A recorded step was tried, and the device failed so that nothing could be put back. Start the run again, in "
    "another process: it goes on from its last checkpoint, or begins at its first step where there is none."
)


def train(
    config: RunConfig,
    clock: Callable[[], float] = time.perf_counter,
    file: Path | None = None,
    planned: Plan | None = None,
    secret: int | None = None,
    resume_point: ResumePoint | None = None,
) -> Generator[Event, None, None]:
    """The events of one run, as they happen; closing the generator stops it within one step.

    With a checkpoint `file` the run goes on from it if it is there, without another Started, and keeps it up to date;
    where that cannot be written, as on a full disk, it says so and goes on.
    `planned` is the run's plan, where it is known already; `secret` the seed of a run that has no fixed one: drawn
    here where it is not given. `resume_point` is how far the run was when its worker went: it goes on behind that, from
    the checkpoint or, where there is none, by taking the same steps from the first one on.

    **Guarantees:** the same configuration and seed give the same parameters on the same device with as many threads.
    Which steps are reported together, and when the model is evaluated, follows `clock` (seconds) and does not change
    them. The training loss, the clipped fraction and the norms are exact figures of the training data: epsilon does not
    cover showing them.
    Errors: ValueError for data or a device that is not here, or a run that began where its noise would be another;
    RuntimeError if the loss stops being finite.
    """
    planned = matching(config, planned) if planned else plan(config)  # what is wrong with it is told before the data
    inputs = yield from prepare(config, silent=resume_point is not None)
    yield from events_of(TrainingRun(config, clock, planned, secret, inputs), file, resume_point)


def prepare(config: RunConfig, *, silent: bool) -> Generator[Event, None, Inputs]:
    """Read what the network is given, and say how far that is where features have to be computed."""
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


def events_of(run: TrainingRun, file: Path | None, resume_point: ResumePoint | None = None) -> Iterator[Event]:
    """Start or resume, steps and evaluations in between, finish."""
    steps, times = run.plan.steps, run.report_times
    done = checkpoint.resume(run, file) if file and file.exists() else 0
    if resume_point:
        check_origin(run, resume_point, done)
    run.static, how = prepared(run)
    if not done and not resume_point:
        yield started(run, how)
    times.start(done)
    resume_point = resume_point or ResumePoint()
    for step in range(done + 1, steps + 1):
        with run.cores.working():
            run.step(step)
        if step <= resume_point.silent_until:
            if step == resume_point.reported:  # what was said is not summed up again
                run.report(step)
            continue
        reported = times.report_due(step) or step == steps
        if reported:
            yield run.report(step)
        if step < steps and times.evaluation_due(step):
            yield run.evaluated(step)
            if file and times.save_due():
                if not reported:  # what is not reported would be forgotten
                    yield run.report(step)
                yield saved(run, step, file)
    last = run.evaluated(steps)
    if steps > resume_point.tested:
        yield last
    accepted = run.annealing.accepted if run.annealing else None
    figures = (last.accuracy, last.averaged_accuracy, accepted, last.rmse)
    yield Finished(steps, times.elapsed(), *figures, run.confusion)


def started(run: TrainingRun, how: str) -> Started:
    """What is known of the run before its first step; `how` says what `prepared` has to say of its engine."""
    config = run.config
    figures = (config.examples, run.plan.steps, config.q, str(run.device), len(run.engine.parameters))
    said = f"{run.engine.name}{how}{'; ' if run.note else ''}{run.note}"
    return Started(*figures, said, tuple(origin_of(run).items()))


def saved(run: TrainingRun, step: int, file: Path) -> Event:
    """Write the run's state, if the disk lets it: what came of it."""
    try:
        checkpoint.save(run, step, file)
    except OSError as error:
        return Unsaved(step, error.strerror or str(error))
    return Checkpointed(step)


def prepared(run: TrainingRun) -> tuple[StaticStep | None, str]:
    """The run's recorded step if it can have one that agrees with the ordinary step, and what to say of it.

    That stands behind the engine's name.

    Edge cases: on the CPU, where there is nothing to record, nothing is said.
    Errors: RuntimeError where trying failed so that the device cannot put back what it changed. The run's checkpoint is
    as it was, and nothing of what was tried has been said.
    """
    if run.device.type == "cpu":
        return None, ""
    why = obstacle(run)
    if not why:
        before, batches = run.snapshot(), run.batches.state()
        try:
            step = StaticStep(run.engine, run.descent, run.train, run.config.q)
            step.record(run.noise)
            why = disagreement(run, step)
            if not why:
                return step, ", captured"
        except Exception as error:  # whatever a driver may raise: the ordinary step needs none of it
            why = f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
        leave(run, before, batches)
    return None, f"; not captured: {why}"


def leave(run: TrainingRun, before: Snapshot, batches: Tensor) -> None:
    """Go on from a moment without a recording, with generators that it does not hold.

    Errors: RuntimeError where the device does nothing more, after an error that no later call of this process survives.
    """
    try:
        run.noise.renew()
        run.batches.restore(batches)
        run.restore(before)
    except Exception as error:  # whatever a driver may raise: a run that stands anywhere else must not go on
        raise RuntimeError(f"{LOST} {type(error).__name__}: {' '.join(str(error).split())[:150]}") from error


def obstacle(run: TrainingRun) -> str:
    """What keeps the run's step from being recorded, as a phrase; empty if nothing does."""
    if run.device.type != "cuda":
        return f"no CUDA graphs on {run.device.type}"
    if not isinstance(run.engine, BookKeeping):
        return "gradients are formed example by example"
    if run.annealing:
        return "each proposal waits for its public loss"
    return "" if run.noise.generators else "noise comes from the CPU"
