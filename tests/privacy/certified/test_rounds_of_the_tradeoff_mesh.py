"""The mesh of a trade-off band is chosen in rounds: none of them may lose a band, or pass nothing off as one."""

from collections.abc import Callable

import numpy as np
import pytest

from dpcore.privacy.certified import tradeoff_bounds as module
from dpcore.privacy.certified.tradeoff_bounds import Band, tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.tradeoff import Gaussian, Pairs, Points

MECHANISM = Mechanism.constant(0.01, 4.0, 400)
NARROW = Band(Gaussian(1.0), Gaussian(1.0))
WIDE = Band(Gaussian(2.0), Gaussian(1.0))
WIDER = Band(Gaussian(3.0), Gaussian(1.0))
TOO_LONG = None

Rounds = Callable[..., list[float]]


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> Rounds:
    """Lets the rounds give these bands, the last one again and again, and records their meshes."""

    def give(*bands: Band | None) -> list[float]:
        meshes: list[float] = []

        def bounds_on(above: object, below: object, mesh: float) -> Band:
            meshes.append(mesh)
            band = bands[min(len(meshes), len(bands)) - 1]
            if band is None:
                raise RuntimeError("the lattice would be too long")
            return band

        monkeypatch.setattr(module, "_bounds_on", bounds_on)
        return meshes

    return give


def test_a_lattice_that_is_too_long_is_tried_again_at_twice_the_mesh(rounds: Rounds) -> None:
    meshes = rounds(TOO_LONG, TOO_LONG, NARROW)
    assert tradeoff_bounds(MECHANISM) is NARROW
    assert meshes == [meshes[0], 2 * meshes[0], 4 * meshes[0]]


def test_where_every_lattice_is_too_long_nothing_is_certified_and_that_is_said(rounds: Rounds) -> None:
    meshes = rounds(TOO_LONG)
    band = tradeoff_bounds(MECHANISM)
    assert band.empty
    assert "too long" in band.note
    assert band.lower.power(0.5) == 1
    assert band.upper.power(0.5) == 0.5
    assert len(meshes) == 4


def test_a_finer_mesh_that_is_too_long_leaves_the_band_that_is_there(rounds: Rounds) -> None:
    meshes = rounds(WIDE, TOO_LONG, NARROW)
    assert tradeoff_bounds(MECHANISM) is WIDE
    assert len(meshes) == 2
    assert meshes[1] < meshes[0]


def test_a_narrow_band_ends_the_rounds_and_a_wide_one_gets_a_finer_mesh_each_time(rounds: Rounds) -> None:
    meshes = rounds(NARROW)
    assert tradeoff_bounds(MECHANISM) is NARROW
    assert len(meshes) == 1
    meshes = rounds(WIDER, WIDE, NARROW)
    assert tradeoff_bounds(MECHANISM) is NARROW
    assert len(meshes) == 3
    assert 0.1 * meshes[0] <= meshes[1] <= 0.7 * meshes[0]
    assert 0.1 * meshes[1] <= meshes[2] <= 0.7 * meshes[1]


@pytest.mark.parametrize("q", [0.02, 1.0])
def test_a_band_that_is_certified_is_not_called_empty(q: float) -> None:
    band = tradeoff_bounds(Mechanism.constant(q, 4.0, 10))
    assert not band.empty
    assert band.note == ""
    assert np.max(band.lower.power(0.1) - band.upper.power(0.1)) < 1e-3


def test_the_trivial_functions_hold_whatever_the_mechanism_is() -> None:
    band = tradeoff_bounds(Mechanism.constant(0.01, 0.049, 1))
    assert band.empty
    assert isinstance(band.lower, Pairs)
    assert isinstance(band.upper, Points)
    assert not tradeoff_bounds(Mechanism.constant(0.01, 0.05, 1)).empty
