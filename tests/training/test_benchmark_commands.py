"""The commands that measure training on a GPU run on the CPU in tiny sizes, and say so where there
is no CUDA.
"""

import json

import pytest
import torch

from benchmarks import gpu


def test_without_cuda_it_says_so_in_a_sentence_and_writes_nothing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    gpu.main(["--out", str(tmp_path / "gpu.json")])
    assert capsys.readouterr().out == f"{gpu.NONE}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_each_phase_runs_on_the_cpu():
    for name in gpu.PHASES.keys() - {"tests"}:
        figures = dict(gpu.PHASES[name][0](gpu.SMALL))
        assert figures, name
        json.dumps(figures, allow_nan=False)
