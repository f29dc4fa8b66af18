"""PIAdam, PIAdagrad and PIRMSprop, and the three readings by which a row of Table 1 of paper 000 becomes an optimizer.

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
values: charged as DP-SGD. Source: paper 000, section 4.1 and Table 1; scaling as in AdaDPS, arXiv 2202.05963. As coded
there the rows are other optimizers: `adam`, `adagrad` and `rmsprop`, on the noisy mean gradient (R1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dpcore.training.optimizers.adagrad import absorb as absorb_square
from dpcore.training.optimizers.adam import BETA1, BETA2
from dpcore.training.optimizers.adam import absorb as absorb_moments
from dpcore.training.optimizers.base import Hyperparameters, Optimizer, State, Tensor, UpdateRules

READINGS = {  # reading -> what it does with an example, and what it charges
    "scaled": "R2c: gradients are divided by noisy public history, clipped, noised. Charges each step at (q, sigma).",
    "literal": "R2: each example goes through the update rule with noisy state. Charges each step at (q, sigma).",
    "raw": "R3, unsound: the state sees gradients without noise, so no epsilon is given. A demonstration.",
}
FLOOR = 1.0  # A
NOTE = "Sound as scaled or literal reading; raw has no epsilon."  # of every optimizer that has them
SMALL = 1e-8  # the a of the literal direction, as Adam's
TINY = 1e-16  # added to the mean of s, which keeps D above 0 where all history is 0


class Row(NamedTuple):
    """A row of Table 1: vectors, each with the factor that it lacks, its start bias."""

    starts: tuple[float, ...]  # of the history, a state
    absorb: Callable[[Tensor, State], None]  # as an optimizer's
    first: Callable[[Tensor, State], tuple[Tensor, float]]  # the gradient, the history that absorbed it -> f
    second: Callable[[State], tuple[Tensor, float]]  # s


def by_reading(reading: str, row: Row) -> UpdateRules:
    """The rules that the reading makes of the row."""
    return scaled(row) if reading == "scaled" else literal(row, raw=reading == "raw")


def scaled(row: Row) -> UpdateRules:
    """Step -lr f / (sqrt(s) + a)."""

    def step(parameters: Tensor, gradient: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
        assert scale is not None  # after a step there always is one
        first, factor = row.first(gradient, state)
        bias = row.second(state)[1]
        divisor = scale * ((state.mean * bias + TINY).sqrt_() * ((1 + FLOOR) / factor))  # sqrt(s) + a
        parameters.addcdiv_(first, divisor, value=-lr)

    return UpdateRules(
        row.starts,
        row.absorb,
        step,
        averaged=lambda state: row.second(state)[0],
        scale=lambda state: scale_of(row.second(state)[0], state.mean),
        wait=1,
    )


def scale_of(second: Tensor, mean: Tensor) -> Tensor:
    """D = (sqrt(s) / r + A) / (1 + A), between A / (1 + A) and sqrt(d); r^2 is the mean of s over all coordinates.

    >>> import torch
    >>> scale_of(torch.tensor([0.0, 2.0]), torch.tensor(1.0))
    tensor([0.5000, 1.2071])
    """
    return (second / (mean * (1 + FLOOR) ** 2 + TINY)).sqrt_().add_(FLOOR / (1 + FLOOR))


def literal(row: Row, *, raw: bool) -> UpdateRules:
    """Step -lr u, with u the noisy mean of clipped directions; history from u, or from raw gradients."""

    def step(parameters: Tensor, direction: Tensor, state: State, lr: float, scale: Tensor | None) -> None:
        parameters.add_(direction, alpha=-lr)

    def transform(history: State) -> Callable[[Tensor], Tensor]:
        def direction(gradients: Tensor) -> Tensor:
            own = tuple(vector.repeat(len(gradients), 1) for vector in history.vectors)
            seen = history._replace(count=history.count + 1, vectors=own)
            row.absorb(gradients, seen)
            (first, up), (second, factor) = row.first(gradients, seen), row.second(seen)
            return first.mul_(up).div_(second.mul_(factor).sqrt_().add_(SMALL))

        return direction

    if raw:
        return UpdateRules(row.starts, lambda gradient, state: None, step, transform=transform, peek=row.absorb)
    return UpdateRules(row.starts, row.absorb, step, transform=transform)


def adam_rules(hyperparameters: Hyperparameters) -> UpdateRules:
    """f = m / (1 - .9^t); s = v / (1 - .999^t). The state is Adam's m, v.

    Source: paper 000, Table 1, with Adam's recursion on the uncorrected means, which the table writes corrected.
    """
    row = Row(
        (0.0, 0.0),
        absorb_moments,
        first=lambda gradient, state: (state.vectors[0], 1 / (1 - BETA1**state.count)),
        second=lambda state: (state.vectors[1], 1 / (1 - BETA2**state.count)),
    )
    return by_reading(hyperparameters.reading, row)


PI_ADAM = Optimizer(
    name="pi_adam",
    title="PIAdam",
    note=NOTE,
    source="paper 000, section 4.1 and Table 1",
    rules=adam_rules,
    lr=0.02,
    baseline_lr=0.005,
    directions=(0.1, 5.0),
    readings=tuple(READINGS),
)


def adagrad_rules(hyperparameters: Hyperparameters) -> UpdateRules:
    """f = g; s <- s + g^2 from 0. The state is s."""
    row = Row(
        (0.0,),
        absorb_square,
        first=lambda gradient, state: (gradient, 1.0),
        second=lambda state: (state.vectors[0], 1.0),
    )
    return by_reading(hyperparameters.reading, row)


PI_ADAGRAD = Optimizer(
    name="pi_adagrad",
    title="PIAdagrad",
    note=NOTE,
    source="paper 000, section 4.1 and Table 1",
    rules=adagrad_rules,
    lr=0.1,
    baseline_lr=0.05,
    directions=(1.0, 1.0),
    readings=tuple(READINGS),
)


RMSPROP_BETA2 = 0.99  # noisy squares need a longer memory than the usual 0.9


def absorb_square_mean(gradient: Tensor, state: State) -> None:
    """s <- beta2 s + (1 - beta2) g^2."""
    state.vectors[0].mul_(RMSPROP_BETA2).addcmul_(gradient, gradient, value=1 - RMSPROP_BETA2)


def rmsprop_rules(hyperparameters: Hyperparameters) -> UpdateRules:
    """f = g; s without its start bias, so that the first steps are no longer than the rest. The state is s.

    Source: paper 000, Table 1, which gives no beta2.
    """
    row = Row(
        (0.0,),
        absorb_square_mean,
        first=lambda gradient, state: (gradient, 1.0),
        second=lambda state: (state.vectors[0], 1 / (1 - RMSPROP_BETA2**state.count)),
    )
    return by_reading(hyperparameters.reading, row)


PI_RMSPROP = Optimizer(
    name="pi_rmsprop",
    title="PIRMSprop",
    note=NOTE,
    source="paper 000, section 4.1 and Table 1",
    rules=rmsprop_rules,
    lr=0.02,
    baseline_lr=0.005,
    special_lr={("mnist", "mlp"): 0.01},
    directions=(1.0, 1.0),
    readings=tuple(READINGS),
)
