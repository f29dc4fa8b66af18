"""One place for a colour: all others name it."""

import re
import tomllib
from pathlib import Path

import pytest

from dpcore.figures.style import COLOURS, THEMES
from pages.parts.shell.colours import css_colours

ROOT = Path(__file__).parents[2]
KINDS = (".py", ".js", ".css", ".html", ".toml")
COLOUR = re.compile(
    r"""(?:["'\s:(])#(?:[0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})\b|\brgba\(\d""", re.I
)
# Variables of the pages' CSS that are no colours of the roles.
OTHERS = {
    "rule",
    "place",
    "range",
    "hue",
    "image",
    "most",
    "peak",
    "middle",
    "value",
    "said",
    "turn",
    "share",
    "rise",
    "noise",
    "seen",
}
ROLES = ROOT / "dpcore" / "figures" / "roles.toml"
SOURCES = [
    each
    for folder in ("dpcore", "pages")
    for each in (ROOT / folder).rglob("*")
    if each.suffix in KINDS and each != ROLES
]


def test_no_colour_stands_outside_of_the_roles():
    assert len(SOURCES) > 300
    for source in SOURCES:
        found = COLOUR.search(source.read_text(encoding="utf-8"))
        assert found is None, (source, found)


@pytest.mark.parametrize("text", ['"#2f70c4"', "color: #fff;", "(#8881 0 36px", "rgba(128, 1)"])
def test_a_colour_in_other_words_would_be_found(text: str):
    assert COLOUR.search(text)


def test_streamlits_theme_has_the_colours_of_the_roles():
    configured = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
    for place, paper in enumerate(("light", "dark")):
        assert configured[paper] == {
            "primaryColor": THEMES["primary"][place],
            "linkColor": THEMES["link"][place],
        }


def test_each_variable_of_the_pages_css_is_a_colour_of_the_roles_or_one_that_pages_set():
    rule = css_colours()
    assert all(f"--{name}: {color};" in rule for name, color in list(COLOURS.items())[:-1])
    for sheet in (ROOT / "pages").rglob("*.css"):
        for name in re.findall(r"var\(--([\w-]+)", sheet.read_text(encoding="utf-8")):
            known = f"--{name}:" in rule or name in OTHERS or name.startswith("st-")
            assert known, (sheet, name)
