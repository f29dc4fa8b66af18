"""What the generators leave out of the Gaussian law: the tables in the README of `dpcore/training/randomness`."""

import re
from pathlib import Path

import mpmath
import pytest

import dpcore
from dpcore.check import SMALLEST_DELTA
from dpcore.training.randomness.box_muller import normals
from dpcore.training.randomness.random_words import BITS, AesWords, DeviceWords
from tests.training.randomness.test_tails import Scripted

README = (Path(dpcore.__file__).parent / "training" / "randomness" / "README.md").read_text(encoding="utf-8")
KINDS = {"AES": AesWords, "CUDA": DeviceWords}
DRAWS = 1e13  # a million steps of ten million parameters, more than any run has
OF_GENERATORS = r"^\| (AES|CUDA) \| (\d+)[^|]* \| ([\d.]+)(?: standard deviations)? \| 2\^-(\d+) = (\S+) \|$"
TOLD = re.findall(OF_GENERATORS, README, re.MULTILINE)
UNCHARGED = re.findall(r"^\| (AES|CUDA) \| (1e-\d+) \| (\d+) \|$", README, re.MULTILINE)


def largest(further: int) -> float:
    """The largest size of a standard normal number that can be drawn: that of words which are all 0."""
    return float(mpmath.sqrt(2 * mpmath.log(2) * (BITS * (1 + further) + 1)))


def missing_mass(further: int, draws: float = 1.0) -> mpmath.mpf:
    """The probability, at most, that any of so many numbers is not one of the Gaussian law up to rounding."""
    return draws * mpmath.mpf(2) ** -(BITS * (1 + further))


def added_delta(further: int, epsilon: float) -> mpmath.mpf:
    """What the missing mass of a run adds to the delta that holds at epsilon."""
    return (1 + mpmath.exp(epsilon)) * missing_mass(further, DRAWS)


def test_the_tables_are_found() -> None:
    assert [name for name, *_ in TOLD] == ["AES", "CUDA"]
    assert [name for name, *_ in UNCHARGED] == ["AES", "CUDA", "CUDA"]
    assert min(float(delta) for _, delta, _ in UNCHARGED) == SMALLEST_DELTA


@pytest.mark.parametrize(("name", "further", "size", "power", "mass"), TOLD)
def test_what_is_told_of_a_generator_is_true(name: str, further: str, size: str, power: str, mass: str) -> None:
    kind = KINDS[name]
    assert kind.further == int(further)
    words = Scripted([0] * (2 + 2 * kind.further), kind.further, kind.on_host)
    assert normals(words, 2)[1].item() == pytest.approx(largest(kind.further), rel=1e-14)
    assert f"{largest(kind.further):.1f}" == size
    assert missing_mass(kind.further) == mpmath.mpf(2) ** -int(power)
    assert mpmath.almosteq(missing_mass(kind.further), mpmath.mpf(mass), rel_eps=0.02)
    assert missing_mass(kind.further) >= 2 * mpmath.ncdf(-mpmath.mpf(largest(kind.further)))  # both tails beyond it


@pytest.mark.parametrize(("name", "delta", "epsilon"), UNCHARGED)
def test_what_is_missing_adds_less_than_a_thousandth_of_delta(name: str, delta: str, epsilon: str) -> None:
    further = KINDS[name].further
    assert added_delta(further, float(epsilon)) < mpmath.mpf(delta) / 1000
    assert added_delta(further, 1.25 * float(epsilon)) > mpmath.mpf(delta) / 1000


def test_a_generator_without_further_words_would_add_more_than_any_delta() -> None:
    assert largest(0) < 9.5
    assert added_delta(0, 1.0) > 1e-7
