"""The three readings of paper 000's private optimizers: a Table 1 row becomes an optimizer.

A row gives a direction f / (sqrt(s) + a) from a history of gradients. The paper does not say whose gradients:

* scaled (R2c, sound, the default): D = sqrt(s) + a from noisy history is public. Each gradient is divided by D and
  clipped; noise goes on the sum; D times the release is the noisy gradient that history and step see. a is a multiple
  A of r, the root mean square of sqrt(s), and D is taken relative to r + a, so that its own root mean square is at
  most 1 and C keeps the units of gradients: D = (sqrt(s) / r + A) / (1 + A). A D of ones begins.
* literal (R2, sound): each example's gradient goes through the row with noisy public history, and the resulting
  direction is clipped. The history is fed with the released direction itself (R2a), the only release there is; the
  step is -lr times that release.
* raw (R3, **unsound**): as literal, with a history of gradients without noise. One example then changes what all others
  give in later steps by an amount that no clipping bounds: a demonstration, and no epsilon is given for it.

**Soundness:** scaled and literal draw noise of sigma C on a sum that one example moves by at most C, given public
values: charged as DP-SGD. Source: paper 000, section 4.1 and Table 1; scaling as in AdaDPS, arXiv 2202.05963.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcore.training.optimizers.base import Optimizer

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig

SMALL = 1e-8  # the a of the literal direction, as Adam's, and what keeps D above 0 where all history is 0


class Rule(NamedTuple):
    """A row of Table 1; histories are (d,), gradients (d,) or (B, d)."""

    init: Callable[[Tensor], Any]  # parameters (d,) -> history
    absorb: Callable[[Tensor, Any], Any]  # gradient, history -> history
    first: Callable[[Tensor, Any], Tensor]  # the gradient, the history that absorbed it -> f
    second: Callable[[Any], tuple[Tensor, float]]  # s as a vector and the factor it lacks, its start bias
    floor: float  # A


class Scaled(NamedTuple):
    """History, and the D that follows from it: None for ones."""

    history: Any
    scale: Tensor | None


def by_reading(config: RunConfig, rule: Rule) -> Optimizer:
    """The optimizer that the configuration's reading makes of the row."""
    return scaled(config.lr, rule) if config.reading == "scaled" else literal(config, rule)


def scaled(lr: float, rule: Rule) -> Optimizer:
    """Step -lr f / (sqrt(s) + a)."""

    def init(parameters: Tensor) -> Scaled:
        return Scaled(rule.init(parameters), None)

    def update(gradient: Tensor, state: Scaled) -> tuple[Tensor, Scaled]:
        history = rule.absorb(gradient, state.history)
        second, factor = rule.second(history)
        scale, root = scale_of(second, rule.floor)
        step = rule.first(gradient, history) / scale
        return step.mul_(-lr / (root * factor**0.5 * (1 + rule.floor))), Scaled(history, scale)

    return Optimizer(init, update, scale=lambda state: state.scale)


def scale_of(second: Tensor, floor: float) -> tuple[Tensor, Tensor]:
    """D = (sqrt(s) / r + A) / (1 + A), between A / (1 + A) and sqrt(d), and r, the root mean square of sqrt(s).

    >>> import torch
    >>> scale_of(torch.tensor([0.0, 2.0]), 1.0)
    (tensor([0.5000, 1.2071]), tensor(1.))
    """
    root = second.mean().sqrt() + SMALL  # stays on the device: to read it would be to wait for it
    return second.sqrt().mul_(1 / (root * (1 + floor))).add_(floor / (1 + floor)), root


def literal(config: RunConfig, rule: Rule) -> Optimizer:
    """Step -lr u, with u the noisy mean of clipped directions; history from u, or from raw gradients."""
    lr, raw = config.lr, config.reading == "raw"

    def update(direction: Tensor, history: Any) -> tuple[Tensor, Any]:
        return direction * -lr, history if raw else rule.absorb(direction, history)

    def transform(history: Any) -> Callable[[Tensor], Tensor]:
        def direction(gradients: Tensor) -> Tensor:
            seen = rule.absorb(gradients, history)
            second, factor = rule.second(seen)
            return rule.first(gradients, seen) / second.mul(factor).sqrt_().add_(SMALL)

        return direction

    return Optimizer(rule.init, update, transform=transform, peek=rule.absorb if raw else None)
