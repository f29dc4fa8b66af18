"""Options that do not go together, each named with what it contradicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpcore.training.config import RunConfig

DENSE = ("mlp", "abadi")  # models that take vectors, so also projected ones

WITH_MOMENTUM = ("sgd", "adppl")
PER_EXAMPLE = ("pi_adam", "pi_rmsprop", "pi_adagrad")  # the optimizers that have several readings
OF_PRIVACY = ("sigma", "clip_norm", "clipping", "rate", "level_steps", "stop_epsilon")


def check_combination(config: RunConfig) -> None:
    """Raise ValueError for options that contradict each other."""
    for wrong, message in (*_of_optimizer(config), *_of_schedules(config), *_of_data(config)):
        if wrong:
            raise ValueError(message)


def _of_optimizer(config: RunConfig) -> list[tuple[bool, str]]:
    return [
        (
            config.reading != "scaled" and config.optimizer not in PER_EXAMPLE,
            f"Expected reading={config.reading!r} only with {PER_EXAMPLE[0]}, {PER_EXAMPLE[1]} or {PER_EXAMPLE[2]}, "
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


def idle(config: RunConfig) -> dict[str, str]:
    """The settings that change nothing beside the others, each with what it would take.

    Runs of before may have them; where somebody asks for one, it is better to say so.
    """
    scheduled = config.schedule == "constant" or config.rate > 0
    needs = {
        "momentum": (config.optimizer in WITH_MOMENTUM, f"optimizer {' or '.join(WITH_MOMENTUM)}"),
        "relevance_sigma": (config.optimizer == "adppl", "optimizer adppl"),
        "pca_sigma": (config.pca > 0, "pca"),
        "sa_q0": (config.acceptance == "sa", "acceptance sa"),
        "sa_mu0": (config.acceptance == "sa", "acceptance sa"),
        "public": (config.acceptance == "sa", "acceptance sa, which judges on it"),
        "schedule": (config.private and scheduled, "privacy and a rate above 0"),
        "stop_accountant": (config.stop_epsilon > 0, "stop_epsilon"),
        **dict.fromkeys(OF_PRIVACY, (config.private, "privacy")),
    }
    return {name: needed for name, (met, needed) in needs.items() if not met}
