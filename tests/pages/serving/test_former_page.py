"""The address of the former page Train leads on to the same runs and the same settings."""

import asyncio

import pytest
from starlette.requests import Request

from pages.parts.former_page import FORMER_PAGE, lead_on
from tests.pages.serving.test_routes import scope_of


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", "./?"),
        ("sigma=1.23&epochs=5", "./?sigma=1.23&epochs=5"),
        ("batches=shuffle&seed=", "./?sampler=shuffle&seed="),
        ("run=a&sigma=2&by=rdp", "./runs?one=a&sigma=2&by=rdp"),
        ("run=a&run=b&x=epsilon", "./runs?run=a&run=b&x=epsilon"),
        ("sigma=%26run%3Da%0D%0A", "./?sigma=%26run%3Da%0D%0A"),
    ],
)
def test_it_leads_to_one_run_to_several_or_to_the_settings(asked: str, found: str):
    answer = asyncio.run(lead_on(Request(scope_of(FORMER_PAGE.path, asked))))
    assert (answer.status_code, answer.headers["location"]) == (307, found)
