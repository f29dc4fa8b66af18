"""Differential privacy: accountants for a mechanism, calibration, claims, and private training.

Names come from their modules when they are first used, so that importing this package, or one
module below it, loads nothing else. docs/api.md describes each.

>>> import dpcore
>>> mechanism = dpcore.Mechanism.constant(q=0.01, sigma=4.0, steps=10_000)
>>> print(dpcore.epsilon(mechanism, delta=1e-5))
0.946 to 0.949 (proven from both sides)
"""

import importlib
from typing import Any

__version__ = "0.1.0"
FACADE = "dpcore.facade"
HOME_OF = {  # public name -> its module; a new one has a line here and in __init__.pyi
    "ACCOUNTANTS": "dpcore.privacy.accountants",
    "SAMPLERS": "dpcore.privacy.sampling",
    "Concentrated": "dpcore.privacy.beside",
    "DiscreteGaussian": "dpcore.privacy.beside",
    "Guarantee": "dpcore.privacy.beside",
    "Laplace": "dpcore.privacy.beside",
    "Mechanism": "dpcore.privacy.mechanism",
    "Reading": "dpcore.privacy.mechanism",
    "Recipe": "dpcore.privacy.schedule",
    "Release": "dpcore.privacy.mechanism",
    "RunConfig": "dpcore.training.config",
    "advantage": FACADE,
    "beta": FACADE,
    "calibrate_batch": FACADE,
    "calibrate_sigma": FACADE,
    "calibrate_steps": FACADE,
    "delta": FACADE,
    "epsilon": FACADE,
    "follow": "dpcore.runs.followed.start",
    "judge": FACADE,
    "tradeoff": FACADE,
    "train": FACADE,
}
__all__ = list(HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]


def __dir__() -> list[str]:
    return sorted(HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(HOME_OF[name]), name)
    globals()[name] = found  # also where a module of this name has just been imported
    return found
