"""What stands on a page."""

import re

from streamlit.testing.v1 import AppTest


def words(page: AppTest, kind: str) -> str:
    """All that the page says by elements of a kind, such as "error"."""
    return "\n".join(str(getattr(each, "value", "")) for each in page.get(kind))


def html_of(page: AppTest) -> str:
    """All HTML of the page."""
    return "\n".join(each.proto.body for each in page.get("html"))


def number_in(pattern: str, text: str) -> float:
    """The number that the pattern's group finds in a text."""
    found = re.search(pattern, text)
    assert found
    return float(found[1])


def typed(page: AppTest, key: str) -> float:
    """The number in a field."""
    return float(page.text_input(key=key).value or "nan")
