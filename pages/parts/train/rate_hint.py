"""A hint under the clipping norm, where it and the learning rate together make steps of another length than usual."""

import streamlit as st

from dpcore.training.config import RunConfig
from dpcore.training.optimizers import OPTIMIZERS
from pages.parts.controls.number import show
from pages.parts.controls.url_state import put

MOST = 1e9  # times that are told apart
LONG, SHORT = 3, 0.1  # times the default's rate * C: accuracy has fallen by then


def rate_hint(lr: float, clip_norm: float, usual: RunConfig, key: str) -> None:
    """Say so where steps, which are in proportion to rate * C, are far from the default's; one click sets the rate.

    Nothing is said of an optimizer that divides by the size of its gradients: there C cancels, now or in time.
    """
    times = min(max((lr / usual.lr) * (clip_norm / usual.clip_norm), 1 / MOST), MOST)
    if not OPTIMIZERS[usual.optimizer].scales_with_c(usual.reading) or SHORT <= times <= LONG:
        return
    fitting = show(float(f"{usual.lr * usual.clip_norm / clip_norm:.3g}"))
    factor = show(float(f"{max(times, 1 / times):.2g}"))
    away = f"{factor} times as {'long' if times > 1 else 'short'}"
    advice = "When C rises, the rate must fall." if times > 1 else "So they learn slowly."
    st.caption(f":material/lightbulb: A step is in proportion to rate × C: here it is {away} as usual. {advice}")
    set_to = (key, fitting, show(usual.lr))
    st.button(f"Set the rate to {fitting}", key="fitting_rate", on_click=put, args=set_to)
