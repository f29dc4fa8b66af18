"""What the pages keep of what accountants have said, and what an export holds and says of where it
comes from.
"""

import csv
import io
from collections.abc import Sequence

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.accountants.pld import Pld
from dpcore.privacy.mechanism import Kind, Mechanism, Release
from dpcore.privacy.schedule import Recipe
from dpcore.privacy.tradeoff import Gaussian
from pages.parts.results import cache, exports
from pages.parts.results.exports import csv_of, curves_rows, origin_of

DELTA = 1e-5


def test_of_a_run_that_goes_on_only_the_steps_since_the_last_look_are_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[int]] = []

    def watched(accountant: Pld, mechanism: Mechanism, steps: Sequence[int], delta: float) -> Curve:
        asked.append(list(steps))
        return answer(accountant, mechanism, steps, delta)

    answer = Pld.curve
    monkeypatch.setattr(Pld, "curve", watched)
    mechanism = Mechanism.constant(0.0123, 1.2345, 1_000)
    first = cache.epsilons(CERTIFIED, mechanism, DELTA, (10, 20))
    later = cache.epsilons(CERTIFIED, mechanism, DELTA, (40, 10, 20, 30, 40))
    again = cache.epsilons(CERTIFIED, mechanism, DELTA, (10, 20, 30, 40))
    assert asked == [[10, 20], [30, 40]]
    assert later == (again[3], *first, *again[2:])
    assert cache.epsilons(CERTIFIED, mechanism, 2 * DELTA, (10,)) < first[:1]


def test_what_is_computed_piece_by_piece_is_what_is_computed_at_once() -> None:
    for name in ACCOUNTANTS:
        mechanism = Mechanism.constant(0.01, 1.1, 1_000)
        for upto in (1, 100, 700, 1_000):
            pieces = cache.epsilons(
                name, mechanism, DELTA, [step for step in (1, 100, 700, 1_000) if step <= upto]
            )
        whole = ACCOUNTANTS[name].curve(mechanism, [1, 100, 700, 1_000], DELTA).epsilon
        np.testing.assert_allclose(pieces, whole, rtol=2e-3)
        assert cache.epsilons(name, mechanism, DELTA, ()) == (), name


def test_the_csv_holds_all_accountants_with_kinds_and_lower_bounds():
    mechanism = Mechanism.constant(0.01, 4.0, 1000)
    curves = {name: cache.curve(name, mechanism, 1e-5) for name in ACCOUNTANTS}
    rows = list(csv.DictReader(io.StringIO(csv_of(curves_rows(mechanism, curves)))))
    assert {row["accountant"] for row in rows} == set(ACCOUNTANTS)
    assert len(rows) == 100 * len(ACCOUNTANTS)
    band = [row for row in rows if row["accountant"] == "pld"]
    assert all(float(row["lower"]) <= float(row["epsilon"]) for row in band)
    assert {row["kind"] for row in band} == {"certified"}
    assert float(band[-1]["epoch"]) == pytest.approx(10.0)


LINK = "http://127.0.0.1:8501/tradeoff?sigma=2"
MECHANISM = Mechanism.constant(q=0.02, sigma=2.0, steps=100)
ORIGIN = origin_of(MECHANISM, 1e-5, 12_800, LINK)
SETTINGS = {
    "n": "12800",
    "q": "0.02",
    "sigma": "2.0",
    "steps": "100",
    "schedule": "constant",
    "link": LINK,
}


@pytest.fixture
def offered(monkeypatch) -> list[tuple[str, list[dict[str, str]]]]:
    """The files that buttons offer: names and rows."""
    found = []

    def button(label, rows, file, key):
        found.append((file, list(csv.DictReader(io.StringIO(exports.csv_of(rows()))))))

    monkeypatch.setattr(exports, "csv_button", button)
    return found


def test_every_row_of_the_accountants_carries_the_setting_its_kind_and_a_link(offered: list):
    for across in ["epoch", "delta"]:
        exports.curves_download(MECHANISM, across, ORIGIN)
        file, rows = offered.pop()
        assert file == f"epsilon-against-{across}-n12800-q0.02-sigma2-T100-delta1e-5.csv", across
        assert all({**row, **SETTINGS} == row for row in rows), across
        assert {row["kind"] for row in rows} == {kind.value for kind in Kind}, across
        if across == "epoch":
            assert {row["delta"] for row in rows} == {"1e-05"}, across
        else:
            assert len({row["delta"] for row in rows}) > 50, across  # each row has its own


def test_every_row_of_a_trade_off_curve_does(offered: list):
    exports.tradeoff_download([("G_1", Kind.APPROXIMATE, Gaussian(1.0))], "trade-off", ORIGIN)
    ((file, rows),) = offered
    assert file == "trade-off-n12800-q0.02-sigma2-T100-delta1e-5.csv"
    assert all({**row, **SETTINGS, "kind": "approximate", "delta": "1e-05"} == row for row in rows)


def test_what_is_released_before_training_is_no_sampling_rate_of_it():
    origin = origin_of(Mechanism((Release(1.0, 7.0), Release(0.5, 4.0, 10))), 1e-5, 100)
    assert (origin.q, origin.sigma, origin.steps, origin.schedule) == (0.5, 4.0, 11, "constant")


def test_a_schedule_says_from_where_to_where_it_goes():
    origin = origin_of(Recipe("step", 0.5).mechanism(0.5, 4.0, 60), 1e-5, 100)
    assert (
        origin.words
        == "n = 100, q = 0.5, sigma = 4, T = 60, delta = 1e-5, schedule from sigma 4 to 1 in 3"
        " levels"
    )
