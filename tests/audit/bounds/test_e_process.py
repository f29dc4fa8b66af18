"""Evidence while a run trains: its factors, its bets, how often sound noise reaches the line, what
it catches.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import beta

from dpcore.audit.bounds import e_process
from dpcore.audit.bounds.e_process import (
    LINE,
    RATIOS,
    EProcess,
    NoiseEvidence,
    evidence_text,
    less_noise,
    repeated_noise,
)

# Of a step, fresh noise and the noise before.
Noise = Callable[[int, np.ndarray, list[np.ndarray]], np.ndarray]


def after(noise: Noise, steps: int = 100, directions: int = 50, seed: int = 0) -> NoiseEvidence:
    """The evidence of noise that is made from fresh numbers."""
    generator, seen, evidence = np.random.default_rng(seed), [], NoiseEvidence(steps, directions)
    for step in range(1, steps + 1):
        seen.append(noise(step, generator.normal(size=directions), seen))
        evidence.take(seen[-1])
    return evidence


def sound(step: int, fresh: np.ndarray, seen: list[np.ndarray]) -> np.ndarray:
    return fresh


def mean_of(
    factors: Callable[[float], np.ndarray], density: Callable[[float], float], ends: float
) -> list[float]:
    """The means of factors of a number between -ends and ends."""
    size = len(factors(0.0))
    return [
        integrate.quad(lambda x, i=i: factors(x)[i] * density(x), -ends, ends)[0]
        for i in range(size)
    ]


def test_factors_are_likelihood_ratios_of_mean_1() -> None:
    drawn = np.array([0.3, -1.2, 2.0])
    ratio = [
        stats.norm.logpdf(drawn, scale=s).sum() - stats.norm.logpdf(drawn).sum() for s in RATIOS
    ]
    assert np.allclose(less_noise(drawn), ratio, rtol=1e-12)
    for noise, bound in (
        (stats.norm(), 1.0),
        (stats.norm(scale=1.5), 0.97),
        (stats.norm(0.5), 0.99),
    ):
        means = mean_of(lambda x: np.exp(less_noise(np.array([x]))), noise.pdf, 12.0)
        assert means == pytest.approx([1.0] * len(RATIOS)) if bound == 1 else max(means[:3]) < bound
        assert max(means) <= 1 + 1e-9
    for directions in (4, 13, 50):
        density = lambda r, k=directions: (1 - r * r) ** ((k - 3) / 2) / beta(0.5, (k - 1) / 2)  # noqa: E731
        rows = repeated_noise(np.array([0.1, 0.6]), directions)
        for row, fewer in zip(rows, (3, 12, 48), strict=False):
            laws = [stats.beta(0.5, (each - 1) / 2) for each in (fewer, directions)]
            assert np.allclose(
                row, laws[0].logpdf([0.01, 0.36]) - laws[1].logpdf([0.01, 0.36]), rtol=1e-9
            )
        means = mean_of(
            lambda r, k=directions: np.exp(repeated_noise(np.array([r]), k)[:, 0]),
            density,
            1 - 1e-12,
        )
        assert means == pytest.approx([1.0] * len(rows), abs=1e-5)
        assert len(rows) == {4: 1, 13: 2, 50: 3}[directions]


def test_the_evidence_is_the_mean_of_bets_that_begin_at_each_step() -> None:
    factors = np.random.default_rng(1).exponential(size=(7, 3))
    process = EProcess(3)
    for step in range(1, 8):
        process.take(np.log(factors[step - 1]))
        begun = [
            np.prod(factors[start - 1 : step], axis=0).mean() / (start * (start + 1))
            for start in range(1, step + 1)
        ]
        assert math.exp(process.log) == pytest.approx(sum(begun) + 1 / (step + 1), rel=1e-12)
    process.take(np.full(3, -math.inf))
    assert math.exp(process.log) == pytest.approx(1 / 9), "all is lost but the money of later steps"


def means_after_two_steps(scale: float) -> np.ndarray:
    """Means of both e-processes for noise of a standard deviation in four directions, and four
    standard errors.
    """
    generator, found = np.random.default_rng(2), []
    for _ in range(3000):
        evidence = NoiseEvidence(2, 4)
        for _ in range(2):
            evidence.take(generator.normal(0.0, scale, 4))
        found.append([10**each for each in evidence.logs[1:]])
    return np.array([np.mean(found, axis=0), 4 * np.std(found, axis=0) / math.sqrt(len(found))])


def test_means_are_1_for_the_noise_charged_and_no_more_for_more() -> None:
    mean, error = means_after_two_steps(1.0)
    assert np.all(np.abs(mean - 1) < error)
    mean, error = means_after_two_steps(1.3)
    assert mean[0] < 1 - error[0]
    assert abs(mean[1] - 1) < error[1], "the amount of noise does not matter for its repetition"


def test_the_means_reject_a_wrong_e_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e_process, "RATIOS", 1 / RATIOS)  # more noise in place of less
    assert means_after_two_steps(1.3)[0][0] > 1.1
    monkeypatch.undo()
    # Not normalised.
    monkeypatch.setattr(e_process, "repeated_noise", lambda r, k: repeated_noise(r, k) + 0.2)
    mean, error = means_after_two_steps(1.0)
    assert mean[1] > 1 + error[1]


def share_caught(seeds: int, directions: int) -> float:
    return sum(bool(after(sound, 20, directions, seed).caught) for seed in range(seeds)) / seeds


@pytest.mark.parametrize("directions", [1, 3, 5, 60])
def test_sound_noise_reaches_the_line_no_more_often_than_it_may(
    directions: int, monkeypatch
) -> None:
    caught = share_caught(200, directions)
    assert stats.binomtest(round(200 * caught), 200, 1 / LINE, alternative="greater").pvalue > 1e-3
    take = EProcess.take  # bets that are added up, each with all of the money
    monkeypatch.setattr(EProcess, "take", lambda self, logs: take(self, logs + math.log(1.5)))
    assert (
        stats.binomtest(
            round(100 * share_caught(100, directions)), 100, 1 / LINE, alternative="greater"
        ).pvalue
        < 1e-3
    )


FAULTS: dict[str, tuple[Noise, str]] = {
    "from step 51": (
        lambda t, x, seen: x / 2 if t > 50 else x,
        "at step 51 of 100: the noise is too small",
    ),
    "5 % less": (lambda t, x, seen: 0.95 * x, "at step 31 of 100: the noise is too small"),
    "one step again": (
        lambda t, x, seen: seen[29] if t == 61 else x,
        "at step 61 of 100: the noise repeats",
    ),
    "taken back": (
        lambda t, x, seen: -seen[-1] if t % 2 == 0 else x,
        "at step 2 of 100: the noise repeats",
    ),
    "in common": (
        lambda t, x, seen: x + 0.3 * seen[0] if seen else x,
        "at step 16 of 100: the noise repeats",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught_at_the_step_where_it_shows(name: str) -> None:
    noise, said = FAULTS[name]
    evidence = after(noise)
    assert evidence.caught == f"Evidence reached 20 {said}."
    found = evidence.finding()
    assert found.shows.startswith(
        f"{evidence.caught} It grew to {evidence_text(evidence.largest)};"
    )
    assert found.rejected
    assert found.p_value == pytest.approx(10**-evidence.largest)


def test_rounding_lowers_the_evidence_below_that_of_the_noise_drawn() -> None:
    generator = np.random.default_rng(3)
    for _ in range(50):
        drawn, exact, rounded = (
            generator.normal(size=(4, 6)),
            NoiseEvidence(4, 6),
            NoiseEvidence(4, 6),
        )
        toward = np.sign(drawn[3] @ drawn[0]) * drawn[0]
        # More repeated, smaller, any.
        errors = [0.1 * toward, -0.1 * drawn[3], generator.normal(0.0, 0.1, 6)]
        for place, row in enumerate(drawn):
            error = errors[generator.integers(3)] * (place == 3)
            exact.take(row)
            rounded.take(row + error, np.abs(error))
        assert rounded.logs[1] <= exact.logs[1] + 1e-12
        assert rounded.logs[2] <= exact.logs[2] + 1e-9


def test_what_shows_nothing_loses_bets_or_leaves_the_evidence_as_it_is() -> None:
    assert NoiseEvidence(3, 5).finding().shows == "Nothing can be shown: no step has noise."
    # Whose squares are infinite.
    for bad in (np.full(5, np.nan), np.full(5, np.inf), np.full(5, 1e200)):
        evidence = after(lambda t, x, seen, bad=bad: bad if t == 2 else x, 3, 5)
        assert max(evidence.logs) < 0.1
        assert np.isfinite(evidence.logs).all()
    silent = after(lambda t, x, seen: 0 * x, 9, 5)
    assert silent.caught.endswith("the noise is too small.")
    assert silent.logs[2] < 0
    for few in (1, 2, 3):
        assert after(lambda t, x, seen: np.ones(len(x)), 20, few).logs[2] == pytest.approx(
            0.0, abs=1e-12
        )
    more = after(lambda t, x, seen: 3 * x)
    assert more.largest == 0.0
    assert more.finding().shows == "Evidence stayed below 20 in 100 steps: it reached 1.00 at most."
    with pytest.raises(ValueError, match="steps=101"):
        more.take(np.ones(50))
    with pytest.raises(ValueError, match=r"shape \(2,\) to have the shape \(5,\)"):
        NoiseEvidence(3, 5).take(np.ones(2))
    for words in ({"steps": 0, "directions": 3}, {"steps": 3, "directions": 0}):
        with pytest.raises(ValueError, match="Expected"):
            NoiseEvidence(**words)
