"""The numbers of the lab in a file: codes, bytes, bounds, and the table of the package."""

import math
import random

import numpy as np
import pytest

from dpcore.labfile import shipped as ours
from dpcore.labfile.codes import INFINITE, nearest_code, text_of, value_of
from dpcore.labfile.page import page_of
from dpcore.labfile.row import (
    ALPHAS,
    BETA_PARTS,
    CODES,
    COUNTS,
    DELTA_PARTS,
    SLOPES,
    mechanism_at,
    row_of,
    steps_of,
)
from dpcore.labfile.stops import Stop, opened, stops_of
from dpcore.labfile.table import Table, unpacked
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.report.numbers import outward, short
from dpcore.training.config import RunConfig
from dpcore.training.settings import SETTINGS, Settings
from dpcore.training.slider_stops import grid
from tests.labfile.tables import DELTA, FEW, N, drawn, small_table

FIRST_LINE = len(CODES) + len(COUNTS)
ALPHA = np.linspace(0.0, 1.0, 500) ** 3  # dense where the curves are steep


def test_every_code_is_the_code_of_its_own_text_and_codes_are_ordered_as_numbers() -> None:
    values = [value_of(code) for code in range(0, INFINITE, 7)]
    assert values == sorted(set(values))
    for code in range(0, INFINITE, 7):
        for bound in (True, False):
            assert nearest_code(text_of(code, bound)) == code
    assert text_of(INFINITE, bound=True) == "infinite"


def test_a_code_writes_what_was_written_of_any_number() -> None:
    chance = random.Random(1)
    for _ in range(3000):
        value = 10 ** chance.uniform(-8, 3)
        rounded_up, nearest = outward(value, math.ceil), short(value)
        assert value_of(nearest_code(rounded_up)) >= value
        if len(rounded_up.replace(".", "").lstrip("0")) == 3:  # not 1.000, from 0.9996
            assert text_of(nearest_code(rounded_up), bound=True) == rounded_up
        if value < 999:
            assert text_of(nearest_code(nearest), bound=False) == nearest


def test_a_table_survives_its_bytes() -> None:
    table = small_table()
    again = unpacked(table.head, table.packed())
    assert np.array_equal(again.planes, table.planes)
    assert (again.n, again.delta, again.stops, again.version) == (N, DELTA, FEW, table.version)
    assert again.apart == table.apart
    assert table.apart  # an approximation of more than three digits is among them


def test_every_stop_is_one_of_the_lab_s_own_sliders() -> None:
    for n in (2, 100, 10_000, 60_000, 1_281_167):
        stops = stops_of("mnist", n)
        assert set(stops.sigma) == {*grid(0.3, 100), Settings().sigma}
        assert set(stops.epochs) <= set(grid(0.1, 1000))
        assert set(stops.batch) <= {
            *grid(1, 65_536, whole=True),
            min(n, 65_536),
            opened("mnist", n).batch,
        }
        assert stops.places(opened("mnist", n))
    assert SETTINGS["sigma"].slider.low == min(stops.sigma)  # type: ignore[attr-defined]


def test_steps_are_those_of_a_run() -> None:
    for batch in stops_of("mnist", N).batch:
        for epochs in stops_of("mnist", N).epochs:
            run = RunConfig(batch=batch, epochs=epochs)
            assert steps_of(epochs, N, batch) == run.steps_of_epochs


def lower_curve(numbers: list[int]) -> np.ndarray:
    """The lower trade-off curve that the file draws, at `ALPHA`."""
    deltas = np.array(numbers[FIRST_LINE : FIRST_LINE + len(SLOPES)]) / DELTA_PARTS
    slopes = np.exp(SLOPES)
    rest = 1 - deltas
    steep = rest - slopes * ALPHA[:, None]
    flat = (rest - ALPHA[:, None]) / slopes
    return np.maximum(np.maximum(steep, flat).max(axis=1), 0.0)


def upper_curve(numbers: list[int]) -> np.ndarray:
    """The upper one."""
    corners = np.array(numbers[FIRST_LINE + len(SLOPES) :]) / BETA_PARTS
    return np.interp(ALPHA, [0.0, *ALPHAS, 1.0], [1.0, *corners, 0.0])


def assert_outside(numbers: list[int], stop: Stop, n: int) -> None:
    band = tradeoff_bounds(mechanism_at(n, stop.batch, stop.sigma, stop.epochs))
    assert np.all(lower_curve(numbers) <= band.lower.beta(ALPHA) + 1e-12)
    assert np.all(upper_curve(numbers) >= band.upper.beta(ALPHA) - 1e-12)


def test_the_drawn_trade_off_curves_are_nowhere_inside_the_proven_ones() -> None:
    table = small_table()
    for sigma in FEW.sigma:
        for batch in FEW.batch:
            stop = Stop(sigma, batch, 5.0)
            assert_outside(table.numbers(stop), stop, N)


def numbers_anew(table: Table, stop: Stop) -> tuple[list[int], dict[str, str]]:
    """The numbers of a stop computed by this version, and the texts apart."""
    row = row_of(table.n, table.delta, (stop.epochs,), stop.batch, stop.sigma)
    return row.numbers[0], {CODES[code]: text for _, code, text in row.apart}


def test_the_table_that_comes_with_the_package_is_of_this_version() -> None:
    table = ours.shipped()
    usual = Settings()
    wanted = stops_of(usual.dataset, ours.usual_n())
    assert (table.n, table.delta) == (ours.usual_n(), usual.delta)
    for values, needed in zip(table.stops, wanted, strict=True):
        assert set(needed) <= set(values)
    start = opened(usual.dataset, table.n)
    for stop in (start, *drawn(table.stops, 12, seed=3)):
        assert numbers_anew(table, stop) == (table.numbers(stop), table.apart_at(stop)), stop


@pytest.mark.long
def test_many_stops_of_the_table_that_comes_with_the_package_are_computed_alike() -> None:
    table = ours.shipped()
    for stop in drawn(table.stops, 400, seed=4):
        assert numbers_anew(table, stop) == (table.numbers(stop), table.apart_at(stop)), stop
        assert_outside(table.numbers(stop), stop, table.n)


def test_the_file_that_comes_with_the_package_has_at_most_a_million_bytes() -> None:
    assert len(page_of(ours.shipped(), "mnist").encode()) <= 1_000_000


def test_data_with_other_defaults_open_at_the_nearest_stop() -> None:
    usual = opened("movielens", N)
    start = FEW.nearest(usual)
    assert (usual.batch, start.batch) == (512, 256)
    assert f"batch {start.batch}" in page_of(small_table(), "movielens")


def test_the_stop_at_which_the_file_opens_stands_in_it_as_text() -> None:
    page = page_of(small_table(), "mnist")
    start = opened("mnist", N)
    numbers = dict(zip((*CODES, *COUNTS), small_table().numbers(start), strict=False))
    text = page.partition('<p id="still"')[2].partition("</p>")[0]
    assert f"epsilon is at most {text_of(numbers['upper'], bound=True)}" in text
    assert f"at most {numbers['people']} right" in text
