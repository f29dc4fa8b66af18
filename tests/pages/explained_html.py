"""The HTML of a page: without what its words say when they are opened, and what it says in odds."""

import re

from streamlit.testing.v1 import AppTest

EXPLAINED = re.compile(
    r"<span class=term><button[^>]*>(.*?)</button><span popover.*?</span></span>"
)


def unexplained(html: str) -> str:
    """The HTML with each word as if it explained nothing."""
    return EXPLAINED.sub(r"\1", html)


def sure(page: AppTest) -> float:
    """How sure, in percent, someone can become who was 50 % sure."""
    return float(
        re.findall(
            r"at most ([\d.]+) % sure", " ".join(each.proto.body for each in page.get("html"))
        )[0]
    )
