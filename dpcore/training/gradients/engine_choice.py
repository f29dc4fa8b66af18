"""Which engine a module gets, and why."""

from torch import nn

from dpcore import check
from dpcore.training.gradients import layers
from dpcore.training.gradients.book_keeping import KNOWN, BookKeeping
from dpcore.training.gradients.clipped_sum import Engine
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.gradients.per_example import PerExample
from dpcore.training.gradients.views import AVERAGED

BATCH_NORM = (nn.modules.batchnorm._BatchNorm,)  # mixes the examples of a batch: no per-example gradient exists


def engine_of(module: nn.Module, cores: Cores, *, transforms: bool = False, views: int = 1) -> Engine:
    """The fastest engine that is exact for the module, and takes transforms if it must.

    With K > 1 views it averages the gradients of each example's views before it clips.

    Errors: ValueError for views that are no whole number of at least 1, for BatchNorm, which mixes examples, for layers
    that keep statistics of them, for embeddings that count how often a batch names an id or change rows because it
    does, and for parameters that are not to be trained.
    """
    check.whole(1, views=views)
    for child in module.modules():
        if isinstance(child, BATCH_NORM):
            raise ValueError(f"Expected no {type(child).__name__}: it mixes the examples of a batch; use GroupNorm.")
        if getattr(child, "track_running_stats", False):
            raise ValueError(f"Expected no {type(child).__name__} with running statistics: noise does not cover them.")
        if isinstance(child, nn.Embedding) and (child.max_norm is not None or child.scale_grad_by_freq):
            raise ValueError("Expected no Embedding with max_norm or scale_grad_by_freq: noise covers neither.")
    if not all(weight.requires_grad for weight in module.parameters()):
        raise ValueError("Expected every parameter to be trained: put what is frozen in front of the module.")
    why = unknown(module, views) or ("every example's gradient is transformed" if transforms else "")
    return PerExample(module, why, views) if why else BookKeeping(module, cores, views)  # type: ignore[arg-type]


def unknown(module: nn.Module, views: int = 1) -> str:
    """What keeps the module, and so many views, from the book-keeping engine, as a phrase; empty if nothing does."""
    if not isinstance(module, nn.Sequential):
        return f"{type(module).__name__} is not a Sequential"
    for child in module:
        if type(child) not in KNOWN:
            return f"no book-keeping for {type(child).__name__}"
        if views > 1 and type(child) not in AVERAGED and any(True for _ in child.parameters()):
            return f"no average over views for {type(child).__name__}"
        if isinstance(child, nn.Conv2d) and not plain(child):
            return "no book-keeping for a grouped, dilated or unusually padded Conv2d"
        if isinstance(child, nn.MaxPool2d) and (child.ceil_mode or layers.pair(child.dilation) != (1, 1)):
            return "no book-keeping for a dilated or ceil_mode MaxPool2d"
        if isinstance(child, nn.Embedding) and (child.padding_idx is not None or child is not module[0]):
            return "no book-keeping for an Embedding with padding_idx or behind another layer"
        if isinstance(child, nn.Flatten) and (child.start_dim, child.end_dim) != (1, -1):
            return "no book-keeping for a partial Flatten"
    weights = [weight for child in module for weight in child.parameters()]
    return "" if len(weights) == len(set(map(id, weights))) else "layers share parameters"


def plain(conv: nn.Conv2d) -> bool:
    """Whether the convolution is one that the book-keeping layer computes."""
    usual = conv.padding_mode == "zeros" and not isinstance(conv.padding, str)
    return usual and conv.groups == 1 and tuple(conv.dilation) == (1, 1)
