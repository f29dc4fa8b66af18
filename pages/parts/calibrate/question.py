"""The inverse question: its controls, and its answer by one accountant, as it can be set."""

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import Any

import streamlit as st

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration.solve import Answer, solve, verdict_on
from dpcore.privacy.calibration.targets import Target, target_of
from dpcore.privacy.mechanism import Mechanism, Reading
from dpcore.privacy.report.numbers import outward
from dpcore.privacy.schedule import Recipe
from dpcore.privacy.selection.best_of import FORMS, read_runs
from pages.parts.controls.fields import Line, labelled, own_quantity, read
from pages.parts.controls.mechanism import ChosenSetting
from pages.parts.controls.setting_form import setting_on_screen
from pages.parts.controls.url_state import fields_on_screen
from pages.parts.controls.widgets import BEST_OF as RUNS_LABEL
from pages.parts.controls.widgets import (
    MAX_BEST_OF_CHARS,
    accountant_choice,
    best_of_field,
    choice_of,
    number,
)

SOLVABLE = ("sigma", "steps", "batch", "q")
TARGET = "target_"  # the keys of its fields begin with it
BEST_OF = f"{TARGET}best_of"
NO_TARGET = "No answer yet: one field is marked, and says what it needs."
SIGMA_STEP = Decimal("0.01")  # of an answer, unless it is smaller than ten of them

EPSILON = own_quantity("target_epsilon")
ADVANTAGE = own_quantity("target_advantage")
MU = own_quantity("target_mu")
TARGET_FIELDS = {"epsilon": EPSILON, "advantage": ADVANTAGE, "mu": MU}


@dataclass(frozen=True)
class Asked:
    """A question; the solved quantity itself is 0, so that a cache does not depend on it."""

    solve: str
    target: Target
    recipe: Recipe
    n: int
    q: float
    sigma: float
    steps: int


def solved_choice() -> str:
    """Draw the choice of the solved quantity, and return it."""
    return choice_of(st, "Solve for", SOLVABLE, "solve")


def counted_by() -> str:
    """Draw the choice of the accountant that counts, and return it."""
    return accountant_choice("Counted by", "by")


def on_screen() -> tuple[Asked, str, ChosenSetting] | None:
    """The question, the accountant and the setting as the browser shows them; for a callback.

    None where the fields make no question.
    """
    setting = setting_on_screen()
    fields = fields_on_screen()
    if setting is None:
        return None
    solve = fields.texts.get("solve", SOLVABLE[0])
    by = fields.texts.get("by", CERTIFIED)
    kind = fields.texts.get("target", "epsilon")
    size = fields.number(TARGET_FIELDS[kind])
    runs = fields.texts.get(BEST_OF, "").strip()
    best_of = None
    try:
        if runs and kind == "epsilon":
            best_of = read_runs(runs)
        target = target_of({kind: size}, setting.delta, best_of)
    except ValueError:
        return None
    return asked_of(solve, target, setting), by, setting


def recipe_of(setting: ChosenSetting) -> Recipe:
    return Recipe(setting.schedule, setting.rate)


def target_controls(delta: float, rest: Any) -> Target | None:
    """Draw the target, and in the place of the `rest` of how many runs it is the best.

    None if their number cannot be read, which a sentence below its field says. Errors: ValueError
    says why there is no target of this size.
    """
    kind = choice_of(st, "Target", tuple(TARGET_FIELDS), "target")
    size = number(TARGET_FIELDS[kind])
    runs = None
    if kind == "epsilon":
        with rest:
            try:
                runs = best_of_field(BEST_OF)
            except ValueError as error:
                st.error(fault_of_runs(str(error)), icon=":material/edit:")
                return None
    return target_of({kind: size}, delta, runs)


def fault_of_runs(error: str) -> str:
    """The error about the number of runs, with the label of its field.

    >>> fault_of_runs("Expected runs=-2 to be a whole number from 1 to 100,000.")
    'Best of so many runs must be a whole number from 1 to 100,000.'
    >>> fault_of_runs("Expected mean=0.5 to be above 1 and at most 100,000.")
    'Best of so many runs: Expected mean=0.5 to be above 1 and at most 100,000.'
    """
    if FORMS in error:
        return f"{RUNS_LABEL} must be a whole number, such as 10, or a law, such as geometric:10."
    if error.startswith("Expected runs="):
        return labelled(error, Line(BEST_OF, RUNS_LABEL, "", MAX_BEST_OF_CHARS))
    return f"{RUNS_LABEL}: {error}"


def moved_target(target: Target, field: str, text: str) -> Target:
    """The target with this text in its field; ValueError for another field, or no target."""
    quantity = TARGET_FIELDS[target.word]
    if field != quantity.key:
        raise ValueError(f"Expected field={field[:40]!r} to be {quantity.key}.")
    return replace(target, **{target.word: read(quantity, text)})


def asked_of(solve: str, target: Target, setting: ChosenSetting) -> Asked:
    return Asked(
        solve,
        target,
        recipe_of(setting),
        setting.n,
        q=0.0 if solve in ("q", "batch") else setting.q,
        sigma=0.0 if solve == "sigma" else setting.sigma,
        steps=0 if solve == "steps" else setting.mechanism.steps,
    )


@lru_cache(maxsize=512)
def answer(asked: Asked, by: str) -> Answer | str:
    """The answer by one accountant, or a sentence that says what to change."""
    try:
        return solve(
            asked.solve,
            asked.target,
            q=asked.q,
            sigma=asked.sigma,
            steps=asked.steps,
            examples=asked.n,
            accountant=by,
            recipe=asked.recipe,
        )
    except (ValueError, RuntimeError) as error:
        return str(error)


@lru_cache(maxsize=512)
def settable(asked: Asked, by: str) -> Answer | str:
    """The answer, a sigma rounded up and a q rounded down to few digits, with the cost that it has.

    Steps and batches are whole. Where the rounded number would cost more than the target, since
    some formulas need a sigma that is not too large, the exact one stays.
    """
    found = answer(asked, by)
    if isinstance(found, str) or found.solved not in ("sigma", "q"):
        return found
    if found.solved == "sigma":
        value = sigma_above(found.value)
        mechanism = asked.recipe.mechanism(asked.q, value, asked.steps)
    else:
        value = float(outward(found.value, math.floor))
        mechanism = asked.recipe.mechanism(value, asked.sigma, asked.steps)
    reading = spent(asked.target, by, mechanism)
    if reading.value > asked.target.size:
        return found
    notes = tuple(note for note in found.notes if note != found.reading.note)
    if reading.note:
        notes = (reading.note, *notes)
    return replace(found, value=value, reading=reading, mechanism=mechanism, notes=notes)


def sigma_above(sigma: float) -> float:
    """The sigma rounded up to what a reader would set.

    >>> sigma_above(0.902509), sigma_above(1.1), sigma_above(0.02031)
    (0.91, 1.1, 0.0204)
    """
    if sigma < 10 * SIGMA_STEP:
        return float(outward(sigma, math.ceil))
    return float(Decimal(repr(float(sigma))).quantize(SIGMA_STEP, ROUND_CEILING))


judged = lru_cache(maxsize=512)(verdict_on)  # of an answer, computed once for all sessions


@lru_cache(maxsize=512)
def spent(target: Target, by: str, mechanism: Mechanism) -> Reading:
    """The cost of a mechanism by one accountant; infinite, with a note, where it has no answer."""
    try:
        return target.spent_by(ACCOUNTANTS[by], mechanism)
    except RuntimeError as error:
        return Reading(math.inf, None, ACCOUNTANTS[by].kind, str(error))
