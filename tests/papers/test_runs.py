"""Training settings of the papers' accuracies, their printed privacy, and their records."""

import datetime
import json
import statistics
from dataclasses import replace

import pytest

from dpcore.papers.catalogue import PAPERS
from dpcore.papers.comparison import compared
from dpcore.papers.entry import Trained
from dpcore.papers.records import kept, named, path_of, records_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.config import RunConfig, idle
from dpcore.training.plan import plan

TRAINED = [(paper.id, entry) for paper in PAPERS.values() for entry in paper.trained]


def epsilon_of(entry: Trained, accountant: str) -> float:
    mechanism = plan(entry.config).mechanism
    assert mechanism
    return ACCOUNTANTS[accountant].curve(mechanism, mechanism.steps, entry.config.delta).last.value


@pytest.mark.parametrize("paper", PAPERS)
def test_every_accuracy_has_a_run_in_which_each_setting_has_a_say_and_opens_what_it_releases(
    paper: str,
) -> None:
    for entry in PAPERS[paper].trained:
        config = entry.config
        name = f"{entry.place} {entry.quantity}"
        assert plan(config).steps > 0, name
        assert (plan(config).mechanism is not None) == config.private, name
        assert config.source == "full", name
        assert not set(idle(config)) & set(config.chosen()), name
        assert (50 < entry.theirs < 100) == (config.dataset != "movielens"), name
        assert entry.because, name
        assert (entry.setting is None) == (not config.private or config.stop_epsilon > 0), name
        # Whose relevances are a release of their own.
        if entry.setting and config.optimizer != "adppl":
            assert entry.setting.mechanism == plan(config).mechanism, name
            assert entry.setting.dataset == config.dataset, name
            assert entry.setting.clip_norm == config.clip_norm, name


def test_the_columns_of_paper_001_spend_epsilon_3_by_the_classic_conversion() -> None:
    private = [
        entry
        for entry in PAPERS["001"].trained
        if entry.place == "Table 1" and entry.config.private
    ]
    charged = [entry for entry in private if entry.config.acceptance == "none"]
    assert len(charged) == 9
    assert [epsilon_of(entry, "moments") for entry in charged] == pytest.approx([3.0] * 9, abs=0.04)


def test_a_run_that_stops_at_a_printed_epsilon_spends_it() -> None:
    stopped = [entry for _, entry in TRAINED if entry.config.stop_epsilon]
    for entry in stopped:
        config = entry.config
        spent = epsilon_of(entry, config.stop_accountant)
        assert spent == pytest.approx(config.stop_epsilon, rel=0.01), entry.quantity
        assert plan(config).steps < config.steps_of_epochs, "its epochs end it before its epsilon"


def test_exponential_decay_spends_what_the_constant_noise_level_spends() -> None:
    """By zCDP a step costs in proportion to 1 / sigma^2 (arXiv 1904.02200)."""
    decaying = [
        each.config for each in PAPERS["000"].trained if each.config.schedule == "exponential"
    ]
    assert len(decaying) == 7
    for config in decaying:
        level = config.sigma / 1.25
        whole = replace(config, epochs={8.0: 30.0, 4.0: 100.0, 2.0: 260.0}[level], stop_epsilon=0.0)
        spent = sum(release.count / release.sigma**2 for release in plan(whole).charged)
        assert spent == pytest.approx(plan(whole).steps / level**2, rel=0.01), config


def test_a_grid_changes_one_setting_and_what_follows_it_alone() -> None:
    grids = [grid for paper in PAPERS.values() for grid in paper.grids if not grid.of_recipes]
    assert grids
    for grid in grids:
        (curve,) = grid.curves
        values = [getattr(config, grid.setting) for config in curve.configs]
        assert values == sorted(set(values)), grid.place
        assert values == list(grid.values), grid.place
        first = {name: getattr(curve.configs[0], name) for name in (grid.setting, *grid.along)}
        assert len({replace(config, **first) for config in curve.configs}) == 1, grid.place
        assert min(plan(config).steps for config in curve.configs) > 100


@pytest.mark.parametrize("paper", PAPERS)
def test_every_record_is_of_a_run_that_the_paper_asks_for_and_each_once(paper: str) -> None:
    trained = [entry.config for entry in PAPERS[paper].trained]
    asked = set(map(named, trained))
    asked |= {named(config) for grid in PAPERS[paper].grids for _, config in grid.runs}
    asked |= {
        named(replace(each, dataset="cifar10_jpeg"))
        for each in trained
        if each.dataset == "cifar10"
    }
    assert records_of(paper).keys() <= asked
    if path_of(paper).exists():
        assert len(json.loads(path_of(paper).read_text())) == len(records_of(paper)) > 0


@pytest.mark.parametrize("paper", PAPERS)
def test_a_record_says_what_was_trained_when_where_and_at_what_epsilon(paper: str) -> None:
    for name, record in records_of(paper).items():
        config = RunConfig.from_json(record.settings)
        mechanism = plan(config).mechanism
        assert kept(config) == record.settings, name
        if mechanism is None:
            assert record.epsilon is None, name
        else:
            last = ACCOUNTANTS[CERTIFIED].curve(mechanism, mechanism.steps, config.delta).last
            # Later versions may prove a little less.
            assert record.epsilon == pytest.approx(last.value, rel=0.005), name
        assert len({run.seed for run in record.runs}) == len(record.runs), name
        for run in record.runs:
            assert 0.1 < run.accuracy < 1, name
            assert (run.accepted is not None) == (config.acceptance == "sa"), name
            assert run.accepted is None or run.accepted <= plan(config).steps, name
        assert datetime.date.fromisoformat(record.date) >= datetime.date(2026, 11, 21), name
        assert record.device, name
        assert {"torch", "dpcore"} <= record.versions.keys(), name
        assert record.seconds > 0, name


def test_what_accepted_steps_alone_would_cost_is_told_beside_what_all_of_them_cost() -> None:
    """The 4,297 proposals of paper 001 on MNIST cost 2.48 to 2.49, accepted ones alone less."""
    entry = next(each for each in PAPERS["001"].trained if each.config.acceptance == "sa")
    found = compared("001", entry)
    assert found.record
    accepted = round(statistics.fmean(run.accepted or 0 for run in found.record.runs))
    mechanism = Mechanism.constant(entry.config.q, entry.config.sigma, accepted)
    alone = ACCOUNTANTS[CERTIFIED].curve(mechanism, accepted, 1e-5).last.value
    assert f"Of 4,297 proposals {accepted:,} were accepted" in found.why
    assert f"would cost epsilon {alone:.3g}, without a proof" in found.why
    assert "all proposals cost at most 2.49" in found.why
    assert alone < 2.2
