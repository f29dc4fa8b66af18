"""The explorer in a notebook: sliders for the settings of a run, live training, and the privacy
statement.

It needs Jupyter widgets: JupyterLab, Jupyter Notebook or VS Code. docs/tour.ipynb shows it.
"""

from dpcore import extras

extras.require("notebook", "The explorer needs it")
extras.require("app", "The explorer's figures need it")

from dpcore.notebook.explorer import Explorer, explore, statement_of  # noqa: E402
from dpcore.notebook.live_run import LiveRun, live  # noqa: E402

__all__ = ["Explorer", "LiveRun", "explore", "live", "statement_of"]
