"""`python -m dpcore audit`: one JSON object; recorded, and shown again by its id."""

import json
import re
from pathlib import Path

import pytest

from dpcore.__main__ import main
from dpcore.audit.request import AuditRequest
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.audit.small_audits import pin_machine

SMALL = [
    "--model",
    "mlp",
    "--width",
    "20",
    "--batch",
    "500",
    "--epochs",
    "0.3",
    "--sigma",
    "1",
    "--device",
    "cpu",
]
AUDITS = [
    "noise", "fresh_noise", "evidence", "generator", "clipping", "gradients", "history",
    "sampler", "releases",
    "per_step", "one_run", "one_run_curve", "one_run_gaussian", "in_out", "losses",
]  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of its own."""
    pin_machine(monkeypatch)
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def audited(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    status, said = main(["audit", *words, "--json"]), capsys.readouterr()
    assert said.err.count("Evidence reached 20 at step 1 of 6: the noise is too small.") == (
        "half_noise" in words
    )
    return status, json.loads(said.out)


def test_one_object_holds_the_request_and_what_each_audit_found(capsys) -> None:
    status, object_ = audited(
        capsys, *SMALL, "--trainer", "half_noise", "--canaries", "30", "--seed", "1"
    )
    assert status == 1
    assert object_["failed"] == ["noise", "evidence", "generator"]
    assert object_["request"]["trainer"] == "half_noise"
    assert [each["audit"] for each in object_["audits"]] == AUDITS
    noise = object_["audits"][0]
    assert noise["failed"]
    assert noise["p_value"] <= noise["p_corrected"] <= 0.05
    assert noise["epsilon"] > object_["epsilon"]["claimed"]
    assert noise["figures"]["sigma_below"] == pytest.approx(0.5, rel=0.02)
    assert object_["epsilon"]["lower"] <= object_["epsilon"]["claimed"]


def test_it_is_recorded_and_its_id_shows_it_again(capsys) -> None:
    status, object_ = audited(capsys, *SMALL, "--canaries", "0", "--seed", "1")
    assert (status, object_["failed"]) == (0, [])
    with Store() as store:
        job = store.run(object_["run"])
    assert (job.kind, job.status) == ("audit", Status.FINISHED)
    assert audited(capsys, job.id) == (0, object_)
    assert main(["audit", job.id]) == 0
    out = capsys.readouterr().out
    assert "No test found a fault" in out
    shown = dict(re.findall(r"^(\w+) +passes +([\d.e-]+)", out, flags=re.M))
    exact = {each["audit"]: each["p_value"] for each in object_["audits"] if each["p_value"]}
    assert shown.keys() == exact.keys()
    assert all(exact[name] <= float(text) for name, text in shown.items())  # as upper bounds
    for words in (
        ["--sigma", "9"],
        ["--trainer", "half_noise"],
        ["--confidence", ".95"],
        ["--canaries", "0"],
    ):
        assert main(["audit", job.id, *words]) == 2
        assert f"Expected no {words[0]} beside a recorded audit" in capsys.readouterr().err
    assert main(["audit", job.id, "--non-private"]) == 2


def test_a_recorded_run_is_trained_again_by_its_settings(capsys) -> None:
    assert main(["train", *SMALL, "--seed", "3"]) == 0
    with Store() as store:
        run = store.runs()[0]
    capsys.readouterr()
    _, object_ = audited(capsys, run.id, "--canaries", "0")
    assert {
        name: value for name, value in object_["request"].items() if name in run.settings
    } == run.settings
    assert main(["audit", run.id, "--sigma", "2"]) == 2
    assert "Expected no --sigma beside a recorded run" in capsys.readouterr().err


def test_a_training_that_is_cancelled_ends_the_audit(
    capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(watch, step):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpcore.audit.watched_run.WatchedRun.step", interrupted)
    assert main(["audit", *SMALL, "--canaries", "0"]) == 130
    with Store() as store:
        assert store.runs(kind="audit")[0].status is Status.CANCELLED


def test_an_audit_that_is_not_over_is_not_shown(capsys) -> None:
    with Store() as store:
        job = store.submit(AuditRequest(RunConfig()))
    assert main(["audit", job]) == 2
    assert "to be a finished audit, but it is queued" in capsys.readouterr().err
