"""The form of the training page: what to train, how, and with how much noise."""

from dataclasses import replace

import streamlit as st

from dpcore import check
from dpcore.data.catalog import DATASETS, available
from dpcore.training.config import ACTIVATIONS, RunConfig, models_for
from dpcore.training.defaults import defaults
from dpcore.training.optimizers import OPTIMIZERS
from pages.parts.controls import Quantity, number, show
from pages.parts.settings import BATCH, CLIP_NORM, DELTA, EPOCHS, SIGMA, choice


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
        sigma, batch, epochs = number(SIGMA), number(BATCH), number(EPOCHS)
        with st.expander("Clipping, learning rate, activation, delta"):
            clip_norm, lr = number(CLIP_NORM), number(_rate(dataset, model, optimizer))
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
    plain = defaults(config.dataset, config.model, config.optimizer, config.source, private=False)
    return replace(config, private=False, lr=plain.lr)


def described(config: RunConfig) -> str:
    """A run in a few words."""
    noise = f"sigma {config.sigma:g}" if config.private else "no privacy"
    optimizer = config.optimizer.upper() if config.optimizer == "sgd" else config.optimizer.capitalize()
    return f"{DATASETS[config.dataset].title} {config.model}, {optimizer}, {noise}"


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
