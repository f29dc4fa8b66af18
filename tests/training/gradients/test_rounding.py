"""Norms in float32 are never taken for less than they are: rows made to round badly, against
float64.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dpcore.training.gradients import layers, rounding
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.gradients.engines import BookKeeping, PerExample
from dpcore.training.gradients.rounding import (
    longest_norms,
    most_operations,
    operations,
    relative_error,
    row_sums,
    squared_norms,
)
from dpcore.training.one_time_releases import outer_sum
from tests.training.oracles import ENGINES, WAYS, engine_on

ROOT = Path(__file__).parents[3]
SIZES = [1, 2, 784, 1024, 1025, 1030, 10_000, 795_010]


def hostile_rows(n: int) -> Tensor:
    """Rows whose squares are lost beside larger ones, in one order or another, or are random (5,
    n).
    """
    small = 2.0**-12.5  # its square is just below half the last bit of 1
    rows = torch.full((5, n), small)
    rows[0, 0] = rows[1, -1] = rows[2, n // 2] = 1.0
    rows[3, ::64] = 1.0
    rows[4] = torch.randn(n, generator=torch.Generator().manual_seed(0))
    return rows


def one_after_the_other(rows: Tensor) -> Tensor:
    """Squared norms as a loop in float32 adds them up."""
    return torch.from_numpy(np.add.accumulate(rows.square().numpy(), axis=1)[:, -1])


def test_squared_norms_err_by_less_than_the_bound_in_either_direction():
    for n in SIZES:
        rows, error = hostile_rows(n), relative_error(operations(n))
        weights = torch.linspace(0.1, 7.0, n)
        for found, exact in (
            (squared_norms(rows), rows.double().square().sum(1)),
            (squared_norms(rows, weights), (rows.double().square() * weights.double()).sum(1)),
            (row_sums(rows.abs()), rows.double().abs().sum(1)),
        ):
            assert ((found.double() / exact - 1).abs() <= error).all(), n
        assert (longest_norms(rows).double() * (1 + 1e-6) >= rows.double().norm(dim=1)).all(), n
        assert error < 1.1e-4, n


def test_sums_of_rows_are_taken_in_blocks_of_the_length_of_a_row_and_not_of_the_batch(monkeypatch):
    """A batch of few long rows, or of many, must not decide how many additions a number goes
    through.
    """
    asked = []
    monkeypatch.setattr(rounding, "block", lambda terms: asked.append(terms) or 10)
    for rows in (torch.rand(3, 25), torch.rand(70, 25)):
        torch.testing.assert_close(row_sums(rows), rows.sum(1))
        torch.testing.assert_close(squared_norms(rows), rows.square().sum(1))
    assert set(asked) <= {25, 3}  # three sums of blocks make the last one
    assert asked.count(25) == 4


@pytest.mark.parametrize(
    ("layer", "count"),
    [
        (layers.Linear(nn.Linear(784, 10)), 15 + 789),
        # With a D a product adds up all 2000 outputs, one by one.
        (layers.Linear(nn.Linear(784, 2000)), 2000 + 789),
        (layers.Conv2d(nn.Conv2d(1, 16, 8)), 1029 + 21),
    ],
)
def test_operations_of_a_layer_are_those_of_both_sums_that_its_norm_goes_through(layer, count):
    assert layer.operations() == count
    assert operations(1031) == 5 + 33 + 32 + 1  # a prime: 31 blocks of 33, a rest, and their sums
    # 1151 is nearly three roots: too many at once.
    assert operations(137 * 1151) <= most_operations(137 * 1151)


def test_an_engine_allows_for_the_layer_whose_norm_is_rounded_most_often():
    wide, narrow = nn.Linear(784, 2000), nn.Linear(2000, 10)
    for parts in ((wide, narrow), (nn.Linear(10, 784), wide)):
        count = (2000 + 789) * 2.0**-24
        assert engine_on(BookKeeping, nn.Sequential(*parts)).norm_error == pytest.approx(
            count / (1 - count), rel=1e-12
        )
    # 784 * 2000 weights and 2000 biases: 1256 blocks of 1250
    assert operations(1_570_000) == 5 + 1256 + 1250 + 1
    most = operations(1_570_000) * 2.0**-24
    engine = engine_on(PerExample, nn.Sequential(wide, narrow))
    assert engine.norm_error == pytest.approx(most / (1 - most), rel=1e-12)


def test_the_rows_are_hostile_indeed():
    rows = hostile_rows(795_010)
    lost = 1 - one_after_the_other(rows).double() / rows.double().square().sum(1)
    assert lost.max() > 10 * relative_error(operations(795_010))


def test_factors_times_norms_reach_the_bound_and_never_exceed_it():
    for clip_norm in [1e-9, 0.3, 1e9]:
        for clipping in CLIPPINGS:
            generator = torch.Generator().manual_seed(1)
            squares = (
                10.0 ** (8 + 12 * torch.rand(1, 400_000, generator=generator))
                * max(clip_norm, 1.0) ** 2
            )
            squares = squares.clamp(1e-30, 1e30)
            squares = torch.cat([squares, squares * 1e-3]) if clipping == "per_layer" else squares
            factors = CLIPPINGS[clipping](clip_norm).factors(squares)
            reached = (factors.double() * squares.double().sqrt() / clip_norm).max(1).values
            assert (reached <= 1 - 1e-7).all(), (clip_norm, clipping)
            assert (reached >= 1 - 2e-6).all(), (clip_norm, clipping)


def hostile_batch(inputs: int) -> tuple[Tensor, Tensor]:
    return hostile_rows(inputs) * 100, torch.tensor([0, 1, 2, 3, 4])


@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("inputs", [783, 40_000])
def test_no_hostile_example_contributes_more_than_the_bound(kind, inputs):
    torch.manual_seed(2)
    engine = engine_on(kind, nn.Sequential(nn.Linear(inputs, 20), nn.ReLU(), nn.Linear(20, 5)))
    x, y = hostile_batch(inputs)
    for clipping, scaled in WAYS:
        scale = (
            torch.logspace(-1, 1, len(engine.parameters))
            if scaled
            else torch.ones(len(engine.parameters))
        )
        inverse = scale**-2 if scaled else None
        exact, bound = (
            1.0 if inverse is None else inverse.double().rsqrt(),
            CLIPPINGS[clipping](0.7),
        )
        totals = [
            engine.clipped_sum(x[i : i + 1], y[i : i + 1], bound, inverse).total.clone()
            for i in range(len(x))
        ]
        longest, most = (
            max(float((each.double() / exact).norm()) for each in totals),
            0.7 * bound.sensitivity(2),
        )
        # It is reached, or this would say nothing.
        assert 0.999 * most < longest <= most, (clipping, scaled)


@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
def test_norms_that_are_not_raised_would_break_the_bound(kind, monkeypatch):
    torch.manual_seed(2)
    engine = engine_on(kind, nn.Sequential(nn.Linear(40_000, 5, bias=False)))
    monkeypatch.setattr("dpcore.training.gradients.layers.squared_norms", one_after_the_other)
    monkeypatch.setattr("dpcore.training.gradients.engines.squared_norms", one_after_the_other)
    x, y = hostile_batch(40_000)
    total = engine.clipped_sum(x[:1], y[:1], CLIPPINGS["flat"](0.7)).total
    assert total.double().norm() > 0.7 * (1 + 1e-4)


def test_every_row_of_the_projection_has_at_most_length_1():
    rows = hostile_rows(1025)
    for row in rows:
        norm = torch.linalg.matrix_norm(outer_sum(row[None])).item()
        assert 1 - 3e-4 < norm <= 1.0


@pytest.mark.long
def test_what_privacy_rests_on_is_checked_also_where_assertions_are_not():
    code = """
import torch
from torch import nn
from dpcore.training.gradients.engines import BookKeeping
from dpcore.training.gradients.clipping import Flat
from dpcore.training.gradients.engines import Cores
from dpcore.training.randomness.random_words import AesWords
assert False, "assertions are on"
engine = BookKeeping(nn.Sequential(nn.Linear(3, 2)), Cores(1))
x, y = torch.ones(1, 3), torch.zeros(1).long()
for work in (
    lambda: engine.clipped_sum(x, y, Flat(1.0), transform=torch.sign),
    lambda: AesWords(bytes(32)).restore(torch.zeros(48, dtype=torch.uint8)),
):
    try:
        work()
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__)
"""
    done = subprocess.run(
        [sys.executable, "-O", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["RuntimeError", "ValueError"]
