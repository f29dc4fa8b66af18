"""An answer that is taken to a page that trains chooses data of its n; where none are here, the
page says so.
"""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from pages.parts.controls import data
from tests.pages.read_page import number_in, typed

APP = Path(__file__).parents[3] / "app.py"
ASKED = {"n": "60000", "by": "rdp", "epochs": "5"}
LAB = "pages/lab.py"
pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch):
    """Say which sources of a data set are here; of those that are not named, the sample."""

    def say(**sources: tuple[str, ...]) -> None:
        samples = {name: ("sample",) if each.sampled else () for name, each in DATASETS.items()}
        monkeypatch.setattr(data, "available", lambda name: (samples | sources)[name])

    return say


def opened(first: str = "pages/calibrate.py", **query: str) -> AppTest:
    """Calibrate in the app, which opens on another page before."""
    app = AppTest.from_file(APP, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    return app.switch_page(first).run()


def taken(app: AppTest) -> AppTest:
    app.button(key=f"to_{LAB}").click().run()
    app.switch_page(LAB).run()
    assert not app.exception
    return app


def said(app: AppTest) -> list[str]:
    return [each.value for each in app.warning if "This answer is for" in each.value]


def rdp(app: AppTest, n: int) -> float:
    """What the controls cost for n examples."""
    mechanism = Mechanism.constant(
        typed(app, "batch") / n, typed(app, "sigma"), steps := round(5 * n / 256 + 0.499)
    )
    return float(ACCOUNTANTS["rdp"].curve(mechanism, steps, 1e-5).epsilon[0])


def test_data_that_have_as_many_examples_are_chosen(here):
    here(mnist=("full", "sample"))
    app = taken(opened(**ASKED))
    assert (app.selectbox(key="dataset").value, app.selectbox(key="source").value) == (
        "mnist",
        "full",
    )
    assert said(app) == []


def test_where_none_are_here_the_page_says_what_the_answer_costs_and_solves_again(here):
    here()
    app = taken(opened(**ASKED))
    assert app.selectbox(key="dataset").value == "other"
    assert typed(app, "n") == 60_000
    (warned,) = said(app)
    assert (
        "This answer is for 60,000 examples; MNIST, sample, has 10,000, where it costs **epsilon ≤ "
        in warned
    )
    assert number_in(r"≤ ([\d.]+)", warned) == pytest.approx(rdp(app, 10_000), rel=5e-3)
    app.button(key="solve_again").click().run()
    assert not app.exception
    assert said(app) == []
    assert (app.selectbox(key="dataset").value, app.selectbox(key="source").value) == (
        "mnist",
        "sample",
    )
    assert (typed(app, "batch"), typed(app, "epochs")) == (256, 5)
    assert 0.98 * 3 < rdp(app, 10_000) <= 3
