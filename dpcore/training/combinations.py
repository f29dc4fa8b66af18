"""Options that do not go together, each named with what it contradicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.training.models import MODELS
from dpcore.training.optimizers import OPTIMIZERS

if TYPE_CHECKING:
    from dpcore.training.config import RunConfig

OF_PRIVACY = ("sigma", "clip_norm", "clipping", "rate", "level_steps", "stop_epsilon")


def check_combination(config: RunConfig) -> None:
    """Raise ValueError for options that contradict each other."""
    for wrong, message in (*_of_optimizer(config), *_of_schedules(config), *_of_data(config)):
        if wrong:
            raise ValueError(message)


def _of_optimizer(config: RunConfig) -> list[tuple[bool, str]]:
    return [
        (
            config.reading not in OPTIMIZERS[config.optimizer].readings,
            f"Expected reading={config.reading!r} only with {_either(_having(config.reading))}, "
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
            config.pca > 0 and not MODELS[config.model].dense,
            f"Expected pca={config.pca} only with model {_either(_dense())}, not {config.model!r}: "
            "a projection has no pixels.",
        ),
    ]


def idle(config: RunConfig) -> dict[str, str]:
    """The settings that change nothing beside the others, each with what it would take.

    Runs of before may have them; where somebody asks for one, it is better to say so.
    """
    scheduled = config.schedule == "constant" or config.rate > 0
    needs = {
        "momentum": (OPTIMIZERS[config.optimizer].momentum, f"optimizer {_either(_with('momentum'))}"),
        "relevance_sigma": (
            OPTIMIZERS[config.optimizer].by_relevance,
            f"optimizer {_either(_with('by_relevance'))}",
        ),
        "pca_sigma": (config.pca > 0, "pca"),
        "sa_q0": (config.acceptance == "sa", "acceptance sa"),
        "sa_mu0": (config.acceptance == "sa", "acceptance sa"),
        "public": (config.acceptance == "sa", "acceptance sa, which judges on it"),
        "schedule": (config.private and scheduled, "privacy and a rate above 0"),
        "stop_accountant": (config.stop_epsilon > 0, "stop_epsilon"),
        **dict.fromkeys(OF_PRIVACY, (config.private, "privacy")),
    }
    return {name: needed for name, (met, needed) in needs.items() if not met}


def _with(trait: str) -> list[str]:
    """The optimizers that have a trait."""
    return [each.name for each in OPTIMIZERS.values() if getattr(each, trait)]


def _having(reading: str) -> list[str]:
    """The optimizers that have a reading."""
    return [each.name for each in OPTIMIZERS.values() if reading in each.readings]


def _dense() -> list[str]:
    """The models that take vectors."""
    return [each.name for each in MODELS.values() if each.dense]


def _either(names: list[str]) -> str:
    """The names as a list in a sentence.

    >>> _either(["a", "b", "c"])
    'a, b or c'
    """
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
