"""Links open a paper's settings on other pages: the same mechanism, the same run."""

import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qsl, urlsplit

from streamlit.testing.v1 import AppTest

from dpcore.papers.paper import Paper
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.papers.opening import fields_of, fields_of_run
from pages.parts.shell.menu import LAB, PAGES
from tests.pages.papers.dummy import (
    CONFIG,
    DECAYING,
    OTHER,
    PAPER,
    REPRODUCED,
    ROOT,
    SETTING,
    TRAINED,
    UNTRAINED,
    dummy,
    opened_in_the_app,
    rows,
)
from tests.pages.read_page import typed
from tests.pages.train_page import started

__all__ = ["dummy"]
CONTROLLED = [page for page in PAGES if page.has_controls]
TEXTS = ("n", "batch", "sigma", "epochs", "delta", "clip_norm")
RARE = RunConfig(
    dataset="fashion_mnist",
    optimizer="rmsprop",
    model="mlp",
    batch=100,
    sigma=3.0,
    epochs=2.0,
    schedule="step",
    rate=0.2,
    acceptance="sa",
    public=500,
    clip_norm=2.0,
    lr=0.003,
    lr_schedule="linear",
    lr_end=0.001,
    delta=1e-6,
    stop_epsilon=2.0,
    stop_accountant="rdp",
)

ON_FEATURES = RunConfig(features="scatter", views=2, model="map_cnn", lr=0.5)


def page_at(file: str, query: dict[str, str]) -> AppTest:
    page = AppTest.from_file(ROOT / file, default_timeout=60)
    page.query_params.update(query)
    page.run()
    assert not page.exception
    assert not page.error
    assert not page.warning
    return page


def test_a_setting_opens_on_every_page_that_has_controls(store: Store):
    for setting in [SETTING, DECAYING]:
        for target in CONTROLLED:
            page = page_at(target.file, fields_of(setting) | {"by": "rdp"})
            told = {str(each.key): str(each.value) for each in page.text_input if each.key in TEXTS}
            for key, text in told.items():
                assert float(text) == getattr(setting, key), (setting, target)
            assert {"sigma", "batch", "epochs", "delta"} <= {*told}, (setting, target)
            # Which has a field only where no data here have so many.
            assert float(page.session_state["n"]) == setting.n
            assert page.selectbox(key="optimizer").value == setting.optimizer, (setting, target)
            assert page.selectbox(key="schedule").value == setting.schedule, (setting, target)
            if setting.rate:
                assert typed(page, f"rate_{setting.schedule}") == setting.rate, (setting, target)


def test_a_run_opens_as_it_is_declared_in_the_lab(store: Store):
    for config in [CONFIG, OTHER, RARE, ON_FEATURES]:
        page_at(LAB.file, fields_of_run(config)).button(key="train").click().run()
        run = next(run for run in store.runs() if run.config.private)
        assert run.config == config


def test_a_long_seed_and_other_batches_than_poisson_ones_open_in_the_lab(store: Store):
    config = replace(CONFIG, sampler="shuffle", seed=2**62)
    assert started(store, **fields_of_run(config)) == config


def test_each_row_links_to_the_pages_that_show_what_it_has(store: Store, dummy: Paper):
    shown = rows(opened_in_the_app(paper=PAPER.id))
    ways = {name: re.findall(r'<a href="(.*?)".*?>(.*?)</a>', row) for name, row in shown.items()}
    first = ways[f"{REPRODUCED.place}: {REPRODUCED.quantity}"]
    assert [title for _, title in first] == [page.title for page in CONTROLLED]
    addresses = [urlsplit(unescape(link)) for link, _ in first]
    assert [each.path.removeprefix("./") for each in addresses] == [
        page.address for page in CONTROLLED
    ]
    assert all(
        dict(parse_qsl(each.query, keep_blank_values=True)) == fields_of(SETTING)
        for each in addresses
    )
    trained = ways[f"{TRAINED.place}: {TRAINED.quantity}"]
    assert [title for _, title in trained] == [page.title for page in CONTROLLED]
    ends_at_epsilon = ways[f"{UNTRAINED.place}: {UNTRAINED.quantity}"]
    assert [title for _, title in ends_at_epsilon] == ["Lab"]
