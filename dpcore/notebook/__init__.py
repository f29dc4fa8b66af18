"""The explorer in a notebook: sliders over the settings of a run, training drawn while it goes, the privacy statement.

Works where Jupyter widgets do: in JupyterLab, in Jupyter Notebook and in VS Code. docs/tour.ipynb shows it.
"""

from importlib.util import find_spec

NEEDED = ("ipywidgets", "anywidget")

if missing := [name for name in NEEDED if find_spec(name) is None]:
    raise ImportError(f"Expected {' and '.join(missing)} for notebooks: pip install -r requirements-notebook.txt")

from dpcore.notebook.explorer import (  # noqa: E402
    Explorer,
    explore,
    statement_of,
)
from dpcore.notebook.live_run import LiveRun, live  # noqa: E402

__all__ = ["Explorer", "LiveRun", "explore", "live", "statement_of"]
