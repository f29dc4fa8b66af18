"""What the fields of a mechanism say once a slider stands elsewhere, before the page is run again."""

from typing import NamedTuple

import streamlit as st

from pages.parts.controls import mechanism as controls
from pages.parts.controls.mechanism import Setting, mechanism_of, rate_of, steps_of
from pages.parts.controls.number import read

FIELDS = (controls.N, controls.BATCH, controls.Q, controls.SIGMA, controls.EPOCHS, controls.STEPS, controls.DELTA)
QUANTITIES = {each.key: each for each in FIELDS}


class Values(NamedTuple):
    """What the fields say, as numbers: those that are given, and the rate and the steps that may follow from them."""

    n: int
    q: float
    sigma: float
    steps: int
    delta: float
    batch: int | None = None  # where q follows from it
    epochs: float | None = None  # where the steps follow from them


def values_shown(setting: Setting) -> Values:
    """What the fields of this page say, where they say this setting."""
    return given(Values(setting.n, setting.q, setting.sigma, setting.mechanism.steps, setting.delta))


def given(values: Values, epochs: float | None = None) -> Values:
    """The values with what they follow from, by the modes that the page's session says."""
    texts = st.session_state
    batch = round(values.q * values.n)
    if texts.get("sampling", "batch") == "batch" and batch and rate_of(batch, values.n) == values.q:
        values = values._replace(batch=batch)
    if texts.get("length", "epochs") == "epochs":
        epochs = epochs or read(controls.EPOCHS, texts.get("epochs_good", controls.EPOCHS.default))
        if steps_of(epochs, values.q) == values.steps:
            values = values._replace(epochs=epochs)
    return values


def moved(values: Values, key: str, text: str) -> Values:
    """The values where the field of this key says this text.

    Errors: ValueError where the field is none of a mechanism's, or says nothing that goes together with the others.

    >>> moved(Values(1000, 0.1, 1.0, 50, 1e-5, batch=100, epochs=5.0), "batch", "50")
    Values(n=1000, q=0.05, sigma=1.0, steps=100, delta=1e-05, batch=50, epochs=5.0)
    """
    if key not in QUANTITIES:
        raise ValueError(f"Expected key={key[:40]!r} to be one of {', '.join(QUANTITIES)}.")
    value = read(QUANTITIES[key], text)
    values = values._replace(**{key: int(value) if QUANTITIES[key].whole else value})
    if values.batch is not None:
        values = values._replace(q=rate_of(values.batch, values.n))
    if values.epochs is not None:
        values = values._replace(steps=steps_of(values.epochs, values.q))
    return values


def moved_setting(setting: Setting, values: Values, key: str, text: str) -> Setting:
    """The setting where one of the fields that say it says this text; ValueError as in `moved`."""
    now = moved(values, key, text)
    mechanism = mechanism_of(setting.schedule, now.q, now.sigma, now.steps, setting.rate)
    return Setting(mechanism, now.n, now.q, now.sigma, now.delta, setting.schedule, setting.rate)
