"""The controls of what the network is given of an example, and what stands behind its layers; all in the URL."""

from typing import Any

import streamlit as st

from dpcore.data.catalogue import dataset_of
from dpcore.training.defaults import suited_features
from dpcore.training.features.kinds import KINDS
from dpcore.training.models import ACTIVATIONS, MODELS
from dpcore.training.settings import SCALES, SETTINGS
from pages.parts.controls.choice import choice, choice_by_title
from pages.parts.controls.number import number
from pages.parts.controls.run_setting import quantity_of


def features_control(dataset: str) -> dict[str, Any]:
    """Draw the choice of features where there is one, and return the settings that are not to be left as they are."""
    suited = suited_features(dataset)
    if len(suited) == 1:
        return {}
    features = choice_by_title(SETTINGS["features"].label, suited, "features", lambda name: KINDS[name].title)
    if features == "pixels":
        return _scale() if dataset_of(dataset).grey else {}
    st.caption(KINDS[features].note)
    return {"features": features}


def views_control(dataset: str) -> dict[str, Any]:
    """Draw how many views of each image there are and whether a private mean is taken off, where there are images."""
    if not dataset_of(dataset).images:
        return {}
    return {"views": int(number(quantity_of("views"))), "mean_sigma": number(quantity_of("mean_sigma"))}


def activation_of(model: str) -> str:
    """Draw the choice of the activation where the model has one."""
    if not MODELS[model].hidden:
        return SETTINGS["activation"].default
    return choice(SETTINGS["activation"].label, ACTIVATIONS, "activation")


def _scale() -> dict[str, Any]:
    return {"pixel_scale": choice(SETTINGS["pixel_scale"].label, SCALES, "pixel_scale")}
