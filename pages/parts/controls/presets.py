"""Settings from the papers and from popular tutorials, as they stand in the sources named."""

from typing import NamedTuple

import streamlit as st

from dpcore.papers import PAPERS
from dpcore.papers.entry import PrintedSetting
from dpcore.privacy.report.numbers import plain
from pages.parts.shell.streamlit_internals import uninterrupted

CUSTOM = "My own settings"
SHOWN = "n_shown"  # how many examples the data had when they were drawn last; 0: choose data that fit n


class Preset(NamedTuple):
    """Texts of the exact fields, and where the setting comes from."""

    n: str
    batch: str
    sigma: str
    epochs: str
    clip_norm: str
    optimizer: str
    source: str
    delta: str = "1e-5"
    schedule: str = "constant"
    rate: str = ""
    dataset: str = "mnist"  # empty where none that everybody can train is meant


ABADI = "Abadi et al. 2016, arXiv:1607.00133"
PIGDO = "PIGDO (PIAdam, MMA), 2022"
SA = "SA-DPSGD, after Tramer and Boneh 2021, arXiv:2011.11660"
BU = "Bu et al. 2020, arXiv:1911.11607, Table 1"
BU_TITLE = "Bu et al. 2020, Deep learning with Gaussian differential privacy"
YU = "Yu et al. 2019, IEEE S&P, exponential decay"


def _texts(setting: PrintedSetting, source: str) -> Preset:
    """A setting of a paper as the fields hold it."""
    return Preset(
        n=plain(setting.n),
        batch=plain(setting.batch),
        sigma=plain(setting.sigma),
        epochs=plain(setting.epochs),
        clip_norm=plain(setting.clip_norm),
        optimizer=setting.optimizer,
        source=source,
        delta=plain(setting.delta),
        schedule=setting.schedule,
        rate=plain(setting.rate) if setting.rate else "",
        dataset=setting.dataset,
    )


SOURCES = {"002": ABADI, "000": PIGDO, "001": SA, "004": BU}  # of a paper's settings, in the order of the list
PRESETS = {
    "Training page's default (MNIST sample)": Preset("10000", "256", "1.23", "5", "0.1", "sgd", "this app"),
    **{
        title: _texts(setting, source)
        for paper, source in SOURCES.items()
        for title, setting in PAPERS[paper].settings.items()
    },
    "TensorFlow Privacy tutorial, MNIST": Preset(
        "60000", "256", "1.1", "60", "1", "sgd", "TensorFlow Privacy tutorials"
    ),
    "Opacus example, MNIST": Preset("60000", "64", "1", "10", "1", "sgd", "Opacus examples/mnist.py defaults"),
    "Decaying noise, MNIST": Preset("60000", "600", "10", "60", "4", "sgd", YU, schedule="exponential", rate="0.0138"),
}

FIGURES = {  # figures of Bu et al. 2020 -> the preset they show, and how
    "Figure 2": ("Gaussian DP, MNIST, sigma 0.7", {"view": "delta", "accountants": ["moments", "gdp"]}),
    "Figure 3": (
        "Gaussian DP, MNIST, sigma 1.1",
        {"view": "trade-off", "axes": "linear", "pair": "moments", "pairs": "moments"},
    ),
    "Figure 5": ("Gaussian DP, MNIST, sigma 1.1", {"view": "steps", "axes": "linear"}),
}


@uninterrupted
def apply_figure(name: str) -> None:
    """Show what a figure of the paper shows."""
    preset, shown = FIGURES[name]
    st.session_state["preset"] = preset
    apply(preset)
    st.session_state.update(shown)


@uninterrupted
def apply(name: str) -> None:
    """Fill in the fields of a preset; the custom entry leaves them as they are."""
    if name not in PRESETS:
        return
    preset = PRESETS[name]
    st.session_state.update(sampling="batch", length="epochs", dataset=preset.dataset)
    st.session_state[SHOWN] = 0
    for field in ("n", "batch", "sigma", "epochs", "delta", "clip_norm", "optimizer", "schedule"):
        st.session_state[field] = getattr(preset, field)
    if preset.rate:
        st.session_state[f"rate_{preset.schedule}"] = preset.rate


def current(values: dict[str, str], chosen: str) -> str:
    """The preset that the fields match, `chosen` before others that say the same, or the custom entry."""
    for name in (chosen, *PRESETS):
        if name in PRESETS:
            wanted = PRESETS[name]._asdict()
            if all(_same(values[key], wanted[key]) for key in values.keys() & wanted.keys()):
                return name
    return CUSTOM


def _same(text: str, wanted: str) -> bool:
    try:
        return float(text) == float(wanted)
    except ValueError:
        return text == wanted
