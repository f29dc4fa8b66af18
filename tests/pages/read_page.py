"""What stands on a page, as numbers."""

import re

from streamlit.testing.v1 import AppTest


def number_in(pattern: str, text: str) -> float:
    """The number that the pattern's group finds in a text."""
    found = re.search(pattern, text)
    assert found
    return float(found[1])


def typed(page: AppTest, key: str) -> float:
    """The number in a field."""
    return float(page.text_input(key=key).value or "nan")
