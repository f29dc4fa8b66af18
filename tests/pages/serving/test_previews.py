"""The route that draws a chart for the value that a slider passes: what a stranger may send, and
what they get.
"""

import gc
import json

import pytest

from pages.parts.serving import previews
from tests.pages.serving.test_routes import got


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict:
    """A reader's session; what it keeps ends with it."""
    kept: dict = {}
    monkeypatch.setattr(previews.st, "session_state", kept)
    return kept


def drawing(field: str, text: str) -> dict | None:
    if text == "0":
        raise ValueError("Expected sigma=0 to be above 0.")
    return {"figure": f"{field} {text}", "following": []} if field == "sigma" else None


def test_a_chart_is_drawn_for_the_value_that_is_asked_for(session):
    address = previews.address_of("chart", drawing)
    status, headers, body = got(address, "field=sigma&text=2")
    assert status == 200
    assert headers["content-type"] == "application/json"
    assert json.loads(body) == {"figure": "sigma 2", "following": []}


def test_where_it_cannot_be_drawn_there_is_nothing(session):
    for query in ["field=sigma&text=0", "field=n&text=2", "", "field=sigma;DROP"]:
        assert got(previews.address_of("chart", drawing), query)[::2] == (204, ""), query


def test_a_long_text_is_refused_before_anything_is_drawn(session):
    address = previews.address_of("chart", lambda *_: pytest.fail("drawn"))
    assert got(address, f"field=sigma&text={'9' * (previews.MAX_CHARS + 1)}")[0] == 400


def test_an_unknown_token_is_a_sentence():
    for token in ["x", "..", "%00", "'", "A" * 5000]:
        assert got(f"/previews/{token}")[::2] == (404, "There is no such chart."), token


def test_a_chart_that_is_not_drawn_so_any_more_is_gone(session):
    address = previews.address_of("chart", drawing)
    assert previews.address_of("chart", None) == ""
    assert got(address, "field=sigma&text=2")[0] == 404


def test_a_token_ends_with_its_session(session):
    address = previews.address_of("chart", drawing)
    session.clear()
    gc.collect()
    assert got(address, "field=sigma&text=2")[0] == 404


def test_while_one_value_is_drawn_no_other_one_is(session):
    inner: list[int] = []

    def slow(field: str, text: str) -> dict:
        inner.append(got(address, "field=sigma&text=3")[0])
        return {"figure": text, "following": []}

    address = previews.address_of("chart", slow)
    assert got(address, "field=sigma&text=2")[0] == 200
    assert inner == [429]
    assert got(address, "field=sigma&text=2")[0] == 200  # and then it is free again


def test_a_mistake_in_drawing_does_not_block_the_chart(session):
    def broken(field: str, text: str) -> dict:
        raise KeyError(text)

    address = previews.address_of("chart", broken)
    for _ in range(2):
        with pytest.raises(KeyError):
            got(address, "field=sigma&text=2")
