"""What the teacher says to everybody, watched by the browser: the page is drawn again once it has changed."""

from collections.abc import Mapping

from pages.parts.components.served_component import mount
from pages.parts.serving.board import ADDRESS


def watch_board(said: Mapping[str, str]) -> None:
    """Have the browser ask for news; `said` is what the page is drawn with."""
    mount("board", "board", {"said": dict(said), "address": ADDRESS}, "changed")
