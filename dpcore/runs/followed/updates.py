"""What the callbacks of other programs' trainers have in common: updates, and where they end."""

from typing import Any

from dpcore.runs.followed.run import FollowedRun


def is_spent(run: FollowedRun, steps: int = 1) -> bool:
    """True if so many steps more would exceed the run's target; False without a target."""
    if not run.request.target_epsilon:
        return False
    if steps == 1:
        return run.would_exceed()
    return (run.steps_left() or 0) < steps


def skipped(optimizer: Any) -> bool:
    """True if the optimizer is one of Opacus, and took its last batch as a part of a step.

    That is a batch which Opacus cut to fit into memory; optimizers of others say nothing.
    """
    inner = getattr(optimizer, "optimizer", optimizer)  # as Accelerate wraps it
    return bool(getattr(inner, "_is_last_step_skipped", False))
