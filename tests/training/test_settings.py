"""One row for each setting, and its consequences; a run's plan of the noise drawn and charged."""

import dataclasses
import json
import typing
from dataclasses import fields, replace

import pytest

from dpcore.training.config import RunConfig, idle
from dpcore.training.loop import train
from dpcore.training.models import MODELS, build
from dpcore.training.plan import Plan, matching, plan
from dpcore.training.settings import SETTINGS, Choice, Count, Number, Settings
from tests.settings_page import PAGE, page
from tests.training.small_runs import CNN, SMALL, run_of


def test_every_field_of_a_configuration_is_a_row_with_its_default_and_type():
    assert [field.name for field in fields(RunConfig)] == list(SETTINGS)
    types = typing.get_type_hints(Settings)
    kinds = {Choice: (str, bool), Count: (int, int | None), Number: (float,)}
    for name, setting in SETTINGS.items():
        assert getattr(RunConfig(), name) == setting.default
        assert any(
            isinstance(setting, kind) and types[name] in allowed for kind, allowed in kinds.items()
        ), name


def test_every_default_is_in_its_range_and_nonsense_is_not():
    for name in SETTINGS:
        SETTINGS[name].check(name, SETTINGS[name].default)
        with pytest.raises(ValueError, match=f"Expected {name}="):
            SETTINGS[name].check(name, object())


def test_what_would_change_nothing_is_told_with_what_it_takes():
    for given, needed in [
        ({"optimizer": "adam"}, {"momentum": "(sgd or adppl)", "relevance_sigma": "(adppl)"}),
        ({"private": False}, {"sigma": "privacy", "clip_norm": "privacy", "clipping": "privacy"}),
        ({}, {"pca_sigma": "pca", "sa_q0": "acceptance sa", "stop_accountant": "stop_epsilon"}),
        ({"schedule": "exponential"}, {"schedule": "privacy and a rate that changes sigma"}),
    ]:
        found = idle(replace(RunConfig(), **given))
        assert all(found[name].endswith(words) for name, words in needed.items()), (given, needed)


def test_a_setting_that_belongs_to_another_is_refused_without_it():
    for name, setting in SETTINGS.items():
        for need in setting.needs:
            if need.binding and not need.holds(RunConfig()):
                with pytest.raises(ValueError, match=f"Leave {name} at .*: 1 needs {need.words}"):
                    replace(RunConfig(), **{name: 1})


def test_the_documentation_is_made_from_the_table():
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.settings_page"


def test_a_wrong_option_is_named_with_its_value():
    for options, words in [
        ({"clipping": "ghost"}, "clipping='ghost' to be one of: flat, auto_s, per_layer"),
        (
            {"reading": "literal"},
            r"reading scaled: literal needs the optimizer pi_adam, .* not sgd",
        ),
        ({"reading": "raw", "optimizer": "adam"}, "raw needs the optimizer .*, not adam"),
        (
            {"schedule": "linear", "rate": 1.0, "level_steps": 1},
            "rate=1.0 to keep sigma from 1e-06",
        ),
        ({"lr_end": 0.1}, "Leave lr_end at 0: 0.1 needs an lr_schedule that is not constant"),
        ({"ema": 1.0}, "ema=1.0 to be at least 0 and below 1"),
        ({"acceptance": "sa"}, "Hold out public examples"),
        ({"public": 10_000}, "public=10000"),
        ({"public": 9_990, "batch": 64}, "batch=64 to be at most the 10 training examples"),
        ({"pca": 60, "model": "cnn"}, "choose the model abadi, linear or mlp: cnn needs pixels"),
        ({"pca": 785}, "pca=785"),
        ({"pca": 60, "pca_sigma": 1e-300}, "pca_sigma=1e-300 to be at least 1e-06"),
        (
            {"optimizer": "adppl", "relevance_sigma": 1e10},
            "relevance_sigma=10000000000.0 to be at least",
        ),
        (
            {"stop_epsilon": 1.0, "private": False},
            "stop_epsilon=1 to be 0, .* to stop at. Not private",
        ),
        (
            {"stop_epsilon": 1.0, "sigma": 0.0},
            r"stop_epsilon=1 to be 0, .* to stop at.*sigma = 0.*infinite",
        ),
        (
            {"stop_epsilon": 1e-9},
            "stop_epsilon=1e-09 to allow one step by pld; raise it, or raise sigma",
        ),
    ]:
        with pytest.raises(ValueError, match=words):
            plan(replace(SMALL, **options))


SIZES = {
    ("mlp", 1000): 795_010,
    ("mlp", 16): 12_730,
    ("abadi", 1000): 794_000,
    ("abadi", 16): 12_704,
}


def test_a_network_has_the_width_that_was_asked_for_and_no_other_setting_follows_from_it():
    assert all(MODELS[name].wide for name, _ in SIZES)
    for (model, width), parameters in SIZES.items():
        assert (
            sum(each.numel() for each in build(model, "relu", 0, width=width).parameters())
            == parameters
        )
        config = replace(SMALL, model=model, width=width)
        assert len(run_of(config).engine.parameters) == sum(
            each.numel() for each in build(model, "tanh", 0, width=width).parameters()
        )
        assert plan(config) == plan(replace(config, width=7)), (
            "what is released does not depend on it"
        )
    assert "width" in idle(replace(CNN, width=20))
    assert "width" not in idle(replace(SMALL, width=20))
    for wrong in (0, -1, 10_001, 2.5):
        with pytest.raises(ValueError, match="width"):
            RunConfig(model="mlp", width=wrong)  # type: ignore[arg-type]


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
        assert planned.mechanism is None or planned.mechanism.steps == planned.compositions_at(
            planned.steps
        )


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
                spent = [
                    dataclasses.replace(release, count=count) for release, count in counts if count
                ]
                assert (list(released.releases) if released else []) == spent, kind
            assert each.released(each.steps) == each.mechanism, kind
        assert planned.released(None) is None, kind
        assert (again.released(None) is None) == (planned.mechanism is None), kind


def test_a_schedule_that_falls_too_low_for_its_clipping_is_refused_by_what_was_typed():
    # Ends at 1.5e-6.
    noise = {
        "schedule": "exponential",
        "rate": 0.742,
        "level_steps": 1,
        "sigma": 2.0,
        "epochs": 1.0,
    }
    assert plan(RunConfig(**noise)).steps == 20
    with pytest.raises(
        ValueError,
        match="sigma=2 with clipping='per_layer' and schedule='exponential' to stay at 2e-06",
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
        with pytest.raises(
            ValueError, match="Expected the plan that is stored with the run to follow from its set"
        ):
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
