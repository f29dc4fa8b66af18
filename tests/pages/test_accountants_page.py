"""The home page, driven as a reader would: through its widgets and its address."""

import re
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.figures.epsilon import OVERCLAIMED
from dpcore.figures.lab import NO_RUN
from dpcore.figures.style import DEFAULT_ACCOUNTANTS, style_of
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import marked
from pages.parts.results import attack
from pages.parts.train.settings_form import MORE
from tests.pages.explained_html import unexplained
from tests.pages.train_page import charts, opened_at

pytestmark = pytest.mark.usefixtures("store")


PAGE = Path(__file__).parents[2] / "pages" / "lab.py"


opened = partial(opened_at, PAGE)


def table(page: AppTest) -> str:
    """The verdict table's HTML."""
    return unexplained(
        next(each.proto.body for each in page.get("html") if "<table" in each.proto.body)
    )


def sentences(page: AppTest) -> list[str]:
    """Every error on the page."""
    assert not page.exception
    return [each.value for each in page.error]


def test_it_opens_on_four_accountants_the_certified_band_and_the_tradeoff_chart():
    page = opened()
    accuracy, epsilon, tradeoff = charts(page)
    assert [each["name"] for each in accuracy["data"]] == [NO_RUN]
    assert sentences(page) == []
    drawn = [style_of(name).label for name in DEFAULT_ACCOUNTANTS]
    assert [each["name"] for each in epsilon["data"]] == [
        *[OVERCLAIMED] * 2, "Proven lower bound", "Proven upper bound", *drawn
    ]  # fmt: skip
    assert [each["name"] for each in tradeoff["data"]] == [
        "Blind guessing", "Certified, at least", "Certified, at most", "G_mu (CLT), mu = 0.0910",
    ]  # fmt: skip
    for name in ("Moments accountant", "Rényi DP", "Certified band"):
        assert name in table(page)


def test_the_table_shows_what_the_accountants_say():
    page = opened(n="60000", batch="600", sigma="4", epochs="100")
    mechanism = Mechanism.constant(0.01, 4.0, 10_000)
    for name in ("moments", "rdp", "mma", "gdp", "pld"):
        end = ACCOUNTANTS[name].curve(mechanism, [10_000], 1e-5)
        assert (
            f'<td class=number data-label="Epsilon">{marked(end.epsilon[0], end.kind)}</td>'
            in table(page)
        )
    assert "1.26" in table(page)  # the paper's headline


def test_clipping_norm_and_optimizer_do_not_change_epsilon():
    page = opened()
    before = table(page)
    page.text_input(key="clip_norm").set_value("7").run()
    page.selectbox(key="optimizer").set_value("adam").run()
    assert table(page) == before
    assert any("Neither the clipping norm nor the optimizer" in each.value for each in page.caption)


def test_bad_input_names_the_thing_its_value_and_the_condition_and_the_page_lives():
    asked = {
        "sigma": "four",
        "delta": "1",
        "clip_norm": "0",
        "epochs": "-1",
        "sampling": "q",
        "q": "1.7",
    }
    page = opened(**asked)
    assert sentences(page) == [
        (
            "Noise multiplier sigma must be a number: write it like 0.5, 1e-5, 1/3 or 60,000."
            " Showing 4."
        ),
        "Sampling rate q must be above 0 and at most 1. Showing 256/10000.",
        "Epochs must be above 0. Showing 5.",
        "Clipping norm C must be at least 1e-09 and at most 1,000,000,000. Showing 0.1.",
        "Delta must be above 0 and below 1. Showing 1e-5.",
    ]
    assert len(charts(page)) == 3
    (said,) = sentences(opened(n="100"))
    assert said == "Expected batch must be at most n=100; lower the batch or raise n."
    (said,) = sentences(opened(sampling="q", q="1e-300"))
    assert said.startswith("Epochs must be at most 1,000,000,000 steps; lower the epochs")


def test_a_delta_of_one_over_n_is_warned_about():
    for delta, large in (("1e-5", False), ("1e-4", True)):
        page = opened(delta=delta)
        said = " ".join(each.proto.body for each in page.get("html"))
        assert ("not below 1/n" in said) is large
        assert ("smaller_delta" in [each.key for each in page.button]) is large
    page.button(key="smaller_delta").click().run()
    assert page.text_input(key="delta").value == "3.9e-5"


def test_a_schedule_that_runs_out_of_noise_says_so():
    page = opened(schedule="linear", rate_linear="0.5")
    assert "keep sigma from" in sentences(page)[0]
    assert sentences(page)[0].startswith("Rate k must ")
    assert sentences(page)[0].endswith("Lower k or the epochs.")
    assert [each.proto.expanded for each in page.expander if each.label == MORE] == [True]
    page.text_input(key="rate_linear").set_value("0.01").run()
    assert sentences(page) == []
    assert [each.proto.expanded for each in page.expander if each.label == MORE] == [True]


def test_switching_from_batch_to_q_and_from_epochs_to_steps_changes_no_number():
    page = opened(n="60000", batch="600")
    before = table(page)
    page.segmented_control(key="sampling").set_value("q").run()
    page.segmented_control(key="length").set_value("steps").run()
    assert page.text_input(key="q").value == "600/60000"
    assert table(page) == before


def test_an_accountant_without_an_answer_says_why_alone():
    page = opened(accountants="zcdp", sampling="q", q="1")  # its sampling form needs q sigma < 1
    assert sentences(page) == []
    assert "n/a, because" in table(page)
    assert "Certified" in table(page)


def test_the_statement_costs_nothing_shut_and_opens_with_the_pages_epsilon():
    assert not opened().code
    page = opened(session={"statement_card": True})
    low, high = re.findall(
        r"\*\*([\d.]+)\*\*",
        next(each.value for each in page.markdown if "Proven: " in each.value),
    )
    assert f"epsilon between {low} and {high} at delta = 1e-5" in page.code[0].value
    page.segmented_control(key="statement").set_value("Markdown").run()
    assert f"| Epsilon, delta | epsilon between {low} and {high}" in page.code[0].value


def test_where_no_noise_that_is_drawn_pays_for_the_change_no_number_is_shown():
    for sigma in ["0.04", "0.01"]:
        page = opened(sigma=sigma)
        assert sentences(page) == [], sigma
        assert any(
            each.value.startswith("No epsilon: noise is drawn up to") for each in page.markdown
        ), sigma
        assert not [each for each in page.get("html") if "<table" in each.proto.body], sigma
        assert attack.TRADEOFF not in [each.value for each in page.caption], sigma
