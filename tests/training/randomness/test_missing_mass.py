"""The Gaussian mass that the generators miss: the tables in the README of
`dpcore/training/randomness`.
"""

import dataclasses
import re
from math import sqrt
from pathlib import Path

import mpmath
import numpy as np
import pytest
import torch
from scipy import stats

import dpcore
from dpcore.check import SMALLEST_DELTA
from dpcore.privacy.certified.rounding import RESERVED
from dpcore.privacy.mechanism import Release
from dpcore.training.config import RunConfig
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.plan import plan
from dpcore.training.randomness import missing_mass
from dpcore.training.randomness.gaussian_noise import GaussianNoise, normals
from dpcore.training.randomness.missing_mass import BITS, DIGITS, NUMBERS, RADIUS, added_delta
from dpcore.training.randomness.random_words import AesWords, DeviceWords
from tests.training.randomness.test_tails import Scripted, exactly, fraction

README = (Path(dpcore.__file__).parent / "training" / "randomness" / "README.md").read_text(
    encoding="utf-8"
)
KINDS = {"AES": AesWords, "CUDA": DeviceWords}
OF_GENERATORS = (
    r"^\| (AES|CUDA) \(.*\) \| (\d+)[^|]* \| ([\d.]+) \| ([\d.]+) \| 2\^-(\d+) = (\S+) \|$"
)
TOLD = re.findall(OF_GENERATORS, README, re.MULTILINE)
LEAST = re.findall(r"^\| (AES|CUDA) \| (1e\d+) \| (1e-\d+) \| ([\d.]+) \|$", README, re.MULTILINE)
FLOAT32 = 5.768  # the largest size of torch's float32 normal numbers on a CPU
MAX_STEPS = 10**9
FEW = 20 * 2.0**-53  # what some twenty operations in float64 err by, in a library for any processor


def drawn(kind: type, words: list[int]) -> tuple[float, float]:
    """The pair that the generator makes of a word of the radius, one of the angle, and further
    words of both.
    """
    return tuple(normals(Scripted(words, kind.further, kind.on_host), 2).tolist())


def test_the_tables_are_found() -> None:
    assert [name for name, *_ in TOLD] == ["AES", "CUDA"]
    assert [name for name, *_ in LEAST] == ["AES", "CUDA", "CUDA", "CUDA"]
    assert float(LEAST[0][2]) == SMALLEST_DELTA


def test_what_is_told_of_a_generator_is_true() -> None:
    for name, further, largest, radius, power, mass in TOLD:
        kind = KINDS[name]
        assert kind.further == int(further), name
        bits = BITS * (1 + kind.further)
        furthest = drawn(kind, [0] * (2 + 2 * kind.further))[1]
        assert furthest == pytest.approx(sqrt(2 * np.log(2) * (bits + 1)), rel=1e-14), name
        assert f"{furthest:.1f}" == largest, name
        assert f"{RADIUS[name]:.1f}" == radius, name
        assert furthest > RADIUS[name], name
        assert int(power) == bits - DIGITS, name
        with mpmath.workdps(30):
            missing = mpmath.exp(-(mpmath.mpf(RADIUS[name]) ** 2) / 2)
            assert mpmath.almosteq(missing, mpmath.mpf(2) ** -int(power), rel_eps=1e-11), name
            assert mpmath.almosteq(missing, mpmath.mpf(mass), rel_eps=0.02), name


def test_up_to_the_radius_a_number_is_that_of_the_real_number_with_the_same_bits() -> None:
    """The last word but one begins the digits, and whatever stands behind those that are drawn
    moves them no more.
    """
    for rest in [0, 1, 2**62, 2**63 - 1]:
        for name in KINDS:
            kind = KINDS[name]
            last = [0] * (kind.further - 1) + [2**DIGITS + rest % 2**DIGITS]
            found = np.hypot(*drawn(kind, [0, 0, *last, *[0] * kind.further]))
            assert found <= RADIUS[name], (rest, name)
            for behind in (0, 2**63 - 1):  # any further digits of the real number
                real = np.hypot(
                    *exactly(fraction([0, *last, behind]), fraction([0] * (1 + kind.further)))
                )
                assert found == pytest.approx(real, rel=FEW), (rest, name)


def test_beyond_the_radius_all_numbers_are_larger_than_within() -> None:
    for name in KINDS:
        kind = KINDS[name]
        for small in (0, 1, 2**20, 2**DIGITS - 1):
            words = [0, 0, *[0] * (kind.further - 1), small, *[0] * kind.further]
            assert np.hypot(*drawn(kind, words)) >= RADIUS[name] * (1 - FEW), name


@pytest.mark.parametrize("radius", [4.0, 6.0, 9.0])
@pytest.mark.parametrize("sigma", [0.3, 0.5, 1.0, 3.0])
def test_what_is_added_holds_the_exact_law_of_pairs_that_are_moved(
    radius: float, sigma: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shift may move one pair by all of it, many by a little each, or some by more than 1: none
    passes more often.
    """
    monkeypatch.setattr(missing_mass, "NUMBERS", 200)
    shift = 1 / sigma
    charged = added_delta([Release(0.1, sigma)], radius)
    beyond = 100 * stats.ncx2.sf(radius**2, 2, 1e-12)
    for moved in (1, 2, 3, 5, 11, 100):
        each = shift / sqrt(moved)
        passing = moved * stats.ncx2.sf(radius**2, 2, each**2) + (100 - moved) * stats.ncx2.sf(
            radius**2, 2, 1e-12
        )
        assert beyond + passing <= charged


@pytest.mark.parametrize("radius", [2.6, 3.5])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 4.0])
def test_the_hockey_stick_of_a_law_cut_off_differs_by_no_more_than_is_added(
    radius: float, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair whose radius is cut off at R, and whose missing mass lies just beyond, against the
    normal pair.
    """
    monkeypatch.setattr(missing_mass, "NUMBERS", 2)
    sigma, q, step = 1.0, 0.3, 0.01
    x, y = np.meshgrid(np.arange(-6, 7, step), np.arange(-6, 6, step))

    def normal(x: np.ndarray) -> np.ndarray:
        return np.exp(-(x**2 + y**2) / 2) / (2 * np.pi)

    def cut(x: np.ndarray) -> np.ndarray:
        size = np.hypot(x, y)
        ring = (size > radius) & (size <= radius + 0.05)
        return np.where(
            size <= radius,
            normal(x),
            ring * np.exp(-(radius**2) / 2) / (np.pi * (0.1 * radius + 0.05**2)),
        )

    def divergences(law) -> list[float]:
        without, taking_part = law(x), (1 - q) * law(x) + q * law(x - 1 / sigma)
        pairs = ((taking_part, without), (without, taking_part))
        return [float(np.maximum(p - np.exp(epsilon) * r, 0.0).sum()) * step**2 for p, r in pairs]

    for found, exact in zip(divergences(cut), divergences(normal), strict=True):
        assert abs(found - exact) <= added_delta([Release(q, sigma)], radius) + 1e-3


def test_the_reserve_covers_runs_down_to_the_sigma_that_is_told() -> None:
    for name, steps, delta, sigma in LEAST:
        for value, covered in ((float(sigma), True), (float(sigma) - 0.0015, False)):
            added = added_delta([Release(0.1, value, int(float(steps)))], RADIUS[name])
            assert (added <= RESERVED * float(delta)) == covered, name


@pytest.mark.parametrize("kind", [*KINDS, "float32"])
def test_only_a_generator_with_such_a_tail_is_covered_at_any_length_and_delta(kind: str) -> None:
    """At sigma = 0.3, where the slider begins: float32's normal numbers would not be covered even
    for one step.
    """
    radius = RADIUS.get(kind, FLOAT32)
    longest = added_delta([Release(0.1, 0.3, MAX_STEPS)], radius)
    assert (longest <= RESERVED * SMALLEST_DELTA) == (kind in KINDS)
    if kind not in KINDS:
        assert added_delta([Release(0.1, 50.0)], radius) > 0.1


@pytest.mark.parametrize("name", ["AES", "CUDA"])
def test_a_run_with_the_tail_of_float32_would_have_no_epsilon(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Which no other test asks for.
    config = RunConfig(device="cpu" if name == "AES" else "cuda", epochs=3.0)
    assert plan(config).mechanism is not None
    monkeypatch.setitem(RADIUS, name, FLOAT32)
    assert "5.77 standard deviations" in plan(dataclasses.replace(config, epochs=4.0)).unaccounted


@pytest.mark.parametrize(("device", "generator"), [("auto", "auto"), ("cuda", "auto")])
@pytest.mark.long
def test_a_run_that_needs_more_than_the_reserve_has_no_epsilon(device: str, generator: str) -> None:
    config = RunConfig(sigma=0.06, device=device, noise_generator=generator)
    planned = plan(config)
    assert planned.mechanism is None
    assert planned.drawn
    assert planned.unaccounted.startswith(
        "No epsilon: noise is drawn up to 25 standard deviations. At sigma = 0.06"
    )
    assert plan(dataclasses.replace(config, device="cpu")).mechanism is not None
    assert plan(dataclasses.replace(config, noise_generator="secure")).mechanism is not None
    with pytest.raises(ValueError, match=r"to stop at\. No epsilon: noise is drawn up to"):
        plan(dataclasses.replace(config, stop_epsilon=1e6))


def test_a_release_of_more_numbers_than_are_charged_is_refused() -> None:
    with pytest.raises(
        ValueError, match="Expected size=1000000001 to be a whole number from 0 to 1,000,000,000"
    ):
        GaussianNoise(NUMBERS + 1, np.random.SeedSequence(1), torch.device("cpu"), Cores(1))


def test_a_shift_beyond_the_largest_number_is_covered_by_nothing() -> None:
    assert added_delta([Release(0.1, 1 / 30)], RADIUS["CUDA"]) == float("inf")
    assert added_delta([Release(0.1, 1 / 30)], RADIUS["AES"]) < 1e-3


def test_what_is_added_is_the_sum_that_the_readme_derives() -> None:
    of_one = 2 * NUMBERS * np.exp(-((9.0 - 1) ** 2) / 2) + 2.0**2 * np.exp(-((9.0 - 2.0) ** 2) / 2)
    assert added_delta([Release(0.1, 0.5, 7)], 9.0) == pytest.approx(7 * of_one, rel=1e-12)
