"""What the downloads hold."""

import csv
import io

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from pages.parts.results import cache
from pages.parts.results.downloads import csv_of, curves_columns


def test_the_csv_holds_all_accountants_with_kinds_and_lower_bounds():
    mechanism = Mechanism.constant(0.01, 4.0, 1000)
    curves = {name: cache.curve(name, mechanism, 1e-5) for name in ACCOUNTANTS}
    rows = list(csv.DictReader(io.StringIO(csv_of(curves_columns(mechanism, curves)))))
    assert {row["accountant"] for row in rows} == set(ACCOUNTANTS)
    assert len(rows) == 100 * len(ACCOUNTANTS)
    band = [row for row in rows if row["accountant"] == "pld"]
    assert all(float(row["lower"]) <= float(row["epsilon"]) for row in band)
    assert {row["kind"] for row in band} == {"certified"}
    assert float(band[-1]["epoch"]) == pytest.approx(10.0)
