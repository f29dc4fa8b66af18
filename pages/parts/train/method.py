"""The controls of a training method: only those that make sense for what is chosen, all in the URL."""

import math
from typing import Any

import streamlit as st

from dpcore import check
from dpcore.training.config import ACCEPTANCES
from dpcore.training.descent.learning_rate import LR_SCHEDULES
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.models import MODELS
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.readings import READINGS
from pages.parts.controls.choice import accountant_choice, choice
from pages.parts.controls.mechanism import OPEN, noise_schedule
from pages.parts.controls.number import Quantity, number

CLIPPING_NOTES = {
    "flat": "The whole gradient is clipped to C. Charges each step at (q, sigma).",
    "auto_s": "AUTO-S: each gradient times C / (norm + 0.01). Charges each step at (q, sigma).",
    "per_layer": "Each of k layers is clipped to C. Charges each step at (q, sigma / sqrt k).",
}
ACCEPTANCE_NOTES = {
    "sa": "SA-DPSGD: proposals are judged on a held-out public split. Charges every proposal, rejected ones too.",
}
PROJECTION_NOTE = "Charges one noisy release at (1, sigma of DP-PCA), then the steps."

MOMENTUM = Quantity(
    "momentum", "Momentum", "0.9", 0.1, 0.99,
    lambda momentum: check.in_range(0, 1, ends="[)", momentum=momentum),
    stops=(0, 0.5, 0.8, 0.9, 0.95, 0.99),
)  # fmt: skip
RELEVANCE_SIGMA = Quantity(
    "relevance_sigma", "Sigma of the relevances", "10", 0.5, 100,
    lambda sigma: check.positive(relevance_sigma=sigma), "more exact", "more private",
)  # fmt: skip
EMA = Quantity(
    "ema", "Moving average of the weights, decay", "0", 0.5, 0.9999,
    lambda ema: check.in_range(0, 1, ends="[)", ema=ema), "off", "longer",
    help="Evaluated beside the raw weights. Free: it only uses what is released already.",
    stops=(0, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999),
)  # fmt: skip
PUBLIC = Quantity(
    "public", "Public examples held out", "1000", 10, 30000,
    lambda public: check.whole(0, public=public), "judges worse", "trains on less", whole=True, coarse=True,
    help="The last training examples: neither trained nor tested on. Fewer are left, so q rises.",
)  # fmt: skip
SA_Q0 = Quantity(
    "sa_q0", "Q0", "10", 0.1, 1000, lambda q0: check.in_range(0, math.inf, ends="[)", sa_q0=q0),
    "accepts more", "accepts less", coarse=True,
)  # fmt: skip
SA_MU0 = Quantity(
    "sa_mu0", "mu0, rejections in a row", "10", 1, 1000, lambda mu0: check.whole(0, sa_mu0=mu0), whole=True, coarse=True
)
PCA = Quantity(
    "pca", "DP-PCA dimensions", "0", 1, 784, lambda pca: check.whole(0, pca=pca), "off",
    stops=(0, 10, 20, 40, 60, 100, 200, 400), whole=True,
)  # fmt: skip
PCA_SIGMA = Quantity(
    "pca_sigma", "Sigma of DP-PCA", "7", 0.5, 100, lambda sigma: check.positive(pca_sigma=sigma), "more exact",
    "more private",
)  # fmt: skip
STOP_EPSILON = Quantity(
    "stop_epsilon", "Stop at epsilon", "0", 0.1, 100,
    lambda epsilon: check.in_range(0, math.inf, ends="[)", stop_epsilon=epsilon), "off", "later",
    stops=(0, 0.5, 1, 2, 3, 4, 5, 8, 10, 20, 50),
)  # fmt: skip
LEVEL_STEPS = Quantity(
    "level_steps", "Steps at one sigma (0: an epoch)", "0", 1, 10000,
    lambda steps: check.whole(0, level_steps=steps), whole=True, coarse=True,
)  # fmt: skip
LR_END = Quantity(
    "lr_end", "Learning rate at the end", "0", 1e-4, 10,
    lambda rate: check.in_range(0, math.inf, ends="[)", lr_end=rate),
)  # fmt: skip
LR_EPOCHS = Quantity(
    "lr_epochs", "Epochs until then (0: the whole run)", "0", 0.1, 1000,
    lambda epochs: check.in_range(0, math.inf, ends="[)", lr_epochs=epochs), coarse=True,
)  # fmt: skip


def method_controls(model: str, optimizer: str) -> dict[str, Any]:
    """Draw what changes the method, and return the settings that are not to be left as they are."""
    with st.expander("Method"):
        st.caption(OPTIMIZERS[optimizer].note)
        chosen = _of_optimizer(optimizer) | _clipping() | _acceptance()
        if MODELS[model].dense:
            chosen |= _projection()
        return chosen | {"ema": number(EMA)}


def schedule_controls() -> dict[str, Any]:
    """Draw the noise schedule, the learning-rate schedule and where to stop."""
    with st.expander("Noise and learning-rate schedule, stopping", expanded=OPEN in st.session_state):
        return _noise() | _learning_rate() | _stopping()


def _of_optimizer(optimizer: str) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    kind = OPTIMIZERS[optimizer]
    if kind.momentum:
        chosen["momentum"] = number(MOMENTUM)
    if kind.by_relevance:
        chosen["relevance_sigma"] = number(RELEVANCE_SIGMA)
    if len(kind.readings) > 1:
        chosen["reading"] = choice("Reading", kind.readings, "reading")
        st.caption(READINGS[chosen["reading"]])
    return chosen


def _clipping() -> dict[str, Any]:
    clipping = choice("Clipping", tuple(CLIPPINGS), "clipping")
    st.caption(CLIPPING_NOTES[clipping])
    return {"clipping": clipping}


def _acceptance() -> dict[str, Any]:
    acceptance = choice("Acceptance of steps", ACCEPTANCES, "acceptance")
    if acceptance == "none":
        return {}
    st.caption(ACCEPTANCE_NOTES[acceptance])
    public, q0, mu0 = number(PUBLIC), number(SA_Q0), number(SA_MU0)
    return {"acceptance": acceptance, "public": int(public), "sa_q0": q0, "sa_mu0": int(mu0)}


def _projection() -> dict[str, Any]:
    dimensions = int(number(PCA))
    if not dimensions:
        return {}
    st.caption(PROJECTION_NOTE)
    return {"pca": dimensions, "pca_sigma": number(PCA_SIGMA)}


def _noise() -> dict[str, Any]:
    name, rate = noise_schedule()
    if name == "constant":
        return {}
    return {"schedule": name, "rate": rate, "level_steps": int(number(LEVEL_STEPS))}


def _learning_rate() -> dict[str, Any]:
    name = choice("Learning-rate schedule", tuple(LR_SCHEDULES), "lr_schedule")
    if name == "constant":
        return {}
    return {"lr_schedule": name, "lr_end": number(LR_END), "lr_epochs": number(LR_EPOCHS)}


def _stopping() -> dict[str, Any]:
    epsilon = number(STOP_EPSILON)
    if not epsilon:
        return {}
    by = accountant_choice("Stop by", "stop_accountant")
    return {"stop_epsilon": epsilon, "stop_accountant": by}
