"""A broken trainer is one object: registered from here alone, it is offered, trained and found out."""

import json

import pytest

from dpcore.__main__ import main
from dpcore.audit.broken import BROKEN, TRAINERS, Trainer
from dpcore.audit.parts import Around, put_in

SMALL = ["--model", "mlp", "--width", "20", "--batch", "200", "--epochs", "0.1", "--device", "cpu", "--canaries", "0"]


class Doubled(Around):
    """An engine that gives twice the sum."""

    def clipped_sum(self, *given):
        """Twice the sum."""
        found = self._part.clipped_sum(*given)
        found.shares.mul_(2)
        return found


def twice(run) -> None:
    put_in(run, engine=Doubled(run.engine))


@pytest.fixture
def doubled(monkeypatch: pytest.MonkeyPatch, tmp_path) -> Trainer:
    """A trainer that adds every gradient twice."""
    made = Trainer("doubled", "Added twice", "Two hooks add each gradient to the sum.", "clipping", twice)
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(TRAINERS, made.name, made)
    monkeypatch.setitem(BROKEN, made.name, made)
    return made


@pytest.mark.usefixtures("doubled")
def test_a_trainer_is_its_object_and_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    assert "doubled" in capsys.readouterr().out
    assert main(["audit", *SMALL, "--trainer", "doubled", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["failed"][0] == "clipping"
    clipping = next(each for each in found["audits"] if each["audit"] == "clipping")
    assert clipping["figures"]["largest"] == pytest.approx(2.0, rel=1e-3)


def test_what_a_part_does_not_do_itself_is_done_by_what_it_stands_before() -> None:
    class Part:
        name = "engine"

    assert Around(Part()).name == "engine"
    with pytest.raises(AttributeError, match="nothing"):
        _ = Around(Part()).nothing
