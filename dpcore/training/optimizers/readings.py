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
from typing import TYPE_CHECKING, NamedTuple

from dpcore.training.optimizers.base import Optimizer, State, nothing

if TYPE_CHECKING:
    from torch import Tensor

    from dpcore.training.config import RunConfig

SMALL = 1e-8  # the a of the literal direction, as Adam's
TINY = 1e-16  # added to the mean of s, which keeps D above 0 where all history is 0


class Rule(NamedTuple):
    """A row of Table 1: vectors, each with the factor that it lacks, its start bias."""

    starts: tuple[float, ...]  # of the history, a state
    absorb: Callable[[Tensor, State], None]  # as an optimizer's
    first: Callable[[Tensor, State], tuple[Tensor, float]]  # the gradient, the history that absorbed it -> f
    second: Callable[[State], tuple[Tensor, float]]  # s
    floor: float  # A


def by_reading(config: RunConfig, rule: Rule) -> Optimizer:
    """The optimizer that the configuration's reading makes of the row."""
    return scaled(rule) if config.reading == "scaled" else literal(rule, raw=config.reading == "raw")


def scaled(rule: Rule) -> Optimizer:
    """Step -lr f / (sqrt(s) + a)."""

    def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
        assert scale is not None  # after a step there always is one
        first, factor = rule.first(gradient, state)
        bias = rule.second(state)[1]
        spread = scale * ((state.mean * bias + TINY).sqrt_() * ((1 + rule.floor) / factor))  # sqrt(s) + a
        parameters.addcdiv_(first, spread, value=-lr)

    return Optimizer(
        rule.starts,
        rule.absorb,
        step,
        averaged=lambda state: rule.second(state)[0],
        scale=lambda state: scale_of(rule.second(state)[0], state.mean, rule.floor),
        wait=1,
    )


def scale_of(second: Tensor, mean: Tensor, floor: float) -> Tensor:
    """D = (sqrt(s) / r + A) / (1 + A), between A / (1 + A) and sqrt(d); r^2 is the mean of s over all coordinates.

    >>> import torch
    >>> scale_of(torch.tensor([0.0, 2.0]), torch.tensor(1.0), 1.0)
    tensor([0.5000, 1.2071])
    """
    return (second / (mean * (1 + floor) ** 2 + TINY)).sqrt_().add_(floor / (1 + floor))


def literal(rule: Rule, *, raw: bool) -> Optimizer:
    """Step -lr u, with u the noisy mean of clipped directions; history from u, or from raw gradients."""

    def step(parameters: Tensor, direction: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
        parameters.add_(direction, alpha=-lr)

    def transform(history: State) -> Callable[[Tensor], Tensor]:
        def direction(gradients: Tensor) -> Tensor:
            own = tuple(vector.repeat(len(gradients), 1) for vector in history.vectors)
            seen = history._replace(count=history.count + 1, vectors=own)
            rule.absorb(gradients, seen)
            (first, up), (second, factor) = rule.first(gradients, seen), rule.second(seen)
            return first.mul_(up).div_(second.mul_(factor).sqrt_().add_(SMALL))

        return direction

    absorb, peek = (nothing, rule.absorb) if raw else (rule.absorb, None)
    return Optimizer(rule.starts, absorb, step, transform=transform, peek=peek)
