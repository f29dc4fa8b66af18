"""How many units a hidden layer has is a setting of the models that have one such layer, and costs no privacy."""

from dataclasses import replace

import pytest

from dpcore.training.combinations import idle
from dpcore.training.config import RunConfig
from dpcore.training.events import Finished, Started
from dpcore.training.loop import train
from dpcore.training.models import MODELS, build
from dpcore.training.plan import plan
from tests.training.small_runs import CNN, SMALL

WIDE = [model.name for model in MODELS.values() if model.wide]


def test_a_network_has_the_width_that_was_asked_for() -> None:
    for model, width, parameters in [
        ("mlp", 1000, 795_010),
        ("mlp", 16, 12_730),
        ("abadi", 1000, 794_000),
        ("abadi", 16, 12_704),
    ]:
        assert sum(each.numel() for each in build(model, "relu", 0, width=width).parameters()) == parameters, (
            model,
            width,
            parameters,
        )


def test_without_a_width_a_network_is_the_one_of_before() -> None:
    for model in WIDE:
        before, now = (each.state_dict() for each in (build(model, "relu", 3), build(model, "relu", 3, width=1000)))
        assert before.keys() == now.keys()
        assert all((before[name] == now[name]).all() for name in before)


def test_a_run_trains_a_network_of_its_width() -> None:
    for model in WIDE:
        config = replace(SMALL, model=model, width=20)
        events = list(train(config))
        assert isinstance(events[0], Started), model
        assert isinstance(events[-1], Finished), model
        assert events[0].parameters == sum(each.numel() for each in build(model, "tanh", 0, width=20).parameters()), (
            model
        )
        assert plan(config) == plan(replace(config, width=1000)), "what is released does not depend on it"


def test_it_has_no_say_where_there_is_no_such_layer() -> None:
    assert "width" in idle(replace(CNN, width=20))
    assert "width" not in idle(replace(SMALL, width=20))


def test_a_width_that_is_none_is_refused() -> None:
    for width in [0, -1, 10_001, 2.5]:
        with pytest.raises(ValueError, match="width"):
            RunConfig(model="mlp", width=width)  # type: ignore[arg-type]
