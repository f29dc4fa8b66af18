"""Runs whose batches are not Poisson's: what is said of them, what is refused, and that they train on their batches."""

import re
from dataclasses import replace

import numpy as np
import pytest

from dpcore.privacy.sampling import SAMPLERS
from dpcore.training.config import RunConfig
from dpcore.training.plan import check_anew, plan
from tests.training.small_runs import SMALL, run_of

NAMES = ("random_allocation", "shuffle")


def test_the_plan_says_what_the_samplers_accountant_proves() -> None:
    for name in NAMES:
        config = RunConfig(model="mlp", batch=500, epochs=2.0, sigma=1.0, sampler=name)
        planned = plan(config)
        found = SAMPLERS[name].curve(config.q, 1.0, config.steps_of_epochs, config.delta).last
        assert planned.mechanism is None, name  # no accountant of Poisson batches may speak of it
        low, high = map(float, re.findall(r"between (\d+\.\d+) and (\d+\.\d+)", planned.unaccounted)[0])
        assert found.lower is not None, name
        assert low <= found.lower <= found.value <= high, name
        assert low == pytest.approx(found.lower, rel=0.01), name
        assert high == pytest.approx(found.value, rel=0.01), name
        assert SAMPLERS[name].adjacency in planned.unaccounted, name


def test_layers_that_are_clipped_one_by_one_count_together() -> None:
    flat, layers = (
        plan(RunConfig(model="mlp", batch=500, epochs=1.0, sigma=4.0, sampler="shuffle", clipping=clipping))
        for clipping in ("flat", "per_layer")
    )
    numbers = [float(re.findall(r"between ([\d.]+)", each.unaccounted)[0]) for each in (flat, layers)]
    assert numbers[1] > 1.2 * numbers[0]


def test_what_has_no_noise_or_no_proof_says_so_first() -> None:
    assert "without noise" in plan(RunConfig(model="mlp", sigma=0.0, sampler="shuffle")).unaccounted
    assert "raw reading" in plan(RunConfig(optimizer="pi_adam", reading="raw", sampler="shuffle")).unaccounted
    tiny = plan(RunConfig(model="mlp", sigma=0.03, sampler="shuffle"))
    assert tiny.unaccounted.startswith("No epsilon: noise is drawn up to")


def test_what_is_not_proven_is_refused() -> None:
    for more, words in [
        ({"schedule": "exponential", "rate": 0.1}, "only with sampler='poisson'"),
        ({"model": "mlp", "pca": 20}, "nothing is proven of them together"),
        ({"optimizer": "adppl"}, "nothing is proven of them together"),
        ({"sampler": "fixed_order"}, "Expected sampler='fixed_order'"),
    ]:
        with pytest.raises(ValueError, match=words):
            RunConfig(**({"sampler": "shuffle"} | more))  # type: ignore[arg-type]


def test_no_epsilon_to_stop_at() -> None:
    with pytest.raises(ValueError, match="with an epsilon to stop at"):
        plan(RunConfig(model="mlp", stop_epsilon=3.0, sampler="random_allocation"))


def test_a_run_does_not_begin_anew_behind_steps_that_were_released() -> None:
    config = RunConfig(model="mlp", sampler="shuffle")
    check_anew(config, 0)
    check_anew(replace(config, sampler="poisson"), 7)
    with pytest.raises(ValueError, match="Start a new run instead"):
        check_anew(config, 7)


@pytest.mark.parametrize("name", NAMES)
def test_it_trains_on_the_batches_of_its_sampler(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(replace(SMALL, sampler=name))
    seen: list[int] = []
    monkeypatch.setattr(run, "descend", lambda step, x, y: seen.append(len(y)) or [None] * 4)
    monkeypatch.setattr(run.step_totals, "add", lambda *_: None)
    assert run.epoch_batches is not None
    length = run.epoch_batches.length
    for step in range(1, length + 1):
        run.step(step)
    assert sum(seen) == run.config.examples  # every example once
    drawn = [run.epoch_batches.drawn(step) for step in range(1, length + 1)]
    assert np.array_equal(np.sort(np.concatenate(drawn)), np.arange(run.config.examples))
