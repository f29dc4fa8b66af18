"""The explorer in a notebook: sliders for the settings of a run, live training, and the privacy
statement.

It needs Jupyter widgets: JupyterLab, Jupyter Notebook or VS Code. docs/tour.ipynb shows it.
"""

from importlib.util import find_spec

NEEDED = ("ipywidgets", "anywidget")

if missing := [name for name in NEEDED if find_spec(name) is None]:
    raise ImportError(
        f"Expected {' and '.join(missing)} for notebooks: pip install -r requirements-notebook.txt"
    )

from dpcore.notebook.explorer import Explorer, explore, statement_of  # noqa: E402
from dpcore.notebook.live_run import LiveRun, live  # noqa: E402

__all__ = ["Explorer", "LiveRun", "explore", "live", "statement_of"]
