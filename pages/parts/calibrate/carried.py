"""An answer on a page that trains: it names the number of examples that it is for, where the data there are others."""

from dataclasses import dataclass, replace

import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.calibration.solve import Answer
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import rounded, spoken
from pages.parts.calibrate.question import Asked, answer, load, loaded, spent
from pages.parts.controls.data import Data, choose, nearest_here
from pages.parts.controls.mechanism import Setting, mechanism_of, rate_of, steps_of
from pages.parts.shell.streamlit_internals import uninterrupted

CARRIED = "answer_carried"
UNSOLVED = "answer_unsolved"
COMPARED = ("sampling", "batch", "q", "sigma", "length", "epochs", "delta", "schedule")  # of the fields it has set


@dataclass(frozen=True)
class Carried:
    """An answer that was taken to the controls: what was asked of whom, at which setting, and the fields it has set."""

    asked: Asked
    by: str
    setting: Setting
    fields: dict[str, str]

    @property
    def stands(self) -> bool:
        """Whether the controls still say it."""
        unused = "q" if self.fields["sampling"] == "batch" else "batch"
        texts = {key: self.fields[key] for key in COMPARED if key != unused}
        return all(st.session_state.get(key, text) == text for key, text in texts.items())

    def mechanism(self, n: int) -> Mechanism:
        """What the same fields mean for n examples; ValueError where they mean nothing."""
        fields = self.fields
        q = rate_of(float(fields["batch"]), n) if fields["sampling"] == "batch" else float(fields["q"])
        steps = steps_of(float(fields["epochs"]), q)
        return mechanism_of(self.setting.schedule, q, float(fields["sigma"]), steps, self.setting.rate)


@uninterrupted
def carry(found: Answer, asked: Asked, by: str, setting: Setting, go: str = "") -> None:
    """Set the controls to an answer, and the data to some that it is for, if they are here; for a callback."""
    fields = loaded(found, setting)
    st.session_state[CARRIED] = Carried(asked, by, setting, fields)
    choose(setting.n)
    load(fields, go)


def tell_other_data(data: Data) -> None:
    """Say that the answer in the controls is for other data, with what it costs here and a way to solve it again."""
    if problem := st.session_state.pop(UNSOLVED, ""):
        st.error(problem)
    carried = st.session_state.get(CARRIED)
    if carried is None or not carried.stands or (data.here and data.n == carried.setting.n):
        return
    here = data if data.here else nearest_here(carried.setting.n)
    name = f"{DATASETS[here.dataset].title}, {here.source}"
    st.warning(f"This answer is for {carried.setting.n:,} examples; {name}, has {here.n:,}, {_cost(carried, here.n)}.")
    st.button(f"Solve again for {here.n:,}", key="solve_again", on_click=_solve_again, args=(carried, here))


def _cost(carried: Carried, n: int) -> str:
    target = carried.asked.target
    try:
        found = spent(target, carried.by, carried.mechanism(n))
    except ValueError as error:
        return f"where it cannot be used. {str(error).rstrip('.')}"
    return f"where it costs **{spoken(target.word, rounded(found.value, found.kind), found.kind)}**"


@uninterrupted
def _solve_again(carried: Carried, here: Data) -> None:
    """Ask the same of the data that are here: batch (or q) and epochs stay, where they are not what is solved."""
    asked = replace(carried.asked, n=here.n)
    try:
        if asked.solve in ("sigma", "steps"):
            mechanism = carried.mechanism(here.n)
            steps = mechanism.steps if asked.solve == "sigma" else 0
            asked = replace(asked, q=mechanism.releases[0].q, steps=steps)
        found = answer(asked, carried.by)
    except ValueError as error:
        found = str(error)
    if isinstance(found, str):
        st.session_state[UNSOLVED] = found
        return
    carry(found, asked, carried.by, replace(carried.setting, n=here.n, mechanism=found.mechanism))
