"""Hugging Face's Trainer followed: `dpcore.transformers.callback(run)` among its callbacks.

It counts optimizer steps, not batches: gradients that are accumulated, and batches that Opacus cuts
to fit into memory, are one step. The trainer itself clips no example and adds no noise: sigma is
that of your optimizer, as told to `dpcore.follow`.
"""

import importlib
from numbers import Real
from typing import Any

from dpcore.runs.followed.run import FollowedRun
from dpcore.runs.followed.updates import is_spent, skipped

SPENT = (
    "Run {run} took {steps:,} steps, and one step more would exceed target_epsilon={target:g}. The"
    " trainer cannot stop before its first step, so this ends it."
)


def callback(run: FollowedRun) -> Any:
    """The callback that counts, logs what the trainer logs, and stops at the run's target.

    Errors: ImportError without Transformers. A run whose target allows no step is a ValueError of
    `Trainer.train`, since the trainer takes its first step in any case.
    """
    theirs = importlib.import_module("transformers")

    class Follow(theirs.TrainerCallback):
        """Tells a followed run what the trainer does."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if is_spent(run):
                target = run.request.target_epsilon
                raise ValueError(SPENT.format(run=run.id, steps=run.steps, target=target))

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if skipped(more.get("optimizer")):
                return
            run.step()
            if is_spent(run):
                control.should_training_stop = True

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            run.log({key: each for key, each in (logs or {}).items() if isinstance(each, Real)})

    return Follow()
