"""Export of runs: each form has a file in this room and a line here; free of torch."""

from dpcore.runs.export.base import FolderForm, Form, TextForm, record_of
from dpcore.runs.export.data_forms import CSV, DP_EVENT, JSON
from dpcore.runs.export.model_card import CARD
from dpcore.runs.export.registry import REGISTRY
from dpcore.runs.export.scripts import DP_ACCOUNTING, OPACUS, SCRIPT
from dpcore.runs.export.trackers import MLFLOW, TENSORBOARD
from dpcore.runs.history import RunRecord

__all__ = ["FORMS", "FolderForm", "Form", "RunRecord", "TextForm", "file_name", "record_of"]

FORMS: dict[str, Form] = {
    each.name: each
    for each in (
        CSV,
        JSON,
        TENSORBOARD,
        MLFLOW,
        SCRIPT,
        OPACUS,
        DP_ACCOUNTING,
        DP_EVENT,
        CARD,
        REGISTRY,
    )
}


def file_name(form: Form, runs: list[str]) -> str:
    """The name of a file or folder of these runs.

    >>> file_name(FORMS["csv"], ["abc", "def"]), file_name(FORMS["opacus"], ["abc"])
    ('run-abc-def.csv', 'opacus-abc.py')
    """
    ending = form.ending if isinstance(form, TextForm) else ""
    kind = form.name if ending == ".py" or not ending else "run"
    return f"{kind}-{'-'.join(runs[:6])}{ending}"
