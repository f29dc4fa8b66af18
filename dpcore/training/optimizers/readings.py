"""The three readings of paper 000's private optimizers: a Table 1 row becomes an optimizer.

A row gives a direction f / (sqrt(s) + a) from a history of gradients. The paper does not say whose gradients:

* scaled (R2c, sound, the default): D = sqrt(s) + a from noisy history is public. Each gradient is divided by D and
  clipped; noise goes on the sum; D times the release is the noisy gradient that history and step see. D is taken
  relative to its root mean square, so that C and the noise keep the units of gradients, and a is a share of the root
  mean square of sqrt(s). A D of ones begins.
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
    second: Callable[[Any], Tensor]  # s, as fresh memory
    floor: float  # a, as a share of the root mean square of sqrt(s)


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
        second = rule.second(history)
        floor = rule.floor * float(second.mean()) ** 0.5 + SMALL
        spread = second.sqrt_().add_(floor)
        step = (rule.first(gradient, history) / spread).mul_(-lr)
        return step, Scaled(history, spread.mul_(len(spread) ** 0.5 / float(spread.norm())))

    return Optimizer(init, update, scale=lambda state: state.scale)


def literal(config: RunConfig, rule: Rule) -> Optimizer:
    """Step -lr u, with u the noisy mean of clipped directions; history from u, or from raw gradients."""
    lr, raw = config.lr, config.reading == "raw"

    def update(direction: Tensor, history: Any) -> tuple[Tensor, Any]:
        return direction * -lr, history if raw else rule.absorb(direction, history)

    def transform(history: Any) -> Callable[[Tensor], Tensor]:
        def direction(gradients: Tensor) -> Tensor:
            seen = rule.absorb(gradients, history)
            return rule.first(gradients, seen) / rule.second(seen).sqrt_().add_(SMALL)

        return direction

    return Optimizer(rule.init, update, transform=transform, peek=rule.absorb if raw else None)
