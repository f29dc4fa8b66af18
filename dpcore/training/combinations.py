"""Options that do not go together, each named with what it contradicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpcore.training.config import RunConfig

DENSE = ("mlp", "abadi")  # models that take vectors, so also projected ones


def check_combination(config: RunConfig) -> None:
    """Raise ValueError for options that contradict each other."""
    for wrong, message in (*_of_optimizer(config), *_of_schedules(config), *_of_data(config)):
        if wrong:
            raise ValueError(message)


def _of_optimizer(config: RunConfig) -> list[tuple[bool, str]]:
    per_example = config.optimizer.startswith("pi_")
    return [
        (
            config.reading != "scaled" and not per_example,
            f"Expected reading={config.reading!r} only with pi_adam, pi_rmsprop or pi_adagrad, "
            f"not with optimizer={config.optimizer!r}.",
        ),
    ]


def _of_schedules(config: RunConfig) -> list[tuple[bool, str]]:
    constant = config.schedule == "constant"
    flat = config.lr_schedule == "constant"
    return [
        (constant and config.rate != 0, f"Expected no rate={config.rate:g} with schedule='constant'."),
        (constant and config.level_steps != 0, f"Expected no level_steps={config.level_steps} with a constant sigma."),
        (flat and config.lr_end != 0, f"Expected no lr_end={config.lr_end:g} with lr_schedule='constant'."),
        (flat and config.lr_epochs != 0, f"Expected no lr_epochs={config.lr_epochs:g} with lr_schedule='constant'."),
    ]


def _of_data(config: RunConfig) -> list[tuple[bool, str]]:
    return [
        (
            config.acceptance == "sa" and config.public == 0,
            "Expected public above 0 with acceptance='sa': it judges proposals on a held-out public split.",
        ),
        (
            config.pca > 0 and config.model not in DENSE,
            f"Expected pca={config.pca} only with model {' or '.join(DENSE)}, not {config.model!r}: "
            "a projection has no pixels.",
        ),
    ]
