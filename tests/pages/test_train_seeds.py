"""Several seeds of one configuration, and the rest of a run that ended early, on the page Runs."""

from dataclasses import replace

from dpcore.runs.record import Status, checkpoint_path
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Checkpointed, Finished, Stepped
from dpcore.training.plan import plan
from dpcore.training.seed_summary import in_words, with_seeds
from tests.pages.runs_page import finished as fully
from tests.pages.runs_page import imported
from tests.pages.train_page import CONFIG, charts, opened, press, recorded, whole

EARLY = [Status.LOST, Status.CANCELLED, Status.FAILED]


def finished(
    store: Store, config: RunConfig, accuracy: float, averaged: float | None = None
) -> str:
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


def test_seeds_are_summed_up_as_the_command_does_once_all_have_ended(store: Store):
    configs = with_seeds(replace(CONFIG, ema=0.9, seed=0), 3)
    runs = [finished(store, config, 0.8 + 0.02 * config.seed, 0.9) for config in configs[:2]]
    running = recorded(store, configs[2], 40)
    assert summaries(*runs, running) == []
    store.append(running, Finished(plan(configs[2]).steps, 4.0, 0.84, 0.93))
    store.end(running, Status.FINISHED)
    (said,) = summaries(*runs, running)
    assert "3 seeds: test accuracy 82.00 % ± 2.00 % (from 80.00 % to 84.00 %)" in said
    assert "3 seeds: of the averaged weights 91.00 % ± 1.73 % (from 90.00 % to 93.00 %)" in said
    finals = [
        Finished(1, 1.0, accuracy, averaged)
        for accuracy, averaged in ((0.8, 0.9), (0.82, 0.9), (0.84, 0.93))
    ]
    assert all(line in said for line in in_words(finals, ascii=False).splitlines())
    names = [line["name"] for line in charts(opened(*runs, running))[0]["data"]]
    labels = [f"Run {seed + 1}, EMA 0.9, seed {seed}" for seed in range(3)]
    assert names == [f"{each}{of}" for each in labels for of in ("", ", averaged")]


def test_a_run_that_ended_early_is_resumed_from_its_checkpoint_in_its_place(store: Store):
    for status in EARLY:
        run, other = saved(store, status), recorded(store, CONFIG, 70, Status.FINISHED)
        page = press(opened(other, run), "Resume")
        new = store.runs()[0]
        assert (new.status, new.config, new.worker) == (Status.QUEUED, CONFIG, None), status
        assert page.query_params["run"] == [other, new.id], status
        # The last one is later than the checkpoint.
        kept = store.events(run)[:-1]
        assert store.events(new.id) == kept, status
        assert checkpoint_path(store.home, new.id).read_bytes() == b"the state after 40 steps", (
            status
        )
        assert store.run(run).status is status, status
        assert "Cancel" in labels(page), status


def test_two_tabs_that_resume_one_run_queue_one_rest(store: Store):
    run = recorded(store, CONFIG, 40, Status.LOST)
    one, other = opened(run), opened(run)
    press(one, "Resume")
    assert "continues it already and is queued" in press(other, "Resume").error[0].value
    assert len(store.runs()) == 2


def test_a_run_that_goes_on_or_has_finished_cannot_be_resumed(store: Store):
    ended = recorded(store, CONFIG, 70, Status.FINISHED)
    running, queued = recorded(store, CONFIG, 40), store.submit(CONFIG)
    for run in (ended, running, queued):
        assert "Resume" not in labels(whole(run))
