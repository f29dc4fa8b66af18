"""Under the clipping norm stands when rate and C together make steps of an unusual length, where that is true."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.train_page import opened_at

PAGES = Path(__file__).parents[3] / "pages"
pytestmark = pytest.mark.usefixtures("store")


def opened(page: str = "train", **query: str) -> AppTest:
    return opened_at(PAGES / f"{page}.py", session={}, **query)


def hints(page: AppTest) -> list[str]:
    return [each.value for each in page.caption if "rate × C" in each.value]


@pytest.mark.parametrize("page", ["train", "accountants"])
@pytest.mark.parametrize("clipping", ["flat", "auto_s", "per_layer"])
def test_a_large_c_says_that_the_rate_must_fall_and_one_click_sets_it(page: str, clipping: str):
    app = opened(page, clip_norm="5", clipping=clipping)
    (said,) = hints(app)
    assert "50 times as long as usual. When C rises, the rate must fall." in said
    app.button(key="fitting_rate").click().run()
    assert app.text_input(key="lr_mnist_linear_sgd").value == "0.02"
    assert app.query_params["lr_mnist_linear_sgd"] == "0.02"
    assert hints(app) == []


def test_a_large_rate_says_so_too_and_so_do_steps_that_are_very_short():
    assert "10 times as long" in hints(opened(lr_mnist_linear_sgd="10"))[0]
    assert "100 times as short as usual. So they learn slowly." in hints(opened(clip_norm="0.001"))[0]


@pytest.mark.parametrize(("clip_norm", "rate"), [("0.1", "1"), ("0.3", "1"), ("0.02", "1"), ("5", "0.02")])
def test_nothing_is_said_near_the_usual_product(clip_norm: str, rate: str):
    assert hints(opened(clip_norm=clip_norm, lr_mnist_linear_sgd=rate)) == []


@pytest.mark.parametrize("optimizer", ["adam", "adagrad", "adadp", "pi_adam"])
def test_nothing_is_said_where_an_optimizer_divides_by_the_size_of_its_gradients(optimizer: str):
    assert hints(opened(clip_norm="5", optimizer=optimizer)) == []


def test_directions_that_are_released_are_as_long_as_c():
    app = opened(optimizer="pi_adam", reading="literal", clip_norm="5")
    assert "50 times as long" in hints(app)[0]
    app.button(key="fitting_rate").click().run()
    assert app.text_input(key="lr_mnist_linear_pi_adam_literal").value == "0.1"


@pytest.mark.parametrize(("clip_norm", "rate"), [("1e9", "1e38"), ("1e-9", "1e-320")])
def test_extremes_are_told_and_can_be_mended(clip_norm: str, rate: str):
    app = opened(clip_norm=clip_norm, lr_mnist_linear_sgd=rate)
    assert hints(app)
    app.button(key="fitting_rate").click().run()
    assert (hints(app), list(app.exception)) == ([], [])
