"""One row for each setting of a run, and what follows from the rows agrees with them."""

import typing
from dataclasses import dataclass, fields, replace

import pytest

from dpcore.commands import train as command
from dpcore.training.combinations import idle
from dpcore.training.config import RunConfig
from dpcore.training.setting_kinds import Choice, Count, Needs, Number, row
from dpcore.training.settings import SETTINGS, Settings, settings_of
from tests.settings_page import PAGE, page


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
