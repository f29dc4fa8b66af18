"""A followed training on the pages: live, marked everywhere, and nobody's to cancel or resume."""

import csv
import json
import math
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dpcore
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import outward
from dpcore.runs.export import FORMS, record_of
from dpcore.runs.export.imported import read_run
from dpcore.runs.followed.request import MARK
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.pages.runs_page import cells, finished, opened, shown
from tests.pages.train_page import charts, handed, lab, metrics, progress, whole

Q = 512 / 60_000
NAME = "somebody's CNN"
RAW = "No epsilon covers the numbers that the training logged"


@dataclass
class Program:
    """Somebody's training, up to now."""

    run: Any
    store: Store

    @property
    def id(self) -> str:
        return self.run.id

    def steps(self, count: int, **told: float) -> None:
        for _ in range(count):
            self.run.step(**told)

    def killed(self) -> None:
        """What a pool does once the process is gone."""
        self.run._writer._stop = True
        self.store.recover(self.store.run(self.id), "Its worker died.")


@pytest.fixture
def program(store: Store) -> Iterator[Program]:
    """A training that goes on, with two tests."""
    told = {"delta": 1e-5, "examples": 60_000, "batch": 512, "sigma": 1.1, "unit": "image"}
    run = dpcore.follow(NAME, **told, target_epsilon=3.0, home=store.home)
    going_on = Program(run, store)
    for accuracy in (0.5, 0.75):
        going_on.steps(100)
        run.log({"test/accuracy": accuracy, "train/loss": 1 - accuracy})
    going_on.run._writer._attempt()  # all of it is stored now
    yield going_on
    run._writer._stop = True


def test_it_is_shown_live_with_its_mark_and_the_steps_left(program: Program):
    page = whole(program.id)
    assert f"{MARK}. Epsilon protects one image of 60,000." in shown(page)
    numbers = metrics(page)
    assert numbers["Test accuracy"] == "75.0 %"
    assert numbers["Steps"] == "200"
    assert numbers["Steps left to epsilon 3"] == "4,948"
    spent = dpcore.epsilon(Mechanism.constant(Q, 1.1, 200), 1e-5)
    assert numbers["Epsilon, Certified band (PLD)"] == f"≤ {outward(spent.value, math.ceil)}"
    (bar,) = progress(page)
    assert bar["label"] == NAME
    assert bar["state"]["said"].startswith("step 200, ")
    assert "left" not in bar["state"]["said"]  # nobody said how many there will be
    followed = [each["following"] for each in handed(page, "live_chart")]
    assert [{each["run"] for each in items} for items in followed] == [{program.id}] * 4
    accuracy, epsilon, _, loss = charts(page)
    assert accuracy["data"][0]["y"] == [50.0, 75.0]
    assert [each["name"] for each in epsilon["data"][:5]]
    heights = np.frombuffer(b64decode(loss["data"][0]["y"]["bdata"]))
    assert heights.tolist() == [0.5, 0.25]
    assert RAW in shown(page)


def test_nobody_can_cancel_resume_or_load_it(program: Program, store: Store):
    for page in (whole(program.id), opened(program.id)):
        labels = {each.label: each for each in page.button}
        assert not {f"cancel_{program.id}", f"resume_{program.id}"} & {
            each.key for each in page.button
        }
        for name in ("Cancel", "Resume", "Load these settings"):
            assert name not in labels or labels[name].disabled
    program.killed()
    page = whole(program.id)
    assert f"resume_{program.id}" not in {each.key for each in page.button}


def test_a_killed_one_says_what_it_is_charged_and_how_it_goes_on(program: Program, store: Store):
    program.killed()
    charged = store.run(program.id).done
    assert charged > 200
    page = whole(program.id)
    (error,) = [each.value for each in page.error]
    assert f"It had told 200 steps and may have taken up to {charged:,}" in error
    assert f"dpcore.follow(id='{program.id}')" in error
    spent = dpcore.epsilon(Mechanism.constant(Q, 1.1, charged), 1e-5)
    assert metrics(page)["Epsilon, Certified band (PLD)"] == f"≤ {outward(spent.value, math.ceil)}"
    assert metrics(page)["Steps"] == f"{charged:,}"


def test_the_table_lists_it_and_no_best_list_has_it(program: Program, store: Store):
    program.run.finish()
    page = opened()
    row = cells(page, program.id)
    assert row["status"] == "followed, finished"
    assert (row["accuracy"], row["sigma"], row["batch"]) == ("75.0 %", "1.1", "512")
    assert row["epsilon"].startswith("≤ ") or row["epsilon"] == ""
    assert [each.value for each in page.header] == ["No private run has finished"]
    assert "1 followed training among them" in shown(page)


def test_choosing_between_it_and_a_run_of_ours_costs_both(program: Program, store: Store):
    program.run.finish()
    page = opened(program.id, finished(store))
    assert "All 2 ticked runs together: epsilon ≤ " in shown(page)
    assert MARK in shown(page)
    assert len(charts(page)[0]["data"]) == 2  # both in the chart of accuracy


def test_the_views_of_a_comparison_bear_it(program: Program, store: Store):
    program.run.finish()
    run = finished(store)
    for view in ("classes", "settings", "accuracy and epsilon", "sweep"):
        page = opened(program.id, run, show=view)
        assert not page.exception, view
    page = opened(program.id, show="settings")
    assert "Poisson, as told, not observed" in shown(page)
    page = opened(program.id, x="epsilon")
    assert not page.exception


def test_the_lab_draws_it_beside_its_own_and_as_a_ghost_of_other_settings(program: Program):
    page = lab(run=program.id, sigma="1.5", n="60000", batch="512", epochs="40")
    assert MARK in shown(page)
    accuracy, epsilon = charts(page)[:2]
    (line,) = [each for each in accuracy["data"] if each.get("uid", "").startswith("run-")]
    assert line["y"] == [50.0, 75.0]
    assert any(each.get("uid", "").startswith("ghost-") for each in epsilon["data"])
    following = handed(page, "live_chart")[1]["following"]
    assert [each["run"] for each in following] == [program.id]


def test_a_name_that_is_no_plain_text_is_shown_as_it_is(store: Store):
    told = {"delta": 1e-5, "examples": 600, "batch": 60, "sigma": 1.1}
    run = dpcore.follow("<b>*x*</b> [a](//b)", **told, unit="<i>", home=store.home)
    run.step()
    run.log({"<img src=x>": 1.0})
    run.finish()
    for page in (whole(run.id), opened(run.id), opened(run.id, show="settings")):
        assert "<img src=x>" not in json.dumps(charts(page))
        for each in page.get("html"):
            assert "<b>*x*" not in each.proto.body


def exported(program: Program, form: str) -> str:
    return FORMS[form].write([record_of(program.store, program.id)])


def test_exports_have_the_mark_the_keys_and_the_sentence(program: Program):
    program.steps(50)
    program.run.finish()
    card = exported(program, "card")
    assert MARK in card
    assert RAW in card
    assert "| Unit of privacy | one image, as told |" in card
    assert "250 steps of an expected batch of 512" in card
    rows = list(csv.DictReader(exported(program, "csv").splitlines()))
    last = {each["figure"]: float(each["value"]) for each in rows if each["step"] == "250"}
    assert set(last) == {
        f"privacy/{name}" for name in ("epsilon", "epsilon_lower", "delta", "steps")
    }
    spent = dpcore.epsilon(Mechanism.constant(Q, 1.1, 250), 1e-5)
    assert (last["privacy/epsilon"], last["privacy/epsilon_lower"]) == (spent.value, spent.lower)
    assert all(MARK in each["status"] for each in rows)
    assert [each["value"] for each in rows if each["figure"] == "train/loss"] == ["0.5", "0.25"]
    event = json.loads(exported(program, "dp-event"))
    assert "250" in json.dumps(event)
    assert "250" in exported(program, "dp-accounting")
    whole_run = exported(program, "json")
    assert json.loads(whole_run)["plan"]["steps"] == 250
    with pytest.raises(ValueError, match="dpcore run"):
        read_run(whole_run.encode())
    for form in ("script", "opacus"):
        with pytest.raises(ValueError, match="was followed: its program is not here"):
            exported(program, form)


def test_a_run_without_a_step_or_a_test_can_be_opened(store: Store):
    run = dpcore.follow(delta=1e-5, examples=600, batch=60, sigma=1.1, home=store.home)
    assert not whole(run.id).exception
    run.finish()
    page = whole(run.id)
    assert isinstance(page, AppTest)
    assert store.run(run.id).status is Status.FINISHED


def test_a_run_without_noise_shows_no_epsilon(store: Store):
    run = dpcore.follow(delta=1e-5, examples=600, batch=60, sigma=1.1, home=store.home)
    run.step(sigma=0)
    run.finish()
    page = whole(run.id)
    assert metrics(page)["Epsilon, Certified band (PLD)"] == "none"
    assert "Not private: step 1 was told without noise" in shown(page)
    assert "Not private: step 1 was told without noise" in lab_of(run.id)


def lab_of(run: str) -> str:
    return shown(lab(run=run, x="epsilon"))
