"""The choice of a run's step runner, by its device alone."""

from dpcore.training.training_run import OrdinaryStep, StepRunner, TrainingRun


def step_runner_of(run: TrainingRun) -> StepRunner:
    """The runner of the run's steps: the recorded step on CUDA, if it agrees with the ordinary one.

    Errors: RuntimeError if the device failed and cannot restore the run.
    """
    kind = run.device.type
    if kind == "cuda":
        # Here, not above: no other device needs it.
        from dpcore.training.cuda.rehearsal import recorded_or_ordinary

        return recorded_or_ordinary(run)
    return OrdinaryStep("" if kind == "cpu" else f"; not captured: no CUDA graphs on {kind}")
