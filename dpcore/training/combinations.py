"""Settings that do not go together, each named with what it contradicts, and those that would change nothing."""

from dpcore.privacy.sampling.poisson import Poisson
from dpcore.privacy.schedule import CONSTANT
from dpcore.training.models import MODELS
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import Settings, either, settings_of


def check_combination(run: Settings) -> None:
    """Raise ValueError for settings that contradict each other."""
    for wrong, message in (*_of_method(run), *_of_needs(run)):
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
            run.sampler != Poisson.name and run.schedule != CONSTANT.name,
            f"Expected schedule={run.schedule!r} only with sampler='poisson', not {run.sampler!r}: what is proven of "
            "other batches is proven for constant noise.",
        ),
        (
            run.sampler != Poisson.name and (run.pca > 0 or OPTIMIZERS[run.optimizer].by_relevance),
            f"Expected no DP-PCA and no relevances with sampler={run.sampler!r}: nothing is proven of them together.",
        ),
        (
            run.sampler != Poisson.name and run.mean_sigma > 0,
            f"Expected no private mean with sampler={run.sampler!r}: nothing is proven of them together.",
        ),
        (
            run.mean_sigma > 0 and (run.pca > 0 or OPTIMIZERS[run.optimizer].by_relevance),
            f"Expected no DP-PCA and no relevances with mean_sigma={run.mean_sigma:g}: each is of all that is seen.",
        ),
        (
            run.features != "pixels" and run.pca > 0,
            f"Expected no pca={run.pca} with features={run.features!r}: it projects pixels.",
        ),
        (
            run.views > 1 and (run.pca > 0 or OPTIMIZERS[run.optimizer].by_relevance),
            f"Expected no DP-PCA and no relevances with views={run.views}: their noise is meant for one view each.",
        ),
        (
            run.pca > 0 and not MODELS[run.model].dense,
            f"Expected pca={run.pca} only with model {dense}, not {run.model!r}: a projection has no pixels.",
        ),
    ]


def _of_needs(run: Settings) -> list[tuple[bool, str]]:
    """What the table says of settings that must be at their default beside others."""
    chosen = {name: (setting, getattr(run, name)) for name, setting in settings_of(type(run)).items()}
    return [
        (value != setting.default and not need.holds(run), f"Expected no {name}={_said(value)} without {need.words}.")
        for name, (setting, value) in chosen.items()
        for need in setting.needs
        if need.binding
    ]


def _said(value: float | str) -> str:
    return repr(value) if isinstance(value, str) else f"{value:g}"


def idle(run: Settings) -> dict[str, str]:
    """The settings that change nothing beside the others, each with what it would take.

    Runs of before may have them; where somebody asks for one, it is better to say so.
    """
    rows = settings_of(type(run))
    return {name: setting.needed for name, setting in rows.items() if not setting.is_used(run)}
