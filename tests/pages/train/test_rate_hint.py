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


def test_a_large_c_says_that_the_rate_must_fall_and_one_click_sets_it():
    for page in ["train", "accountants"]:
        for clipping in ["flat", "auto_s", "per_layer"]:
            app = opened(page, clip_norm="5", clipping=clipping)
            (said,) = hints(app)
            assert "50 times as long as usual. When C rises, the rate must fall." in said, (page, clipping)
            app.button(key="fitting_rate").click().run()
            assert app.text_input(key="lr_mnist_linear_sgd").value == "0.02", (page, clipping)
            assert app.query_params["lr_mnist_linear_sgd"] == "0.02", (page, clipping)
            assert hints(app) == [], (page, clipping)


def test_a_large_rate_says_so_too_and_so_do_steps_that_are_very_short():
    assert "10 times as long" in hints(opened(lr_mnist_linear_sgd="10"))[0]
    assert "100 times as short as usual. So they learn slowly." in hints(opened(clip_norm="0.001"))[0]


@pytest.mark.long
def test_nothing_is_said_near_the_usual_product():
    for clip_norm, rate in [("0.1", "1"), ("0.3", "1"), ("0.02", "1"), ("5", "0.02")]:
        assert hints(opened(clip_norm=clip_norm, lr_mnist_linear_sgd=rate)) == [], (clip_norm, rate)


@pytest.mark.long
def test_extremes_are_told_and_can_be_mended():
    for clip_norm, rate in [("1e9", "1e38"), ("1e-9", "1e-320")]:
        app = opened(clip_norm=clip_norm, lr_mnist_linear_sgd=rate)
        assert hints(app), (clip_norm, rate)
        app.button(key="fitting_rate").click().run()
        assert (hints(app), list(app.exception)) == ([], []), (clip_norm, rate)
