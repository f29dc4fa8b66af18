"""Stop and resume: bit for bit the run that never stopped."""

import dataclasses

import pytest
import torch
from small_runs import CNN, SMALL, run_of, ticking

from dpcore.training import checkpoint
from dpcore.training.engine import Run, train
from dpcore.training.events import Checkpointed, Evaluated, Finished, Started, Stepped
from dpcore.training.optimizers import OPTIMIZERS

METHODS = {
    **{optimizer: {"optimizer": optimizer} for optimizer in OPTIMIZERS},
    "literal": {"optimizer": "pi_adam", "reading": "literal", "batch": 16},
    "sa": {"acceptance": "sa", "public": 500, "sa_q0": 1000.0},
    "averaged": {"ema": 0.9, "lr_schedule": "linear"},
    "scheduled": {"schedule": "exponential", "rate": 0.3, "level_steps": 2},
    "pca": {"model": "abadi", "pca": 20},
    "baseline": {"private": False},
}


def weights(run: Run, steps: range) -> torch.Tensor:
    for step in steps:
        with run.cores.working():
            run.step(step)
    return run.engine.parameters.clone()


@pytest.mark.parametrize("method", METHODS)
def test_a_resumed_run_is_bit_for_bit_the_one_that_never_stopped(method, tmp_path):
    config = dataclasses.replace(CNN if "pca" not in METHODS[method] else SMALL, **METHODS[method])
    whole = run_of(config)
    weights(whole, range(1, 4))
    checkpoint.save(whole, 3, tmp_path / "state.pt")
    expected = weights(whole, range(4, 7))
    resumed = run_of(config)
    assert checkpoint.resume(resumed, tmp_path / "state.pt") == 3
    assert torch.equal(weights(resumed, range(4, 7)), expected)
    ours, theirs = resumed.evaluated(6), whole.evaluated(6)
    assert (ours.accuracy, ours.loss, ours.averaged_accuracy) == (
        theirs.accuracy,
        theirs.loss,
        theirs.averaged_accuracy,
    )
    assert list(tmp_path.iterdir()) == [tmp_path / "state.pt"]


def test_a_run_cut_off_and_resumed_ends_with_the_events_of_one_that_was_not(tmp_path):
    config = dataclasses.replace(SMALL, epochs=0.5)  # 79 steps
    file = tmp_path / "state.pt"
    *_, whole = train(config, ticking(1.0), tmp_path / "other.pt")
    events = train(config, ticking(1.0), file)
    first = []
    while not any(isinstance(event, Checkpointed) for event in first):
        first.append(next(events))
    next(events)
    events.close()
    saved = first[-1].step
    rest = list(train(config, ticking(1.0), file))
    assert not any(isinstance(event, Started) for event in rest)
    assert next(event.step for event in rest if isinstance(event, Stepped)) == saved + 1
    assert isinstance(whole, Finished)
    assert rest[-1].accuracy == whole.accuracy
    reported = [event.step for event in [*first, *rest] if isinstance(event, Stepped)]
    assert reported == sorted(set(reported))
    assert isinstance(first[-2], Evaluated | Stepped)


def test_no_file_is_written_where_none_is_asked_for_or_the_run_is_short(tmp_path):
    assert not any(isinstance(event, Checkpointed) for event in train(SMALL, ticking(1.0)))
    list(train(SMALL, ticking(0.01), tmp_path / "state.pt"))
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_other_settings_or_a_damaged_one_is_refused_by_name(tmp_path):
    run = run_of(SMALL)
    checkpoint.save(run, 0, tmp_path / "state.pt")
    with pytest.raises(ValueError, match=r"state\.pt to be a checkpoint of this run's settings"):
        next(train(dataclasses.replace(SMALL, sigma=2.0), ticking(), tmp_path / "state.pt"))
    (tmp_path / "state.pt").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"state\.pt to be a checkpoint; "):
        next(train(SMALL, ticking(), tmp_path / "state.pt"))
