"""What is drawn again, second by second, until all that it needs has been computed."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from dpcore.runs.record import StoreError, UnknownRun

EVERY = 1.0  # seconds


def drawn_until_known(key: str, draw: Callable[..., int], *given: Any) -> None:
    """Call `draw`, which says how much it does not know yet, and call it again in a while as long as that is any."""
    again = bool(st.session_state.get(key))
    st.fragment(_drawn, run_every=EVERY if again else None)(key, again, draw, given)


def _drawn(key: str, again: bool, draw: Callable[..., int], given: tuple[Any, ...]) -> None:
    try:
        left = draw(*given)
    except (StoreError, UnknownRun) as error:
        st.error(str(error))
        return
    st.session_state[key] = left > 0
    if (left > 0) != again:
        st.rerun()
