"""The home page, driven as a reader would: through its widgets and its address."""

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.figures.epsilon import LIE
from dpcore.figures.lab import NO_RUN
from dpcore.figures.style import DEFAULT_ACCOUNTANTS, style_of
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.kinds import marked
from dpcore.privacy.schedule import SCHEDULES
from pages.parts.controls.mechanism import UNCHANGED
from pages.parts.lab import lab_chart as chart
from pages.parts.train.form import MORE
from tests.pages.explained_html import sure, unexplained
from tests.pages.sliders import slide, slider_data

pytestmark = pytest.mark.usefixtures("store")
PAGE = Path(__file__).parents[2] / "pages" / "accountants.py"
NONSENSE = ["abc", "", "0", "-1", "nan", "inf", "-inf", "1e999", "1/0", "☃", "<b>4</b>", "9" * 400, "1e-400", "0x10"]


def opened(**query: str) -> AppTest:
    """The page under an address."""
    page = AppTest.from_file(PAGE, default_timeout=30)
    for name, value in query.items():
        page.query_params[name] = value
    return page.run()


def charts(page: AppTest) -> list[dict]:
    """The plotly figures on the page, as dictionaries."""
    return [json.loads(each.proto.spec) for each in page.get("plotly_chart")]


def table(page: AppTest) -> str:
    """The verdict table's HTML."""
    return unexplained(next(each.proto.body for each in page.get("html") if "<table" in each.proto.body))


def sentences(page: AppTest) -> list[str]:
    """Every error on the page."""
    assert not page.exception
    return [each.value for each in page.error]


@pytest.mark.parametrize("schedule", ["constant", "exponential"])
def test_a_rate_whose_inverse_no_float_holds_is_refused_in_a_sentence(schedule: str):
    page = opened(sampling="q", q="1e-310", length="steps", steps="100", schedule=schedule)
    assert len(sentences(page)) == 1
    assert "q=1e-310" in sentences(page)[0]


@pytest.mark.parametrize("query", [{}, {"sigma": "1.37", "epochs": "3"}])
def test_every_slider_stands_at_the_value_of_its_field_in_every_run(query: dict[str, str]):
    page = opened(**query)
    for _ in range(2):
        sliders = slider_data(page)
        assert len(sliders) >= 4
        assert all(each["value"] == page.text_input(key=name).value for name, each in sliders.items())
        assert all(each["value"] in each["stops"] for each in sliders.values())
        page.run()


def test_it_opens_on_four_accountants_the_certified_band_and_the_tradeoff_chart():
    page = opened()
    epsilon, tradeoff = charts(page)
    assert sentences(page) == []
    drawn = [style_of(name).label for name in DEFAULT_ACCOUNTANTS]
    assert [each["name"] for each in epsilon["data"]] == [
        "Proven lower bound", "Proven upper bound", *drawn, LIE, NO_RUN
    ]  # fmt: skip
    assert [each["name"] for each in tradeoff["data"]] == [
        "Blind guessing", "Certified, at least", "Certified, at most", "G_mu (CLT), mu = 0.347",
    ]  # fmt: skip
    for name in ("Moments accountant", "Rényi DP", "Certified band"):
        assert name in table(page)


def test_the_table_shows_what_the_accountants_say():
    page = opened(n="60000", batch="600", sigma="4", epochs="100")
    mechanism = Mechanism.constant(0.01, 4.0, 10_000)
    for name in ("moments", "rdp", "mma", "gdp", "pld"):
        end = ACCOUNTANTS[name].curve(mechanism, [10_000], 1e-5)
        assert f'<td class=number data-label="Epsilon">{marked(end.epsilon[0], end.kind)}</td>' in table(page)
    assert "1.26" in table(page)  # the paper's headline


def test_the_chart_has_a_hundred_points_and_ends_at_the_last_step():
    page = opened(sampling="q", q="0.01", length="steps", steps="10000")
    xs = charts(page)[0]["data"][0]["x"]
    xs = xs if isinstance(xs, list) else decoded(xs)
    assert len(xs) == 100
    assert xs[-1] == pytest.approx(100.0)


def decoded(array: dict) -> list[float]:
    """Plotly's base64 form of an array."""
    return np.frombuffer(base64.b64decode(array["bdata"]), dtype=array["dtype"]).tolist()


def test_the_slider_sets_the_exact_field_and_the_field_moves_the_slider():
    page = opened()
    slide(page, "sigma", "2")
    assert page.text_input(key="sigma").value == "2"
    page.text_input(key="sigma").set_value("3.14159").run()
    assert slider_data(page)["sigma"]["value"] == "3.14159"
    assert sentences(page) == []


def test_more_noise_means_less_epsilon():
    values = []
    for sigma in ("1", "2", "4"):
        found = re.search(r'Certified band.*?data-label="Epsilon">≤ ([\d.]+)</td>', table(opened(sigma=sigma)))
        assert found
        values.append(float(found[1]))
    assert values[0] > values[1] > values[2]


def test_clipping_norm_and_optimizer_do_not_change_epsilon():
    page = opened()
    before = table(page)
    page.text_input(key="clip_norm").set_value("7").run()
    page.selectbox(key="optimizer").set_value("adam").run()
    assert table(page) == before
    assert any("Neither the clipping norm nor the optimizer" in each.value for each in page.caption)


@pytest.mark.parametrize("key", ["n", "batch", "sigma", "epochs", "delta", "clip_norm"])
@pytest.mark.parametrize("text", NONSENSE)
@pytest.mark.long
def test_nonsense_in_the_address_is_one_sentence_about_it_and_the_page_lives(key: str, text: str):
    if (key, text) in {("n", "9" * 400)}:
        text = "9" * 39  # a field takes forty characters
    page = opened(**{key: text})
    errors = sentences(page)
    assert all(re.match(rf"Expected (rate_)?{key}=", each) or "batch" in each or "steps" in each for each in errors)
    if text in {"abc", "nan", "1/0", "☃", "<b>4</b>", "0x10", "-1", "inf"}:
        assert len(errors) == 1
        assert charts(page)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"sampling": "q", "q": "1.7"}, "Expected q=1.7 in (0, 1]. Showing 256/10000."),
        ({"sigma": "0"}, "Expected sigma=0 to be finite and above 0. Showing 1.23."),
        ({"sigma": "four"}, "Expected sigma=`four` to be a number. Showing 1.23."),
        ({"delta": "1"}, "Expected delta=1 in (0, 1). Showing 1e-5."),
        ({"delta": "1e-320"}, "Expected delta=1e-320 to be at least 1e-60: what is less likely leaves the"),
        ({"length": "steps", "steps": "2.5"}, "Expected steps=2.5 to be a whole number of at least 1"),
        ({"sampling": "q", "q": "1e-300"}, "Expected epochs=5 to be at most 1,000,000,000 steps; lower the epochs"),
        ({"n": "100"}, "Expected batch=256 to be at most n=100; lower the batch or raise n."),
    ],
)
def test_bad_input_names_the_thing_its_value_and_the_condition(query: dict[str, str], sentence: str):
    assert sentences(opened(**query))[0].startswith(sentence)


def test_unknown_names_in_the_address_fall_back_to_the_defaults():
    page = opened(schedule="sawtooth", optimizer="lion", sampling="dice", accountants="tarot", against="time", foo="1")
    assert sentences(page) == []
    assert len(charts(page)) == 2
    assert "Moments accountant" in table(page)


def test_a_field_gone_wrong_keeps_the_last_good_value():
    page = opened()
    page.text_input(key="sigma").set_value("5").run()
    page.text_input(key="sigma").set_value("5..").run()
    assert sentences(page) == ["Expected sigma=`5..` to be a number. Showing 5."]


def test_a_delta_of_one_over_n_is_warned_about():
    assert not opened(delta="1e-5").warning
    assert "not below 1/n" in opened(delta="1e-4").warning[0].value


@pytest.mark.parametrize("schedule", [name for name, each in SCHEDULES.items() if each.rate])
def test_a_noise_schedule_has_its_own_plot(schedule: str):
    page = opened(schedule=schedule)
    assert sentences(page) == []
    assert len(charts(page)) == 3


@pytest.mark.parametrize(("epochs", "told"), [("10", True), ("12", False)])
def test_a_schedule_that_does_not_change_within_the_run_says_so(epochs: str, told: bool):
    page = opened(schedule="delayed", epochs=epochs, batch="1000", accountants="rdp")
    assert sentences(page) == []
    assert (UNCHANGED in [each.value for each in page.caption]) == told


def test_a_schedule_that_runs_out_of_noise_says_so():
    page = opened(schedule="linear", rate_linear="0.5")
    assert "keep sigma from" in sentences(page)[0]
    assert sentences(page)[0].startswith("Expected rate k=0.5 ")
    assert sentences(page)[0].endswith("Lower k or the epochs.")
    assert [each.proto.expanded for each in page.expander if each.label == MORE] == [True]
    page.text_input(key="rate_linear").set_value("0.01").run()
    assert sentences(page) == []
    assert [each.proto.expanded for each in page.expander if each.label == MORE] == [True]


def test_a_schedule_with_too_many_levels_says_how_many_fit():
    page = opened(schedule="exponential", epochs="5000", rate_exponential="1e-4")
    assert sentences(page) == ["Expected epochs=5,000 to be at most 2,000 where sigma changes with every epoch."]


def test_where_the_band_is_slow_the_cheap_curves_are_painted_first(monkeypatch: pytest.MonkeyPatch):
    painted: list[set[str]] = []
    draw = chart.lab_figure
    monkeypatch.setattr(
        chart, "lab_figure", lambda curves, *_, **more: painted.append({*curves}) or draw(curves, *_, **more)
    )
    opened(schedule="exponential", epochs="20", accountants="rdp")
    assert painted == [{"rdp"}, {"rdp", "pld"}]


def test_the_other_view_is_delta_against_epsilon():
    page = opened(against="delta")
    profile = charts(page)[0]
    assert profile["layout"]["yaxis"]["type"] == "log"
    assert sentences(page) == []


def test_switching_from_batch_to_q_and_from_epochs_to_steps_changes_no_number():
    page = opened(n="60000", batch="600")
    before = table(page)
    page.segmented_control(key="sampling").set_value("q").run()
    page.segmented_control(key="length").set_value("steps").run()
    assert page.text_input(key="q").value == "600/60000"
    assert table(page) == before


@pytest.mark.long
def test_every_preset_fills_the_fields_and_is_recognised():
    page = opened()
    for name in page.selectbox(key="preset").options[1:]:
        page.selectbox(key="preset").set_value(name).run()
        assert sentences(page) == [], name
        assert page.selectbox(key="preset").value == name
    page.text_input(key="sigma").set_value("1.2345").run()
    assert page.selectbox(key="preset").value == "My own settings"


def test_an_accountant_without_an_answer_says_why_alone():
    page = opened(accountants="zcdp", sampling="q", q="1")  # its sampling form needs q sigma < 1
    assert sentences(page) == []
    assert "n/a, because" in table(page)
    assert "Certified" in table(page)


def test_no_accountant_chosen_leaves_the_band():
    page = opened()
    page.pills(key="accountants").set_value([]).run()
    assert sentences(page) == []
    drawn = [each["name"] for each in charts(page)[0]["data"]]
    assert drawn == ["Proven lower bound", "Proven upper bound", LIE, NO_RUN]
    assert page.query_params["accountants"] == ""


def test_the_small_chart_moves_with_the_sliders_and_has_a_table_and_a_sentence_of_its_own():
    page = AppTest.from_file(PAGE, default_timeout=30)
    page.session_state["tradeoff_table"] = True
    page.run()
    before = page.dataframe[0].value["Certified, at least"].to_numpy()
    told = sure(page)
    slide(page, "sigma", "3")
    after = page.dataframe[0].value["Certified, at least"].to_numpy()
    assert np.all(after[1:-1] > before[1:-1])
    assert sure(page) < told


def test_the_statement_costs_nothing_shut_and_opens_with_the_pages_epsilon():
    assert not opened().code
    page = AppTest.from_file(PAGE, default_timeout=30)
    page.session_state["statement_card"] = True
    page.run()
    low, high = re.findall(r"\*\*([\d.]+)\*\*", next(each.value for each in page.markdown if "certified" in each.value))
    assert f"epsilon between {low} and {high} at delta = 1e-5" in page.code[0].value
    page.segmented_control(key="statement").set_value("Markdown").run()
    assert f"| Epsilon, delta | epsilon between {low} and {high}" in page.code[0].value
