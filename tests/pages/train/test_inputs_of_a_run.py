"""On the training page: how a run draws its batches, the rate that fits its clipping norm, and what a GPU took."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.privacy.sampling import SAMPLERS
from dpcore.training.settings import DRAWN
from pages.parts.train.gpu_figures import NOT_MEASURED, gpu_sentence
from tests.pages.train_page import opened_at

pytestmark = pytest.mark.usefixtures("store")


def test_what_is_proven_of_its_batches_is_said() -> None:
    for name in DRAWN:
        app = opened(batches=name, sigma="2")
        assert not app.exception, name
        assert app.selectbox(key="batches").value == name, name
        warnings = " ".join(each.value for each in app.warning)
        said = f"{SAMPLERS[name].title}: what accountants say of Poisson batches does not hold"
        assert (said in warnings) == (name != "poisson"), name
        captions = [each.value for each in app.caption]
        assert (SAMPLERS[name].note in captions) == (name != "poisson"), name


PAGES = Path(__file__).parents[3] / "pages"


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


FOUND = {
    "device": "NVIDIA A100",
    "date": "2026-01-02",
    "phases": {
        "steps": {"figures": {"cnn-512 private": {"ms": 0.2, "of plain": 1.0649}}},
        "epochs": {"figures": {"cnn-512": {"seconds": 0.04567, "engine": "book-keeping, captured"}}},
    },
}


def written(folder: Path, found: object) -> Path:
    path = folder / "gpu.json"
    path.write_text(json.dumps(found))
    return path


def test_what_was_measured_is_said_with_device_and_date(tmp_path: Path) -> None:
    assert gpu_sentence(written(tmp_path, FOUND)) == (
        "Measured on NVIDIA A100, 2026-01-02: an epoch of 60,000 examples takes the tanh cnn at batch 512 "
        "45.7 ms, its private step (recorded) 1.06 times a plain one."
    )


def test_where_a_figure_is_missing_nothing_is_measured(tmp_path: Path) -> None:
    for found in (
        [], {}, {"phases": {"steps": {"failed": "it ran past 80 s"}}},
        FOUND | {"phases": {"epochs": {"figures": {}}}},
    ):  # fmt: skip
        assert gpu_sentence(written(tmp_path, found)) == NOT_MEASURED, found
        (tmp_path / "gpu.json").write_text("{")
        assert gpu_sentence(tmp_path / "gpu.json") == NOT_MEASURED, found
