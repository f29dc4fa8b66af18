"""The fastest exact engine is chosen, with its reason; modules that no engine can handle are
refused.
"""

import copy
import gc
import weakref

import pytest
import torch
from torch import nn

from dpcore.training.gradients.clipping import Flat
from dpcore.training.gradients.engines import BookKeeping, PerExample, engine_of, unknown
from tests.training.oracles import CORES, SHAPES, assert_close, batch, one_at_a_time


class Residual(nn.Module):
    """A module that the book-keeping engine does not know."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(7, 7), nn.Linear(7, 5)

    def forward(self, x):
        return self.outer(x + torch.tanh(self.inner(x)))


def test_a_module_of_another_shape_takes_the_vmap_path_and_is_exact():
    module = Residual()
    x, y = batch((7,), 6)
    norms = one_at_a_time(module, x, y).norm(dim=1)
    engine = engine_of(copy.deepcopy(module), CORES)
    assert isinstance(engine, PerExample)
    assert_close(engine.clipped_sum(x, y, Flat(1.0)).norms, norms)


def test_shared_parameters_take_the_vmap_path_and_are_exact():
    shared = nn.Linear(5, 5)
    module = nn.Sequential(shared, nn.Tanh(), shared)
    x, y = batch((5,), 6)
    norms = one_at_a_time(module, x, y).norm(dim=1)
    engine = engine_of(copy.deepcopy(module), CORES)
    assert engine.name == "vmap: layers share parameters"
    assert_close(engine.clipped_sum(x, y, Flat(1.0)).norms, norms)


def test_statistics_of_the_data_and_frozen_parameters_are_refused():
    kept = nn.Sequential(nn.InstanceNorm1d(3, track_running_stats=True))
    with pytest.raises(ValueError, match="InstanceNorm1d with running statistics"):
        engine_of(kept, CORES)
    frozen = nn.Sequential(nn.Linear(5, 5), nn.Linear(5, 5))
    frozen[0].requires_grad_(False)
    with pytest.raises(ValueError, match="every parameter to be trained"):
        engine_of(frozen, CORES)


def test_dropout_is_for_training_only():
    module = nn.Sequential(nn.Linear(7, 50), nn.Dropout(0.5), nn.Linear(50, 5))
    x, _ = batch((7,), 6)
    engine = engine_of(copy.deepcopy(module), CORES)
    assert_close(engine.logits(x), module.eval()(x).detach())
    assert engine.module.training


CANNOT = [
    (Residual(), "Residual is not a Sequential"),
    (nn.Sequential(nn.Linear(2, 2), nn.GELU()), "GELU"),
    (nn.Sequential(nn.Conv2d(2, 2, 3, groups=2)), "grouped"),
    (nn.Sequential(nn.Conv2d(2, 2, 3, dilation=2)), "dilated"),
    (nn.Sequential(nn.Conv2d(2, 2, 3, padding="same")), "padded"),
    (nn.Sequential(nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect")), "padded"),
    (nn.Sequential(nn.Conv2d(2, 2, 3, dilation=(1, 2))), "dilated"),
    (nn.Sequential(nn.Conv2d(2, 2, 3, dilation=(2, 1))), "dilated"),
    (nn.Sequential(nn.MaxPool2d(2, ceil_mode=True)), "MaxPool2d"),
    (nn.Sequential(nn.MaxPool2d(2, dilation=2)), "MaxPool2d"),
    (nn.Sequential(nn.MaxPool2d(2, dilation=(1, 2))), "MaxPool2d"),
    (nn.Sequential(nn.MaxPool2d(2, dilation=(2, 1))), "MaxPool2d"),
    (nn.Sequential(nn.Flatten(2)), "Flatten"),
    (nn.Sequential(nn.Flatten(0)), "Flatten"),
    (nn.Sequential(nn.Flatten(1, 2)), "Flatten"),
]


def test_what_book_keeping_cannot_do_is_said_and_what_it_can_do_it_is_given():
    for module, phrase in CANNOT:
        assert phrase in unknown(module), module
    for make, shape in SHAPES.values():
        assert unknown(make()) == "", (make, shape)


def test_batch_norm_is_refused():
    for norm in [nn.BatchNorm2d(2), nn.BatchNorm1d(2), nn.SyncBatchNorm(2)]:
        with pytest.raises(ValueError, match="mixes the examples of a batch"):
            engine_of(nn.Sequential(nn.Conv2d(1, 2, 3), norm), CORES)


def test_a_linear_layer_on_sequences_is_refused_rather_than_wrong():
    engine = BookKeeping(nn.Sequential(nn.Linear(3, 5)), CORES)
    with pytest.raises(ValueError, match=r"\(B, in\)"):
        engine.clipped_sum(torch.zeros(2, 4, 3), torch.zeros(2, dtype=torch.long), Flat(1.0))


def test_a_run_that_transforms_every_gradient_takes_the_vmap_path_and_says_why():
    module = nn.Sequential(nn.Linear(3, 5))
    assert engine_of(module, CORES).name == "book-keeping"
    engine = engine_of(nn.Sequential(nn.Linear(3, 5)), CORES, transforms=True)
    assert isinstance(engine, PerExample)
    assert "transformed" in engine.name


def test_no_engine_holds_itself_so_that_its_memory_is_free_when_its_run_is_over():
    def used(transforms: bool) -> weakref.ref:
        engine = engine_of(nn.Sequential(nn.Linear(3, 5)), CORES, transforms=transforms)
        engine.clipped_sum(torch.ones(2, 3), torch.zeros(2, dtype=torch.long), Flat(1.0))
        return weakref.ref(engine)

    gc.disable()
    try:
        for transforms in (False, True):
            used(transforms)  # the first use of torch.func imports what it needs
            assert used(transforms)() is None, transforms
    finally:
        gc.enable()
