"""How each accountant looks, everywhere: one colour and one dash pattern, legible on light and on dark paper."""

from typing import Any, NamedTuple

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED


class Style(NamedTuple):
    """A line: colour with a contrast of at least 3:1 against white and near-black, plotly dash, the dash as text."""

    color: str
    dash: str
    glyph: str
    label: str


LINES = {  # accountant -> colour, dash, glyph
    "moments": ("#2b7bd3", "dash", "╌╌"),
    "rdp": ("#d2601a", "dashdot", "╌·"),
    "mma": ("#c04fa8", "dot", "···"),
    "gdp": ("#2e9150", "longdash", "— —"),
    "zcdp": ("#8a6fd1", "longdashdot", "—·"),
    "strong": ("#a07c10", "6px,2px,2px,2px", "-··"),
    "naive": ("#cf4a5a", "2px,6px", "· ·"),
    CERTIFIED: ("#808080", "solid", "━━"),
}
STYLES = {name: Style(*look, ACCOUNTANTS[name].title) for name, look in LINES.items()}
OTHER = Style("#808080", "dash", "╌╌", "")
BAND = "rgba(128,128,128,0.35)"
DEFAULT_ACCOUNTANTS = ("moments", "rdp", "mma", "gdp")
RUNS = ("#2b7bd3", "#d2601a", "#2e9150", "#c04fa8", "#8a6fd1", "#a07c10")  # overlaid runs, in order


def style_of(name: str) -> Style:
    """The line style of an accountant; an accountant without one of its own is grey under its title."""
    return STYLES.get(name) or OTHER._replace(label=ACCOUNTANTS[name].title)


def layout(x: str, y: str, *, height: int = 430, right: int = 12, **more: Any) -> dict[str, Any]:
    """The layout that every chart shares; colours of paper and text are left to the theme."""
    return {
        "height": height,
        "margin": {"l": 56, "r": right, "t": 16, "b": 48},
        "showlegend": False,
        "hovermode": "x unified",
        "xaxis": {"title": {"text": x}, "zeroline": False},
        "yaxis": {"title": {"text": y}, "zeroline": False},
        **more,
    }


def line(x: Any, y: Any, style: Style, **more: Any) -> dict[str, Any]:
    """A scatter trace in one style, as a plain dict: building plotly's own objects is several times slower."""
    pen = {"color": style.color, "dash": style.dash, "width": 2.2}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": pen, "name": style.label, **more}
