"""A run that is followed in a store of its own."""

from collections.abc import Callable
from typing import Any

import pytest

import dpcore
from dpcore.runs.followed import run as run_module
from dpcore.runs.store import Store
from tests.runs.followed.telling import TOLD


@pytest.fixture
def follow(store: Store) -> Callable[..., Any]:
    """Begin to follow a run in the store; what is left open is finished."""

    def begin(name: str = "mine", **more: Any) -> Any:
        return dpcore.follow(name, home=store.home, **{**TOLD, **more})

    yield begin
    for each in list(run_module.open_runs):
        each.finish()
