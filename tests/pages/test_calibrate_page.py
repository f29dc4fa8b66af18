"""The calibrate page, driven as a reader would: a target in, and the sigma, steps, batch or q that keeps it out."""

import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration.solve import sigma_for
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import risks_of
from dpcore.privacy.schedule import scheduled
from pages.parts.calibrate import epsilon_map, question
from pages.parts.controls.number import show
from tests.pages.explained_html import unexplained
from tests.pages.pairs import pairs
from tests.pages.read_page import number_in, typed
from tests.pages.sliders import slide
from tests.pages.test_accountants_page import charts, sentences

PAGE = Path(__file__).parents[2] / "pages" / "calibrate.py"
Q, STEPS = 256 / 10_000, 196  # the page's defaults
FAST = {"by": "rdp"}  # a closed form, for what does not depend on who counts
PAPER = {"n": "60000", "batch": "256", "sigma": "1.3", "epochs": "20"}


def opened(**query: str) -> AppTest:
    """The page under an address."""
    page = AppTest.from_file(PAGE, default_timeout=60)
    for name, value in query.items():
        page.query_params[name] = value
    return page.run()


def answer(page: AppTest) -> tuple[str, float]:
    """What was solved, and the large number."""
    assert not page.exception
    found = re.match(r"(\w+) = ([\d.,e-]+)", page.header[0].value)
    assert found
    return found[1], float(found[2].rstrip(",").replace(",", ""))


def spoken(page: AppTest) -> str:
    """The sentence below the large number."""
    return next(each.value for each in page.markdown if each.value.startswith("It gives"))


def tables(page: AppTest) -> list[str]:
    """Every HTML table on the page."""
    return [unexplained(each.proto.body) for each in page.get("html") if "<table" in each.proto.body]


def certified(sigma: float, q: float = Q, steps: int = STEPS) -> float:
    return float(ACCOUNTANTS["pld"].curve(Mechanism.constant(q, sigma, steps), steps, 1e-5).epsilon[0])


def test_it_opens_on_a_certified_sigma_that_keeps_the_target_and_is_close_to_the_last_one():
    page = opened()
    name, sigma = answer(page)
    assert (name, sentences(page)) == ("sigma", [])
    assert 0.995 * 3 < certified(sigma) <= 3 < certified(0.998 * sigma)
    assert "certified: the exact epsilon lies between" in spoken(page)


def test_moving_the_target_moves_the_answer_and_what_it_spends():
    page = opened(**FAST)
    before, said = answer(page)[1], spoken(page)
    slide(page, "target_epsilon", "1")
    assert page.text_input(key="target_epsilon").value == "1"
    assert answer(page)[1] > before
    assert spoken(page) != said
    assert number_in(r"epsilon ≤ ([\d.]+)", spoken(page)) <= 1


@pytest.mark.parametrize("solved", question.SOLVE)
def test_every_quantity_can_be_solved_and_its_answer_never_overshoots(solved: str):
    page = opened(solve=solved)
    name, value = answer(page)
    assert name == solved
    first = {"sigma": 1.23, "q": Q, "steps": STEPS} | {"q" if name == "batch" else name: value}
    if name == "batch":
        first["q"] = value / 10_000
    epsilon = certified(first["sigma"], first["q"], int(first["steps"]))
    assert 0.99 * 3 < epsilon <= 3
    assert "overshoots" in spoken(page)


@pytest.mark.parametrize("by", ACCOUNTANTS)
def test_every_accountant_keeps_the_target_by_its_own_count(by: str):
    _, sigma = answer(opened(by=by))
    spent = ACCOUNTANTS[by].curve(Mechanism.constant(Q, sigma, STEPS), STEPS, 1e-5).epsilon[0]
    assert 0.99 * 3 < spent <= 3


def test_an_advantage_and_a_mu_can_be_asked_for():
    _, sigma = answer(opened(target="advantage", target_advantage="0.2"))
    assert 0.195 < risks_of(tradeoff_bounds(Mechanism.constant(Q, sigma, STEPS)), 1e-5).advantage.upper <= 0.2
    _, sigma = answer(opened(target="mu", target_mu="1"))
    assert 0.99 < risks_of(tradeoff_bounds(Mechanism.constant(Q, sigma, STEPS)), 1e-5).mu.upper <= 1


def test_the_table_marks_an_answer_that_claims_less_than_is_proven():
    page = opened(by="gdp")
    table = tables(page)[0]
    for name in ACCOUNTANTS:
        sigma = sigma_for(EpsilonTarget(3, 1e-5), Q, STEPS, accountant=name).value
        assert f">{show(sigma)}</td>" in table
    row = next(each for each in table.split("<tr>") if "Gaussian DP" in each)
    assert "✕" in row
    assert "Claims more privacy than there is" in row
    assert any("Claims more privacy than there is" in each.proto.body for each in page.get("html")[:-2])
    assert "≈" in spoken(page)
    assert "approximation" in spoken(page)


def test_a_noise_schedule_is_solved_for_its_first_sigma():
    page = opened(schedule="exponential", rate_exponential="0.1", by="rdp")
    _, sigma = answer(page)
    mechanism = scheduled("exponential", Q, sigma, STEPS, 0.1)
    assert 0.99 * 3 < ACCOUNTANTS["rdp"].curve(mechanism, STEPS, 1e-5).epsilon[0] <= 3
    assert len(charts(page)) == 2  # the schedule, and the map


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"target_epsilon": "0"}, "Expected target_epsilon=0 to be finite and above 0. Showing 3."),
        ({"target_epsilon": "-1"}, "Expected target_epsilon=-1 to be finite and above 0. Showing 3."),
        ({"target_epsilon": "inf"}, "Expected target_epsilon=inf to be finite. Showing 3."),
        ({"target_epsilon": "three"}, "Expected target_epsilon=`three` to be a number. Showing 3."),
        ({"target": "advantage", "target_advantage": "1"}, "Expected target_advantage=1 in (0, 1). Showing 0.2."),
        ({"target": "advantage", "target_advantage": "0"}, "Expected target_advantage=0 in (0, 1). Showing 0.2."),
        ({"target": "mu", "target_mu": "-2"}, "Expected target_mu=-2 to be finite and above 0. Showing 1."),
        ({"target": "mu", "target_mu": "20"}, "Expected mu=20"),
    ],
)
def test_a_bad_target_is_a_sentence_and_the_rest_of_the_page_stays(query: dict[str, str], sentence: str):
    page = opened(**FAST, **query)
    assert sentences(page)[0].startswith(sentence)
    assert len(charts(page)) == 1
    assert "Moments accountant" in tables(page)[-1]


@pytest.mark.parametrize(
    ("query", "way_out"),
    [
        ({"solve": "sigma", "target_epsilon": "1e-9"}, "lower the steps or raise epsilon."),
        ({"solve": "steps", "target_epsilon": "0.001"}, "raise sigma, lower q, or raise epsilon."),
        ({"solve": "batch", "target_epsilon": "1e-6"}, "raise sigma, lower the steps, or raise epsilon."),
        ({"solve": "q", "sigma": "0.2", "target_epsilon": "1e-6"}, "raise sigma, lower the steps, or raise epsilon."),
        ({"target": "advantage", "target_advantage": "1e-9"}, "lower the steps or raise advantage."),
    ],
)
@pytest.mark.long
def test_a_target_out_of_reach_says_the_way_out_and_the_rest_of_the_page_stays(query: dict[str, str], way_out: str):
    page = opened(**FAST, **query)
    assert way_out in sentences(page)[0]
    assert not page.header
    assert len(charts(page)) == 1
    assert len(tables(page)) == 2


def test_a_delta_of_one_over_n_is_warned_about_not_refused():
    page = opened(delta="1e-3", **FAST)
    assert any("not below 1/n" in each.value for each in page.warning)
    assert answer(page)[0] == "sigma"
    assert not opened(**FAST).warning


def test_steps_that_are_no_whole_number_of_epochs_are_said():
    page = opened(solve="steps", **FAST)
    assert "epochs, not a whole number" in page.info[0].value
    assert not opened(**FAST).info


@pytest.mark.parametrize("solved", question.SOLVE)
def test_the_answer_can_be_loaded_and_then_spends_the_target(solved: str):
    page = opened(solve=solved, **FAST)
    _, value = answer(page)
    page.button(key="use").click().run()
    if solved == "sigma":
        assert typed(page, "sigma") == value
    if solved in ("batch", "q"):
        assert read_rate(page) == pytest.approx(value / 10_000 if solved == "batch" else value)
    if solved == "steps":
        assert any(f"{value:,.0f} steps" == each.value for each in page.caption)
    standing = next(each.value for each in page.caption if "Where the sliders are now" in each.value)
    spent = number_in(r"epsilon ≤ ([\d.]+): within", standing)
    assert 0.99 * 3 < spent <= 3.001
    assert answer(page)[1] == value


def read_rate(page: AppTest) -> float:
    """The sampling rate that the controls hold."""
    if page.segmented_control(key="sampling").value == "q":
        return typed(page, "q")
    return typed(page, "batch") / typed(page, "n")


def test_the_same_epsilon_takes_less_noise_as_in_paper_004():
    page = opened(**PAPER, by="gdp")
    table = tables(page)[-1]
    rows = {
        name: next(each for each in table.split("<tr>") if name in each) for name in ("Gaussian DP", "Certified band")
    }
    sigma = {name: number_in(r'data-label="sigma">([\d.]+)<', row) for name, row in rows.items()}
    assert round(sigma["Gaussian DP"], 2) == 1.06
    assert round(sigma["Certified band"], 2) == 1.09
    assert number_in(r'data-label="mu \(CLT\)">([\d.]+)<', rows["Gaussian DP"]) == pytest.approx(0.35, abs=5e-3)
    assert "✕" in rows["Gaussian DP"]
    assert "✓" in rows["Certified band"]
    assert "1.34" in table


@pytest.mark.parametrize("sigma", ["0.04", "0.01"])
@pytest.mark.long
def test_a_sigma_too_small_to_certify_leaves_the_page_alive(sigma: str):
    page = opened(sigma=sigma)
    assert sentences(page) == []
    assert answer(page)[0] == "sigma"
    assert len(tables(page)) == 1 or "no bound" in tables(page)[-1]


def test_who_counts_is_chosen_by_title_and_the_address_holds_the_id():
    page = opened(by="rdp")
    the_band_first = sorted(ACCOUNTANTS, key=lambda name: name != CERTIFIED)
    assert page.selectbox(key="by").options == [ACCOUNTANTS[name].title for name in the_band_first]
    page.selectbox(key="by").set_value("gdp").run()
    assert page.query_params["by"] == "gdp"


def test_each_cell_of_a_table_has_its_head_beside_it_where_the_screen_is_narrow():
    for table in tables(opened(**FAST)):
        heads = re.findall(r"<th scope=col class=number>(.*?)</th>", table)
        rows = table.split("<tr>")[2:]
        assert all(re.findall(r'data-label="(.*?)"', row) == heads for row in rows)
        assert all("data-label=Kind" in row for row in rows)


def test_the_papers_setting_is_one_click_away():
    page = opened(**FAST)
    next(each for each in page.button if each.label.startswith("Figure 4, top")).click().run()
    values = {key: page.text_input(key=key).value for key in ("n", "batch", "sigma", "epochs")}
    assert values == PAPER
    assert sentences(page) == []


@pytest.mark.parametrize(
    ("key", "text"),
    pairs(
        ["n", "batch", "sigma", "epochs", "delta", "target_epsilon"],
        ["abc", "", "0", "-1", "nan", "1e999", "9" * 39, "1e-300", "1e9"],
    ),
)
def test_nonsense_in_the_address_never_breaks_the_page(key: str, text: str):
    for error in sentences(opened(**{key: text}, **FAST)):
        assert error.startswith("Expected") or error.split(" ")[0] in ("No", "One", "Even")


def test_unknown_names_in_the_address_fall_back_to_the_defaults():
    page = opened(solve="tea", target="moon", by="rdp", schedule="sawtooth")
    assert sentences(page) == []
    assert answer(page)[0] == "sigma"


def test_the_map_shows_the_target_the_current_point_and_the_answer():
    page = opened(**FAST)
    figure = charts(page)[-1]
    names = [each.get("name") for each in figure["data"]]
    assert {"target", "now", "answer"} <= set(names)
    drawn = {each["name"]: (each["x"][0], each["y"][0]) for each in figure["data"] if each["name"] in ("now", "answer")}
    assert drawn["now"] == (pytest.approx(STEPS * Q), 1.23)
    assert drawn["answer"] == (pytest.approx(STEPS * Q), answer(page)[1])


def test_a_certified_map_that_nobody_has_seen_is_painted_after_a_proven_bound(monkeypatch: pytest.MonkeyPatch):
    epsilon_map._kept.cache_clear()
    painted: list[np.ndarray] = []
    draw = epsilon_map.heatmap_figure
    monkeypatch.setattr(
        epsilon_map, "heatmap_figure", lambda grid, *_, **more: painted.append(grid.epsilon) or draw(grid, *_, **more)
    )
    page = opened(by="pld")
    assert len(painted) == 2
    assert np.all(painted[0] >= painted[1])
    page.run()
    assert len(painted) == 3
    opened(by="gdp")
    assert len(painted) == 4


def test_the_statement_is_that_of_the_answer():
    page = opened(by="rdp")
    _, sigma = answer(page)
    page.session_state["statement_card"] = True
    page.run()
    text = page.code[0].value
    assert f"noise multiplier {sigma:.4g}" in text
    assert "by Rényi DP (proven upper bound)" in text
