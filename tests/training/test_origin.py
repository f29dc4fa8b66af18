"""What a run says of where it comes from: versions, machine and data, and no secret."""

import json
import platform
from dataclasses import replace

import numpy as np
import torch

from dpcore import __version__
from dpcore.data.fingerprint import fingerprint_of
from dpcore.data.loading import load
from dpcore.training.checkpoint import where
from dpcore.training.origin import origin_of
from tests.training.small_runs import SMALL, run_of


def test_it_names_versions_machine_and_data() -> None:
    run = run_of(SMALL)
    found = origin_of(run)
    assert found["dpcore"] == __version__
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert {key: found[key] for key in ("device", "threads", "torch")} == where(run)
    assert found["data"] == fingerprint_of(load(SMALL.dataset, SMALL.source))
    assert json.loads(json.dumps(found)) == found


def test_it_names_the_device_that_was_found_and_the_torch_that_trains(monkeypatch) -> None:
    monkeypatch.undo()  # the machine as it is
    found = origin_of(run_of(replace(SMALL, device="auto")))
    assert not found["device"].startswith("auto")
    assert found["torch"] == torch.__version__


def test_the_secret_of_a_run_is_not_in_it() -> None:
    run = run_of(replace(SMALL, seed=None))
    assert run.secret
    text = json.dumps(origin_of(run))
    assert f"{run.secret}" not in text
    assert f"{run.secret:x}" not in text
