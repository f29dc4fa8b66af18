"""On the training page: how a run draws its batches, and the rate that fits its clipping norm."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.privacy.sampling import SAMPLERS
from dpcore.training.settings import DRAWN
from tests.pages.train_page import opened_at

pytestmark = pytest.mark.usefixtures("store")


def test_what_is_proven_of_its_batches_is_said() -> None:
    for name in DRAWN:
        app = opened(batches=name, sigma="2")
        assert not app.exception, name
        assert app.selectbox(key="batches").value == name, name
        warnings = " ".join(each.value for each in app.warning)
        said = f"{SAMPLERS[name].title}: the accountants for Poisson batches do not hold"
        assert (said in warnings) == (name != "poisson"), name
        captions = [each.value for each in app.caption]
        assert (SAMPLERS[name].note in captions) == (name != "poisson"), name


PAGES = Path(__file__).parents[3] / "pages"


def opened(page: str = "train", **query: str) -> AppTest:
    return opened_at(PAGES / f"{page}.py", session={}, **query)


def hints(page: AppTest) -> list[str]:
    return [each.value for each in page.caption if "rate × C" in each.value]


def test_a_large_c_says_that_the_rate_must_fall_and_one_click_sets_it():
    for page in ["train", "lab"]:
        for clipping in ["flat", "auto_s", "per_layer"]:
            app = opened(page, clip_norm="5", clipping=clipping)
            (said,) = hints(app)
            assert "50 times as long as usual here. If you raise C, lower the rate." in said, (
                page,
                clipping,
            )
            app.button(key="fitting_rate").click().run()
            assert app.text_input(key="lr_mnist_linear_sgd").value == "0.02", (page, clipping)
            assert app.query_params["lr_mnist_linear_sgd"] == "0.02", (page, clipping)
            assert hints(app) == [], (page, clipping)
