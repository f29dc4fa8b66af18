"""The page about attackers, driven as a reader would: through its widgets and its address."""

import csv
import io
import math
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from streamlit.testing.v1 import AppTest

from dpcore.figures.tradeoff import NO_PROMISE
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.accountants.base import Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import of_hundred
from dpcore.privacy.report.statement import odds
from dpcore.privacy.sampling import SAMPLERS
from dpcore.privacy.sampling.base import steps_counted
from dpcore.privacy.tradeoff import Gaussian
from pages.parts.results import cache
from pages.parts.results.attack import NO_BAND, clt_curve, edges_of, error_sentence
from pages.parts.results.exports import csv_of, tradeoff_rows
from pages.parts.results.sampled import sampled_risks
from tests.pages.explained_html import unexplained
from tests.pages.test_accountants_page import sentences
from tests.pages.train_page import charts, opened_at

PAGE = Path(__file__).parents[2] / "pages" / "tradeoff.py"
# Of Table 1, arXiv 1911.11607.
ROW3 = {"n": "60000", "batch": "256", "sigma": "0.7", "epochs": "45"}
opened = partial(opened_at, PAGE)


def names(page: AppTest) -> list[str]:
    """The curves on the large chart."""
    return [each["name"] for each in charts(page)[-1]["data"]]


def html(page: AppTest, mark: str) -> str:
    """The piece of HTML with this mark."""
    return unexplained(
        next(each.proto.body for each in page.get("html") if mark in each.proto.body)
    )


def cells(page: AppTest, row: str) -> list[str]:
    """The cells of a row of the table: certified, CLT, one pair, all pairs, blind."""
    (found,) = re.findall(rf"<th scope=row>{re.escape(row)}.*?</tr>", html(page, 'class="attack"'))
    return re.findall(r"<td[^>]*>(.*?)</td>", found)


def number(text: str) -> float:
    """The first number in a text."""
    return float(re.findall(r"[\d.]+", text)[0])


def test_it_opens_on_the_certified_band_and_blind_guessing_with_their_words_in_place():
    page = opened()
    assert sentences(page) == []
    assert set(names(page)) == {"Certified, at least", "Certified, at most", "Blind guessing"}
    layout = charts(page)[-1]["layout"]
    assert [each["text"] for each in layout["annotations"]] == ["a coin", "the best attack"]
    assert layout["xaxis"]["title"]["text"] == "innocent people accused →"
    assert layout["yaxis"]["title"]["text"] == "members missed →"


def test_what_epsilon_alone_would_allow_is_one_choice_away_with_all_pairs_and_the_clt():
    page = opened(allowed="what epsilon alone would allow")
    assert sentences(page) == []
    shown = names(page)
    assert {"Certified, at least", "Certified, at most", "Blind guessing"} <= set(shown)
    assert page.selectbox(key="pair").value == page.selectbox(key="pairs").value == CERTIFIED
    assert "what epsilon ≤ 0.318 alone would allow" in shown
    assert "the CLT's estimate, mu = 0.0910" in shown
    key = [each["text"] for each in charts(page)[-1]["layout"]["annotations"]]
    for name in ("the best attack", "a coin"):  # as before the choice
        assert any(text.endswith(name) for text in key), key


@pytest.mark.parametrize("axes", ["linear", "log-log"])
def test_where_nothing_is_proven_the_chart_says_so(axes: str):
    page = opened(sigma="0.01", axes=axes)
    texts = [each["text"] for each in charts(page)[-1]["layout"]["annotations"]]
    assert NO_PROMISE in texts
    assert NO_BAND in [each.value for each in page.markdown]
    assert NO_PROMISE not in str(charts(opened())[-1]["layout"])
    page = opened(sigma="0.01", axes=axes, sampler="shuffle")  # of which there is a band
    assert NO_PROMISE not in str(charts(page)[-1]["layout"])
    assert NO_BAND not in [each.value for each in page.markdown]


def test_the_numbers_of_an_exactly_gaussian_release_are_the_closed_forms_rounded_outwards():
    page = opened(sampling="q", q="1", sigma="2", length="steps", steps="4")  # exactly G_1
    exact = {
        "Smallest type I + type II error": 200 * norm.cdf(-0.5),
        "Largest advantage": 100 * (2 * norm.cdf(0.5) - 1),
        "True positives at 1 % false positives": 100 * norm.cdf(norm.ppf(0.01) + 1),
        "True positives at 0.1 % false positives": 100 * norm.cdf(norm.ppf(0.001) + 1),
        "Chance of a wrong guess at prior 0.5": 100 * norm.cdf(-0.5),
        "mu, where both errors are at least 1e-5": 1.0,
    }
    for row, value in exact.items():
        low, high = (float(each) for each in re.findall(r"[\d.]+", cells(page, row)[0]))
        assert low <= value <= high, row
        assert high - low < 0.02 * value, row


def test_figure_3_shows_the_smallest_errors_that_the_paper_prints():
    page = opened()
    page.button[[each.label for each in page.button].index("Figure 3")].click().run()
    assert sentences(page) == []
    certified, clt, one, every, _ = cells(page, "Smallest type I + type II error")
    assert number(clt) == pytest.approx(77.6, abs=0.2)  # the paper rounds mu to 0.57 first
    assert number(one) == pytest.approx(9.4, abs=0.1)
    assert number(one) < number(every) < number(certified)
    (preset,) = (each for each in page.selectbox if each.label == "Start from")
    assert preset.value == "Gaussian DP, MNIST, sigma 1.1"


def test_figure_5_ends_at_the_setting_and_keeps_q_root_t():
    mechanism = Mechanism.constant(256 / 60_000, 1.1, 14_063)
    growing = cache.growing(mechanism)
    assert list(growing)[-1] == mechanism.steps
    assert growing[mechanism.steps] is mechanism
    for steps, each in growing.items():
        assert each.steps == steps
        assert cache.mu(each) == pytest.approx(cache.mu(mechanism))
    assert max(each.releases[0].q for each in growing.values()) <= 1
    gaps = []
    for each in growing.values():
        limit = Gaussian(cache.mu(each))
        gaps.append(np.abs(cache.band(each).lower.beta(0.1) - limit.beta(0.1)))
    assert gaps[-1] < 0.2 * gaps[0]  # the theorem at work
    page = opened(view="steps", n="60000", batch="256", sigma="1.1", epochs="60")
    assert sum(name.startswith("Certified, T = ") for name in names(page)) == 2 * len(growing)


def test_the_clt_is_told_where_it_claims_too_much_and_where_it_errs_high():
    assert "claims too much privacy" in html(opened(**ROW3), "CLT")
    late = opened(n="60000", batch="256", sigma="0.5", epochs="100")  # row 6
    assert "errs on the safe side" in html(late, "CLT")


def test_every_accountant_can_give_the_pair_and_all_pairs():
    for name in ACCOUNTANTS:
        page = opened(pair=name, pairs=name)
        assert sentences(page) == [], name
        _, _, one, every, _ = cells(page, "Smallest type I + type II error")
        sound = ACCOUNTANTS[name].kind in (Kind.UPPER, Kind.CERTIFIED)
        assert one[0] == every[0] or name == "zcdp", name
        assert (one[0] == "≥") == sound or name == "zcdp", name
        # The grid of deltas does not hold this delta exactly.
        assert number(every) >= number(one) - 0.2, name


def test_a_prior_that_leaves_nothing_to_guess_is_a_sentence():
    for prior in ("1e-310", "0.9999999"):
        (error,) = sentences(opened(prior=prior))
        assert error.startswith("Attacker's prior must "), prior
        assert error.endswith("Showing 0.5."), prior
    assert sentences(opened(prior="1e-6")) == []


def test_a_sigma_too_small_to_certify_says_why_and_draws_no_band():
    page = opened(sigma="0.01")
    assert sentences(page) == []
    assert any("sigma=0.01 is below 0.05" in each.value for each in page.markdown)
    assert not [name for name in names(page) if name.startswith("Certified, at")]
    assert cells(page, "Smallest type I + type II error")[0] == "n/a"
    assert "has no verdict" in html(page, "No finite mu is certified")


def test_the_numbers_stand_in_a_tidy_file():
    assert csv_of([]) == "\n"  # of runs before their first test
    mechanism = Mechanism.constant(0.01, 4.0, 1000)
    text = csv_of(tradeoff_rows([*edges_of(cache.band(mechanism)), clt_curve(cache.mu(mechanism))]))
    rows = list(csv.DictReader(io.StringIO(text)))
    curves = {
        name: [row for row in rows if row["curve"] == name]
        for name in {row["curve"] for row in rows}
    }
    assert {row["kind"] for row in curves["CLT's G_mu"]} == {"approximate"}
    for low, high in zip(curves["Certified, at least"], curves["Certified, at most"], strict=True):
        assert low["alpha"] == high["alpha"]
        assert float(low["beta"]) <= float(high["beta"]) + 1e-12
        assert float(low["power"]) + float(low["beta"]) == pytest.approx(1)


def test_a_rounded_bound_never_claims_more_than_is_proven():
    mechanism = Mechanism.constant(256 / 60_000, 1.1, 14_063)
    found = cache.risks(mechanism, 1e-5)
    said = re.findall(r"\*\*([\d.]+) %", error_sentence(found, "After 60 epochs"))
    assert float(said[0]) <= 100 * found.error.lower
    assert float(said[1]) >= 100 * found.error.upper
    assert math.isclose(float(said[0]), 100 * found.error.lower, rel_tol=1e-3)


@pytest.mark.parametrize("name", [each for each in SAMPLERS if each != "poisson"])
def test_the_attacker_is_never_that_of_poisson_batches_where_others_are_chosen(name: str):
    q, sigma, steps = 0.0256, 1.23, 782
    page = opened(sampler=name, epochs="20", sigma="1.23")
    assert sentences(page) == []
    mechanism = Mechanism.constant(q, sigma, steps)
    numbers = {"poisson_group": ":2", "truncated_poisson": ":320:10000"}
    sampler = f"{name}{numbers.get(name, '')}"
    own = sampled_risks(sampler, mechanism, 1e-5)
    said = "\n".join(each.value for each in page.markdown)
    people = [each.proto.body for each in page.get("html") if "class=odds" in each.proto.body]
    counted = steps_counted(SAMPLERS[name], q, steps)
    assert f"After 20 epochs ({counted:,} steps), " in said
    if own is None:
        assert "nothing is proven about an attacker with these batches" in said
        assert people == [], "no hundred people without a proof"
    else:
        assert error_sentence(own, f"After 20 epochs ({counted:,} steps)") in said
        assert f"{of_hundred(own)} of 100<" in people[0]
        assert unexplained(people[0]).endswith(f"{odds(own)}</figcaption></figure>")
    heads = re.findall(r"<th scope=col[^>]*>(.*?)</th>", html(page, 'class="attack"'))
    assert heads[1:3] == [SAMPLERS[name].title, "Certified, Poisson"]
    assert any(each.value == "The CLT is judged for Poisson batches:" for each in page.caption)


def test_no_attacker_is_drawn_for_batches_of_which_nothing_is_proven():
    page = opened(sampler="shuffle", schedule="step", sigma="4", epochs="12")
    said = "\n".join(each.value for each in page.markdown)
    assert "nothing is proven about an attacker with these batches" in said
    assert not [each for each in page.get("html") if "class=odds" in each.proto.body]


def test_of_shuffled_batches_the_attacker_is_far_better_than_of_poisson_ones():
    page = opened(sampler="shuffle", epochs="20", sigma="1.23")
    (people,) = [each.proto.body for each in page.get("html") if "class=odds" in each.proto.body]
    assert "at most 97 of 100" in people
    assert "64 of 100" not in people
    first = float(cells(page, "Smallest type I + type II error")[0].split()[0])
    assert first < 10 < float(cells(page, "Smallest type I + type II error")[1].split()[0])
