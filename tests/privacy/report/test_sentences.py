"""Sentences on numbers: answers, other batches, the privacy statement, the glossary."""

import math
import re
from dataclasses import replace
from typing import ClassVar, final

import numpy as np
from scipy.stats import norm

from dpcore.privacy import gaussian
from dpcore.privacy.accountants import ACCOUNTANTS, Accountant, Curve, Kind
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism, Reading, Release
from dpcore.privacy.report.attack_risk import Between, Risks, risks_of
from dpcore.privacy.report.glossary import GLOSSARY, OF_HEAD, help_on
from dpcore.privacy.report.numbers import IN_A_WORD, MARKS, epochs_of, outward
from dpcore.privacy.report.statement import (
    Statement,
    counted_as_poisson,
    counting_notes,
    odds,
    proven_range,
    statement,
    why_uncounted,
)
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.schedule import Recipe
from dpcore.privacy.selection.best_of import best_of, read_runs

MECHANISM = Mechanism.constant(0.01, 2.0, 300)


@final
class Tired(Accountant):
    """It has no number for anything."""

    name: ClassVar[str] = "tired"
    kind: ClassVar[Kind] = Kind.UPPER

    def _account(self, mechanism: Mechanism, steps: object, delta: object) -> Curve:
        raise RuntimeError("The numbers left the floats.")


def test_where_the_numerics_give_up_nothing_is_promised_and_the_reason_is_said() -> None:
    for curve in (
        Tired().curve(MECHANISM, [7, 300], 1e-5),
        Tired().profile(MECHANISM, np.array([1e-6, 1e-3])),
    ):
        assert curve.epsilon.tolist() == [math.inf, math.inf]
        assert (curve.lower, curve.kind, curve.note) == (
            None,
            Kind.UPPER,
            "The numbers left the floats.",
        )
    assert Tired().spent(MECHANISM, 1e-5) == Reading(
        math.inf, None, Kind.UPPER, "The numbers left the floats."
    )


SHUFFLE, ORDER, SIZE = (SAMPLERS[name] for name in ("shuffle", "fixed_order", "fixed_size"))


def reading(lower: float, upper: float) -> Reading:
    return Reading(upper, lower, Kind.CERTIFIED, "")


def test_ends_are_rounded_outwards_and_called_certified_only_where_they_are_a_band() -> None:
    assert proven_range(SHUFFLE, reading(1.2399, 4.5611)).endswith(
        "zero-out: epsilon is proven to lie between **1.23** and **4.57**."
    )
    assert "certified to lie" in proven_range(ORDER, reading(1.0, 1.04))
    # A band as wide as an interval says no more.
    assert "proven to lie" in proven_range(SIZE, reading(18.9, 23.0))
    assert "certified" not in proven_range(SHUFFLE, reading(1.0, 9.0))
    said = proven_range(SIZE, reading(1.239, math.inf))
    assert "no upper bound" in said
    assert "**1.23**" in said
    assert "infinite" not in said
    said = proven_range(SAMPLERS["poisson_replace_one"], reading(1.0, 1.04))
    assert said.startswith("**Poisson, replace-one**: epsilon")


def test_the_claim_is_refuted_open_or_enough_within_one_adjacency() -> None:
    for poisson, words in [
        (0.99, "where at least 1.23 is proven"),
        (2.0, "neither proven nor refuted"),
        (9.1, "proven to be enough here"),
    ]:
        said = counted_as_poisson(SHUFFLE, reading(1.2399, 9.0), reading(poisson, poisson))
        assert words in said, (poisson, words)
        assert said.startswith("Shuffled every epoch, and accounted as Poisson: claims "), (
            poisson,
            words,
        )
    assert "the two cannot be compared" in counted_as_poisson(
        SIZE, reading(5.0, 6.0), reading(1.0, 1.1)
    )
    assert counted_as_poisson(SAMPLERS["poisson"], reading(1.0, 1.1), reading(1.0, 1.1)) == ""
    assert counted_as_poisson(SHUFFLE, reading(1.0, 9.0), reading(1.0, math.inf)) == ""


def test_a_schedule_and_a_rate_that_takes_minutes_have_no_number():
    changing = Mechanism((Release(0.1, 2.0, 10), Release(0.1, 1.0, 10)))
    for sampler in SAMPLERS.values():
        assert bool(why_uncounted(sampler, changing)) == (sampler.name != "poisson")
        assert why_uncounted(sampler, Mechanism.constant(0.1, 1.0, 10)) == ""
    assert "takes minutes" in why_uncounted(SIZE, Mechanism.constant(5e-5, 1.0, 10))


def test_the_share_of_the_examples_that_an_epoch_touches_is_computed():
    for q, share in [(0.001, "63.2 %"), (0.5, "75.0 %"), (1.0, "100.0 %")]:
        assert share in " ".join(counting_notes(q)), (q, share)


SGD = Mechanism.constant(0.01, 4.0, 10_000)


def stated(
    mechanism: Mechanism, accountant: str = "pld", delta: float = 1e-5, n: int | None = 60_000
) -> Statement:
    curve = ACCOUNTANTS[accountant].curve(mechanism, [mechanism.steps], delta)
    return statement(
        mechanism, curve, ACCOUNTANTS[accountant], risks_of(tradeoff_bounds(mechanism), delta), n
    )


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
    planned, drawn = re.findall(r"epsilon ≤ ([\d.]+)", fact(told, "As the best of 10"))
    numbers = (
        best_of(read_runs(each), [SGD], ACCOUNTANTS["pld"], 1e-5).value
        for each in ("10", "geometric:10")
    )
    assert (planned, drawn) == tuple(outward(each, math.ceil) for each in numbers)
    assert "nobody learns how many there were" in fact(told, "As the best of 10")
    assert "10,000 noisy sums" in fact(told, "Released")
    assert "noise multiplier 4)" in fact(told, "Released")
    assert "proven from both sides" in fact(told, "Epsilon")
    assert "delta = 1e-5" in fact(told, "Epsilon")
    told = stated(Recipe("exponential", 0.1).mechanism(0.05, 4.0, 100))
    assert "from" in fact(told, "Released")
    both = stated(Mechanism((Release(1.0, 16.0, 1), Release(0.01, 4.0, 100))))
    assert "q = 0.01, 1" in fact(both, "Sampling")
    told = stated(SGD, "gdp")
    assert "approximation" in fact(told, "Epsilon")
    assert any("no bound" in caveat for caveat in told.caveats)
    assert not any("no bound" in caveat for caveat in stated(SGD, "rdp").caveats)
    assert any("2 epsilon, (1 + e^epsilon) delta" in caveat for caveat in stated(SGD).caveats)
    assert any("n is public" in caveat for caveat in stated(SGD).caveats)


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


def test_a_large_delta_and_a_sigma_that_hides_nothing_are_named() -> None:
    assert any("not below 1/n" in caveat for caveat in stated(SGD, delta=1e-4).caveats)
    assert not any("not below 1/n" in caveat for caveat in stated(SGD).caveats)
    assert not any("1/n" in caveat for caveat in stated(SGD, delta=0.1, n=None).caveats)
    bare = stated(Mechanism.constant(0.01, 0.01, 1))
    assert any("sigma=0.01" in caveat for caveat in bare.caveats)
    assert "The attacker's figures are n/a, because sigma=0.01 is below" in bare.caveats[0]
    assert fact(bare, "Epsilon").startswith("epsilon at least 5300 at delta")
    assert fact(bare, "Epsilon").endswith(
        "no upper bound: sigma=0.01 is below 0.05, where one step already tells all."
    )
    assert "no finite mu" in fact(bare, "Gaussian")


def test_the_note_of_a_proven_band_is_a_caveat_and_takes_back_no_figure() -> None:
    curve, band = ACCOUNTANTS["pld"].curve(SGD, [SGD.steps], 1e-5), tradeoff_bounds(SGD)
    noted, plain = (
        statement(SGD, curve, ACCOUNTANTS["pld"], risks_of(each, 1e-5), 60_000)
        for each in (replace(band, note="The band is wide."), band)
    )
    assert (noted.facts, noted.odds) == (plain.facts, plain.odds)
    assert noted.caveats == ("The band is wide.", *plain.caveats)


def test_deltas_are_rounded_to_the_safe_side_and_what_nearly_always_happens_is_not_always() -> None:
    told = stated(SGD, delta=1.23456149e-6)
    assert "delta = 1.23457e-6" in fact(told, "Epsilon")
    assert told.odds.endswith("except with probability delta = 1.23457e-6.")
    assert "at least 1.23457e-6 either way" in fact(told, "Gaussian")
    caveat = next(caveat for caveat in stated(SGD, delta=1.669e-5).caveats if "1/n" in caveat)
    delta, limit = (float(each) for each in re.findall(r"= ([\d.e-]+\d)", caveat))
    assert delta >= limit  # in three digits, 1/60,000 would be 1.67e-5
    assert "between 99.9 % and 100 %" in fact(stated(Mechanism.constant(1.0, 1 / 12, 1)), "at 1 %")
    assert "mu between 19.9 and 20.1" in fact(stated(Mechanism.constant(1.0, 0.05, 1)), "Gaussian")


def test_the_odds_are_rounded_up_and_never_say_certain_is_impossible() -> None:
    for sure, told in [
        (0.5, "50.0 %"),
        (0.76419, "76.5 %"),
        (0.9999, "may end up more than 99.9 % certain"),
        (1.0, "may end up certain"),
        (0.98999, "99.0 %"),
    ]:
        nothing = Between(0.0, 1.0)
        assert told in odds(Risks(nothing, nothing, {}, nothing, 1e-5, sure)), (sure, told)
    assert stated(SGD).odds.endswith("except with probability delta = 1e-5.")


def test_one_epoch_is_not_several() -> None:
    told = [epochs_of(count) for count in (1, 1.00001, 1.5, 2000)]
    assert told == ["1 epoch", "1 epoch", "1.5 epochs", "2,000 epochs"]


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


def test_every_entry_of_the_glossary_has_a_name_and_a_meaning_of_its_own() -> None:
    assert {*Kind} <= GLOSSARY.keys()
    assert len({term.name for term in GLOSSARY.values()}) == len(GLOSSARY)
    assert len({term.meaning for term in GLOSSARY.values()}) == len(GLOSSARY)
    assert len(OF_HEAD) == sum(len(term.heads) for term in GLOSSARY.values())
    told = help_on("q", "poisson")
    numbers = re.findall(r"arXiv:([\d.]+)", told)
    assert numbers
    assert all(f"(https://arxiv.org/abs/{number})" in told for number in numbers)
    assert {*MARKS.values()} == {MARKS[kind] for kind in IN_A_WORD}
