"""A text that says that privacy was turned off is answered with that, beside what else was read."""

import pytest

from dpcore.claims.claim import Claim
from dpcore.claims.reading import read

CLAIM = "epsilon 3, delta 1e-5\nsigma 1.1\nbatch size 256\nepochs 15\nexamples 60000\n"
OFF = (
    "dp_enabled: false",
    "dp_enabled = False  # for now",
    "enable_dp=no",
    '"dp": {"enabled": false}',
    "dp:\n  enabled: off",
    "| dp_enabled | false |",
    "use_dp: 0",
    "differential_privacy: disabled",
    "privacy: none",
    "disable_dp: true",
    "non_private = True",
)
ON = (
    "dp_enabled: true",
    "disable_dp: false",
    "no_dp = false",
    "dp: 0.5",
    "privacy budget: 3",
    "privacy: no guarantee for groups",
    "No DP baseline: 98 %",
)


@pytest.mark.parametrize("words", OFF)
def test_that_privacy_was_turned_off_is_said(words: str) -> None:
    for text in (CLAIM + words, f"{words}\n{CLAIM}"):
        (said,) = [each for each in read(text).left_out if "no privacy was applied" in each]
        assert said.startswith("The text says that no privacy was applied: ")
        assert read(text).claim == Claim()  # a private training is not told of


@pytest.mark.parametrize("words", ON)
def test_nothing_is_said_where_it_was_not(words: str) -> None:
    assert not any("no privacy" in each for each in read(CLAIM + words).left_out)


def test_it_is_said_beside_a_history() -> None:
    text = '{"dp_enabled": false, "state": {"history": [[1.1, 0.01, 1000]], "mechanism": "rdp"}}'
    assert any("no privacy was applied" in each for each in read(text).left_out)
