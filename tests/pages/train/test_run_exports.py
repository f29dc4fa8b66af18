"""What a reader keeps of runs: a file with all their settings, and no secret."""

import csv
import io
from dataclasses import replace

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.results.exports import Rows, csv_of
from pages.parts.train.run_charts import evaluations_rows
from pages.parts.train.run_history import watched_runs
from tests.pages.train_page import CONFIG, recorded

LINK = "http://127.0.0.1:8501/runs?one=a"


def rows_of(rows: Rows) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_of(rows))))


def test_a_file_of_runs_has_a_row_for_each_test_with_every_setting_and_a_link(store: Store):
    private = recorded(store, CONFIG, 40, Status.CANCELLED)
    baseline = recorded(store, replace(CONFIG, private=False), 70, Status.FINISHED)
    rows = rows_of(evaluations_rows(watched_runs(store, [private, baseline]), "rdp", LINK))
    assert [row["run"] for row in rows] == [private] * 4 + [baseline] * 7
    assert all(set(CONFIG.to_json()) <= set(row) and row["link"] == LINK for row in rows)
    first, last = rows[0], rows[-1]
    settings = {
        "n": "10000",
        "q": "0.0256",
        "sigma": "1.23",
        "steps": "79",
        "schedule": "constant",
        "delta": "1e-05",
    }
    assert {
        **first,
        **settings,
        "accountant": "rdp",
        "kind": "upper",
        "status": "cancelled",
    } == first
    alone = ACCOUNTANTS["rdp"].curve(Mechanism.constant(0.0256, 1.23, 10), [10], 1e-5)
    assert float(first["epsilon"]) == pytest.approx(float(alone.epsilon[-1]))
    assert {**last, "sigma": "", "delta": "", "epsilon": "", "accountant": "", "kind": ""} == last


def test_the_secret_of_a_run_is_in_no_file(store: Store):
    run = recorded(store, CONFIG, 40, Status.CANCELLED)
    secret = store.secret(run)
    text = csv_of(evaluations_rows(watched_runs(store, [run]), "rdp", LINK))
    assert secret
    assert f"{secret}" not in text
    assert f"{secret:x}" not in text
    assert rows_of(evaluations_rows(watched_runs(store, [run]), "rdp", LINK))[0]["seed"] == ""
