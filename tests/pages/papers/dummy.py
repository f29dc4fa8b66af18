"""A paper of our own with numbers, figures and a map, and its page."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.papers.catalogue import PAPERS
from dpcore.papers.entry import Computed, PrintedClaim, PrintedSetting, Trained
from dpcore.papers.paper import Area, Cells, CheckedClaim, Drawing, Line, Map, Paper, Remark
from dpcore.papers.records import Recorded, Seeded
from dpcore.training.config import RunConfig
from tests.pages.train_page import opened_at

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "pages" / "papers.py"
SETTING = PrintedSetting(
    n=60_000, batch=600, sigma=2.0, epochs=20, clip_norm=4.0, optimizer="adam", dataset="mnist"
)
DECAYING = PrintedSetting(
    n=30_000, batch=300, sigma=8.0, epochs=3, delta=1e-6, schedule="exponential", rate=0.01
)
CONFIG = RunConfig(batch=128, epochs=1.0, sigma=2.0, lr=0.75, clip_norm=0.5, activation="relu")
OTHER = RunConfig(
    optimizer="adam", batch=200, epochs=2.0, clipping="auto_s", ema=0.99, stop_epsilon=2.0
)
X = np.array([1.0, 10.0, 100.0])
LINES = (
    Line("Proven", X, X / 50, "rdp"),
    Line("Limit", X, X / 90, "gdp"),
    Line("As printed", X, X / 20),
)
CELLS = Cells(
    X, np.array([1.0, 4.0]), np.array([[0, 0, 1], [1, 1, 1]]), (("a", "b", "c"), ("d", "e", "f"))
)
SEEDS = (Seeded(0, 0.951), Seeded(1, 0.953), Seeded(2, 0.958))
RECORD = Recorded({}, SEEDS, 1.23456, "2026-11-22", "cpu", {"torch": "2.9"}, 75.0)

REPRODUCED = Computed(
    "Table 1, row 1",
    "epsilon of one",
    "1.25",
    note="It is <so>.",
    setting=SETTING,
    ours=lambda: 1.25,
)
DIFFERS = Computed(
    "Table 1, row 2",
    "epsilon of two",
    "3.39",
    "A factor is missing.",
    setting=DECAYING,
    ours=lambda: 1.7,
)
CLAIM = PrintedClaim(SETTING.mechanism, 1e-5)
REFUTED = Computed(
    "Table 1, row 3", "epsilon of three", "0.10", setting=SETTING, ours=lambda: 0.1, claim=CLAIM
)
TRAINED = Trained("Table 2, row 1", "test accuracy by SGD", "95.0 %", config=CONFIG)
UNTRAINED = Trained("Table 2, row 2", "test accuracy by Adam", "99 %", config=OTHER)
FIGURE_2 = Drawing(
    "Figure 2", "Epsilon, q = 0.01", "epoch", "epsilon", lambda: LINES, note="Read it so."
)
AREAS = (Area("refuted", "It lies below."), Area("holds", "It lies above."))
PLANE = Map(
    "Theorem 3", "Where it holds", "epochs", "sigma", AREAS, lambda: CELLS, log_x=True, log_y=True
)

PAPER = Paper(
    id="999",
    short="Own",
    title="A paper of our own",
    authors="Nobody",
    published="2026, arXiv 1911.11607",
    about="One of everything.",
    entries=(REPRODUCED, DIFFERS, REFUTED, TRAINED, UNTRAINED),
    drawings=(FIGURE_2,),
    maps=(PLANE,),
    findings=(CheckedClaim("It is better than all.", lambda: "It is proven to be at least 0.5."),),
    remarks=(
        Remark("Equation 4", "A logarithm is missing."),
        Remark("Section 5", "The network is not named."),
    ),
)


@pytest.fixture
def dummy(monkeypatch: pytest.MonkeyPatch) -> Paper:
    """The paper among the others, with the runs of one of its accuracies on record."""
    monkeypatch.setitem(PAPERS, PAPER.id, PAPER)
    monkeypatch.setattr(
        "dpcore.papers.comparison.recorded", lambda paper, config: {CONFIG: RECORD}.get(config)
    )
    return PAPER


opened = partial(opened_at, PAGE)


def opened_in_the_app(**query: str) -> AppTest:
    """The page in the app, where there are others to link to."""
    page = AppTest.from_file(ROOT / "app.py", default_timeout=60)
    page.query_params.update(query)
    page.run().switch_page("pages/papers.py").run()
    assert not page.exception
    return page


def written(page: AppTest) -> str:
    """All HTML of the page."""
    return " ".join(each.proto.body for each in page.get("html"))


def rows(page: AppTest) -> dict[str, str]:
    """The rows of all tables of numbers, by place and quantity."""
    names = 'aria-label="(Numbers|Refuted|Different, with reasons|Reproduced|Not trained yet)"'
    tables = [each.proto.body for each in page.get("html") if re.search(names, each.proto.body)]
    found = [each.split("</tr>")[0] for table in tables for each in table.split("<tr>")[2:]]
    names = [re.findall("<(?:summary|th scope=row)>([^<]+)<", each)[0] for each in found]
    return dict(zip(names, found, strict=True))
