"""Requests for audits, the same again from JSON, and the modules of `dpcore.audit` that need no
torch.
"""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from dpcore.audit import bounds
from dpcore.audit.broken_trainers import BROKEN
from dpcore.audit.request import OWN_KEYS, AuditRequest
from dpcore.training.config import RunConfig
from dpcore.training.settings import SETTINGS


def test_it_is_flat_json_beside_the_settings_and_back() -> None:
    request = AuditRequest(RunConfig(sigma=2.0, seed=5), "half_noise", 0.99, 10)
    values = json.loads(json.dumps(request.to_json()))
    assert AuditRequest.from_json(values) == request
    assert (request.seed, AuditRequest().seed) == (5, None)
    assert values["sigma"] == 2.0
    assert values["trainer"] == "half_noise"
    assert not set(OWN_KEYS) & set(SETTINGS)
    with pytest.raises(ValueError, match="unheard"):
        AuditRequest.from_json(values | {"unheard": 1})


def test_bad_input_is_a_sentence() -> None:
    for given, named in [
        ({"trainer": "honest"}, "trainer='honest'"),
        ({"confidence": 0.0}, "confidence=0.0"),
        ({"confidence": 1.0}, "confidence=1.0 to be above 0 and at most 0.9999"),
        ({"confidence": float("nan")}, "confidence=nan"),
        ({"canaries": -1}, "canaries=-1"),
        ({"canaries": 5001}, "canaries=5001 is too many: write at most 5000"),
        ({"canaries": 2.5}, "canaries=2.5"),
        ({"config": RunConfig(sampler="shuffle")}, "choose sampler='poisson', not 'shuffle'"),
    ]:
        with pytest.raises(ValueError, match=named):
            AuditRequest(**given)


def test_every_broken_trainer_has_settings_for_whatever_is_asked_for() -> None:
    asked = (
        RunConfig(),
        RunConfig(dataset="cifar10", source="full", model="cnn9"),
        RunConfig(clipping="per_layer", stop_epsilon=2.0, epochs=0.5),
        RunConfig(optimizer="adam", batch=10_000),
        RunConfig(private=False),
    )
    for name, config in itertools.product(BROKEN, asked):
        trained = AuditRequest(config, name, canaries=0).trained
        assert trained.seed == config.seed, (name, config)
        assert (trained.dataset, trained.model) == (config.dataset, config.model), (name, config)


def test_requests_statistics_and_trainers_are_there_without_torch() -> None:
    modules = [
        f"dpcore.audit.bounds.{path.stem}" for path in Path(bounds.__file__).parent.glob("[!_]*.py")
    ]
    modules += ["dpcore.audit.broken_trainers", "dpcore.audit.request", "dpcore.runs.kinds"]
    code = f"import sys, {', '.join(modules)}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
