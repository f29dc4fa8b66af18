"""What the teacher says to everybody, watched by the browser: the page is drawn again once it has changed."""

from collections.abc import Mapping

from pages.parts.components.served_component import mount


def watch_board(said: Mapping[str, str], address: str) -> None:
    """Have the browser ask this address for news; `said` is what the page is drawn with."""
    mount("board", "board", {"said": dict(said), "address": address}, "changed")
