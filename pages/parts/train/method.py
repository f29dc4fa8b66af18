"""The fields of a training method and of its input: only those that make sense for what is chosen."""

from collections.abc import Callable
from typing import Any

from dpcore.data.catalogue import dataset_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.base import Poisson
from dpcore.training.defaults import suited_features
from dpcore.training.features.kinds import KINDS, PIXELS
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.models import MODELS
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.pi import READINGS
from dpcore.training.plan import PROJECTION_NOTE
from dpcore.training.schedules import ACCEPTANCES, LR_SCHEDULES
from dpcore.training.settings import DRAWN, NOISE_GENERATORS, SCALES, SETTINGS, Choice
from dpcore.training.slider_stops import show
from pages.parts.controls.fields import Fields, Options, quantity_of
from pages.parts.controls.mechanism import noise_schedule

BATCHES = "batches"  # in the address, where `sampler` is what the lab accounts for
PUBLIC_EXAMPLES = 1000  # held out to begin with, where some are
LEFT_OUT = ("acceptance", "stop_epsilon")  # of a run, beside the unusual ones: the plain method has neither


def plain_method() -> dict[str, str]:
    """The texts of the method's fields where nothing unusual is chosen.

    >>> [plain_method()[name] for name in ("clipping", "ema", "seed")]
    ['flat', '0', '']
    """
    chosen = {name: each for name, each in SETTINGS.items() if each.unusual or name in LEFT_OUT}
    plain = {
        name: str(each.default) if isinstance(each, Choice) else show(each.default or 0)
        for name, each in chosen.items()
    }
    return plain | {"seed": "", BATCHES: Poisson.name}


def features_of_input(fields: Fields, dataset: str) -> dict[str, Any]:
    """What the network is given of an example, where there is a choice."""
    suited = suited_features(dataset)
    if len(suited) == 1:
        return {}
    notes = {name: "" if name == PIXELS.name else KINDS[name].note for name in suited}
    features = fields.choice(_options("features", suited, lambda name: KINDS[name].title), notes)
    if features == PIXELS.name:
        return {"pixel_scale": fields.choice(_options("pixel_scale", SCALES))} if dataset_of(dataset).grey else {}
    return {"features": features}


def views_of_input(fields: Fields, dataset: str) -> dict[str, Any]:
    """How many views of each image there are, and the noise of a private mean that is taken off."""
    if not dataset_of(dataset).images:
        return {}
    views = int(fields.number(quantity_of("views")))
    return {"views": views, "mean_sigma": fields.number(quantity_of("mean_sigma"))}


def method_of(fields: Fields, model: str, optimizer: str, features: str) -> dict[str, Any]:
    """What changes the method."""
    fields.note("**Method**")
    fields.note(OPTIMIZERS[optimizer].note)
    chosen = _of_optimizer(fields, optimizer) | _clipping(fields) | _acceptance(fields)
    if MODELS[model].dense and features == PIXELS.name:  # what DP-PCA projects
        chosen |= _projection(fields)
    if MODELS[model].wide:
        chosen["width"] = int(fields.number(quantity_of("width")))
    return chosen | {"ema": fields.number(quantity_of("ema"))}


def batches(fields: Fields) -> dict[str, Any]:
    """How the run draws its batches."""
    notes = {name: "" if name == Poisson.name else SAMPLERS[name].note for name in DRAWN}
    title = lambda name: SAMPLERS[name].title  # noqa: E731
    sampler = fields.choice(Options(BATCHES, SETTINGS["sampler"].label, tuple(DRAWN), title), notes)
    return {} if sampler == Poisson.name else {"sampler": sampler}


def schedules(fields: Fields, device: str) -> dict[str, Any]:
    """The noise schedule and generator, the learning-rate schedule, and where to stop."""
    fields.note("**Noise and learning-rate schedule, stopping**")
    return _noise(fields) | _generator(fields, device) | _learning_rate(fields) | _stopping(fields)


def _options(name: str, names: tuple[str, ...], title: Callable[[str], str] | None = None) -> Options:
    return Options(name, SETTINGS[name].label, tuple(names), title)


def _of_optimizer(fields: Fields, optimizer: str) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    kind = OPTIMIZERS[optimizer]
    if kind.momentum:
        chosen["momentum"] = fields.number(quantity_of("momentum"))
    if kind.by_relevance:
        chosen["relevance_sigma"] = fields.number(quantity_of("relevance_sigma"))
    if len(kind.readings) > 1:
        chosen["reading"] = fields.choice(_options("reading", kind.readings), READINGS)
    return chosen


def _clipping(fields: Fields) -> dict[str, Any]:
    notes = {name: each.note for name, each in CLIPPINGS.items()}
    return {"clipping": fields.choice(_options("clipping", tuple(CLIPPINGS)), notes)}


def _acceptance(fields: Fields) -> dict[str, Any]:
    notes = {name: "" if name == "none" else note for name, note in ACCEPTANCES.items()}
    acceptance = fields.choice(_options("acceptance", tuple(ACCEPTANCES)), notes)
    if acceptance == "none":
        return {}
    public = int(fields.number(quantity_of("public", start=PUBLIC_EXAMPLES)))
    q0, mu0 = fields.number(quantity_of("sa_q0")), fields.number(quantity_of("sa_mu0"))
    return {"acceptance": acceptance, "public": public, "sa_q0": q0, "sa_mu0": int(mu0)}


def _projection(fields: Fields) -> dict[str, Any]:
    dimensions = int(fields.number(quantity_of("pca")))
    if not dimensions:
        return {}
    fields.note(PROJECTION_NOTE)
    return {"pca": dimensions, "pca_sigma": fields.number(quantity_of("pca_sigma"))}


def _noise(fields: Fields) -> dict[str, Any]:
    name, rate = noise_schedule(fields)
    if name == "constant":
        return {}
    return {"schedule": name, "rate": rate, "level_steps": int(fields.number(quantity_of("level_steps")))}


def _generator(fields: Fields, device: str) -> dict[str, Any]:
    if device != "cuda":  # elsewhere there is nothing to choose: both are AES
        return {}
    options = _options("noise_generator", tuple(NOISE_GENERATORS))
    return {"noise_generator": fields.choice(options, NOISE_GENERATORS)}


def _learning_rate(fields: Fields) -> dict[str, Any]:
    name = fields.choice(_options("lr_schedule", tuple(LR_SCHEDULES)))
    if name == "constant":
        return {}
    lr_end, lr_epochs = fields.number(quantity_of("lr_end")), fields.number(quantity_of("lr_epochs"))
    return {"lr_schedule": name, "lr_end": lr_end, "lr_epochs": lr_epochs}


def _stopping(fields: Fields) -> dict[str, Any]:
    epsilon = fields.number(quantity_of("stop_epsilon"))
    if not epsilon:
        return {}
    first_the_band = (CERTIFIED, *(name for name in ACCOUNTANTS if name != CERTIFIED))
    title, help = (lambda name: ACCOUNTANTS[name].title), help_on("accountant")
    options = Options("stop_accountant", SETTINGS["stop_accountant"].label, first_the_band, title, help)
    return {"stop_epsilon": epsilon, "stop_accountant": fields.choice(options)}
