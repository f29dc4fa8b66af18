"""A classroom in a test: several browsers, each with its cookie, use the pages of one process in
turn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from dpcore.runs.limits import SHARED
from dpcore.runs.store import Store
from dpcore.runs.teacher_key import cookie_key, sign_in, teacher_key
from pages.parts import visitors
from pages.parts.visitors import name_of, new_cookie, owner_of


@dataclass(frozen=True)
class Visitor:
    """A browser with its cookie, and the owner that it stands for."""

    cookie: str
    owner: str


class Class:
    """Who uses the pages of this process at the moment."""

    def __init__(self, home: Path, patch: pytest.MonkeyPatch) -> None:
        self.home, self.key, self._patch = home, cookie_key(home), patch

    def visitor(self, *, teacher: bool = False) -> Visitor:
        """Somebody who comes for the first time."""
        cookie = new_cookie(self.key)
        owner = owner_of(cookie, self.key)
        if teacher:
            assert sign_in(self.home, owner, teacher_key(self.home)[0])
        return Visitor(cookie, owner)

    def turn_of(self, somebody: Visitor) -> None:
        """From now on this browser uses the pages."""
        self.sends(somebody.cookie)

    def sends(self, cookie: str, *, token: str = "", token_cookie: str = "") -> None:
        """From now on a browser that sends this does; without tokens the right ones."""
        own = generate_xsrf_token_string()
        cookies = {name_of(self.key): cookie, XSRF_COOKIE_NAME: token_cookie or own}
        self._patch.setattr(visitors, "handshake", lambda: (cookies, token or own))


@pytest.fixture
def room(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Class]:
    """A classroom over the store."""
    monkeypatch.setenv(SHARED, "1")
    monkeypatch.setenv("DPCORE_HOME", str(store.home))
    visitors._key.cache_clear()
    yield Class(store.home, monkeypatch)
    visitors._key.cache_clear()
