"""The form of the training page: what to train, how, and with how much noise."""

import math
from dataclasses import replace

import streamlit as st

from dpcore import check
from dpcore.data.catalog import DATASETS, available
from dpcore.training.config import ACTIVATIONS, RunConfig, models_for
from dpcore.training.defaults import defaults
from dpcore.training.optimizers import OPTIMIZERS
from pages.parts.controls import Quantity, number, show
from pages.parts.method import method_controls, schedule_controls
from pages.parts.settings import BATCH, CLIP_NORM, DELTA, EPOCHS, SIGMA, choice

TRAINED_SIGMA = replace(SIGMA, accept=lambda sigma: check.in_range(0, math.inf, ends="[)", sigma=sigma))  # 0: no noise


def config_form() -> RunConfig:
    """Draw the form; ValueError says in a sentence what does not go together."""
    with st.container(gap="xsmall"):
        what, how = st.columns(2, gap="small", wrap=False)
        with what:
            dataset = choice("Dataset", tuple(name for name in DATASETS if available(name)), "dataset")
            model = choice("Model", tuple(reversed(models_for(dataset))), "model")
        with how:
            source = choice("Images", tuple(reversed(available(dataset))), "source")
            optimizer = choice("Optimizer", tuple(OPTIMIZERS), "optimizer")
        sigma, batch, epochs = number(TRAINED_SIGMA), number(BATCH), number(EPOCHS)
        with st.expander("Clipping, learning rate, activation, delta"):
            clip_norm, lr = number(_clip_norm(dataset, model, optimizer)), number(_rate(dataset, model, optimizer))
            activation = choice("Activation", ACTIVATIONS, "activation")
            delta = number(DELTA)
        method = method_controls(model, optimizer) | schedule_controls()
    return RunConfig(
        dataset=dataset,
        source=source,
        model=model,
        activation=activation,
        optimizer=optimizer,
        sigma=sigma,
        batch=int(batch),
        clip_norm=clip_norm,
        lr=lr,
        epochs=epochs,
        delta=delta,
        **method,
    )


def baseline_of(config: RunConfig) -> RunConfig:
    """The same run without clipping and noise, at a learning rate that suits gradients of full length."""
    plain = defaults(config.dataset, config.model, config.optimizer, config.source, private=False)
    shrunk = config.lr_end * plain.lr / config.lr
    epochs = config.steps * config.q  # where stop_epsilon would have ended it
    plainly = {"stop_epsilon": 0.0, "acceptance": "none", "reading": "scaled", "clipping": "flat"}
    return replace(config, private=False, lr=plain.lr, lr_end=shrunk, epochs=epochs, **plainly)


def _rate(dataset: str, model: str, optimizer: str) -> Quantity:
    """The learning rate, one for each combination: what suits one of them fails with another."""
    return Quantity(
        f"lr_{dataset}_{model}_{optimizer}",
        "Learning rate",
        show(defaults(dataset, model, optimizer).lr),
        1e-4,
        10,
        lambda lr: check.positive(lr=lr),
        "slower",
        "less stable",
        help="Clipping shortens gradients, so private training takes larger rates than usual.",
    )


def _clip_norm(dataset: str, model: str, optimizer: str) -> Quantity:
    """The clipping norm: a field of its own where the optimizer's default is not the usual one."""
    default = show(defaults(dataset, model, optimizer).clip_norm)
    if default == CLIP_NORM.default:
        return CLIP_NORM
    return replace(CLIP_NORM, key=f"{CLIP_NORM.key}_{dataset}_{model}_{optimizer}", default=default)
