"""A run's plan is computed once, says what is drawn and charged, and survives JSON; a configuration is a value."""

import dataclasses
import json

import pytest

from dpcore.training.config import RunConfig
from dpcore.training.loop import train
from dpcore.training.plan import Plan, matching, plan
from tests.training.small_runs import SMALL

KINDS = {
    "plain": RunConfig(),
    "schedule": RunConfig(schedule="exponential", rate=0.1, level_steps=7),
    "per layer": RunConfig(clipping="per_layer"),
    "pca": RunConfig(model="abadi", pca=60),
    "relevance": RunConfig(optimizer="adppl"),
    "baseline": RunConfig(private=False),
    "raw": RunConfig(optimizer="pi_adam", reading="raw"),
    "stopped": RunConfig(stop_epsilon=3.0, stop_accountant="rdp"),
    "shuffled": RunConfig(model="mlp", sampler="shuffle"),
}


def test_a_plan_survives_json_and_a_run_is_trained_by_the_stored_plan_of_its_settings():
    for kind, config in KINDS.items():
        planned = plan(config)
        stored = Plan.from_json(json.loads(json.dumps(planned.to_json())))
        assert stored == planned == matching(config, stored), kind


def test_steps_that_were_released_before_keep_the_key_that_stores_have_them_under():
    stored = plan(SMALL).behind(3).to_json()
    assert stored["told"] == 3
    assert Plan.from_json(stored).already_released == 3
    assert Plan.from_json(stored).anew(0).repeated == 3


def test_what_is_drawn_and_what_is_charged_are_as_long_as_the_run():
    for config in KINDS.values():
        planned = plan(config)
        assert len(planned.sigmas) == planned.steps
        assert planned.mechanism is None or planned.mechanism.steps == planned.compositions_at(planned.steps)


def test_what_is_released_after_some_steps_is_the_beginning_of_the_mechanism():
    for kind in KINDS:
        planned = plan(KINDS[kind])
        again = planned.anew(5)
        for each in (planned, again):
            for done in (0, 1, 9, each.steps - 1, each.steps, each.steps + 7):
                released, mechanism = each.released(done), each.mechanism
                if mechanism is None:
                    assert released is None, kind
                    continue
                most = min(each.compositions_at(done), mechanism.steps)
                counts = zip(mechanism.releases, mechanism.compositions(most)[0], strict=True)
                spent = [dataclasses.replace(release, count=count) for release, count in counts if count]
                assert (list(released.releases) if released else []) == spent, kind
            assert each.released(each.steps) == each.mechanism, kind
        assert planned.released(None) is None, kind
        assert (again.released(None) is None) == (planned.mechanism is None), kind


def test_a_schedule_that_falls_too_low_for_its_clipping_is_refused_by_what_was_typed():
    noise = {"schedule": "exponential", "rate": 0.742, "level_steps": 1, "sigma": 2.0, "epochs": 1.0}  # ends at 1.5e-6
    assert plan(RunConfig(**noise)).steps == 20
    with pytest.raises(
        ValueError, match="sigma=2 with clipping='per_layer' and schedule='exponential' to stay at 2e-06"
    ):
        plan(RunConfig(**noise, clipping="per_layer"))


def test_a_run_is_not_trained_by_a_stored_plan_that_draws_or_charges_anything_else():
    config = dataclasses.replace(SMALL, model="abadi", pca=60, clipping="per_layer")
    planned = plan(config)
    (charged,), (first,) = planned.charged, planned.first
    for wrong in (
        dataclasses.replace(planned, charged=planned.drawn),
        dataclasses.replace(planned, drawn=(charged,)),
        dataclasses.replace(planned, charged=(dataclasses.replace(charged, q=charged.q / 2),)),
        dataclasses.replace(planned, first=()),
        dataclasses.replace(planned, first=(dataclasses.replace(first, sigma=8.0),)),
        dataclasses.replace(planned, unaccounted="for no reason"),
        plan(dataclasses.replace(config, epochs=2 * config.epochs)),
        plan(dataclasses.replace(config, epochs=config.epochs / 2)),
    ):
        with pytest.raises(ValueError, match="Expected the plan that is stored with the run to follow from its set"):
            next(train(config, planned=wrong))


def test_a_run_that_stops_at_an_epsilon_keeps_the_number_of_steps_that_was_stored():
    config = KINDS["stopped"]
    planned = plan(config)
    shorter = dataclasses.replace(config, epochs=(planned.steps - 1) * config.q, stop_epsilon=0.0)
    assert matching(config, plan(shorter)) == plan(shorter)
    nothing = dataclasses.replace(planned, steps=0, drawn=(), charged=())
    with pytest.raises(ValueError, match="Expected the plan"):
        matching(config, nothing)


def test_the_sigmas_of_a_plan_which_runs_share_cannot_be_changed():
    for config in (RunConfig(), RunConfig(sigma=0.0)):
        with pytest.raises(ValueError, match="read-only"):
            plan(config).sigmas[0] = 9.0
