"""The ladders of the best accuracies: what each rung costs, and that they differ in what they say they do."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dpcore.commands.train import config_of
from dpcore.papers import PAPERS
from dpcore.papers.better_features import findings
from dpcore.papers.better_features.recipes import (
    BEST,
    EPSILONS,
    LADDERS,
    LINEAR,
    MEAN_OFF,
    RECORD,
    TITLES,
    plain_run,
    run,
)
from dpcore.papers.ladder import Ladder
from dpcore.papers.recording import certified, jobs
from dpcore.papers.records import recorded
from dpcore.training.plan import plan
from tests.benchmarks.trials import BOOK, arguments_parser, trial_of

PAPER = PAPERS["005"]
each_ladder = pytest.mark.parametrize("ladder", LADDERS, ids=TITLES)


@each_ladder
def test_every_run_spends_its_epsilon_and_no_more(ladder: Ladder) -> None:
    for rung in ladder.rungs:
        assert tuple(epsilon for epsilon, _ in rung.configs) == EPSILONS == ladder.epsilons
        for epsilon, config in rung.configs:
            spent = certified(config)
            assert spent is not None
            assert 0.995 * epsilon < spent <= epsilon, (rung.name, epsilon)
            assert rung.at(epsilon) == config
        assert not rung.plain.private
        assert plan(rung.plain).mechanism is None


@each_ladder
def test_no_two_runs_are_the_same(ladder: Ladder) -> None:
    runs = [config for _, config in ladder.runs]
    assert len(ladder.runs) == len({name for name, _ in ladder.runs}) == 4 * 7
    private = [config for config in runs if config.private]
    assert len(set(private)) == len(private) == 4 * 6


def test_every_run_is_recorded_for_three_seeds_those_of_one_epsilon_can_be_asked_for() -> None:
    names = {job.label for job in jobs([PAPER], only="Fashion-MNIST: Scattering, linear, epsilon 3")}
    assert names == {"Fashion-MNIST: Scattering, linear, epsilon 3"}
    seeds = [job.config.seed for job in jobs([PAPER], only="MNIST: The best found, epsilon 3")]
    assert seeds == [0, 0, 1, 1, 2, 2]


def test_the_mean_takes_the_same_small_part_of_every_budget() -> None:
    for dataset in MEAN_OFF:
        for epsilon in EPSILONS:
            config = run(dataset, BEST, epsilon)
            assert config.mean_sigma * epsilon == 60.0
            assert run(dataset, LINEAR, epsilon).mean_sigma == 0
            assert config.sigma < 1.003 * run(dataset, LINEAR, epsilon).sigma
        assert plain_run(dataset, BEST).mean_sigma > 0, "the same network, without noise"


@pytest.mark.parametrize(("dataset", "least"), [("mnist", 99.0), ("fashion_mnist", 90.0)])
def test_the_best_recipe_keeps_its_record(dataset: str, least: float) -> None:
    record = recorded(PAPER.id, run(dataset, BEST, RECORD))
    assert record
    assert record.mean >= least
    assert [each.seed for each in record.runs] == [0, 1, 2]
    assert record.epsilon is not None
    assert record.epsilon <= RECORD == 3


def trials_documented() -> list[tuple[str, str]]:
    """The arguments of each trial that the document names in full, and the accuracies beside it."""
    text = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text().split("**What was chosen by trials**")[1]
    shared = re.findall(r"`python -m tests.benchmarks.trials (.*) --dataset mnist --epsilon 3`", text)[0]
    found, data = [], ""
    for line in text.split("\n\n")[1].splitlines()[2:]:
        _, head, given, accuracies, _ = (cell.strip() for cell in line.split("|"))
        data = head or data
        name, epsilon = data.split(", ")
        if given.startswith("`"):
            named = f"{shared} --dataset {name.lower().replace('-', '_')} --epsilon {epsilon}"
            found.append((f"{named} {given.split('`')[1]}", accuracies.split(";")[0].removesuffix("%").strip()))
    return found


def test_a_documented_trial_is_found_by_the_command_that_the_document_gives() -> None:
    documented = trials_documented()
    assert len(documented) == 13
    for arguments, accuracy in documented:
        asked = arguments_parser().parse_args(arguments.split())
        record = recorded(BOOK, trial_of(config_of(asked), asked.epsilon))
        assert record, arguments
        assert f"{record.mean:.2f}" == accuracy, arguments
        assert record.epsilon is not None
        assert record.epsilon < asked.epsilon * 1.0001, arguments


def test_a_trial_that_is_not_recorded_gets_a_sigma_that_spends_no_more_than_was_asked() -> None:
    asked = arguments_parser().parse_args(["--source", "full", "--model", "cnn", "--batch", "1024", "--epochs", "1"])
    config = trial_of(config_of(asked), 2.0)
    spent = certified(config)
    assert spent is not None
    assert 0.99 * 2 < spent <= 2


def test_a_claim_says_where_it_rests_on_too_few_seeds() -> None:
    record = recorded("005", run("mnist", LINEAR, 3.0))
    assert record
    for seeds, said in (((3, 1), " (1 seed)"), ((2, 3), " (2 seeds)"), ((3, 4), "")):
        assert findings._few(*(replace(record, runs=(record.runs[0],) * count) for count in seeds)) == said
