"""The calibrate page, driven as a reader would: a target in, and the sigma, steps, batch or q that
keeps it out.
"""

import re
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.calibration.solve import solve
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import risks_of
from dpcore.privacy.selection.best_of import read_runs
from dpcore.training.slider_stops import show
from pages.parts.calibrate import epsilon_map, question
from tests.pages.explained_html import unexplained
from tests.pages.test_accountants_page import sentences
from tests.pages.train_page import charts, opened_at

PAGE = Path(__file__).parents[2] / "pages" / "calibrate.py"
Q, STEPS = 256 / 10_000, 196  # the page's defaults
FAST = {"by": "rdp"}  # a closed form, for what does not depend on who counts
opened = partial(opened_at, PAGE)


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
    return [
        unexplained(each.proto.body) for each in page.get("html") if "<table" in each.proto.body
    ]


def certified(sigma: float, q: float = Q, steps: int = STEPS) -> float:
    return float(
        ACCOUNTANTS["pld"].curve(Mechanism.constant(q, sigma, steps), steps, 1e-5).epsilon[0]
    )


def test_it_opens_on_a_certified_sigma_that_keeps_the_target_and_is_close_to_the_last_one():
    page = opened()
    name, sigma = answer(page)
    assert (name, sentences(page)) == ("sigma", [])
    assert sigma == round(sigma, 2)
    assert certified(sigma) <= 3 < certified(sigma - 0.01)
    exact = solve("sigma", EpsilonTarget(3.0, 1e-5), q=Q, steps=STEPS).value
    assert f"Exactly: sigma = {show(exact)}." in spoken(page)
    assert "The exact epsilon lies between" in spoken(page)


@pytest.mark.parametrize("name", ["calibrate", "tradeoff"])
def test_the_question_comes_before_what_to_start_from(name: str):
    page = opened_at(PAGE.with_name(f"{name}.py"), **FAST)
    labels = [getattr(each, "label", "") for each in page.main]
    asked = ("Solve for", "Target") if name == "calibrate" else ("Noise multiplier sigma",)
    for label in (*asked, "Delta"):
        found = [place for place, each in enumerate(labels) if each.startswith(label)]
        assert found[0] < labels.index("Start from"), label


def test_the_epsilon_beside_a_rounded_answer_is_that_of_the_rounded_answer():
    said = re.search(r"epsilon ≤ ([\d.]+)", spoken(opened()))
    assert said
    shown = float(said[1])
    assert certified(0.91) <= shown < certified(0.902509) - 0.02


def test_the_answer_covers_the_choice_of_the_best_run_if_it_is_asked_to():
    one, about_one = opened(**FAST), "the best attacker is right for"
    _, alone = answer(one)
    page = opened(**FAST, target_best_of="geometric:10")
    _, sigma = answer(page)
    target = EpsilonTarget(3.0, 1e-5, read_runs("geometric:10"))
    exact = solve("sigma", target, q=Q, steps=STEPS, accountant="rdp").value
    assert exact <= sigma < exact + 0.01
    assert sigma > 1.1 * alone
    told = [each.value for each in (*page.caption, *page.info, *page.warning, *page.markdown)]
    shown = [any(about_one in each.proto.body for each in some.get("html")) for some in (one, page)]
    assert shown == [True, False]
    assert any(
        "covers the best of a secret number of runs, geometric with mean 10" in each
        for each in told
    )
    assert "alone" in opened(**FAST, target_best_of="10", sampler="shuffle").info[0].value
    assert "such as geometric:10" in opened(**FAST, target_best_of="many:3").error[0].value


@pytest.mark.parametrize("runs", ["-2", "1.5", "1e12", "abc", "geometric:0.5"])
def test_a_bad_number_of_runs_is_a_sentence_below_its_field_that_names_it(runs: str):
    page = opened(**FAST, target_best_of=runs)
    (fault,) = sentences(page)
    assert fault.startswith("Best of so many runs")
    assert question.NO_TARGET in [each.value for each in page.info]
    assert not page.header


@pytest.mark.parametrize("solved", ["batch", "q"])
def test_an_answer_for_so_many_steps_says_how_many_epochs_these_become(solved: str):
    page = opened(**FAST, solve=solved)
    (held,) = [each.value for each in page.markdown if each.value.startswith("Held: ")]
    first = re.fullmatch(
        rf"Held: 196 steps. With this {solved} they are \*\*([\d.]+) epochs\*\*, not 5 epochs.",
        held,
    )
    assert first
    assert not [each for each in page.info if "not a whole number" in each.value]
    page.button(key="use").click().run()
    assert page.text_input(key="epochs").value == first[1]
    assert f"they are **{first[1]} epochs**." in "".join(each.value for each in page.markdown)


def test_an_answer_that_is_the_present_setting_has_one_mark_and_one_word():
    page = opened(**FAST)
    page.button(key="use").click().run()
    names = [each.get("name") for each in charts(page)[-1]["data"]]
    assert "now: the answer" in names
    assert not {"now", "answer"} & set(names)


def test_the_map_says_what_lies_beyond_it():
    def caption(**query: str) -> str:
        page = opened(**FAST, **query)
        return next(each.value for each in page.caption if "Click a point" in each.value)

    assert "The thick line is the target. Click" in caption()
    assert "The target lies beyond this map." in caption(target_epsilon="1e-4")
    assert "The answer lies beyond this map." in caption(solve="steps", target_epsilon="20")


def test_every_quantity_can_be_solved_and_its_answer_never_overshoots():
    for solved in question.SOLVABLE:
        page = opened(solve=solved)
        name, value = answer(page)
        assert name == solved, solved
        first = {"sigma": 4.0, "q": Q, "steps": STEPS} | {"q" if name == "batch" else name: value}
        if name == "batch":
            first["q"] = value / 10_000
        epsilon = certified(first["sigma"], first["q"], int(first["steps"]))
        assert 0.98 * 3 < epsilon <= 3, solved
        end = "Exactly: " if solved in ("sigma", "q") else "exceeds the target"
        assert end in spoken(page), solved


def test_an_advantage_and_a_mu_can_be_asked_for():
    _, sigma = answer(opened(target="advantage", target_advantage="0.2"))
    assert (
        0.19
        < risks_of(tradeoff_bounds(Mechanism.constant(Q, sigma, STEPS)), 1e-5).advantage.upper
        <= 0.2
    )
    _, sigma = answer(opened(target="mu", target_mu="1"))
    assert 0.97 < risks_of(tradeoff_bounds(Mechanism.constant(Q, sigma, STEPS)), 1e-5).mu.upper <= 1


def test_the_table_marks_an_answer_that_claims_less_than_is_proven():
    page = opened(by="gdp", session={"all_answers": True})
    short, table = tables(page)[:2]
    assert short.count("<tr") == 3  # the head, the certified answer, and the chosen accountant's
    for name in ACCOUNTANTS:
        sigma = solve("sigma", EpsilonTarget(3, 1e-5), q=Q, steps=STEPS, accountant=name).value
        assert f">{show(question.sigma_above(sigma))}</td>" in table
    row = next(each for each in table.split("<tr>") if "Gaussian DP" in each)
    assert "✕" in row
    assert "Unsafe: " in row
    assert any("Unsafe: " in each.proto.body for each in page.get("html")[:-1])
    assert "≈" in spoken(page)
    assert "approximation" in spoken(page)


def test_a_bad_target_is_a_sentence_and_the_rest_of_the_page_stays():
    for query, sentence in (
        ({"target_epsilon": "inf"}, "Target epsilon must be a number: write it like"),
        (
            {"target": "advantage", "target_advantage": "1"},
            "Target advantage must be above 0 and below 1. Showing 0.2.",
        ),
        ({"target": "mu", "target_mu": "20"}, "Target mu must "),
    ):
        page = opened(**FAST, **query, session={"less_noise": True})
        assert sentences(page)[0].startswith(sentence), (query, sentence)
        assert len(charts(page)) == 1, (query, sentence)
        assert "Moments accountant" in tables(page)[-1], (query, sentence)


def test_the_map_shows_the_target_the_current_point_and_the_answer():
    page = opened(**FAST)
    figure = charts(page)[-1]
    names = [each.get("name") for each in figure["data"]]
    assert {"target", "now", "answer"} <= set(names)
    drawn = {
        each["name"]: (each["x"][0], each["y"][0])
        for each in figure["data"]
        if each["name"] in ("now", "answer")
    }
    assert drawn["now"] == (pytest.approx(STEPS * Q), 4.0)
    assert drawn["answer"] == (pytest.approx(STEPS * Q), answer(page)[1])


def test_the_solved_field_is_folded_and_its_place_says_that_it_is_being_solved():
    for solved, key in (("sigma", "sigma"), ("steps", "epochs"), ("q", "batch")):
        page = opened(**FAST, solve=solved)
        (folded,) = [each for each in page.expander if each.label.startswith("Your present")]
        assert key in [each.key for each in folded.text_input], solved
        assert f"**{solved}** is being solved." in [each.value for each in page.markdown]


def test_a_quick_bound_stands_on_the_map_until_the_certified_one_is_computed(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(epsilon_map, "follows", lambda: True)
    page = opened(sigma="1.77", q="0.017", sampling="q")
    assert epsilon_map.WAITING in [each.value for each in page.caption]
    assert {"target", "now", "answer"} <= {each.get("name") for each in charts(page)[-1]["data"]}
