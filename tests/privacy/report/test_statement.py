"""The privacy statement: every fact is there, bounds are rounded outwards, caveats appear when they apply."""

import re

import pytest
from scipy.stats import norm

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.report.attack_risk import Between, Risks, risks_of
from dpcore.privacy.report.numbers import epochs_of
from dpcore.privacy.report.statement import Statement, odds, statement
from dpcore.privacy.schedule import scheduled

SGD = Mechanism.constant(0.01, 4.0, 10_000)


def stated(mechanism: Mechanism, accountant: str = "pld", delta: float = 1e-5, n: int | None = 60_000) -> Statement:
    curve = ACCOUNTANTS[accountant].curve(mechanism, [mechanism.steps], delta)
    return statement(mechanism, curve, ACCOUNTANTS[accountant], risks_of(tradeoff_bounds(mechanism), delta), n)


def fact(of: Statement, label: str) -> str:
    return next(text for name, text in of.facts if label in name)


def bounds(text: str) -> tuple[float, float]:
    found = re.search(r"between ([\d.]+)(?: %)? and ([\d.]+)", text)
    assert found, text
    return float(found[1]), float(found[2])


def test_it_names_unit_adjacency_sampling_release_and_kind() -> None:
    told = stated(SGD)
    assert fact(told, "Unit") == "one training example"
    assert "add/remove" in fact(told, "Adjacency")
    assert "q = 0.01" in fact(told, "Sampling")
    assert "10,000 noisy sums" in fact(told, "Released")
    assert "noise multiplier 4)" in fact(told, "Released")
    assert "proven from both sides" in fact(told, "Epsilon")
    assert "delta = 1e-5" in fact(told, "Epsilon")


def test_its_bounds_hold_the_exact_values_of_a_plain_gaussian() -> None:
    mu = 0.731
    told = stated(Mechanism.constant(1.0, 3 / mu, 9))
    exact = {
        "Epsilon": float(gaussian.epsilon_of(1e-5, mu)),
        "Gaussian": mu,
        "advantage": 2 * norm.cdf(mu / 2) - 1,
        "at 1 %": 100 * norm.cdf(norm.ppf(0.01) + mu),
        "at 0.1 %": 100 * norm.cdf(norm.ppf(0.001) + mu),
    }
    for label, value in exact.items():
        low, high = bounds(fact(told, label))
        assert low <= value <= high, label
        assert high - low < 0.01 * value + 1e-3, label


def test_a_schedule_tells_the_range_of_its_noise() -> None:
    told = stated(scheduled("exponential", 0.05, 4.0, 100, rate=0.1))
    assert "from" in fact(told, "Released")
    both = stated(Mechanism((Release(1.0, 16.0, 1), Release(0.01, 4.0, 100))))
    assert "q = 0.01, 1" in fact(both, "Sampling")


def test_an_approximation_is_called_one() -> None:
    told = stated(SGD, "gdp")
    assert "approximation" in fact(told, "Epsilon")
    assert any("no bound" in caveat for caveat in told.caveats)
    assert not any("no bound" in caveat for caveat in stated(SGD, "rdp").caveats)


def test_a_large_delta_and_a_sigma_that_hides_nothing_are_named() -> None:
    assert any("not below 1/n" in caveat for caveat in stated(SGD, delta=1e-4).caveats)
    assert not any("not below 1/n" in caveat for caveat in stated(SGD).caveats)
    assert not any("1/n" in caveat for caveat in stated(SGD, delta=0.1, n=None).caveats)
    bare = stated(Mechanism.constant(0.01, 0.01, 1))
    assert any("sigma=0.01" in caveat for caveat in bare.caveats)
    assert "The attacker's figures are n/a, because sigma=0.01 is below" in bare.caveats[0]
    assert "no epsilon" in fact(bare, "Epsilon")
    assert fact(bare, "Epsilon").endswith("sides): sigma=0.01 is below 0.05, where one step already tells all.")
    assert "no finite mu" in fact(bare, "Gaussian")


def test_without_sampling_a_mu_is_proven_however_little_noise_there_is() -> None:
    assert "mu between 19.9 and 20.1" in fact(stated(Mechanism.constant(1.0, 0.05, 1)), "Gaussian")


def test_the_note_of_a_proven_band_is_a_caveat_and_takes_back_no_figure() -> None:
    curve, band = ACCOUNTANTS["pld"].curve(SGD, [SGD.steps], 1e-5), tradeoff_bounds(SGD)
    noted, plain = (
        statement(SGD, curve, ACCOUNTANTS["pld"], risks_of(each, 1e-5), 60_000)
        for each in (band._replace(note="The band is wide."), band)
    )
    assert (noted.facts, noted.odds) == (plain.facts, plain.odds)
    assert noted.caveats == ("The band is wide.", *plain.caveats)


def test_the_delta_beside_a_bound_is_rounded_up() -> None:
    told = stated(SGD, delta=1.23456149e-6)
    assert "delta = 1.23457e-6" in fact(told, "Epsilon")
    assert told.odds.endswith("except with probability 1.23457e-6.")
    assert "at least 1.23457e-6 either way" in fact(told, "Gaussian")


def test_a_delta_that_is_not_below_1_over_n_is_shown_so() -> None:
    caveat = next(caveat for caveat in stated(SGD, delta=1.669e-5).caveats if "1/n" in caveat)
    delta, limit = (float(each) for each in re.findall(r"= ([\d.e-]+\d)", caveat))
    assert delta >= limit  # in three digits, 1/60,000 would be 1.67e-5


def test_what_nearly_always_happens_is_not_rounded_to_always() -> None:
    assert "between 99.9 % and 100 %" in fact(stated(Mechanism.constant(1.0, 1 / 12, 1)), "at 1 %")


def test_replacing_an_example_is_explained_with_its_factor() -> None:
    assert any("2 epsilon, (1 + e^epsilon) delta" in caveat for caveat in stated(SGD).caveats)


@pytest.mark.parametrize(
    ("sure", "told"),
    [
        (0.5, "50.0 %"),
        (0.76419, "76.5 %"),
        (0.9999, "may become almost certain"),
        (1.0, "no bound below 100 %"),
        (0.98999, "99.0 %"),
    ],
)
def test_the_odds_are_rounded_up_and_never_say_certain_is_impossible(sure: float, told: str) -> None:
    nothing = Between(0.0, 1.0)
    assert told in odds(Risks(nothing, nothing, {}, nothing, 1e-5, sure))


def test_the_odds_hold_except_with_probability_delta() -> None:
    assert stated(SGD).odds.endswith("% sure, except with probability 1e-5.")


def test_one_epoch_is_not_several() -> None:
    assert [epochs_of(count) for count in (1, 1.00001, 1.5, 2000)] == [
        "1 epoch",
        "1 epoch",
        "1.5 epochs",
        "2,000 epochs",
    ]


def test_text_and_markdown_say_the_same() -> None:
    told = stated(SGD)
    text, markdown = told.text(), told.markdown()
    for label, value in told.facts:
        assert f"{label}: {value}" in text
        assert f"| {label} | {value} |" in markdown
    for sentence in (told.odds, *told.caveats):
        assert sentence in text
        assert sentence in markdown
    assert "nan" not in text
    assert "inf" not in text
