"""What the masses of one step err without a tilt, against sixty digits, and what that changes in many steps."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dpcore.privacy.certified import lattice, rounding, step_law, tradeoff_bounds
from dpcore.privacy.certified.cells import Cells, mass_below, step_deviation, step_span
from dpcore.privacy.certified.loss_law import LossLaw
from dpcore.privacy.certified.step_law import step_laws
from tests.privacy.certified.test_compose import convolved, delta_of


class Setting(NamedTuple):
    """One step, on a lattice that suits it or one that others beside it need."""

    q: float
    sigma: float
    mesh: float
    tail: float


def settings(seed: int, count: int) -> list[Setting]:
    """q in [1e-7, 1], sigma in [0.05, 1e4], 1 to 1e9 steps; every other mesh is up to 10^4 times too coarse."""
    generator, found = np.random.default_rng(seed), []
    for number in range(count):
        q = 1.0 if number % 4 == 0 else float(10 ** generator.uniform(-7, 0))
        sigma, steps = float(10 ** generator.uniform(-1.3, 4)), float(10 ** generator.uniform(0, 9))
        tail = lattice.CUT_OFF * float(tradeoff_bounds.LEAST_DELTA[0]) / steps
        own = max(tradeoff_bounds.WIDEST * step_deviation(q, sigma), step_span(q, sigma, tail) / 150)
        coarser = float(10 ** generator.uniform(0, 4)) if number % 2 else 1.0
        found.append(Setting(q, sigma, max(own, min(own * coarser, 0.3)), tail))
    return found


SETTINGS = [*settings(1, 20), Setting(1.0, 0.1, 0.8, 1e-20), Setting(6e-5, 0.11, 1.4, 1e-20)]


def place_of(setting: Setting, t: mpf) -> mpf:
    """Where on the line the likelihood ratio is t, above its lower bound."""
    q = mpf(setting.q)
    return mpf(setting.sigma) ** 2 * mpmath.log((t - 1 + q) / q) + mpf(1) / 2


def removed(setting: Setting, loss: mpf) -> mpf:
    """The hockey-stick divergence of one step at e^loss with the record removed."""
    q, sigma, t = mpf(setting.q), mpf(setting.sigma), mpmath.exp(loss)
    if t <= 1 - q:
        return 1 - t
    x = place_of(setting, t)
    return q * mpmath.ncdf((1 - x) / sigma) - (t - 1 + q) * mpmath.ncdf(-x / sigma)


def added(setting: Setting, loss: mpf) -> mpf:
    """The same with the record added."""
    q, sigma, t = mpf(setting.q), mpf(setting.sigma), mpmath.exp(-loss)
    if t <= 1 - q:
        return mpf(0)
    x = place_of(setting, t)
    return (1 - (1 - q) / t) * mpmath.ncdf(x / sigma) - q / t * mpmath.ncdf((x - 1) / sigma)


def beside(law: LossLaw) -> np.ndarray:
    """Masses as `spectrum` has them: the fullest node is left out."""
    mass = law.mass * np.exp(-law.log_moments(np.zeros(1))[0])
    mass[np.argmax(mass)] = 0.0
    return mass


def divergences(law: LossLaw) -> list[mpf]:
    """Hockey-stick divergences at every lattice point; the fullest node takes what the others leave."""
    finite = 1 - mpf(law.infinite)
    mass = [finite * mpf(float(each)) for each in beside(law)]
    mass[int(np.argmax(law.mass))] = finite - mpmath.fsum(mass)
    found, above, other = [], mpf(law.infinite), mpf(0)
    for loss, here in reversed(list(zip(places(law), mass, strict=True))):
        found.append(above - mpmath.exp(loss) * other)
        above, other = above + here, other + here * mpmath.exp(-loss)
    return found[::-1]


def places(law: LossLaw) -> list[mpf]:
    return [mpf(law.offset) + node * mpf(law.mesh) for node in range(law.mass.size)]


def charged(law: LossLaw, q: float) -> float:
    return float(rounding.step_error(np.array([q]), np.array([beside(law).sum()]))[0])


def worst(law: LossLaw, exact: Callable[[mpf], mpf]) -> float:
    """The largest error at a node."""
    every = zip(law.mass, places(law), divergences(law), strict=True)
    return float(max(abs(found - exact(loss)) for mass, loss, found in every if mass > 0))


def test_no_divergence_of_a_step_errs_by_more_than_is_charged() -> None:
    """The law that dominates keeps the exact value at each node; a place that errs by e changes it by at most e."""
    with mpmath.workdps(60):
        for setting in SETTINGS:
            laws = step_laws(*setting)
            for law, exact in ((laws.remove, removed), (laws.add, added)):
                place = 4 * rounding.UNIT * float(max(abs(loss) for loss in places(law)))
                assert worst(law, partial(exact, setting)) < charged(law, setting.q) / 4 + place, setting


def test_the_mass_beside_the_fullest_node_alone_would_charge_too_little() -> None:
    """A step of much noise has one node with nearly all mass on a lattice that suits other losses; its errors stay."""
    setting = Setting(0.2, 1e5, 0.3, 1e-15)
    law = step_laws(*setting).remove
    with mpmath.workdps(60):
        error = worst(law, partial(removed, setting))
    assert 10 * rounding.MASS * beside(law).sum() < error < charged(law, setting.q)


def long(value: mpf) -> np.longdouble:
    return np.longdouble(mpmath.nstr(value, 25)) if abs(value) > mpf(10) ** -4000 else np.longdouble(0)


def precise_ratios(q: float, y: np.ndarray) -> np.ndarray:
    w = [mpmath.exp(mpf(each)) if q == 1 else (1 - mpf(q)) / mpf(q) * mpmath.expm1(mpf(each)) for each in y.tolist()]
    return np.array([long(each) for each in w])


def precise_cells(q: float, sigma: float, y: np.ndarray) -> Cells:
    """`cells_between` from sixty digits, rounded to the 64 bits of a long double."""
    x = []
    for each in y.tolist():
        w = mpmath.exp(mpf(each)) if q == 1 else (1 - mpf(q)) / mpf(q) * mpmath.expm1(mpf(each))
        x.append(mpf(sigma) ** 2 * mpmath.log(w) + mpf(1) / 2 if w > 0 else -mpmath.inf)
    mass = np.array([[between((a - mean) / sigma, (b - mean) / sigma) for a, b in pairwise(x)] for mean in (0, 1)])
    w = precise_ratios(q, y)
    return Cells(w[::2], w[1::2], mass[:, ::2], mass[:, 1::2])


def between(left: mpf, right: mpf) -> np.longdouble:
    """Standard normal mass, from the tails on the side where they are small."""
    return long(mpmath.ncdf(-left) - mpmath.ncdf(-right) if left > 0 else mpmath.ncdf(right) - mpmath.ncdf(left))


def precise_core(q: float, sigma: float, cut: float) -> tuple[np.longdouble, float]:
    """`mass_below` with a precise mass, at the same node."""
    x = mpf(sigma) ** 2 * mpmath.log((1 - mpf(q)) / mpf(q) * mpmath.expm1(mpf(cut))) + mpf(1) / 2
    return long(mpmath.ncdf(x / mpf(sigma))), mass_below(q, sigma, cut)[1]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["remove", "add", "dominated"])
def test_cells_of_exact_mass_change_no_divergence_by_more_than_is_charged(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same law from precise masses has the same places; but a first cell from below the bound errs in its place."""
    found = [getattr(step_laws(*setting), kind) for setting in SETTINGS]
    monkeypatch.setattr(step_law, "cells_between", precise_cells)
    monkeypatch.setattr(step_law, "ratio_at", precise_ratios)
    monkeypatch.setattr(step_law, "mass_below", precise_core)
    shares = []
    with mpmath.workdps(60):
        for setting, law in zip(SETTINGS, found, strict=True):
            laws = step_laws(*setting)
            precise = getattr(laws, kind)
            exact = divergences(precise) if precise.mass.size > 1 else [mpf(0)] * law.mass.size  # too coarse for a law
            error = float(max(abs(one - two) for one, two in zip(divergences(law), exact, strict=True)))
            below = max(np.log1p(-setting.q) - laws.remove.offset, 0.0) if setting.q < 1 else 0.0
            shares.append((error - 2 * rounding.UNIT * below) / charged(law, setting.q))
    assert 1 / 400 < max(shares) < 1 / 4  # four hundred times less would not do


def moved(law: LossLaw, node: int, error: float) -> LossLaw:
    """The law with a second difference on three nodes: its divergence is higher by `error` at one node alone."""
    t = np.exp(law.offset + law.mesh * np.arange(law.mass.size))
    left, right = error / (t[node] - t[node - 1]), error / (t[node + 1] - t[node])
    mass = law.mass.copy()
    mass[node - 1 : node + 2] += t[node - 1 : node + 2] * [left, -left - right, right]
    return LossLaw(law.offset, law.mesh, mass, law.infinite)


def test_many_steps_and_their_tests_err_by_no_more_than_the_sum_of_what_one_step_errs() -> None:
    """Although single masses err by many times that."""
    law, error = step_laws(0.3, 1.5, 0.1, 1e-12).remove, 1e-5
    other = moved(law, int(np.argmax(law.mass)), error)
    assert np.max(np.abs(other.mass - law.mass)) > 5 * error
    for steps in (1, 2, 5):
        exact, found = convolved([(law, steps)]), convolved([(other, steps)])
        t = np.exp(exact[0])
        whole, wrong = (np.array([delta_of(each, loss) for loss in exact[0]]) for each in (exact, found))
        assert 0.3 * error < np.max(np.abs(wrong - whole)) <= steps * error * (1 + 1e-6)
        power = np.insert(np.cumsum(found[1][::-1]), 0, 0.0) + found[2]
        alpha = np.insert(np.cumsum((found[1] / t)[::-1]), 0, 0.0)
        best = np.min(whole + t * alpha[:, None], axis=1)  # by duality, and the same without an error:
        assert np.max(power - best) <= steps * error * (1 + 1e-6)
        assert np.min(power - best) >= -steps * error * (1 + 1e-6)
