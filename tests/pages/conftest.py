"""A run store for the pages, and one look at the installed packages for all of them."""

from collections.abc import Iterator
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.components.v2 import manifest_scanner

from dpcore.runs import pool
from dpcore.runs.store import Store
from pages.parts.components import elements
from pages.parts.results import costs


class AtOnce:
    """A background that has done its work before anybody looks."""

    def put(self, asked: tuple[costs.Spending, Future]) -> None:
        asked[1].set_result(costs.cost_of(asked[0]))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A store that no worker serves."""
    with Store(tmp_path) as store:
        monkeypatch.setattr(pool, "ensure_pool", lambda: SimpleNamespace(store=store, trouble=None))
        yield store


@pytest.fixture(autouse=True, scope="session")
def installed_packages_read_once() -> Iterator[None]:
    """Streamlit asks all installed packages for components, for each page under test anew: half of
    its time.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner,
            "scan_component_manifests",
            cache(manifest_scanner.scan_component_manifests),
        )
        yield


@pytest.fixture(autouse=True, scope="session")
def routes_served() -> Iterator[None]:
    """As behind app.py: what browsers draw is handed to them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elements, "served", lambda: True)
        yield


@pytest.fixture(autouse=True, scope="session")
def background_done_at_once() -> Iterator[None]:
    """What a page asks for in the background is known when it is drawn; tests of what comes later
    use their own.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "waiting", AtOnce())
        yield
