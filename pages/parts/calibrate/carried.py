"""An answer of Calibrate that is carried to the controls of other pages.

A page that trains on other data says for how many examples the answer is.
"""

from dataclasses import dataclass, replace

import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.calibration.solve import Answer
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import rounded, spoken
from dpcore.training.slider_stops import show
from pages.parts.calibrate.question import Asked, on_screen, settable, spent
from pages.parts.controls.data import Data, choose, nearest_here
from pages.parts.controls.fields import Fields, epochs_text
from pages.parts.controls.mechanism import ChosenSetting, setting_of
from pages.parts.page_change import load
from pages.parts.shell.streamlit_internals import uninterrupted

CARRIED = "answer_carried"
UNSOLVED = "answer_unsolved"  # why the last one could not be solved again
# Fields of a loaded answer.
COMPARED = ("sampling", "batch", "q", "sigma", "length", "epochs", "delta", "schedule")


@dataclass(frozen=True)
class Carried:
    """A loaded answer: the question, the accountant, the setting, and the fields it has set."""

    asked: Asked
    by: str
    setting: ChosenSetting
    fields: dict[str, str]

    @property
    def on_controls(self) -> bool:
        """True while the controls still show it."""
        unused = "q" if self.fields["sampling"] == "batch" else "batch"
        for key in COMPARED:
            text = self.fields[key]
            if key != unused and st.session_state.get(key, text) != text:
                return False
        return True

    def mechanism(self, n: int) -> Mechanism:
        """The mechanism of the same fields for n examples; ValueError where there is none."""
        return setting_of(Fields(self.fields | {"n": show(n)})).mechanism


def loaded(found: Answer, setting: ChosenSetting) -> dict[str, str]:
    """The fields of the answer, as texts that give the same mechanism on every page."""
    first = found.mechanism.releases[0]
    batch = max(1, round(first.q * setting.n))  # the nearest one, for a page that knows no q
    exact = batch / setting.n == first.q
    fields = {
        "n": show(setting.n),
        "sigma": show(first.sigma),
        "delta": show(setting.delta),
        "sampling": "batch" if exact else "q",
        "batch": show(batch),
        "q": show(first.q),
        "length": "epochs",
        "epochs": epochs_text(found.mechanism.steps, first.q),
        "schedule": setting.schedule,
    }
    if setting.schedule != "constant":
        fields[f"rate_{setting.schedule}"] = show(setting.rate)
    return fields


@uninterrupted
def carry(found: Answer, asked: Asked, by: str, setting: ChosenSetting, go: str = "") -> None:
    """Set the controls to an answer, and choose data of its size, if they are here.

    For a callback.
    """
    fields = loaded(found, setting)
    st.session_state[CARRIED] = Carried(asked, by, setting, fields)
    choose(setting.n)
    load(fields, go)


@uninterrupted
def carry_shown(go: str = "") -> None:
    """Carry the answer to the present question of the controls; for a callback.

    Where they ask for none, the page says why.
    """
    shown = on_screen()
    if shown is None:
        return
    asked, by, setting = shown
    found = settable(asked, by)
    if not isinstance(found, str):
        carry(found, asked, by, setting, go)


def tell_other_data(data: Data) -> None:
    """Warn that the loaded answer is for other data; draw its cost and a button to solve again."""
    problem = st.session_state.pop(UNSOLVED, "")
    if problem:
        st.error(problem)
    carried = st.session_state.get(CARRIED)
    if carried is None or not carried.on_controls:
        return
    asked_for = carried.setting.n
    if data.here and data.n == asked_for:
        return
    here = data if data.here else nearest_here(asked_for)
    name = f"{DATASETS[here.dataset].title}, {here.source}"
    st.warning(
        f"This answer is for {asked_for:,} examples; {name}, has {here.n:,},"
        f" {_cost(carried, here.n)}."
    )
    st.button(
        f"Solve again for {here.n:,}",
        key="solve_again",
        on_click=_solve_again,
        args=(carried, here),
    )


def _cost(carried: Carried, n: int) -> str:
    target = carried.asked.target
    try:
        found = spent(target, carried.by, carried.mechanism(n))
    except ValueError as error:
        return f"where it cannot be used. {str(error).rstrip('.')}"
    return f"where it costs **{spoken(target.word, rounded(found.value, found.kind), found.kind)}**"


@uninterrupted
def _solve_again(carried: Carried, here: Data) -> None:
    """Solve again for the data that are here, with the same batch (or q) and epochs."""
    try:
        asked = _asked_again(carried, here.n)
        found = settable(asked, carried.by)
    except ValueError as error:
        st.session_state[UNSOLVED] = str(error)
        return
    if isinstance(found, str):
        st.session_state[UNSOLVED] = found
        return
    setting = replace(carried.setting, n=here.n, mechanism=found.mechanism)
    carry(found, asked, carried.by, setting)


def _asked_again(carried: Carried, n: int) -> Asked:
    """The question for n examples; ValueError where its fields make no mechanism for these."""
    asked = replace(carried.asked, n=n)
    if asked.solve not in ("sigma", "steps"):
        return asked
    mechanism = carried.mechanism(n)
    asked = replace(asked, q=mechanism.releases[0].q)
    return replace(asked, steps=mechanism.steps) if asked.solve == "sigma" else asked
