"""One row for each setting of a run, and what follows from the rows agrees with them."""

import typing
from dataclasses import dataclass, fields, replace

import pytest

from dpcore.commands import train as command
from dpcore.training.combinations import idle
from dpcore.training.config import RunConfig
from dpcore.training.models import MODELS, build
from dpcore.training.plan import plan
from dpcore.training.setting_kinds import Choice, Count, Needs, Number, row
from dpcore.training.settings import SETTINGS, Settings, settings_of
from tests.settings_page import PAGE, page
from tests.training.small_runs import CNN, SMALL, run_of


@dataclass(frozen=True)
class Later(RunConfig):
    """The configuration of a later version."""

    dummy: float = row(Number(default=0.5, low=0, high=1, label="Dummy", help="a dummy", since="9",
                              needs=(Needs(lambda run: run.private, "privacy"),)))  # fmt: skip


def test_every_field_of_a_configuration_is_a_row_with_its_default_and_type():
    assert [field.name for field in fields(RunConfig)] == list(SETTINGS)
    types = typing.get_type_hints(Settings)
    kinds = {Choice: (str, bool), Count: (int, int | None), Number: (float,)}
    for name, setting in SETTINGS.items():
        assert getattr(RunConfig(), name) == setting.default
        assert any(isinstance(setting, kind) and types[name] in allowed for kind, allowed in kinds.items()), name


def test_every_default_is_in_its_range_and_nonsense_is_not():
    for name in SETTINGS:
        SETTINGS[name].check(name, SETTINGS[name].default)
        with pytest.raises(ValueError, match=f"Expected {name}="):
            SETTINGS[name].check(name, object())


def test_a_new_row_is_checked_and_refused_where_it_would_change_nothing():
    assert settings_of(Later)["dummy"].since == "9"
    with pytest.raises(ValueError, match=r"dummy=2 in \[0, 1\)"):
        Later(dummy=2)
    assert "dummy" not in idle(Later(dummy=0.7))
    assert idle(Later(private=False, dummy=0.7))["dummy"] == "privacy"


def test_a_new_row_is_an_option_of_train(monkeypatch, capsys):
    monkeypatch.setitem(SETTINGS, "dummy", settings_of(Later)["dummy"])
    assert command.parser().parse_args(["--dummy", "0.25"]).dummy == 0.25
    assert "a dummy" in command.parser().format_help()


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
                with pytest.raises(ValueError, match=f"no {name}=1 without {need.words}"):
                    replace(RunConfig(), **{name: 1})


def test_the_documentation_is_made_from_the_table():
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.settings_page"


def test_a_wrong_option_is_named_with_its_value():
    for options, words in [
        ({"clipping": "ghost"}, "clipping='ghost' to be one of: flat, auto_s, per_layer"),
        ({"reading": "literal"}, r"reading='literal' only with pi_adam, .* not with optimizer='sgd'"),
        ({"reading": "raw", "optimizer": "adam"}, "not with optimizer='adam'"),
        ({"schedule": "linear", "rate": 1.0, "level_steps": 1}, "rate=1.0 to keep sigma from 1e-06"),
        ({"lr_end": 0.1}, "no lr_end=0.1 without an lr_schedule that is not constant"),
        ({"ema": 1.0}, r"ema=1.0 in \[0, 1\)"),
        ({"acceptance": "sa"}, "public above 0 with acceptance='sa'"),
        ({"public": 10_000}, "public=10000"),
        ({"public": 9_990, "batch": 64}, "batch=64 to be at most the data's 10 examples"),
        ({"pca": 60, "model": "cnn"}, "pca=60 only with model abadi, linear or mlp, not 'cnn'"),
        ({"pca": 785}, "pca=785"),
        ({"pca": 60, "pca_sigma": 1e-300}, r"pca_sigma=1e-300 in \[1e-06"),
        ({"optimizer": "adppl", "relevance_sigma": 1e10}, r"relevance_sigma=10000000000.0 in \[1e-06"),
        ({"stop_epsilon": 1.0, "private": False}, "stop_epsilon=1 with an epsilon to stop at. Not private"),
        ({"stop_epsilon": 1.0, "sigma": 0.0}, r"stop_epsilon=1 with an epsilon to stop at.*sigma = 0.*infinite"),
        ({"stop_epsilon": 1e-9}, "stop_epsilon=1e-09 to allow one step by pld; raise it, or raise sigma"),
    ]:
        with pytest.raises(ValueError, match=words):
            plan(replace(SMALL, **options))


SIZES = {("mlp", 1000): 795_010, ("mlp", 16): 12_730, ("abadi", 1000): 794_000, ("abadi", 16): 12_704}


def test_a_network_has_the_width_that_was_asked_for_and_no_other_setting_follows_from_it():
    assert all(MODELS[name].wide for name, _ in SIZES)
    for (model, width), parameters in SIZES.items():
        assert sum(each.numel() for each in build(model, "relu", 0, width=width).parameters()) == parameters
        config = replace(SMALL, model=model, width=width)
        assert len(run_of(config).engine.parameters) == sum(
            each.numel() for each in build(model, "tanh", 0, width=width).parameters()
        )
        assert plan(config) == plan(replace(config, width=7)), "what is released does not depend on it"
    assert "width" in idle(replace(CNN, width=20))
    assert "width" not in idle(replace(SMALL, width=20))
    for wrong in (0, -1, 10_001, 2.5):
        with pytest.raises(ValueError, match="width"):
            RunConfig(model="mlp", width=wrong)  # type: ignore[arg-type]
