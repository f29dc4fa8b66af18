"""Settings that do not go together, each named with what it contradicts, and those that would change nothing."""

from dpcore.training.models import MODELS
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.setting_kinds import either
from dpcore.training.settings import Settings, settings_of


def check_combination(run: Settings) -> None:
    """Raise ValueError for settings that contradict each other."""
    for wrong, message in (*_of_method(run), *_of_schedules(run)):
        if wrong:
            raise ValueError(message)


def _of_method(run: Settings) -> list[tuple[bool, str]]:
    having = either(each.name for each in OPTIMIZERS.values() if run.reading in each.readings)
    dense = either(each.name for each in MODELS.values() if each.dense)
    return [
        (
            run.reading not in OPTIMIZERS[run.optimizer].readings,
            f"Expected reading={run.reading!r} only with {having}, not with optimizer={run.optimizer!r}.",
        ),
        (
            run.acceptance == "sa" and run.public == 0,
            "Expected public above 0 with acceptance='sa': it judges proposals on a held-out public split.",
        ),
        (
            run.pca > 0 and not MODELS[run.model].dense,
            f"Expected pca={run.pca} only with model {dense}, not {run.model!r}: a projection has no pixels.",
        ),
    ]


def _of_schedules(run: Settings) -> list[tuple[bool, str]]:
    constant = run.schedule == "constant"
    flat = run.lr_schedule == "constant"
    return [
        (constant and run.rate != 0, f"Expected no rate={run.rate:g} with schedule='constant'."),
        (constant and run.level_steps != 0, f"Expected no level_steps={run.level_steps} with a constant sigma."),
        (flat and run.lr_end != 0, f"Expected no lr_end={run.lr_end:g} with lr_schedule='constant'."),
        (flat and run.lr_epochs != 0, f"Expected no lr_epochs={run.lr_epochs:g} with lr_schedule='constant'."),
    ]


def idle(run: Settings) -> dict[str, str]:
    """The settings that change nothing beside the others, each with what it would take.

    Runs of before may have them; where somebody asks for one, it is better to say so.
    """
    rows = settings_of(type(run))
    return {name: setting.needed for name, setting in rows.items() if not setting.is_used(run)}
