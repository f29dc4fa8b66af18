"""Figures are checked here, attribute by attribute, as the app has no time to do."""

import pytest

from dpcore.figures import layout


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Plotly refuse an attribute that it does not know."""
    monkeypatch.setattr(layout, "CHECKED", True)
