"""Lesson 0, for everybody who shows it: the pages, and files that work without them.

`sixty_seconds.toml` has its cards. A card's text names numbers in braces, which whoever shows it
fills in from the card's scene.
"""

from pathlib import Path
from typing import Any

from dpcore.privacy import words_in

SIXTY_SECONDS = Path(__file__).with_name("sixty_seconds.toml")


def cards() -> list[dict[str, Any]]:
    """The cards in their order: `scene`, `head`, `text` and `points`.

    >>> [card["head"] for card in cards()][:2]
    ['Private from whom?', "The spy's coin."]
    """
    return words_in(SIXTY_SECONDS)["steps"]
