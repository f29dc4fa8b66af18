"""Value objects in, plotly figures out: the same charts on the pages and in a notebook."""

from dpcore.figures.epsilon import curves_figure, epochs_at, epsilon_figure, horizons, profile_figure
from dpcore.figures.schedule import schedule_figure

__all__ = ["curves_figure", "epochs_at", "epsilon_figure", "horizons", "profile_figure", "schedule_figure"]
