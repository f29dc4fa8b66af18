"""What a paper has used is opened elsewhere as it is declared: the same mechanism, the same run."""

import re
from html import unescape
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpcore.papers import PAPERS
from dpcore.papers.entry import Setting, Trained
from dpcore.papers.paper import Paper
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.components import setting_links
from pages.parts.papers import opening
from pages.parts.papers.opening import TRAINS, fields_of, fields_of_run
from pages.parts.shell.menu import PAGES
from tests.pages.papers.dummy import (
    CONFIG,
    DECAYING,
    ELSEWHERE,
    FULL,
    OTHER,
    PAPER,
    REPRODUCED,
    ROOT,
    SETTING,
    TRAINED,
    dummy,
    opened,
    opened_in_the_app,
    rows,
)
from tests.pages.read_page import typed

__all__ = ["dummy"]
CONTROLLED = [page for page in PAGES if page.has_controls]
TEXTS = ("n", "batch", "sigma", "epochs", "delta", "clip_norm")
RARE = RunConfig(
    dataset="fashion_mnist", optimizer="rmsprop", model="mlp", batch=100, sigma=3.0, epochs=2.0, schedule="step",
    rate=0.2, acceptance="sa", public=500, clip_norm=2.0, lr=0.003, lr_schedule="linear", lr_end=0.001,
    delta=1e-6, stop_epsilon=2.0, stop_accountant="rdp",
)  # fmt: skip

ON_FEATURES = RunConfig(features="scatter", views=2, model="map_cnn", lr=0.5)


def page_at(file: str, query: dict[str, str]) -> AppTest:
    page = AppTest.from_file(ROOT / file, default_timeout=60)
    page.query_params.update(query)
    page.run()
    assert not page.exception
    assert not page.error
    assert not page.warning
    return page


@pytest.mark.parametrize("setting", [SETTING, DECAYING], ids=["constant", "decaying"])
@pytest.mark.parametrize("target", CONTROLLED, ids=lambda page: page.title)
def test_a_setting_opens_on_every_page_that_has_controls(store: Store, target, setting: Setting):
    page = page_at(target.file, fields_of(setting) | {"by": "rdp"})
    told = {str(each.key): str(each.value) for each in page.text_input if each.key in TEXTS}
    for key, text in told.items():
        assert float(text) == getattr(setting, key)
    assert {"sigma", "batch", "epochs", "delta"} <= {*told}
    assert float(page.session_state["n"]) == setting.n  # which has a field only where no data here have so many
    assert page.selectbox(key="optimizer").value == setting.optimizer
    assert page.selectbox(key="schedule").value == setting.schedule
    if setting.rate:
        assert typed(page, f"rate_{setting.schedule}") == setting.rate


@pytest.mark.parametrize("config", [CONFIG, OTHER, RARE, ON_FEATURES], ids=["sgd", "adam", "rare", "features"])
@pytest.mark.parametrize("file", [page.file for page in PAGES if page.address in TRAINS])
def test_a_run_opens_as_it_is_declared_on_the_pages_that_train(store: Store, config: RunConfig, file: str):
    page = page_at(file, fields_of_run(config))
    button = (each for each in page.button if each.label == "Start private run" or each.key == "train")
    next(button).click().run()
    (run,) = [run for run in store.runs() if run.config.private]
    assert run.config == config


def test_a_run_of_data_that_are_not_here_opens_with_their_number_of_examples(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(opening, "available", lambda dataset: ("sample",))
    assert fields_of_run(FULL) | {"dataset": "other", "n": "60000", "batch": "512"} == fields_of_run(FULL)
    page = page_at("pages/train.py", fields_of_run(FULL))
    assert page.text_input(key="n").value == "60000"
    assert page.text_input(key="batch").value == "512"


@pytest.mark.parametrize(
    "entry", [each for paper in PAPERS.values() for each in paper.trained if each.config.private], ids=str
)
def test_every_training_of_every_paper_has_an_address(entry: Trained):
    assert {"batch", "sigma", "epochs", "delta", "dataset"} <= {*fields_of_run(entry.config)}


def test_each_row_links_to_the_pages_that_show_what_it_has(store: Store, dummy: Paper):
    shown = rows(opened_in_the_app(paper=PAPER.id))
    ways = {name: re.findall(r'<a href="(.*?)".*?>(.*?)</a>', row) for name, row in shown.items()}
    first = ways[f"{REPRODUCED.place}: {REPRODUCED.quantity}"]
    assert [title for _, title in first] == [page.title for page in CONTROLLED]
    addresses = [urlsplit(unescape(link)) for link, _ in first]
    assert [each.path.removeprefix("./") for each in addresses] == [page.address for page in CONTROLLED]
    assert all(dict(parse_qsl(each.query, keep_blank_values=True)) == fields_of(SETTING) for each in addresses)
    for entry in (TRAINED, ELSEWHERE):
        assert [title for _, title in ways[f"{entry.place}: {entry.quantity}"]] == ["Train"]


@pytest.fixture
def following(monkeypatch: pytest.MonkeyPatch):
    """A page on which a button stands for a click on the link of this address."""

    def clicked(address: str, **query: str) -> AppTest:
        monkeypatch.setattr(setting_links, "follow_links", lambda opened: st.button("Follow", on_click=opened))
        monkeypatch.setattr(opening, "clicked_link", lambda: address)
        page = opened_in_the_app(**query)
        next(each for each in page.button if each.label == "Follow").click().run()
        assert not page.exception
        return page

    return clicked


def test_a_clicked_link_opens_a_run_whatever_was_chosen_in_the_session_before(store: Store, dummy: Paper, following):
    before = {"sampling": "q", "length": "steps", "clipping": "per_layer", "ema": "0.9", "seed": "7", "momentum": "0.5"}
    page = following(f"train?{urlencode(fields_of_run(OTHER))}", paper=PAPER.id, **before)
    next(each for each in page.button if each.label == "Start private run").click().run()
    (run,) = store.runs()
    assert run.config == OTHER


def test_a_clicked_link_opens_a_setting_in_the_lab(store: Store, dummy: Paper, following):
    page = following(f"./?{urlencode(fields_of(SETTING))}", paper=PAPER.id, clipping="per_layer", sigma="9")
    assert typed(page, "sigma") == SETTING.sigma
    assert typed(page, "batch") == SETTING.batch
    assert page.selectbox(key="clipping").value == "flat"


@pytest.mark.parametrize("address", ["", "//elsewhere", "nowhere?sigma=3", "papers?sigma=3", "https://a.org/?sigma=3"])
def test_an_address_that_is_none_of_ours_opens_nothing(store: Store, dummy: Paper, following, address: str):
    page = following(address, paper=PAPER.id)
    assert any("A paper of our own" in each.proto.body for each in page.get("html"))


def test_a_page_that_was_opened_without_the_app_has_no_links(store: Store, dummy: Paper):
    assert all("<a href" not in row for row in rows(opened(paper=PAPER.id)).values())


def test_links_stay_in_the_present_mode(store: Store, dummy: Paper):
    shown = rows(opened_in_the_app(paper=PAPER.id, present="1"))
    assert "present=1" in shown[f"{REPRODUCED.place}: {REPRODUCED.quantity}"]
