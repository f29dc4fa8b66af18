"""How often features were computed."""

import pytest

from dpcore.training.features import cache, pieces


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What features were computed of, once for each time."""
    record, computing = [], pieces.computing

    def recording(*arguments):
        record.append(arguments)
        return computing(*arguments)

    monkeypatch.setattr(cache, "computing", recording)
    return record
