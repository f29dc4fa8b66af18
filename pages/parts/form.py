"""The form of the training page: what to train, how, and with how much noise."""

from dataclasses import replace

import streamlit as st

from dpcore import check
from dpcore.data.catalog import DATASETS, available
from dpcore.training.config import ACTIVATIONS, MODELS, RunConfig
from dpcore.training.optimizers import OPTIMIZERS
from pages.parts.controls import Quantity, number
from pages.parts.settings import BATCH, CLIP_NORM, DEFAULTS, DELTA, EPOCHS, SIGMA, choice

RATES = {"sgd": "0.5", "adam": "0.002"}  # learning rates to begin with: clipped gradients are short
BASELINE_RATES = {"sgd": 0.1, "adam": 0.001}  # gradients at their full length


def config_form() -> RunConfig:
    """Draw the form; ValueError says in a sentence what does not go together."""
    with st.container(gap="xsmall"):
        what, how = st.columns(2, gap="small", wrap=False)
        with what:
            dataset = choice("Dataset", tuple(DATASETS), "dataset")
            model = choice("Model", tuple(reversed(MODELS)), "model")
        with how:
            source = choice("Images", tuple(reversed(available(dataset))), "source")
            optimizer = choice("Optimizer", tuple(OPTIMIZERS), "optimizer")
        sigma, batch, epochs = number(SIGMA), number(BATCH), number(EPOCHS)
        with st.expander("Clipping, learning rate, activation, delta"):
            clip_norm, lr = number(CLIP_NORM), number(_rate(optimizer))
            activation = choice("Activation", ACTIVATIONS, "activation")
            delta = number(DELTA)
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
    )


def baseline_of(config: RunConfig) -> RunConfig:
    """The same run without clipping and noise, at a learning rate that suits gradients of full length."""
    return replace(config, private=False, lr=BASELINE_RATES.get(config.optimizer, DEFAULTS.lr))


def described(config: RunConfig) -> str:
    """A run in a few words."""
    noise = f"sigma {config.sigma:g}" if config.private else "no privacy"
    optimizer = config.optimizer.upper() if config.optimizer == "sgd" else config.optimizer.capitalize()
    return f"{DATASETS[config.dataset].title} {config.model}, {optimizer}, {noise}"


def _rate(optimizer: str) -> Quantity:
    return Quantity(
        f"lr_{optimizer}",
        f"Learning rate ({optimizer})",
        RATES.get(optimizer, str(DEFAULTS.lr)),
        1e-4,
        10,
        lambda lr: check.positive(lr=lr),
        "slower",
        "less stable",
        help="Clipping shortens gradients, so private SGD takes larger rates than usual, and Adam smaller ones.",
    )
