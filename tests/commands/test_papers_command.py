"""`python -m dpcore papers`: its JSON, its table, its manners with bad input."""

import json
from typing import Any

import pytest

from dpcore.__main__ import main
from dpcore.papers import PAPERS, Paper
from dpcore.papers.entry import Claim, Computed, Trained
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.config import RunConfig
from tests.commands.printed import strict

KEYS = ["paper", "place", "quantity", "theirs", "ours", "lower", "verdict", "why"]
ONE_STEP = Claim(Mechanism.constant(1.0, 1.0, 1), 1e-5)  # epsilon is 4.377 (arXiv 1805.06530, Theorem 8)


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert main(["papers", *words, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    return json.loads(out, parse_constant=strict)


def text_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["papers", *words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.fixture
def dummy(monkeypatch: pytest.MonkeyPatch) -> Paper:
    """A paper is one object, and its line among the papers."""
    entries = (
        Computed("Table 1", "epsilon", "4.38", ours=lambda: 4.3771, claim=ONE_STEP, bound=True, note="Neumann's."),
        Computed("Table 2", "epsilon", "4.2", because="It forgets a half.", ours=lambda: 4.2, claim=ONE_STEP),
        Computed(
            "A place with a long name", "sum of " + 40 * "errors, ", "0.5", because="It doubles.", ours=lambda: 1.0
        ),
        Trained("Table 3", "test accuracy", "95.0 %", config=RunConfig(sigma=1.2345)),
    )
    made = Paper("900", "Dummy", "A dummy", "", "nowhere", "It brings nothing.", entries=entries)
    monkeypatch.setitem(PAPERS, made.id, made)
    return made


@pytest.mark.usefixtures("dummy")
def test_each_number_is_one_object_with_ours_the_proven_bound_and_the_verdict(capsys) -> None:
    kept, refuted, different, untrained = listed(capsys, "--paper", "900")
    assert all(list(each) == KEYS for each in (kept, refuted, different, untrained))
    assert (kept["theirs"], kept["ours"], kept["verdict"], kept["why"]) == (4.38, 4.3771, "reproduced", "Neumann's.")
    assert kept["lower"] == pytest.approx(4.377, abs=5e-4)
    assert refuted["verdict"] == "refuted"
    assert "The number is what its formula gives, but at least 4.37 is proven" in refuted["why"]
    assert (different["verdict"], different["why"], different["lower"]) == ("differs", "It doubles.", None)
    assert (untrained["verdict"], untrained["ours"], untrained["theirs"]) == ("untrained", None, 95.0)


def test_without_a_choice_every_number_of_every_paper_is_printed(capsys) -> None:
    found = listed(capsys)
    assert [(each["paper"], each["place"], each["quantity"]) for each in found] == [
        (paper.id, entry.place, entry.quantity) for paper in PAPERS.values() for entry in paper.entries
    ]
    for paper in PAPERS.values():
        text = text_of(capsys, "--paper", paper.id)
        assert text.startswith(f"{paper.id}  ")
        assert max(map(len, text.splitlines())) <= 120
