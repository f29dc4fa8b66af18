"""The inverse question: its controls, its answer by one accountant, and the way to load that into
other pages.

A page that trains on other data says for how many examples a loaded answer is.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import ACCOUNTANTS, Kind
from dpcore.privacy.calibration.solve import Answer, solve, verdict_on
from dpcore.privacy.calibration.targets import Target, target_of
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.numbers import WORDS, nearest, outward, plain, raised, rounded, spoken
from dpcore.privacy.schedule import Recipe
from dpcore.privacy.selection.best_of import read_runs
from dpcore.training.slider_stops import show
from pages.parts.components.elements import LEAVING
from pages.parts.controls.data import Data, choose, nearest_here
from pages.parts.controls.fields import Fields, Options, epochs_text, own_quantity, read
from pages.parts.controls.mechanism import ChosenSetting, mechanism_of, rate_of, steps_of
from pages.parts.controls.setting_form import setting_on_screen
from pages.parts.controls.url_state import fill, good_texts, texts_on_screen
from pages.parts.controls.widgets import (
    accountant_choice,
    best_of_field,
    choice_of,
    number,
    the_band_first,
)
from pages.parts.shell.streamlit_internals import uninterrupted

SOLVABLE = ("sigma", "steps", "batch", "q")
TARGET = "target_"  # the keys of its fields begin with it
BEST_OF = f"{TARGET}best_of"
GO = "go"  # the page to open next
CARRIED = "answer_carried"
UNSOLVED = "answer_unsolved"  # why the last one could not be solved again
# Fields of a loaded answer.
COMPARED = ("sampling", "batch", "q", "sigma", "length", "epochs", "delta", "schedule")

EPSILON = own_quantity("target_epsilon")
ADVANTAGE = own_quantity("target_advantage")
MU = own_quantity("target_mu")
TARGET_FIELDS = {"epsilon": EPSILON, "advantage": ADVANTAGE, "mu": MU}


@dataclass(frozen=True)
class Asked:
    """A question; the solved quantity itself is 0, so that it makes no difference to a cache."""

    solve: str
    target: Target
    recipe: Recipe
    n: int
    q: float
    sigma: float
    steps: int


def solve_controls() -> tuple[str, str]:
    """Draw the choice of the solved quantity and of the accountant, and return both."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    solve = choice_of(row, "Solve for", SOLVABLE, "solve")
    with row.container(width=250):
        by = accountant_choice("Counted by", "by")
    return solve, by


def on_screen() -> tuple[Asked, str, ChosenSetting] | None:
    """The question, the accountant and the setting as the browser shows them; for a callback.

    None where the fields make no question.
    """
    setting, fields = setting_on_screen(), Fields(texts_on_screen(), good_texts())
    if setting is None:
        return None
    solve = fields.choice(Options("solve", "Solve for", SOLVABLE))
    by = fields.choice(Options("by", "Counted by", the_band_first()))
    kind = fields.choice(Options("target", "Target", tuple(TARGET_FIELDS)))
    size, runs = fields.number(TARGET_FIELDS[kind]), fields.texts.get(BEST_OF, "").strip()
    try:
        best_of = read_runs(runs) if runs and kind == "epsilon" else None
        target = target_of({kind: size}, setting.delta, best_of)
    except ValueError:
        return None
    return asked_of(solve, target, setting), by, setting


def recipe_of(setting: ChosenSetting) -> Recipe:
    return Recipe(setting.schedule, setting.rate)


def target_controls(delta: float) -> Target:
    """Draw the target; a ValueError says why there is none."""
    kind = choice_of(st, "Target", tuple(TARGET_FIELDS), "target")
    size = number(TARGET_FIELDS[kind])
    return target_of({kind: size}, delta, best_of_field(BEST_OF) if kind == "epsilon" else None)


def moved_target(target: Target, field: str, text: str) -> Target:
    """The target with this text in its field; ValueError for another field, or no target."""
    quantity = TARGET_FIELDS[target.word]
    if field != quantity.key:
        raise ValueError(f"Expected field={field[:40]!r} to be {quantity.key}.")
    return replace(target, **{target.word: read(quantity, text)})


def asked_of(solve: str, target: Target, setting: ChosenSetting) -> Asked:
    asked = Asked(
        solve,
        target,
        recipe_of(setting),
        setting.n,
        setting.q,
        setting.sigma,
        setting.mechanism.steps,
    )
    return replace(asked, **{"q" if solve == "batch" else solve: 0})


@lru_cache(maxsize=512)
def answer(asked: Asked, by: str) -> Answer | str:
    """The answer by one accountant, or a sentence that says what to change."""
    known = {
        "q": asked.q,
        "sigma": asked.sigma,
        "steps": asked.steps,
        "examples": asked.n,
        "recipe": asked.recipe,
    }
    try:
        return solve(asked.solve, asked.target, accountant=by, **known)
    except (ValueError, RuntimeError) as error:
        return str(error)


judged = lru_cache(maxsize=512)(verdict_on)  # of an answer, computed once for all sessions


@lru_cache(maxsize=512)
def spent(target: Target, by: str, mechanism: Mechanism) -> Reading:
    """The cost of a mechanism by one accountant; infinite, with a note, where it has no answer."""
    try:
        return target.spent_by(ACCOUNTANTS[by], mechanism)
    except RuntimeError as error:
        return Reading(math.inf, None, ACCOUNTANTS[by].kind, str(error))


def value_of(found: Answer) -> str:
    """The solved number, as a field takes it.

    >>> from dpcore.privacy.calibration.targets import EpsilonTarget
    >>> value_of(solve("steps", EpsilonTarget(1.0, 1e-5), q=0.01, sigma=4.0, steps=0, accountant="rdp"))
    '9,375'
    """
    return f"{found.value:,}" if found.solved in ("steps", "batch") else show(found.value)


def spent_text(found: Answer) -> str:
    """The cost of the answer, rounded up to three digits, but never past the target."""
    text = outward(found.reading.value, math.ceil)
    return text if float(text) <= found.target.size else show(found.target.size)


def headline(found: Answer) -> str:
    first, steps = found.mechanism.releases[0], found.mechanism.steps
    said = f"{found.solved} = {value_of(found)}"
    if found.solved == "steps":
        return f"{said}, or {epochs_text(steps, first.q)} epochs"
    return f"{said}, or q = {nearest(first.q)}" if found.solved == "batch" else said


def sentence(found: Answer) -> str:
    """The cost of the answer and the kind of that number."""
    target, reading = found.target, found.reading
    where = "" if target.at is None else f" at delta = {plain(raised(target.at))}"
    cost = spent_text(found)
    text = (
        f"It gives **{spoken(target.word, cost, reading.kind)}**, within the target of"
        f" {target.size:g}{where}"
    )
    if reading.kind is Kind.CERTIFIED and reading.lower is not None:
        text += (
            f". The exact {target.word} lies between {outward(reading.lower, math.floor)} and"
            f" {cost}."
        )
    else:
        text += f" ({ACCOUNTANTS[found.accountant].title}: {WORDS[reading.kind]})."
    if found.beyond is None:
        return text
    beyond = f"{found.beyond:,.0f}" if found.solved in ("steps", "batch") else show(found.beyond)
    return f"{text} At {found.solved} = {beyond}, {target.word} already exceeds the target."


def standing(setting: ChosenSetting, target: Target, by: str) -> str:
    """The cost of the present setting, beside the target."""
    now = spent(target, by, setting.mechanism)
    here = f"sigma = {setting.sigma:g}, q = {nearest(setting.q)}, {setting.mechanism.steps:,} steps"
    if math.isinf(now.value):
        return f"This accountant has no {target.word} for your present setting ({here})."
    held = "over the target" if now.value > target.size else "within the target"
    cost = spoken(target.word, outward(now.value, math.ceil), now.kind)
    return f"Your present setting ({here}) gives {cost}, {held}."


def loaded(found: Answer, setting: ChosenSetting) -> dict[str, str]:
    """The fields of the answer, as texts that give the same mechanism on every page."""
    first, steps = found.mechanism.releases[0], found.mechanism.steps
    fields = {"n": show(setting.n), "sigma": show(first.sigma), "delta": show(setting.delta)}
    batch = max(1, round(first.q * setting.n))  # the nearest one, for a page that knows no q
    exact = batch / setting.n == first.q
    fields |= {"sampling": "batch" if exact else "q", "batch": show(batch), "q": show(first.q)}
    fields |= {
        "length": "epochs",
        "epochs": epochs_text(steps, first.q),
        "schedule": setting.schedule,
    }
    if setting.schedule != "constant":
        fields[f"rate_{setting.schedule}"] = show(setting.rate)
    return fields


@uninterrupted
def load(fields: Mapping[str, str], go: str = "") -> None:
    """Set the controls, and note the page to open next, if any; for a callback."""
    fill(fields)
    st.session_state[GO] = go


def move_on() -> None:
    """Open the page that `load` has noted."""
    if go := st.session_state.pop(GO, ""):
        # None would be refused: the controls hold on to the address.
        st.switch_page(go, query_params={LEAVING: "1"})


@dataclass(frozen=True)
class Carried:
    """A loaded answer: the question, the accountant, the setting, and the fields that it has set."""

    asked: Asked
    by: str
    setting: ChosenSetting
    fields: dict[str, str]

    @property
    def stands(self) -> bool:
        """True while the controls still say it."""
        unused = "q" if self.fields["sampling"] == "batch" else "batch"
        texts = {key: self.fields[key] for key in COMPARED if key != unused}
        return all(st.session_state.get(key, text) == text for key, text in texts.items())

    def mechanism(self, n: int) -> Mechanism:
        """The mechanism of the same fields for n examples; ValueError where there is none."""
        fields = self.fields
        q = (
            rate_of(float(fields["batch"]), n)
            if fields["sampling"] == "batch"
            else float(fields["q"])
        )
        steps = steps_of(float(fields["epochs"]), q)
        return mechanism_of(
            self.setting.schedule, q, float(fields["sigma"]), steps, self.setting.rate
        )


@uninterrupted
def carry(found: Answer, asked: Asked, by: str, setting: ChosenSetting, go: str = "") -> None:
    """Set the controls to an answer, and choose data of its size, if they are here; for a callback."""
    fields = loaded(found, setting)
    st.session_state[CARRIED] = Carried(asked, by, setting, fields)
    choose(setting.n)
    load(fields, go)


@uninterrupted
def carry_shown(go: str = "") -> None:
    """Carry the answer to what the controls ask now; for a callback.

    Where they ask for none, the page says why.
    """
    shown = on_screen()
    found = answer(*shown[:2]) if shown else ""
    if shown and not isinstance(found, str):
        carry(found, *shown, go)


def tell_other_data(data: Data) -> None:
    """Say that the loaded answer is for other data; draw its cost here and a button that solves
    again.
    """
    if problem := st.session_state.pop(UNSOLVED, ""):
        st.error(problem)
    carried = st.session_state.get(CARRIED)
    if carried is None or not carried.stands or (data.here and data.n == carried.setting.n):
        return
    here = data if data.here else nearest_here(carried.setting.n)
    name = f"{DATASETS[here.dataset].title}, {here.source}"
    st.warning(
        f"This answer is for {carried.setting.n:,} examples; {name}, has {here.n:,},"
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
