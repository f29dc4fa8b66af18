"""The pages' matrix products take one thread each; processes that they start keep theirs."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORES = len(os.sched_getaffinity(0))
ASK = """
import json, numpy, scipy.linalg, threadpoolctl
print(json.dumps([library["num_threads"] for library in threadpoolctl.threadpool_info()]))
"""
LIMITED = f"""
import subprocess, sys
from pages.parts.shell.threads import one_thread_for_products
one_thread_for_products()
{ASK}
subprocess.run([sys.executable, "-c", {ASK!r}], check=True)
"""


def threads(code: str, **environment: str) -> list[list[int]]:
    """What each process of the code says of its libraries' threads."""
    plain = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=plain | environment, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_pages_products_take_one_thread_and_a_workers_as_many_as_ever():
    (usual,) = threads(ASK)
    own, workers = threads(LIMITED)
    assert set(own) == {1}
    assert workers == usual
    assert max(usual) == CORES
