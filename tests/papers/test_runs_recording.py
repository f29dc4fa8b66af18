"""Recording: what is left is trained, short runs first; it can be stopped at any time, and does
nothing twice.
"""

import fcntl
import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from dpcore.data import catalogue
from dpcore.papers import recording, records
from dpcore.papers.comparison import compared
from dpcore.papers.entry import Trained
from dpcore.papers.paper import Curve, Grid, Paper
from dpcore.papers.recording import Job, checkpoint_of, jobs, main, perform
from dpcore.papers.records import Seeded, recorded, records_of
from dpcore.training import progress
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished
from dpcore.training.loop import train
from dpcore.training.plan import plan

SMALL = RunConfig(model="mlp", batch=64, epochs=0.05, sigma=2.0, device="cpu")  # 8 steps
LONGER = replace(SMALL, epochs=0.1)
ANNEALED = replace(SMALL, acceptance="sa", public=100)
PLAIN = replace(SMALL, private=False)
RATES = Curve((replace(SMALL, lr=0.1), replace(SMALL, lr=0.2)))
DUMMY = Paper(
    id="999",
    short="Dummy",
    title="A paper that trains little",
    authors="",
    published="",
    about="",
    entries=(
        Trained("Table 1", "longer", "90", config=LONGER, seeds=2),
        Trained("Table 1", "short", "90", config=SMALL, seeds=3),
    ),
    grids=(Grid("Figure 1", "rates", "lr", (0.1, 0.2), (RATES,)),),
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records and checkpoints in a folder of the test, and one paper only."""
    monkeypatch.setattr(records, "FOLDER", tmp_path / "recorded")
    monkeypatch.setattr(recording, "PAPERS", {"999": DUMMY})
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    records_of.cache_clear()


def job_of(config: RunConfig, seed: int = 0) -> Job:
    return Job("999", "Table 1: short", replace(config, seed=seed))


def accuracy_of(config: RunConfig) -> float:
    return next(event.accuracy for event in train(config) if isinstance(event, Finished))


def test_all_first_seeds_come_before_any_second_one_and_short_runs_before_long_ones() -> None:
    found = [(job.config.seed, job.label) for job in jobs([DUMMY])]
    rates = ["Figure 1: rates, 0.1", "Figure 1: rates, 0.2"]
    first = [(0, label) for label in ("Table 1: short", *rates, "Table 1: longer")]
    assert found == [*first, (1, "Table 1: short"), (1, "Table 1: longer"), (2, "Table 1: short")]
    assert [job.config.seed for job in jobs([DUMMY], seeds=1)] == [0] * 4
    assert {job.label for job in jobs([DUMMY], only="figure 1: RATES")} == set(rates)


def test_a_record_is_how_the_run_ended_and_what_it_costs() -> None:
    for config in (SMALL, ANNEALED, PLAIN):
        job = job_of(config)
        assert not job.done
        assert perform(job)
        assert job.done
        records_of.cache_clear()  # as another process reads it
        found = recorded("999", config)
        assert found
        assert [run.seed for run in found.runs] == [0]
        assert found.runs[0].accuracy == accuracy_of(job.config)
        assert (found.runs[0].accepted is None) == (config.acceptance == "none")
        assert (found.epsilon is None) == (not config.private)
        assert found.device.startswith("cpu")
        assert recorded("999", replace(config, device="auto")) == found
        assert found.versions.keys() == {"python", "torch", "dpcore"}
        assert found.seconds > 0


def test_the_course_of_a_run_is_recorded_where_a_figure_shows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(progress, "EVALUATE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "EVALUATION_SHARE", 1.0)
    assert perform(replace(job_of(ANNEALED), watched=True))
    assert perform(job_of(SMALL))
    records_of.cache_clear()
    watched, other = recorded("999", ANNEALED), recorded("999", SMALL)
    assert watched
    assert other
    (run,) = watched.runs
    assert [each.step for each in run.course] == sorted({each.step for each in run.course})
    assert len(run.course) > 1
    last = run.course[-1]
    assert (last.step, last.accuracy, last.accepted) == (
        plan(ANNEALED).steps,
        run.accuracy,
        run.accepted,
    )
    assert other.runs[0].course == ()
    runs = [
        each for record in json.loads(records.path_of("999").read_text()) for each in record["runs"]
    ]
    # A file names none where there is none.
    assert sorted("course" in each for each in runs) == [False, True]


def test_records_that_are_written_beside_one_another_are_all_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turn, others = recording._locked, [2, 1]

    @contextmanager
    def after_others(paper: str) -> Iterator[None]:
        """Others have their turns while this one waits for its own."""
        if others:
            seed = others.pop()
            recording.record(job_of(SMALL, seed), Seeded(seed, 0.25), 1.0)
        with (
            turn(paper),
            (recording.state_directory() / "recordings" / f"{paper}.lock").open("ab") as file,
        ):
            with pytest.raises(BlockingIOError):  # nobody else has a turn now
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield

    monkeypatch.setattr(recording, "_locked", after_others)
    recording.record(job_of(SMALL), Seeded(0, 0.5), 1.0)
    found = recorded("999", SMALL)
    assert found
    assert [(run.seed, run.accuracy) for run in found.runs] == [(0, 0.5), (1, 0.25), (2, 0.25)]
    assert found.mean == pytest.approx(100 / 3)


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint after every step."""
    for name in ("SAVE_SECONDS", "FIRST_SECONDS", "EVALUATE_SECONDS"):
        monkeypatch.setattr(progress, name, 0.0)
    monkeypatch.setattr(progress, "EVALUATION_SHARE", 1.0)


def stopped(job: Job) -> int:
    """Train the run until a deadline ends it; the step of its checkpoint."""
    ticks = itertools.count()
    assert not perform(job, deadline=8, clock=lambda: next(ticks))
    assert not job.done
    label = recording.label_of(checkpoint_of(job))
    assert label
    return label.step


@pytest.mark.usefixtures("often")
def test_a_stopped_run_says_how_long_it_would_take_and_counts_as_untrained() -> None:
    entry, *_ = DUMMY.trained
    assert compared("999", entry).why == "Nobody has timed its training."
    stopped(job_of(LONGER))
    assert records_of("999")[records.named(LONGER)].runs == ()
    assert recorded("999", LONGER) is None
    assert compared("999", entry).why.startswith("Its training takes about ")
    timed = records.expected_seconds(LONGER)
    assert timed
    assert records.expected_seconds(SMALL) == pytest.approx(timed / 2)  # of half as many steps
    # A forward pass is a third of the work.
    tested = plan(ANNEALED).steps / plan(LONGER).steps * (64 + 100 / 3) / 64
    assert records.expected_seconds(ANNEALED) == pytest.approx(timed * tested, rel=0.01)
    recording.record(job_of(LONGER), None, 1e9)
    assert records.expected_seconds(LONGER) == timed
    recording.record(job_of(LONGER), Seeded(0, 0.5), 8.0)
    found = recorded("999", LONGER)
    assert found
    assert (found.mean, found.seconds) == (50, 8)


@pytest.mark.long
@pytest.mark.usefixtures("often")
def test_a_stopped_run_goes_on_from_its_checkpoint_to_the_same_accuracy() -> None:
    job = job_of(LONGER)
    assert 0 < stopped(job) < 16
    assert perform(job)
    found = recorded("999", LONGER)
    assert found
    assert found.runs[0].accuracy == accuracy_of(job.config)
    assert not checkpoint_of(job).exists()


@pytest.mark.long
def test_the_command_trains_what_is_left_and_nothing_twice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["--only", "short", "--seeds", "2"])
    before = recorded("999", SMALL)
    assert before
    assert len(before.runs) == 2
    said = capsys.readouterr().out
    assert said.count("8 steps, ") == 2
    assert said.startswith("2 to train: 2 of unknown time.")
    main(["--only", "short", "--seeds", "2"])
    assert capsys.readouterr().out == ""
    main(["--minutes", "-1"])
    assert recorded("999", LONGER) is None
    capsys.readouterr()
    main(["--missing"])
    said = capsys.readouterr().out
    assert said.startswith("3 to train: about ")  # without those of the figure
    assert "16 steps, about " in said
    assert {record.settings.get("lr", 0.5) for record in records_of("999").values()} == {0.5}
    main([])
    assert {record.settings.get("lr", 0.5) for record in records_of("999").values()} == {
        0.1,
        0.2,
        0.5,
    }
    assert all(job.done for job in jobs([DUMMY]))


def test_a_run_that_diverges_or_has_no_data_or_a_broken_checkpoint_is_said_and_the_next_one_trained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wild, broken = replace(PLAIN, lr=1e38, activation="relu"), replace(SMALL, lr=0.3)
    entries = [
        Trained("Table 1", name, "90", config=config)
        for name, config in (("wild", wild), ("broken", broken))
    ]
    absent = RunConfig(dataset="cifar10", source="full", model="cnn9")
    entries += [
        Trained("Table 1", "colour", "50", config=absent),
        Trained("Table 1", "tame", "90", config=SMALL),
    ]
    monkeypatch.setattr(
        recording, "PAPERS", {"999": replace(DUMMY, entries=tuple(entries), grids=())}
    )
    monkeypatch.setattr(recording, "available", lambda name: ("sample",) if name == "mnist" else ())
    monkeypatch.setattr(records, "stand_in", lambda name: None)
    path = checkpoint_of(job_of(broken))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no checkpoint")
    main([])
    said = capsys.readouterr().out
    assert "failed: loss is not finite" in said
    assert f"failed: Expected {path} to be a checkpoint" in said
    assert "no full cifar10 here" in said
    assert path.read_bytes() == b"no checkpoint"
    assert recorded("999", wild) is recorded("999", broken) is recorded("999", absent) is None
    assert recorded("999", SMALL)


def test_data_that_stand_in_for_missing_ones_are_trained_on_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    colour = RunConfig(dataset="cifar10", source="full", model="cnn9", epochs=1.0)
    entry = Trained("Table 1", "colour", "50", config=colour)
    paper = replace(DUMMY, entries=(entry,), grids=())
    monkeypatch.setattr(
        catalogue, "available", lambda name: ("full",) if name == "cifar10_jpeg" else ()
    )
    (job,) = jobs([paper], seeds=1)
    assert job.config == replace(colour, dataset="cifar10_jpeg", seed=0)
    recording.record(job, Seeded(0, 0.5), 1.0)
    assert job.done
    assert compared("999", entry).ours == 50
    assert (
        "CIFAR-10 as JPEG stands in for CIFAR-10 where that is missing."
        in compared("999", entry).why
    )
    monkeypatch.setattr(catalogue, "available", lambda name: ("full",))
    (original,) = jobs([paper], seeds=1)
    assert original.config == replace(colour, seed=0)
    assert not original.done
    recording.record(original, Seeded(0, 0.6), 1.0)
    assert compared("999", entry).ours == 60
    assert "JPEG" not in compared("999", entry).why
