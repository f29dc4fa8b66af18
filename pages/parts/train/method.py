"""The controls of a training method: only those that make sense for what is chosen, all in the URL."""

from typing import Any

import streamlit as st

from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.poisson import Poisson
from dpcore.training.accounting import PROJECTION_NOTE
from dpcore.training.features.kinds import PIXELS
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.models import MODELS
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.pi import READINGS
from dpcore.training.schedules import ACCEPTANCES, LR_SCHEDULES
from dpcore.training.setting_kinds import Choice
from dpcore.training.settings import DRAWN, NOISE_GENERATORS, SETTINGS
from pages.parts.controls.choice import accountant_choice, choice, choice_by_title
from pages.parts.controls.mechanism import noise_schedule
from pages.parts.controls.number import number, show
from pages.parts.controls.run_setting import quantity_of

BATCHES = "batches"  # in the address, where `sampler` is what the lab accounts for
PUBLIC = 1000  # examples held out to begin with, where some are
LEFT_OUT = ("acceptance", "stop_epsilon")  # of a run, beside the unusual ones: the plain method has neither


def plain_method() -> dict[str, str]:
    """What the controls of the method say where nothing unusual is chosen, by their names in the address.

    >>> [plain_method()[name] for name in ("clipping", "ema", "seed")]
    ['flat', '0', '']
    """
    chosen = {name: each for name, each in SETTINGS.items() if each.unusual or name in LEFT_OUT}
    plain = {
        name: str(each.default) if isinstance(each, Choice) else show(each.default or 0)
        for name, each in chosen.items()
    }
    return plain | {"seed": "", BATCHES: Poisson.name}


def method_controls(model: str, optimizer: str, features: str) -> dict[str, Any]:
    """Draw what changes the method, and return the settings that are not to be left as they are."""
    st.markdown("**Method**")
    st.caption(OPTIMIZERS[optimizer].note)
    chosen = _of_optimizer(optimizer) | _clipping() | _acceptance()
    if MODELS[model].dense and features == PIXELS.name:  # what DP-PCA projects
        chosen |= _projection()
    if MODELS[model].wide:
        chosen["width"] = int(number(quantity_of("width")))
    return chosen | {"ema": number(quantity_of("ema"))}


def batch_controls() -> dict[str, Any]:
    """Draw how the run draws its batches, and what that costs."""
    sampler = choice_by_title(SETTINGS["sampler"].label, DRAWN, BATCHES, lambda name: SAMPLERS[name].title)
    if sampler == Poisson.name:
        return {}
    st.caption(SAMPLERS[sampler].note)
    return {"sampler": sampler}


def schedule_controls(device: str) -> dict[str, Any]:
    """Draw the noise schedule and generator, the learning-rate schedule and where to stop."""
    st.markdown("**Noise and learning-rate schedule, stopping**")
    return _noise() | _generator(device) | _learning_rate() | _stopping()


def _of_optimizer(optimizer: str) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    kind = OPTIMIZERS[optimizer]
    if kind.momentum:
        chosen["momentum"] = number(quantity_of("momentum"))
    if kind.by_relevance:
        chosen["relevance_sigma"] = number(quantity_of("relevance_sigma"))
    if len(kind.readings) > 1:
        chosen["reading"] = choice(SETTINGS["reading"].label, kind.readings, "reading")
        st.caption(READINGS[chosen["reading"]])
    return chosen


def _clipping() -> dict[str, Any]:
    clipping = choice(SETTINGS["clipping"].label, tuple(CLIPPINGS), "clipping")
    st.caption(CLIPPINGS[clipping].note)
    return {"clipping": clipping}


def _acceptance() -> dict[str, Any]:
    acceptance = choice(SETTINGS["acceptance"].label, tuple(ACCEPTANCES), "acceptance")
    if acceptance == "none":
        return {}
    st.caption(ACCEPTANCES[acceptance])
    public, q0, mu0 = (
        number(quantity_of("public", start=PUBLIC)),
        number(quantity_of("sa_q0")),
        number(quantity_of("sa_mu0")),
    )
    return {"acceptance": acceptance, "public": int(public), "sa_q0": q0, "sa_mu0": int(mu0)}


def _projection() -> dict[str, Any]:
    dimensions = int(number(quantity_of("pca")))
    if not dimensions:
        return {}
    st.caption(PROJECTION_NOTE)
    return {"pca": dimensions, "pca_sigma": number(quantity_of("pca_sigma"))}


def _noise() -> dict[str, Any]:
    name, rate = noise_schedule()
    if name == "constant":
        return {}
    return {"schedule": name, "rate": rate, "level_steps": int(number(quantity_of("level_steps")))}


def _generator(device: str) -> dict[str, Any]:
    if device != "cuda":  # elsewhere there is nothing to choose: both are AES
        return {}
    generator = choice(SETTINGS["noise_generator"].label, tuple(NOISE_GENERATORS), "noise_generator")
    st.caption(NOISE_GENERATORS[generator])
    return {"noise_generator": generator}


def _learning_rate() -> dict[str, Any]:
    name = choice(SETTINGS["lr_schedule"].label, tuple(LR_SCHEDULES), "lr_schedule")
    if name == "constant":
        return {}
    return {"lr_schedule": name, "lr_end": number(quantity_of("lr_end")), "lr_epochs": number(quantity_of("lr_epochs"))}


def _stopping() -> dict[str, Any]:
    epsilon = number(quantity_of("stop_epsilon"))
    if not epsilon:
        return {}
    by = accountant_choice(SETTINGS["stop_accountant"].label, "stop_accountant")
    return {"stop_epsilon": epsilon, "stop_accountant": by}
