"""How large charts are: text that can be read, larger still in front of a class."""

import numpy as np
import pytest

from dpcore.figures import (
    NORMAL,
    PRESENT,
    Line,
    Track,
    accuracy_figure,
    classes_figure,
    epsilon_figure,
    gaussian_line,
    growth_figure,
    heatmap_figure,
    norms_figure,
    profile_figure,
    schedule_figure,
    track_figure,
    tradeoff_figure,
)
from dpcore.figures.layout import sized
from dpcore.figures.style import style_of
from dpcore.figures.training import decisions_figure
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Kind, Mechanism
from dpcore.privacy.tradeoff import Pairs

MECHANISM = Mechanism.constant(q=0.02, sigma=2.0, steps=200)
BAND = tradeoff_bounds(Mechanism.constant(q=1.0, sigma=2.0, steps=4))
TRACKS = [Track("sigma 1", [0.5, 1.0], [0.5, 0.9]), Track("sigma 2", [0.5, 1.0], [0.4, 0.8])]
REGION = Line(style_of("rdp"), Pairs([1.0], [1e-5]), Kind.UPPER, region=True)
PROFILE = {"rdp": ACCOUNTANTS["rdp"].profile(MECHANISM, np.array([1e-7, 1e-5]))}
ROWS = [
    ACCOUNTANTS["rdp"].curve(Mechanism.constant(0.1, sigma, 20), [10, 20], 1e-5)
    for sigma in (1.0, 2.0)
]
FIGURES = {
    "epsilon": lambda: epsilon_figure(MECHANISM),
    "profile": lambda: profile_figure(PROFILE),
    "trade-off": lambda: tradeoff_figure(BAND, [REGION, gaussian_line(1.0)]),
    "growth": lambda: growth_figure({4: BAND}, 1.0),
    "accuracy": lambda: accuracy_figure(TRACKS, "epoch"),
    "track": lambda: track_figure(TRACKS, "epoch", "loss"),
    "classes": lambda: classes_figure(["a"], [0.5]),
    "decisions": lambda: decisions_figure("aar", 0.5, 4),
    "norms": lambda: norms_figure([1.0], [[0.1, 0.2, 0.3, 0.4, 0.5]], 0.25),
    "schedule": lambda: schedule_figure(MECHANISM),
    "map": lambda: heatmap_figure(np.array([1.0, 2.0]), ROWS, np.ones(2)),
}


def fonts(value) -> list[float]:
    """Every size of a font in a figure."""
    if isinstance(value, dict):
        own = [value[key]["size"] for key in value if key.endswith("font") and "size" in value[key]]
        return own + [size for each in value.values() for size in fonts(each)]
    return (
        [size for each in value for size in fonts(each)] if isinstance(value, list | tuple) else []
    )


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_of_a_chart_is_smaller_than_its_size_says_and_lines_in_front_of_a_class_are_thick(
    name: str,
):
    pens = []
    for size, least in ((NORMAL, 14), (PRESENT, 28)):
        drawn = sized(FIGURES[name](), size)
        figure = drawn.to_plotly_json()
        assert min(fonts(figure)) >= least
        # A theme's template has smaller ones, which only the axis itself overrules.
        for axis in ("xaxis", "yaxis"):
            assert figure["layout"][axis]["tickfont"]["size"] >= least
            assert figure["layout"][axis]["title"]["font"]["size"] >= least
        assert "font-size" not in str(figure)
        pens.append(
            [
                width
                for each in drawn.to_dict()["data"]
                if (width := each.get("line", {}).get("width"))
            ]
        )
    before, after = pens
    if name not in ("classes", "decisions", "map"):
        assert before
        assert np.allclose(np.array(after) / before, PRESENT.pen / NORMAL.pen)
