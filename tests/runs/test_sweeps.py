"""Sweeps: the grid is the grid, it is queued whole or not at all, and what all of it costs is the
composition.
"""

from dataclasses import replace

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.runs.sweeps import MAX_RUNS, all_released, sweep_in, sweep_of, values_of, varied
from dpcore.runs.within_limits import submit_rest
from dpcore.training.config import RunConfig
from tests.pages.train_page import events_of, recorded
from tests.runs.by_hand import submit_sweep

SMALL = RunConfig(model="mlp", batch=256, epochs=1.0)


def spent(mechanism: Mechanism) -> float:
    curve = ACCOUNTANTS["pld"].curve(mechanism, np.array([mechanism.steps]), 1e-5)
    return float(curve.epsilon[0])


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path) as store:
        yield store


def test_every_combination_is_there_so_often_as_there_are_seeds():
    configs = sweep_of(SMALL, {"sigma": [1.0, 2.0], "lr": [0.1, 0.2, 0.4]}, 2)
    pairs = [(each.sigma, each.lr) for each in configs]
    assert len(configs) == 12
    assert {each: pairs.count(each) for each in pairs} == {
        (s, lr): 2 for s in (1.0, 2.0) for lr in (0.1, 0.2, 0.4)
    }
    assert varied(configs) == ("sigma", "lr")
    assert all(replace(each, sigma=SMALL.sigma, lr=SMALL.lr) == SMALL for each in configs)


def test_a_fixed_seed_is_followed_by_the_next_ones_and_without_one_each_is_secret():
    assert [each.seed for each in sweep_of(replace(SMALL, seed=7), {"sigma": [1.0]}, 3)] == [
        7,
        8,
        9,
    ]
    assert {each.seed for each in sweep_of(SMALL, {"sigma": [1.0]}, 3)} == {None}


def test_what_is_no_grid_is_refused_by_name():
    for axes, seeds, said in (
        ({}, 1, "one or two settings"),
        ({"sigma": [1.0], "lr": [0.1], "batch": [64]}, 1, "one or two settings"),
        ({"nonsense": [1]}, 1, "setting='nonsense'"),
        ({"seed": [1, 2]}, 1, "setting='seed'"),
        ({"sigma": []}, 1, "at least one value of sigma"),
        ({"sigma": [1.0, 1.0]}, 1, "each value once"),
        ({"sigma": [-1.0]}, 1, "sigma=-1.0"),
        ({"batch": [20_000]}, 1, "batch=20000"),
        ({"optimizer": ["lion"]}, 1, "optimizer='lion'"),
        ({"sigma": [1.0]}, 0, "seeds=0"),
        ({"sigma": [1.0, 2.0]}, MAX_RUNS // 2 + 1, f"at most {MAX_RUNS}"),
        ({"sa_q0": [1.0, 2.0]}, 1, "nothing changes"),
    ):
        with pytest.raises(ValueError, match=said):
            sweep_of(SMALL, axes, seeds)


def test_a_text_lists_values_of_the_setting_s_own_kind_or_is_refused():
    assert values_of("sigma", " 1e-1,2 ,, 3") == [0.1, 2.0, 3.0]
    assert values_of("batch", "64, 128, 64") == [64, 128]
    assert values_of("private", "Yes,no") == [True, False]
    assert values_of("clipping", "flat, auto_s") == ["flat", "auto_s"]
    for setting, text, said in (
        ("sigma", "", "List the values of sigma"),
        ("sigma", "one", "sigma=`one` to be a number"),
        ("batch", "1.5", "a whole number"),
        ("seed", "1", "setting='seed'"),
        ("sigma", "1," * 5000, "at most 2,000 characters"),
    ):
        with pytest.raises(ValueError, match=said):
            values_of(setting, text)


def test_all_runs_are_queued_under_one_id_each_with_a_name_that_tells_it_apart(store: Store):
    configs = sweep_of(SMALL, {"sigma": [1.0, 2.0]}, 2)
    sweep = submit_sweep(store, configs, ["sigma"], "Noise", "ann")
    runs = store.runs(Status.QUEUED)[::-1]
    assert [run.config for run in runs] == configs
    assert [run.name for run in runs] == [
        "Noise: sigma 1, run 1", "Noise: sigma 1, run 2",
        "Noise: sigma 2, run 1", "Noise: sigma 2, run 2",
    ]  # fmt: skip
    assert {(run.sweep, run.owner) for run in runs} == {(sweep, "ann")}
    assert len({store.secret(run.id) for run in runs}) == 4


def test_where_one_run_has_no_plan_none_is_queued(store: Store):
    impossible = replace(SMALL, sigma=0.3, stop_epsilon=1e-4)
    with pytest.raises(ValueError, match="stop_epsilon"):
        submit_sweep(store, [SMALL, impossible], ["sigma"])
    assert store.runs() == []


def test_all_runs_together_cost_the_composition_of_what_each_has_spent(store: Store):
    one, two = (
        store.run(recorded(store, replace(SMALL, sigma=sigma), 20, Status.CANCELLED))
        for sigma in (1.0, 2.0)
    )
    again = store.run(recorded(store, replace(SMALL, sigma=1.0), 30, Status.FINISHED))
    untouched = store.run(store.submit(SMALL))
    together = all_released([one, two, again, untouched])
    assert together is not None
    counts = {release.sigma: release.count for release in together.releases}
    assert counts == {1.0: 20 + again.plan.steps, 2.0: 20}
    alone = all_released([again])
    assert alone is not None
    assert spent(together) > spent(alone)
    assert all_released([untouched]) is None


@pytest.mark.long
def test_a_resumed_rest_beyond_the_most_runs_of_a_sweep_is_part_of_what_all_cost(store: Store):
    name = submit_sweep(store, sweep_of(SMALL, {"sigma": [1.0]}, MAX_RUNS), ["sigma"])
    first = store.queue()[0]
    store.claim("test:1")
    for event in events_of(SMALL, 20):
        store.append(first, event)
    store.end(first, Status.CANCELLED)
    rest = submit_rest(store, first)
    with store.writing() as db:
        db.execute(
            "UPDATE runs SET status = 'cancelled' WHERE status = 'queued' AND id != ?", (rest,)
        )
    store.claim("test:1")
    for event in events_of(SMALL, 30):
        store.append(rest, event)
    sweep = sweep_in(store, name)
    assert sweep is not None
    assert (len(sweep.runs), sweep.runs[-1].id) == (MAX_RUNS + 1, rest)
    together = all_released(sweep.runs)
    assert together is not None
    assert together.steps >= 20 + 30


@pytest.mark.parametrize("column", ["settings", "plan"])
def test_a_run_that_has_begun_and_cannot_be_read_leaves_all_of_them_without_an_epsilon(
    store: Store, column: str
):
    name = submit_sweep(store, sweep_of(SMALL, {"sigma": [1.0, 2.0, 4.0]}), ["sigma"])
    one, two, three = store.queue()
    with store.writing() as db:
        for run in (two, three):
            db.execute(f"UPDATE runs SET {column} = ? WHERE id = ?", ('{"unheard": 1}', run))
    store.claim("test:1")
    for event in events_of(SMALL, 20):
        store.append(one, event)
    sweep = sweep_in(store, name)
    assert sweep is not None
    assert [run.id for run in sweep.runs] == [one]
    assert [run.id for run in sweep.unreadable] == [two, three]
    together = all_released([*sweep.runs, *sweep.unreadable])
    assert together is not None
    assert together.steps == 20
    assert getattr(store.claim("test:2", 2), "id", "") == two
    store.append(two, events_of(SMALL, 20)[0])
    sweep = sweep_in(store, name)
    assert sweep is not None
    assert all_released([*sweep.runs, *sweep.unreadable]) is None


def test_a_run_without_privacy_leaves_all_of_them_without_an_epsilon(store: Store):
    private, baseline = (
        store.run(recorded(store, replace(SMALL, private=private), 20, Status.CANCELLED))
        for private in (True, False)
    )
    assert all_released([private, baseline]) is None
