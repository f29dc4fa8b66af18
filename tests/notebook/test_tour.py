"""The tour runs from its first cell to its last, says what the pages say, and holds nothing that
could grow old.
"""

import math
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

from dpcore.notebook import statement_of
from dpcore.privacy.report.numbers import outward
from dpcore.training.defaults import defaults
from dpcore.training.plan import plan
from pages.parts.results import cache

TOUR = Path(__file__).parents[2] / "docs" / "tour.ipynb"
CONFIG = defaults("mnist", "cnn", "sgd")
WIDGETS = "application/vnd.jupyter.widget-state+json"
PLOTLY = "application/vnd.plotly.v1+json"
LONG = """
import sys
sys.path.insert(0, "..")
from dpcore.notebook import live
from dpcore.training.config import RunConfig
live(RunConfig(model="mlp", epochs=1000.0, device="cpu"))
"""


def cells(notebook: Any, kind: str) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == kind]


def outputs(notebook: Any, kind: str) -> list[Any]:
    """What the cells show in one MIME type, in their order."""
    found = [
        output.get("data", {}).get(kind)
        for cell in cells(notebook, "code")
        for output in cell.outputs
    ]
    return [each for each in found if each is not None]


def test_nothing_is_stored_that_a_cell_put_out_and_every_number_is_computed():
    # It would grow old: git would keep every run's, and a reader could not tell a figure of today
    # from one of before.
    notebook = nbformat.read(TOUR, as_version=4)
    assert {(len(cell.outputs), cell.execution_count) for cell in cells(notebook, "code")} == {
        (0, None)
    }
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    nbformat.validate(notebook)
    texts = [cell.source for cell in cells(notebook, "markdown")]
    assert len(texts) > 5
    assert [text for text in texts if re.search(r"\d", text)] == []


def test_it_imports_nothing_deeper_than_the_library():
    notebook = nbformat.read(TOUR, as_version=4)
    text = "\n".join(cell.source for cell in cells(notebook, "code"))
    imported = re.findall(r"^(?:from|import) .*", text, re.MULTILINE)
    assert imported == ["import sys", "import dpcore", "from dpcore import figures, notebook"]


@pytest.mark.long
def test_it_runs_from_top_to_bottom_without_a_warning_and_says_what_the_pages_say():
    notebook = nbformat.read(TOUR, as_version=4)
    folder = {"metadata": {"path": str(TOUR.parent)}}  # where it stands
    executed = NotebookClient(
        notebook, timeout=1500, kernel_name="python3", resources=folder
    ).execute()
    assert all(cell.execution_count for cell in cells(executed, "code"))
    streams = [
        output for cell in cells(executed, "code") for output in cell.outputs if "name" in output
    ]
    assert [each for each in streams if each.name == "stderr"] == []
    end = cache.final("pld", plan(CONFIG).mechanism, CONFIG.delta)
    (said,) = [each.text for each in streams if each.text.startswith("epsilon is")]
    assert outward(float(end.epsilon[-1]), math.ceil) in said
    assert len(outputs(executed, PLOTLY)) == 2
    assert len(outputs(executed, "application/vnd.jupyter.widget-view+json")) == 2
    assert outputs(executed, "text/markdown") == [statement_of(CONFIG).markdown()]
    states = [model["state"] for model in executed.metadata.widgets[WIDGETS]["state"].values()]
    (told,) = [
        re.sub(r"<.*?>", "", state["value"])
        for state in states
        if "Finished in" in str(state.get("value"))
    ]
    (accuracy,) = re.findall(r"the test accuracy is ([\d.]+) %", told)
    assert float(accuracy) > 60


@pytest.mark.long
def test_stopping_the_cell_stops_the_run():
    manager, client = start_new_kernel(
        kernel_name="python3", cwd=str(TOUR.parent), startup_timeout=120
    )
    try:
        asked = client.execute(LONG)
        while "Step " not in str(client.get_iopub_msg(timeout=120)["content"].get("data", {})):
            pass  # until the run has taken steps
        manager.interrupt_kernel()
        while (reply := client.get_shell_msg(timeout=120))["parent_header"]["msg_id"] != asked:
            pass  # of the questions whether the kernel is ready, one may be answered late
        assert reply["content"]["ename"] == "KeyboardInterrupt"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
