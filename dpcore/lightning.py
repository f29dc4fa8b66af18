"""Lightning's Trainer followed: `dpcore.lightning.callback(run)` among its callbacks.

It counts optimizer steps, not batches: gradients that are accumulated, and batches that Opacus cuts
to fit into memory, are one step. Lightning does not say how batches were drawn, nor whether noise
was added: that is as told to `dpcore.follow`.
"""

import importlib
from typing import Any

from dpcore.runs.followed.run import FollowedRun
from dpcore.runs.followed.updates import is_spent, skipped


def callback(run: FollowedRun) -> Any:
    """The callback that counts, logs what the module logs, and stops at the run's target.

    The target also wins over the trainer's `min_epochs` and `min_steps`. The end of the training is
    not that of the run: finish it. Errors: ImportError without Lightning.
    """
    theirs = importlib.import_module("lightning.pytorch")
    follower = Follower(run)

    class Follow(theirs.Callback):
        """Tells a followed run what the trainer does."""

        def on_train_start(self, trainer: Any, *_: Any) -> None:
            follower.begin(trainer)

        def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
            follower.count(trainer)

        def on_train_epoch_end(self, trainer: Any, *_: Any) -> None:
            follower.log(trainer)

        def on_validation_end(self, trainer: Any, *_: Any) -> None:
            follower.log(trainer)

        def on_exception(self, trainer: Any, module: Any, exception: BaseException) -> None:
            run.__exit__(type(exception), exception, None)  # Lightning keeps an interrupt to itself

    return Follow()


class Follower:
    """A followed run, and what was seen of the trainer."""

    def __init__(self, run: FollowedRun) -> None:
        self._run = run
        self._steps = 0  # of optimizers
        self._logged: dict[str, Any] = {}

    def begin(self, trainer: Any) -> None:
        """Count from here on."""
        self._steps = trainer.global_step
        self._stop(trainer, 1)

    def count(self, trainer: Any) -> None:
        """Count the steps that were taken in a batch: none, or one for each optimizer."""
        taken = trainer.global_step - self._steps
        self._steps += taken
        if not taken or all(skipped(each) for each in trainer.optimizers):
            return
        for _ in range(taken):
            self._run.step()
        self._stop(trainer, taken)
        if trainer.log_every_n_steps and self._run.steps % trainer.log_every_n_steps == 0:
            self.log(trainer)

    def log(self, trainer: Any) -> None:
        """Log what was measured since the last time: all else is the same objects as then."""
        if trainer.sanity_checking:
            return
        before = self._logged
        now = dict(trainer.callback_metrics)
        new = {key: float(each) for key, each in now.items() if each is not before.get(key)}
        self._logged = now
        self._run.log(new)

    def _stop(self, trainer: Any, steps: int) -> None:
        if is_spent(self._run, steps):
            trainer.should_stop = True
            trainer.fit_loop.min_epochs = 0
            trainer.fit_loop.epoch_loop.min_steps = None
