"""A power cut takes the last transactions and keeps the files, or a disk changes a byte of them.

What was released is neither said twice nor drawn again with other noise.
"""

import pytest

from dpcore.runs.record import Status, checkpoint_path
from dpcore.runs.store import Store
from tests.runs.faults.afterwards import counted, sound
from tests.runs.test_resume_job import CONFIG, begun, gone_on, train, undisturbed

SAID = 12  # events, with checkpoints among them


def cut(store: Store, run: str, kept: int) -> None:
    """Take the run's events behind the first `kept`, and with the first of them what it says of its
    origin.
    """
    with store.writing() as db:
        db.execute("DELETE FROM events WHERE run = ? AND sequence > ?", (run, kept))
        if not kept:
            db.execute("UPDATE runs SET origin = NULL WHERE id = ?", (run,))


@pytest.mark.long
@pytest.mark.parametrize("kept", [0, 1, 5])
def test_whatever_a_power_cut_takes_each_step_is_said_once_and_the_weights_are_the_same(
    store: Store, kept: int
) -> None:
    run = begun(store, CONFIG, SAID, saves=True)
    cut(store, run, kept)
    done = gone_on(store, run)
    said = store.events(run)
    assert (done.status, done.error) == (Status.FINISHED, None)
    assert sound(said)
    assert [number for number, _ in store.bodies(run)] == counted(said)
    assert done.last.accuracy == undisturbed(store, run).accuracy


def test_a_checkpoint_with_another_byte_or_half_of_it_is_named_and_not_gone_on_from(
    store: Store,
) -> None:
    for place in (0.3, 0.9, None):
        run = begun(store, CONFIG, SAID, saves=True)
        file = checkpoint_path(store.home, run)
        content = bytearray(file.read_bytes())
        if place:
            content[int(place * len(content))] ^= 16
        file.write_bytes(content if place else content[: len(content) // 2])
        lost = gone_on(store, run)
        assert (lost.status, lost.sequence) == (Status.LOST, SAID), place
        assert "to be a checkpoint, but it is damaged" in (lost.error or ""), place


def test_a_run_that_has_said_all_before_its_worker_went_is_ended_and_says_nothing_again(
    store: Store,
) -> None:
    run = store.submit(CONFIG)
    assert store.claim("gone:1") is not None
    for event in train(CONFIG, secret=store.secret(run)):
        store.append(run, event, "gone:1")
    assert store.recover(store.run(run), "gone") is Status.QUEUED
    said = store.events(run)
    done = gone_on(store, run)
    assert (done.status, done.error) == (Status.FINISHED, None)
    assert store.events(run) == said
