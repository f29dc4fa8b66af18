"""Curves, computed once for each mechanism: bounded caches that every session shares."""

import csv
import io
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from dpcore.figures import epochs_at, horizons
from dpcore.figures.epsilon import DELTAS
from dpcore.privacy.accountants import ACCOUNTANTS, Curve
from dpcore.privacy.accountants.base import FloatArray, IntArray
from dpcore.privacy.accountants.gdp import mu_of
from dpcore.privacy.mechanism import Mechanism


@lru_cache(maxsize=512)
def curve(name: str, mechanism: Mechanism, delta: float) -> Curve:
    """Epsilon by one accountant at the horizons that the charts show; +inf and a note where it has no answer."""
    steps = horizons(mechanism)
    try:
        return ACCOUNTANTS[name].curve(mechanism, steps, delta)
    except RuntimeError as error:
        return _nothing(name, steps, np.full(steps.shape, delta), str(error))


def slow(mechanism: Mechanism) -> bool:
    """Whether the certified curve may take longer than a blink: many kinds of steps, or very many steps."""
    return len(mechanism.releases) > 8 or mechanism.steps > 2_000_000


@lru_cache(maxsize=128)
def profile(name: str, mechanism: Mechanism) -> Curve:
    """Epsilon by one accountant after the whole mechanism, at each of `DELTAS`."""
    try:
        return ACCOUNTANTS[name].profile(mechanism, DELTAS)
    except RuntimeError as error:
        return _nothing(name, np.full(DELTAS.shape, mechanism.steps), DELTAS.copy(), str(error))


@lru_cache(maxsize=256)
def epsilons(name: str, mechanism: Mechanism, delta: float, steps: tuple[int, ...]) -> list[float]:
    """Epsilon by one accountant after exactly these steps, +inf where it has no answer."""
    if not steps:
        return []
    try:
        return ACCOUNTANTS[name].curve(mechanism, steps, delta).epsilon.tolist()
    except RuntimeError:
        return [float("inf")] * len(steps)


@lru_cache(maxsize=256)
def mu(mechanism: Mechanism) -> float:
    """mu of the central limit theorem after the whole mechanism; +inf where it has none."""
    return mu_of(mechanism)


def tidy_csv(mechanism: Mechanism, curves: Mapping[str, Curve]) -> str:
    """One row per accountant and horizon: accountant, kind, delta, step, epoch, epsilon, lower (empty if unproven)."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["accountant", "kind", "delta", "step", "epoch", "epsilon", "lower"])
    for name, each in curves.items():
        lower = [""] * len(each.steps) if each.lower is None else each.lower.tolist()
        epochs = epochs_at(mechanism, each.steps).tolist()
        columns = (each.delta.tolist(), each.steps.tolist(), epochs, each.epsilon.tolist(), lower)
        rows.writerows([name, each.kind.value, *values] for values in zip(*columns, strict=True))
    return out.getvalue()


def _nothing(name: str, steps: IntArray, deltas: FloatArray, note: str) -> Curve:
    return Curve(steps, deltas, np.full(steps.shape, np.inf), None, ACCOUNTANTS[name].kind, note)
