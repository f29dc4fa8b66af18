"""The privacy statement of a run: of what was released, not of what was planned, and not without an
epsilon.
"""

import math
import re
from dataclasses import replace

from streamlit.testing.v1 import AppTest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import outward
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.pages.train_page import CONFIG, PAGE, opened_at, recorded


def opened(*runs: str, **query: str) -> AppTest:
    """The page Runs with these ticked, and the statement open."""
    return opened_at(PAGE, *runs, session={"statement_card": True}, **query)


def statement(page: AppTest) -> str:
    (box,) = [each.value for each in page.code if "Privacy statement" in each.value]
    return box


def spent(mechanism: Mechanism, delta: float) -> str:
    """The certified epsilon, as the statement writes it."""
    curve = ACCOUNTANTS["pld"].curve(mechanism, [mechanism.steps], delta)
    assert curve.lower is not None
    low, high = (
        outward(float(curve.lower[-1]), math.floor),
        outward(float(curve.epsilon[-1]), math.ceil),
    )
    return f"epsilon between {low} and {high} at delta = 1e-5"


def test_a_cancelled_run_is_told_for_the_steps_it_took(store: Store):
    run = recorded(store, CONFIG, 40, Status.CANCELLED)
    told = statement(opened(run))
    assert spent(Mechanism.constant(CONFIG.q, CONFIG.sigma, 40), CONFIG.delta) in told
    assert "40 noisy sums" in told


def test_what_is_released_before_the_steps_is_part_of_it(store: Store):
    config = replace(CONFIG, model="mlp", optimizer="adppl")
    told = statement(opened(recorded(store, config, 40, Status.CANCELLED)))
    assert "41 noisy sums" in told
    assert re.search(r"q = [\d.]+, 1\b", told)


def test_a_run_without_an_accounted_mechanism_says_why_there_is_none(store: Store):
    baseline = RunConfig(batch=256, epochs=2.0, private=False)
    page = opened(recorded(store, baseline, 40, Status.CANCELLED))
    assert not page.code
    assert any("No privacy statement. Not private" in each.value for each in page.caption)


def test_a_run_cancelled_in_the_queue_released_nothing(store: Store):
    for optimizer in ["sgd", "adppl"]:
        run = store.submit(replace(CONFIG, model="mlp", optimizer=optimizer))
        store.cancel(run)
        assert not opened(run).code, optimizer
