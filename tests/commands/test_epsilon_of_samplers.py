"""`python -m dpcore epsilon --sampler`: both ends of what is proven for batches drawn in a certain way."""

import pytest

from dpcore.__main__ import main
from dpcore.privacy.sampling import SAMPLERS
from tests.commands.printed import printed

SETTING = ["epsilon", "--q", ".1", "--sigma", "1", "--steps", "20", "--delta", "1e-5", "--accountant", "rdp"]


@pytest.mark.parametrize("name", SAMPLERS)
def test_every_sampler_gives_both_ends_at_every_horizon(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, [*SETTING, "--sampler", name, "--points", "4"])
    assert found["steps"] == [5, 10, 15, 20]
    drawn = found["sampler"]
    assert (drawn["name"], drawn["adjacency"]) == (name, SAMPLERS[name].adjacency)
    expected = SAMPLERS[name].curve(0.1, 1.0, [5, 10, 15, 20], 1e-5)
    assert drawn["kind"] == str(expected.kind)
    assert expected.lower is not None
    assert drawn["epsilon"] == expected.epsilon.tolist()
    assert drawn["lower"] == expected.lower.tolist()


def test_without_it_nothing_is_said_of_samplers(capsys: pytest.CaptureFixture[str]) -> None:
    assert "sampler" not in printed(capsys, SETTING)


def test_poisson_batches_may_have_a_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    schedule = ["--schedule", "exponential", "--rate", ".1", "--accountant", "pld"]
    found = printed(capsys, [*SETTING, *schedule, "--sampler", "poisson"])
    assert found["sampler"]["epsilon"] == found["accountants"]["pld"]["epsilon"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--sampler", "shufle"], "Expected sampler='shufle' to be one of: poisson"),
        (["--sampler", "shuffle", "--schedule", "exponential", "--rate", ".1"], "only constant noise is proven"),
    ],
)
def test_what_it_cannot_answer_is_a_sentence(more: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SETTING, *more]) == 2
    assert words in capsys.readouterr().err


def test_bands_are_accounted_for_as_fewer_steps_at_a_larger_rate(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, [*SETTING, "--bands", "4", "--points", "4"])
    plain = ["epsilon", "--q", ".4", "--sigma", "1", "--steps", "5", "--delta", "1e-5", "--accountant", "rdp"]
    expected = printed(capsys, plain)
    assert (found["bands"], found["q"], found["steps"]) == (4, 0.1, [5, 10, 15, 20])
    curve = expected["accountants"]["rdp"]["epsilon"]
    assert found["accountants"]["rdp"]["epsilon"] == [curve[rounds - 1] for rounds in (2, 3, 4, 5)]
    assert main([*SETTING, "--bands", "11"]) == 2
    assert "at most 1/q = 10" in capsys.readouterr().err
    assert main([*SETTING, "--bands", "2", "--sampler", "shuffle"]) == 2
    assert "--bands 2" in capsys.readouterr().err


def test_the_table_names_sampler_and_adjacency(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SETTING, "--sampler", "shuffle"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert "Shuffled every epoch, zero-out: epsilon 6.3" in last
    assert "do not hold" in last
