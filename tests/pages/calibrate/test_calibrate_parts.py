"""What the calibrate page is made of, without a page: axes and cells of the map, texts of the
answer, its file.
"""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.schedule import Recipe
from pages.parts.calibrate import answers, epsilon_map, in_words, question
from pages.parts.calibrate.carried import loaded
from pages.parts.controls.fields import epochs_text, read
from pages.parts.controls.mechanism import EPOCHS, ChosenSetting
from pages.parts.results.exports import csv_of

Q, STEPS = 256 / 10_000, 196  # the page's defaults


def setting(sigma: float = 1.23, steps: int = STEPS, **more: object) -> ChosenSetting:
    """What the controls say."""
    values: dict = {"n": 10_000, "q": Q, "delta": 1e-5, "schedule": "constant", "rate": 0.0} | more
    mechanism = Recipe(values["schedule"], values["rate"]).mechanism(values["q"], sigma, steps)
    return ChosenSetting(mechanism=mechanism, sigma=sigma, **values)


def test_the_map_agrees_with_the_accountant_cell_by_cell():
    axes = epsilon_map.axes_of(setting(), "gdp")
    rows = list(epsilon_map.rows_of(axes, "gdp"))
    assert (len(rows), *rows[0].epsilon.shape) == (len(axes.sigmas), len(axes.steps)) == (40, 40)
    for i, j in ((0, 0), (17, 23), (39, 39)):
        mechanism = Mechanism.constant(Q, axes.sigmas[i], axes.steps[j])
        assert (
            rows[i].epsilon[j]
            == ACCOUNTANTS["gdp"].curve(mechanism, axes.steps[j], 1e-5).epsilon[0]
        )


def test_a_click_loads_the_cell_that_was_clicked():
    axes = epsilon_map.axes_of(setting(), "rdp")
    fields = epsilon_map.cell(axes, axes.epochs[12], axes.sigmas[7])
    assert float(fields["sigma"]) == axes.sigmas[7]
    assert (
        math.ceil(read(EPOCHS, fields["epochs"]) / Q - 1e-9)
        == axes.steps[12]
        == int(fields["steps"])
    )


@given(st.integers(1, 10**7), st.floats(1e-6, 1))
def test_epochs_written_for_steps_are_rounded_up_to_exactly_these(steps: int, q: float):
    assert math.ceil(float(epochs_text(steps, q)) / q - 1e-9) == steps


def test_a_claim_is_not_shown_with_the_sign_of_an_approximation_nor_of_a_bound():
    said = {}
    for name in ("mma", "gdp", "rdp"):
        found = solve("sigma", EpsilonTarget(2.0, 1e-5), q=Q, steps=1000, accountant=name)
        said[name] = in_words.sentence(found) + in_words.present_cost(setting(), found.target, name)
    assert said["mma"].count("a claimed epsilon of ") == 2
    assert "≈" not in said["mma"] + said["rdp"]
    assert "≤" not in said["mma"] + said["gdp"]
    assert said["gdp"].count("epsilon ≈ ") == said["rdp"].count("epsilon ≤ ") == 2


def test_the_loaded_fields_give_the_answers_mechanism():
    target = EpsilonTarget(2.0, 1e-5)
    for solved in question.SOLVABLE:
        now = setting(schedule="exponential", rate=0.05)
        found = question.answer(question.asked_of(solved, target, now), "rdp")
        assert not isinstance(found, str)
        fields = loaded(found, now)
        q = (
            float(fields["q"])
            if fields["sampling"] == "q"
            else float(fields["batch"]) / float(fields["n"])
        )
        steps = math.ceil(float(fields["epochs"]) / q - 1e-9)
        rate = float(fields["rate_exponential"])
        assert abs(float(fields["batch"]) / float(fields["n"]) - q) <= 0.5 / 10_000
        assert (
            Recipe("exponential", rate).mechanism(q, float(fields["sigma"]), steps)
            == found.mechanism
        )


def test_the_csv_of_the_map_has_a_row_for_each_cell_with_its_kind_and_lower_bound():
    axes = epsilon_map.axes_of(setting(), "pld")._replace(sigmas=(1.0, 2.0), steps=(10, 100, 200))
    cells = epsilon_map.cells_of(list(epsilon_map.rows_of(axes, "pld")), axes, "pld")
    rows = list(csv.DictReader(io.StringIO(csv_of(cells))))
    assert len(rows) == 6
    assert {row["kind"] for row in rows} == {"certified"}
    assert all(float(row["lower"]) <= float(row["epsilon"]) for row in rows)
    assert float(rows[1]["epochs"]) == pytest.approx(100 * Q)
    alone = ACCOUNTANTS["pld"].curve(Mechanism.constant(Q, 2.0, 100), 100, 1e-5)
    assert alone.lower is not None
    assert alone.lower[0] <= float(rows[4]["epsilon"])
    assert float(rows[4]["lower"]) <= alone.epsilon[0]


def test_what_an_answer_spends_is_never_rounded_below_it_nor_past_the_target():
    for target in [0.0301, 0.73, 2.99999]:
        asked = question.asked_of("sigma", EpsilonTarget(target, 1e-5), setting())
        for name in ACCOUNTANTS:
            found = question.settable(asked, name)
            if not isinstance(found, str):
                cell = answers.answer_row(asked, name).cells[1]
                assert found.reading.value <= float(cell) <= target, target


def test_a_row_whose_schedule_leaves_the_range_of_sigmas_is_empty_and_says_why():
    recipe = Recipe("step", 0.6)
    axes = epsilon_map.Axes((0.5, 10.0), (100, 28_000), 0.01, 1e-5, recipe)
    without, known = epsilon_map.rows_of(axes, "rdp")
    assert np.isinf(without.epsilon).all()
    assert without.note.startswith("Expected rate=0.6 to keep sigma from ")
    alone = ACCOUNTANTS["rdp"].curve(recipe.mechanism(0.01, 10.0, 28_000), axes.steps, 1e-5)
    assert known.epsilon.tolist() == alone.epsilon.tolist()
