"""What the papers' accuracies are trained with: valid settings, at the privacy that the paper prints for them."""

import math
from dataclasses import replace

import pytest

from dpcore.papers import PAPERS
from dpcore.papers.abadi.runs import RUNS as ABADI
from dpcore.papers.entry import Trained
from dpcore.papers.gaussian_dp.runs import RUNS as GAUSSIAN_DP
from dpcore.papers.pigdo.runs import RUNS as PIGDO
from dpcore.papers.sa_dpsgd.runs import RUNS as SA_DPSGD
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.training.combinations import idle
from dpcore.training.plan import plan

TRAINED = [(paper.id, entry) for paper in PAPERS.values() for entry in paper.trained]
NAMES = [f"{paper} {entry.place} {entry.quantity}" for paper, entry in TRAINED]
TABLE_1 = [entry for entry in GAUSSIAN_DP if entry.place.startswith("Table 1")]
MUS_OF_TABLE_1 = (0.23, 0.57, 1.13, 2.00, 2.76, 4.78)  # arXiv 1911.11607, Table 1, by its equation 3.1


def epsilon_of(entry: Trained, accountant: str) -> float:
    mechanism = plan(entry.config).mechanism
    assert mechanism
    return ACCOUNTANTS[accountant].curve(mechanism, mechanism.steps, entry.config.delta).last.value


def test_no_two_entries_of_a_paper_have_one_name() -> None:
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize(("paper", "entry"), TRAINED, ids=NAMES)
def test_every_accuracy_has_a_run_in_which_each_setting_has_a_say(paper: str, entry: Trained) -> None:
    config = entry.config
    assert plan(config).steps > 0
    assert (plan(config).mechanism is not None) == config.private
    assert config.source == "full"
    assert [name for name in idle(config) if name in config.chosen()] == []
    assert (50 < entry.theirs < 100) == (config.dataset != "movielens")
    assert entry.because


def test_where_a_claim_hangs_on_less_than_a_point_there_are_several_seeds_and_half_the_tolerance() -> None:
    accuracies = [
        entry for _, entry in TRAINED if entry.config.dataset != "movielens" and "within" not in entry.printed
    ]
    assert {(entry.seeds, entry.tolerance) for entry in accuracies} == {(1, 1.0), (1, 0.5), (3, 0.5)}
    assert {entry.tolerance for entry in SA_DPSGD if "without privacy" not in entry.quantity} == {0.5}
    printed = [entry for entry in SA_DPSGD if entry.place == "Table 1" and entry.config.dataset == "mnist"]
    assert [entry.seeds for entry in printed if entry.config.epochs == 40] == [3, 3, 3, 3, 1]


def test_the_rows_of_table_1_spend_what_the_paper_prints() -> None:
    configs = [entry.config for entry in TABLE_1]
    found = [each.q * math.sqrt(plan(each).steps * math.expm1(each.sigma**-2)) for each in configs]
    assert found == pytest.approx(MUS_OF_TABLE_1, abs=0.005)


@pytest.mark.parametrize(
    ("name", "mu", "steps", "theirs", "within"),
    [  # arXiv 1911.11607, Tables 2 to 4: mu, the steps of its epochs, what is reached with privacy and without
        ("adult", 2.03, 2061, [84.0, 84.5], 1.0),
        ("imdb", 2.07, 440, [83.8, 84.7], 1.0),
        ("movielens", 1.94, 1601, [0.915, 0.893], 0.01),
    ],
)
def test_the_tables_beside_mnist_are_trained_with_their_own_networks_and_spend_their_mu(
    name: str, mu: float, steps: int, theirs: list[float], within: float
) -> None:
    private, plain = (entry for entry in GAUSSIAN_DP if entry.config.dataset == name)
    config = private.config
    assert [private.theirs, plain.theirs] == theirs
    assert [private.tolerance, plain.tolerance] == [within, within]
    assert plan(config).steps == steps
    assert config.q * math.sqrt(steps * math.expm1(config.sigma**-2)) == pytest.approx(mu, abs=0.01)
    assert (config.model, plain.config.model, plain.config.private) == (name, name, False)


def test_the_columns_of_paper_001_spend_epsilon_3_by_the_classic_conversion() -> None:
    private = [entry for entry in SA_DPSGD if entry.place == "Table 1" and entry.config.private]
    charged = [entry for entry in private if entry.config.acceptance == "none"]
    assert len(charged) == 9
    assert [epsilon_of(entry, "moments") for entry in charged] == pytest.approx([3.0] * 9, abs=0.04)


def test_a_run_that_stops_at_a_printed_epsilon_spends_it() -> None:
    stopped = [entry for _, entry in TRAINED if entry.config.stop_epsilon]
    for entry in stopped:
        config = entry.config
        assert epsilon_of(entry, config.stop_accountant) == pytest.approx(config.stop_epsilon, rel=0.01), entry.quantity
        assert plan(config).steps < config.steps_of_epochs, "its epochs end it before its epsilon does"


def test_the_levels_of_paper_002_release_a_projection_and_two_layers_a_step() -> None:
    """Two layers clipped to C each are one release of sigma / sqrt(2)."""
    levels = [entry.config for entry in ABADI if "Figure 3" in entry.place]
    assert [(each.sigma, each.q, each.clip_norm) for each in levels] == [(8, 0.01, 4), (4, 0.01, 4), (2, 0.01, 4)]
    assert [[(release.q, release.sigma) for release in plan(each).first] for each in levels] == [
        [(1, 16)],
        [(1, 7)],
        [(1, 4)],
    ]
    for each in levels:
        assert [release.sigma for release in plan(each).charged] == pytest.approx([each.sigma / math.sqrt(2)])


@pytest.mark.parametrize(("paper", "entry"), TRAINED, ids=NAMES)
def test_what_an_accuracy_opens_on_the_pages_is_what_its_run_releases(paper: str, entry: Trained) -> None:
    config = entry.config
    assert (entry.setting is None) == (not config.private or config.stop_epsilon > 0)
    if entry.setting and config.optimizer != "adppl":  # whose relevances are a release of their own
        assert entry.setting.mechanism == plan(config).mechanism
        assert (entry.setting.dataset, entry.setting.clip_norm) == (config.dataset, config.clip_norm)


def test_the_noise_levels_of_paper_000_are_trained_as_long_as_it_says() -> None:
    """Section 5.2 names the epochs: 260, 100 and 30. The closed form of its accountant is 2 q sqrt(T L) / sigma."""
    figure = [entry.config for entry in PIGDO if entry.place == "Figure 5"]
    assert {(each.sigma, each.epochs) for each in figure if each.schedule == "constant"} == {
        (8.0, 30.0),
        (4.0, 100.0),
        (2.0, 260.0),
    }
    assert {(each.q, each.clip_norm) for each in figure} == {(0.01, 4.0)}


def test_a_rival_that_is_said_to_be_within_a_percent_may_be_so_far_below_piadam() -> None:
    within = [entry for entry in PIGDO if "within" in entry.printed]
    assert len(within) == 6
    for entry in within:
        printed, share = (98.21, 0.01) if entry.config.dataset == "mnist" else (76.07, 0.02)
        assert entry.theirs == printed
        assert printed / (entry.theirs - entry.tolerance) == pytest.approx(1 + share)


def test_a_sweep_that_spends_a_budget_is_ended_by_it() -> None:
    for sweep in PAPERS["000"].sweeps:
        for config in sweep.configs:
            assert not config.stop_epsilon or plan(config).steps < config.steps_of_epochs, sweep.title


@pytest.mark.parametrize("entry", [each for each in PIGDO if each.config.schedule == "exponential"])
def test_exponential_decay_spends_what_the_constant_noise_level_spends(entry: Trained) -> None:
    """By zCDP a step costs in proportion to 1 / sigma^2 (arXiv 1904.02200)."""
    level = entry.config.sigma / 1.25
    whole = replace(entry.config, epochs={8.0: 30.0, 4.0: 100.0, 2.0: 260.0}[level], stop_epsilon=0.0)
    spent = sum(release.count / release.sigma**2 for release in plan(whole).charged)
    assert spent == pytest.approx(plan(whole).steps / level**2, rel=0.01)


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_a_sweep_changes_one_setting_and_what_follows_it_alone(paper) -> None:
    for sweep in paper.sweeps:
        values = [getattr(config, sweep.setting) for config in sweep.configs]
        assert values == sorted(set(values)), sweep.place
        first = {name: getattr(sweep.configs[0], name) for name in (sweep.setting, *sweep.along)}
        assert len({replace(config, **first) for config in sweep.configs}) == 1, sweep.place
        assert min(plan(config).steps for config in sweep.configs) > 100
