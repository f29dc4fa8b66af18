"""Lesson 0, for everybody who shows it: the pages, and files that work without them.

`sixty_seconds.toml` has its cards. A card's text names numbers in braces, which whoever shows it
fills in from the card's scene.
"""

import json
from pathlib import Path
from typing import Any

from dpcore.privacy import words_in

SIXTY_SECONDS = Path(__file__).with_name("sixty_seconds.toml")
RECORD = SIXTY_SECONDS.with_suffix(".json")


def right_of_hundred() -> tuple[str, str]:
    """The recorded test digits of 100 that are read right, with the noise of `much`, and without.

    `python -m tests.record_sixty_seconds` trains both as the lab does, and records them.
    """
    found = json.loads(RECORD.read_text(encoding="utf-8"))
    return f"{100 * found['private']:.1f}", f"{100 * found['without_privacy']:.1f}"


def cards() -> list[dict[str, Any]]:
    """The cards in their order: `scene`, `head`, `text` and `points`.

    >>> [card["head"] for card in cards()][:2]
    ['Private from whom?', "The spy's coin."]
    """
    return words_in(SIXTY_SECONDS)["steps"]
