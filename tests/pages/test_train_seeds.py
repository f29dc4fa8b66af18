"""Several seeds of one configuration, and the rest of a run that ended early, on the training page."""

from dataclasses import replace
from pathlib import Path

import pytest

from dpcore.runs.record import Status, checkpoint_path
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Finished, Stepped
from dpcore.training.plan import plan
from dpcore.training.progress.seed_summary import in_words, with_seeds
from pages.parts.train.estimate import several_runs
from tests.pages.runs_page import finished as fully
from tests.pages.runs_page import imported
from tests.pages.train_page import CONFIG, charts, opened, press, progress, recorded

EARLY = [Status.LOST, Status.CANCELLED, Status.FAILED]


def finished(store: Store, config: RunConfig, accuracy: float, averaged: float | None = None) -> str:
    """A run that went all the way."""
    run = recorded(store, config, 40)
    store.append(run, Finished(plan(config).steps, 4.0, accuracy, averaged))
    store.end(run, Status.FINISHED)
    return run


def saved(store: Store, status: Status) -> str:
    """A run that ended 20 steps after its checkpoint."""
    run = recorded(store, CONFIG, 40)
    store.append(run, Checkpointed(40))
    store.append(run, Stepped(60, 60 * CONFIG.q, 1.0, 0.9, (0.1,) * 5, 20.0))
    path = checkpoint_path(store.home, run)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"the state after 40 steps")
    store.end(run, status, "a reason")
    return run


def summaries(*runs: str) -> list[str]:
    return [each.value for each in opened(*runs).markdown if " seeds: " in each.value]


def labels(page) -> list[str]:
    return [each.label for each in page.button]


def test_imported_runs_are_no_seeds_of_a_summary(store: Store):
    runs = [fully(store, CONFIG, accuracy) for accuracy in (0.7, 0.8)]
    assert len(summaries(*runs)) == 1
    others = [imported(store, each) for each in runs]
    assert summaries(*others) == []
    assert summaries(*runs, *others) == summaries(*runs)


@pytest.mark.parametrize("button", ["Start private run", "Start non-private baseline"])
def test_several_seeds_are_queued_as_the_command_takes_them_and_overlaid(store: Store, button: str):
    page = opened(seeds="5", sigma="2")
    press(page, button)
    runs = store.runs()[::-1]
    assert [run.config for run in runs] == with_seeds(runs[0].config, 5)
    assert [run.config.seed for run in runs] == [None] * 5
    assert len({store.secret(run.id) for run in runs}) == 5
    assert page.query_params["run"] == [run.id for run in runs]
    assert len(progress(page)) == 5
    assert len({run.name for run in runs}) == 5


def test_one_run_is_the_default_and_the_price_of_several_is_said(store: Store):
    press(opened(), "Start private run")
    assert len(store.runs()) == 1
    assert several_runs(3) in [each.value for each in opened(seeds="3").caption]
    assert not any(" runs: each has" in each.value for each in opened().caption)


@pytest.mark.parametrize("seeds", ["0", "7", "1.5"])
def test_a_number_of_seeds_that_cannot_be_is_a_sentence(store: Store, seeds: str):
    assert opened(seeds=seeds).error[0].value.startswith(f"Expected seeds={seeds} to be")


def test_fixed_seeds_are_a_choice_and_the_page_says_what_they_cost(store: Store):
    page = press(opened(seeds="2", seed="7"), "Start private run")
    assert [run.config.seed for run in reversed(store.runs())] == [7, 8]
    assert [store.secret(run.id) for run in store.runs()] == [None, None]
    (warning,) = [each.value for each in page.warning if "fixed" in each.value]
    assert warning.startswith("The seeds are fixed (7, 8): epsilon holds only for those who do not know them")
    assert not [each for each in opened(seeds="2").warning if "fixed" in each.value]


@pytest.mark.parametrize("seed", ["x", "-1", "1.5", str(2**63)])
def test_a_seed_that_cannot_be_is_a_sentence(store: Store, seed: str):
    assert opened(seed=seed).error[0].value.startswith("Expected seed=")


def test_secret_seeds_are_summed_up_too(store: Store):
    runs = [finished(store, CONFIG, accuracy) for accuracy in (0.8, 0.84)]
    (said,) = summaries(*runs)
    assert "2 seeds: test accuracy 82.00%" in said


def test_seeds_are_summed_up_as_the_command_does_once_all_have_ended(store: Store):
    configs = with_seeds(replace(CONFIG, ema=0.9, seed=0), 3)
    runs = [finished(store, config, 0.8 + 0.02 * config.seed, 0.9) for config in configs[:2]]
    running = recorded(store, configs[2], 40)
    assert summaries(*runs, running) == []
    store.append(running, Finished(plan(configs[2]).steps, 4.0, 0.84, 0.93))
    store.end(running, Status.FINISHED)
    (said,) = summaries(*runs, running)
    assert "3 seeds: test accuracy 82.00% +- 2.00% (from 80.00% to 84.00%)" in said
    assert "3 seeds: of the averaged weights 91.00% +- 1.73% (from 90.00% to 93.00%)" in said
    finals = [Finished(1, 1.0, accuracy, averaged) for accuracy, averaged in ((0.8, 0.9), (0.82, 0.9), (0.84, 0.93))]
    assert all(line in said for line in in_words(finals).splitlines())
    names = [line["name"] for line in charts(opened(*runs, running))[0]["data"]]
    assert names == [f"seed {seed}{of}" for seed in range(3) for of in ("", ", averaged")]


def test_each_configuration_has_a_summary_of_its_own_and_one_seed_has_none(store: Store):
    private = [finished(store, config, 0.8) for config in with_seeds(CONFIG, 2)]
    plain = [finished(store, config, 0.9) for config in with_seeds(replace(CONFIG, private=False), 2)]
    other = finished(store, replace(CONFIG, sigma=2.0), 0.1)
    first, second = summaries(*private, *plain, other)
    assert "test accuracy 80.00%" in first
    assert "no privacy" in second
    assert "test accuracy 90.00%" in second
    assert summaries(private[0], private[0], other) == []


def test_a_seed_that_did_not_finish_is_left_out_and_said_and_a_repeated_one_counts_once(store: Store):
    runs = [finished(store, replace(CONFIG, seed=seed), 0.8 + 0.02 * seed) for seed in (0, 1, 1)]
    runs.append(recorded(store, replace(CONFIG, seed=2), 40, Status.CANCELLED))
    (said,) = summaries(*runs)
    assert "2 seeds: test accuracy 81.00%" in said
    assert said.endswith("did not finish: 1 of 3 seeds.")


@pytest.mark.parametrize("status", EARLY)
def test_a_run_that_ended_early_is_resumed_from_its_checkpoint_in_its_place(store: Store, status: Status):
    run, other = saved(store, status), recorded(store, CONFIG, 70, Status.FINISHED)
    page = press(opened(other, run), "Resume")
    new = store.runs()[0]
    assert (new.status, new.config, new.worker) == (Status.QUEUED, CONFIG, None)
    assert page.query_params["run"] == [other, new.id]
    kept = [event for _, event in store.tail(run)][:-1]  # the last one is later than the checkpoint
    assert [event for _, event in store.tail(new.id)] == kept
    assert checkpoint_path(store.home, new.id).read_bytes() == b"the state after 40 steps"
    assert store.run(run).status is status
    assert "Cancel" in labels(page)


def test_where_nothing_was_saved_the_rest_is_the_whole_run(store: Store):
    run = recorded(store, CONFIG, 40, Status.LOST)
    press(opened(run), "Resume")
    assert store.runs()[0].status is Status.QUEUED
    assert store.tail(store.runs()[0].id) == []


def test_two_tabs_that_resume_one_run_queue_one_rest(store: Store):
    run = recorded(store, CONFIG, 40, Status.LOST)
    one, other = opened(run), opened(run)
    press(one, "Resume")
    assert "goes on with it already: it is queued" in press(other, "Resume").error[0].value
    assert len(store.runs()) == 2


def test_a_run_that_goes_on_or_has_finished_cannot_be_resumed(store: Store):
    ended = recorded(store, CONFIG, 70, Status.FINISHED)
    running, queued = recorded(store, CONFIG, 40), store.submit(CONFIG)
    for run in (ended, running, queued):
        assert "Resume" not in labels(opened(run))


def test_a_checkpoint_that_cannot_be_read_is_a_sentence(store: Store):
    run = saved(store, Status.LOST)
    path: Path = checkpoint_path(store.home, run)
    path.unlink()
    path.mkdir()
    page = press(opened(run), "Resume")
    assert str(path) in page.error[0].value
    assert len(store.runs()) == 1
