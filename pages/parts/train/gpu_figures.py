"""What was measured on a GPU, as `python -m tests.benchmarks.gpu` has written it down."""

import json
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).parents[3] / "docs" / "measured" / "gpu.json"
NOT_MEASURED = "Training is not measured on a GPU."
WORK = "cnn-512"


def gpu_sentence(path: Path = MEASURED) -> str:
    """Seconds of an epoch and the price of privacy in time, with device and date; or that nothing is measured.

    >>> gpu_sentence(Path("nowhere"))
    'Training is not measured on a GPU.'
    """
    try:
        return _sentence(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):  # no file, or a phase that failed
        return NOT_MEASURED


def _sentence(found: dict[str, Any]) -> str:
    epoch, step = (found["phases"][name]["figures"] for name in ("epochs", "steps"))
    multiple, how = step[f"{WORK} private"]["of plain"], epoch[WORK]["engine"]
    recorded = "recorded" if how.endswith(", captured") else "not recorded"
    return (
        f"Measured on {found['device']}, {found['date']}: an epoch of 60,000 examples takes the tanh cnn at batch 512 "
        f"{1e3 * epoch[WORK]['seconds']:.3g} ms, its private step ({recorded}) {multiple:.2f} times a plain one."
    )
