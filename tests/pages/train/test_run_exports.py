"""What a reader keeps of runs: pictures and files that say which runs they are of, with all settings."""

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.results.downloads import csv_of
from pages.parts.train import evaluations, live, run_charts
from pages.parts.train.run_exports import evaluations_columns, picture
from pages.parts.train.run_history import watched_runs
from tests.pages.runs_page import imported
from tests.pages.train_page import CONFIG, opened, progress, recorded

LINK = "http://127.0.0.1:8501/train?run=a"


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """What the page tells its charts, by their keys."""
    found: dict[str, dict[str, Any]] = {}

    def chart(figure: object, follows: object, *, key: str, **said: Any) -> None:
        found[key] = said

    monkeypatch.setattr(run_charts, "live_chart", chart)
    return found


def rows_of(columns: Mapping[str, Any]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_of(columns))))


def test_an_imported_run_says_so_in_pictures_files_and_beside_the_charts(store: Store):
    run = recorded(store, CONFIG, 40, Status.CANCELLED)
    watched = watched_runs(store, [imported(store, run), run])
    assert [line.endswith("lr 0.5, imported") for line in picture("Loss", watched)["title"].splitlines()[1::2]] == [
        True,
        False,
    ]
    rows = rows_of(evaluations_columns(watched, "rdp", LINK))
    assert [row["imported"] for row in rows] == [f"run {run} of another store"] * 4 + [""] * 4
    page = opened(watched[0].run.id, run)
    assert "imported" in progress(opened(watched[0].run.id))[0]
    key = next(each.proto.body for each in page.get("html") if "run-key" in each.proto.body)
    assert key.count(", imported<") == 1


def test_a_file_of_runs_has_a_row_for_each_test_with_every_setting_and_a_link(store: Store):
    private = recorded(store, CONFIG, 40, Status.CANCELLED)
    baseline = recorded(store, replace(CONFIG, private=False), 70, Status.FINISHED)
    rows = rows_of(evaluations_columns(watched_runs(store, [private, baseline]), "rdp", LINK))
    assert [row["run"] for row in rows] == [private] * 4 + [baseline] * 7
    assert all(set(CONFIG.to_json()) <= set(row) and row["link"] == LINK for row in rows)
    first, last = rows[0], rows[-1]
    settings = {"n": "10000", "q": "0.0256", "sigma": "1.23", "steps": "79", "schedule": "constant", "delta": "1e-05"}
    assert {**first, **settings, "accountant": "rdp", "kind": "upper", "status": "cancelled"} == first
    alone = ACCOUNTANTS["rdp"].curve(Mechanism.constant(0.0256, 1.23, 10), [10], 1e-5)
    assert float(first["epsilon"]) == pytest.approx(float(alone.epsilon[-1]))
    assert {**last, "sigma": "", "delta": "", "epsilon": "", "accountant": "", "kind": ""} == last


def test_the_secret_of_a_run_is_in_no_file(store: Store):
    run = recorded(store, CONFIG, 40, Status.CANCELLED)
    secret = store.secret(run)
    text = csv_of(evaluations_columns(watched_runs(store, [run]), "rdp", LINK))
    assert secret
    assert f"{secret}" not in text
    assert f"{secret:x}" not in text
    assert rows_of(evaluations_columns(watched_runs(store, [run]), "rdp", LINK))[0]["seed"] == ""


def test_a_run_that_goes_on_is_saved_up_to_its_latest_test(store: Store, monkeypatch: pytest.MonkeyPatch):
    offered: list[tuple[str, Callable[[], Mapping[str, Any]]]] = []
    monkeypatch.setattr(evaluations, "csv_button", lambda label, columns, file, key: offered.append((file, columns)))
    run = recorded(store, CONFIG, 40)
    watched = watched_runs(store, [run])
    evaluations.evaluations_download(store, watched, "rdp")
    assert offered[0][0] == f"tests-n10000-q0.0256-sigma1.23-T79-delta1e-5-run-{run}.csv"
    assert [row["step"] for row in rows_of(offered[0][1]())] == ["10", "20", "30", "40"]
    for event in _later(store, run):
        store.append(run, event)
    assert rows_of(offered[0][1]())[-1]["step"] == "50"


def _later(store: Store, run: str) -> list:
    last = watched_runs(store, [run])[0].history.evaluated[-1]
    return [replace(last, step=50, epoch=50 * CONFIG.q)]


def test_the_charts_of_the_page_say_the_numbers_of_a_run_that_has_ended(store: Store, drawn: dict):
    assert live.large_charts is run_charts.large_charts
    run = recorded(store, CONFIG, 70, Status.FINISHED)
    opened(run)
    assert drawn["accuracy_chart"]["alt"].endswith("At the end: sigma 1.23 78.0 %.")
    assert "After 2.022 epochs: " in drawn["spent_chart"]["alt"]
    assert drawn["spent_chart"]["alt"].endswith("where the run ended, after 1.792 epochs.")
    assert "began at 2.20, ended at 1.60" in drawn["loss_chart"]["alt"]
    assert "began at 97.0 %" in drawn["clipped_chart"]["alt"]
    assert ": 0 90 %, 1 80 %, 2 70 %" in drawn["classes_chart"]["alt"]
    assert all(run in said["file"] and "n = 10,000" in said["title"] for said in drawn.values())
