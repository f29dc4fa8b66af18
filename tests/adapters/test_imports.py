"""The adapters load no library before they are used."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARIES = ("flwr", "lightning", "transformers", "jax", "opacus", "torch", "streamlit", "plotly")


def test_the_library_loads_no_adapter_and_an_adapter_not_its_library() -> None:
    code = f"""import sys, dpcore
dpcore.follow
print([name for name in sys.modules if name in {{"dpcore.flower", "dpcore.lightning"}}])
import dpcore.flower, dpcore.lightning, dpcore.opacus, dpcore.transformers
print([name for name in {LIBRARIES} if name in sys.modules])"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[]", "[]"]
