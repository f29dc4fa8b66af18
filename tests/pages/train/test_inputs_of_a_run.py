"""The rate that fits a clipping norm: said in the Lab, and set by one click."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.train_page import lab

pytestmark = pytest.mark.usefixtures("store")


def hints(page: AppTest) -> list[str]:
    return [each.value for each in page.caption if "rate × C" in each.value]


def test_a_large_c_says_that_the_rate_must_fall_and_one_click_sets_it():
    for clipping in ["flat", "auto_s", "per_layer"]:
        app = lab(clip_norm="5", clipping=clipping)
        (said,) = hints(app)
        assert "50 times as long as usual here. If you raise C, lower the rate." in said, clipping
        app.button(key="fitting_rate").click().run()
        assert app.text_input(key="lr_mnist_linear_sgd").value == "0.02", clipping
        assert app.query_params["lr_mnist_linear_sgd"] == "0.02", clipping
        assert hints(app) == [], clipping
