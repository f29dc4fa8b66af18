"""A hidden layer's width is a setting of the models that have one such layer, and costs no privacy."""

from dataclasses import replace

import pytest

from dpcore.training.combinations import idle
from dpcore.training.config import RunConfig
from dpcore.training.models import MODELS, build
from dpcore.training.plan import plan
from tests.training.small_runs import CNN, SMALL, run_of

SIZES = {("mlp", 1000): 795_010, ("mlp", 16): 12_730, ("abadi", 1000): 794_000, ("abadi", 16): 12_704}


def test_a_network_has_the_width_that_was_asked_for_and_no_other_setting_follows_from_it():
    assert {name for name, _ in SIZES} == {model.name for model in MODELS.values() if model.wide}
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
