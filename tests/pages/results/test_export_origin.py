"""What an export says of where it comes from."""

import csv
from io import StringIO

import pytest

from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.schedule import scheduled
from dpcore.privacy.tradeoff import Gaussian
from dpcore.privacy.types import Kind
from pages.parts.results import downloads
from pages.parts.results.export_origin import origin_of

LINK = "http://127.0.0.1:8501/tradeoff?sigma=2"
MECHANISM = Mechanism.constant(q=0.02, sigma=2.0, steps=100)
ORIGIN = origin_of(MECHANISM, 1e-5, 12_800, LINK)
SETTINGS = {"n": "12800", "q": "0.02", "sigma": "2.0", "steps": "100", "schedule": "constant", "link": LINK}


@pytest.fixture
def offered(monkeypatch) -> list[tuple[str, list[dict[str, str]]]]:
    """The files that buttons offer: names and rows."""
    found = []

    def button(label, columns, file, key):
        found.append((file, list(csv.DictReader(StringIO(downloads.csv_of(columns()))))))

    monkeypatch.setattr(downloads, "csv_button", button)
    return found


def test_every_row_of_the_accountants_carries_the_setting_its_kind_and_a_link(offered: list):
    for across in ["epoch", "delta"]:
        downloads.curves_download(MECHANISM, across, ORIGIN)
        file, rows = offered.pop()
        assert file == f"epsilon-against-{across}-n12800-q0.02-sigma2-T100-delta1e-5.csv", across
        assert all({**row, **SETTINGS} == row for row in rows), across
        assert {row["kind"] for row in rows} == {kind.value for kind in Kind}, across
        if across == "epoch":
            assert {row["delta"] for row in rows} == {"1e-05"}, across
        else:
            assert len({row["delta"] for row in rows}) > 50, across  # each row has its own


def test_every_row_of_a_trade_off_curve_does(offered: list):
    downloads.tradeoff_download([("G_1", Kind.APPROXIMATE, Gaussian(1.0))], "trade-off", ORIGIN)
    ((file, rows),) = offered
    assert file == "trade-off-n12800-q0.02-sigma2-T100-delta1e-5.csv"
    assert all({**row, **SETTINGS, "kind": "approximate", "delta": "1e-05"} == row for row in rows)


def test_what_is_released_before_training_is_no_sampling_rate_of_it():
    origin = origin_of(Mechanism((Release(1.0, 7.0), Release(0.5, 4.0, 10))), 1e-5, 100)
    assert (origin.q, origin.sigma, origin.steps, origin.schedule) == (0.5, 4.0, 11, "constant")


def test_a_schedule_says_from_where_to_where_it_goes():
    origin = origin_of(scheduled("step", 0.5, 4.0, 60, rate=0.5), 1e-5, 100)
    assert origin.words == "n = 100, q = 0.5, sigma = 4, T = 60, delta = 1e-5, schedule from sigma 4 to 1 in 3 levels"
