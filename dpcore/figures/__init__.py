"""Value objects in, plotly figures out: the same charts on the pages and in a notebook."""

# ruff: noqa: F401
from dpcore.figures.epsilon import charted, curves_figure, epochs_at, epsilon_figure
from dpcore.figures.heatmap import heatmap_figure
from dpcore.figures.layout import NORMAL, PRESENT, Size, sized
from dpcore.figures.sampled import profile_figure
from dpcore.figures.tradeoff import (
    Line,
    attack_figure,
    gaussian_line,
    growth_figure,
    tradeoff_figure,
)
from dpcore.figures.training import (
    Track,
    accuracy_figure,
    classes_figure,
    norms_figure,
    schedule_figure,
    track_figure,
)
