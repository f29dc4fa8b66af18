"""The form of the training page: what to train, how, and with how much noise."""

from dataclasses import replace

import streamlit as st

from dpcore import check
from dpcore.data.catalogue import DATASETS, available
from dpcore.privacy.report.glossary import help_on
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.models import ACTIVATIONS, models_for
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.plan import plan
from dpcore.training.progress.seed_summary import with_seeds
from dpcore.training.settings import MOST_LR, SETTINGS
from pages.parts.controls.choice import choice, choice_by_title
from pages.parts.controls.mechanism import AFTER, BATCH, CLIP_NORM, DELTA, EPOCHS, OPEN, SIGMA, on_schedule, open_on
from pages.parts.controls.number import Quantity, number, show
from pages.parts.controls.run_setting import quantity_of
from pages.parts.controls.url_state import keep, recall
from pages.parts.train.method import method_controls, schedule_controls
from pages.parts.train.run_picker import MOST

TRAINED_SIGMA = replace(SIGMA, accept=quantity_of("sigma").accept)  # 0: no noise

SEEDS = Quantity(
    "seeds", "Runs", "1", 1, MOST, lambda seeds: check.whole(1, MOST, seeds=seeds),
    help=f"{help_on('runs')}\n\nEach has a secret seed of its own; a fixed seed is the first of as many.",
    stops=tuple(range(1, MOST + 1)), whole=True,
)  # fmt: skip


def config_form(device: str) -> list[RunConfig]:
    """Draw the form of a run on the device; one configuration a seed.

    Errors: ValueError says in a sentence what does not go together.
    """
    with st.container(gap="xsmall"):
        what, how = st.container(key="halves").columns(2, gap="small", wrap=False)
        with what:
            names = tuple(name for name in DATASETS if available(name))
            dataset = choice_by_title(SETTINGS["dataset"].label, names, "dataset", lambda name: DATASETS[name].title)
            model = choice(SETTINGS["model"].label, tuple(reversed(models_for(dataset))), "model")
        with how:
            source = choice(SETTINGS["source"].label, tuple(reversed(available(dataset))), "source")
            optimizer = choice_by_title(
                SETTINGS["optimizer"].label, tuple(OPTIMIZERS), "optimizer", lambda name: OPTIMIZERS[name].title, AFTER
            )
        sigma, batch, epochs = number(TRAINED_SIGMA), number(BATCH), number(EPOCHS)
        above = st.expander("Clipping, learning rate, activation, delta, seeds")
        method = method_controls(model, optimizer) | schedule_controls(device)
        usual = defaults(dataset, model, optimizer, source, reading=method.get("reading", "scaled"))
        with above:  # filled last: the method has a say in the learning rate
            clip_norm, lr = number(_clip_norm(usual)), number(_rate(usual))
            activation = choice(SETTINGS["activation"].label, ACTIVATIONS, "activation")
            delta, seeds, seed = number(DELTA), int(number(SEEDS)), fixed_seed()
    chosen = {"dataset": dataset, "source": source, "model": model, "activation": activation, "optimizer": optimizer}
    numbers = {"sigma": sigma, "batch": int(batch), "clip_norm": clip_norm, "lr": lr, "epochs": epochs, "delta": delta}
    numbers |= {"seed": seed}
    try:
        config = RunConfig(**chosen, **numbers, **method)
        plan(config)
    except ValueError as error:
        open_on("rate=" in str(error), OPEN)
        raise ValueError(on_schedule(str(error))) from None
    return with_seeds(config, seeds)


def fixed_seed() -> int | None:
    """Draw the field of a fixed seed; None where it is left empty, and each run draws a secret one."""
    recall("seed", "")
    text = st.text_input(
        SETTINGS["seed"].label,
        key="seed",
        max_chars=19,
        help="By default each run draws a secret seed. A fixed one makes a run repeatable, and epsilon then holds only "
        "for those who do not know it.",
        bind="query-params",
        persist_state="session",
    ).strip()
    keep("seed", text)
    if text and not text.isdecimal():
        raise ValueError(f"Expected seed={text!r} to be a whole number, or empty for a secret one.")
    return int(text) if text else None


def baseline_of(config: RunConfig) -> RunConfig:
    """The same run without clipping and noise, at a learning rate that suits gradients of full length."""
    plain = defaults(config.dataset, config.model, config.optimizer, config.source, private=False)
    shrunk = min(config.lr_end * plain.lr / config.lr, MOST_LR)
    epochs = min(plan(config).steps * config.q, config.epochs)  # less where stop_epsilon would have ended it
    plainly = {
        "stop_epsilon": 0.0,
        "acceptance": "none",
        "reading": "scaled",
        "clipping": "flat",
        "noise_generator": "auto",
    }
    return replace(config, private=False, lr=plain.lr, lr_end=shrunk, epochs=epochs, **plainly)


def _rate(usual: RunConfig) -> Quantity:
    """The learning rate, one for each combination: what suits one of them fails with another."""
    reading = "" if usual.reading == "scaled" else "_literal"
    key = f"lr_{usual.dataset}_{usual.model}_{usual.optimizer}{reading}"
    return quantity_of("lr", start=usual.lr, key=key)


def _clip_norm(usual: RunConfig) -> Quantity:
    """The clipping norm: a field of its own where the optimizer's default is not the usual one."""
    default = show(usual.clip_norm)
    if default == CLIP_NORM.default:
        return CLIP_NORM
    key = f"{CLIP_NORM.key}_{usual.dataset}_{usual.model}_{usual.optimizer}"
    return replace(CLIP_NORM, key=key, default=default)
