"""PIAdam, PIAdagrad and PIRMSprop, and the three readings that turn a row of Table 1 of paper 000
into an optimizer.

A row gives a direction f / (sqrt(s) + a) from a history of gradients. The paper does not name these
gradients:

* scaled (R2c, sound, the default): D = sqrt(s) + a follows from noisy history and is public. Each
  gradient is divided by D and clipped, and the sum gets noise; history and step see D times the
  release. a is a multiple A of r, the root mean square of sqrt(s). D is relative to r + a, so that
  its root mean square is at most 1 and C keeps the units of gradients:
  D = (sqrt(s) / r + A) / (1 + A). The first D is 1.
* literal (R2, sound): each example's gradient goes through the row with noisy public history, and
  the resulting direction is clipped. The history absorbs the released direction (R2a), which is the
  only release; the step is -lr times that release.
* raw (R3, **unsound**): as literal, with a history of gradients without noise. One example then
  changes the directions of all others in later steps, and no clipping bounds that: a demonstration
  without an epsilon.

**Soundness:** scaled and literal add noise of sigma C to a sum that one example moves by at most C,
given public values: charged as DP-SGD. Source: paper 000, section 4.1 and Table 1; scaling as in
AdaDPS, arXiv 2202.05963. Its code has other optimizers: `adam`, `adagrad` and `rmsprop` on the
noisy mean gradient (R1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dpcore.training.optimizers.base import (
    Optimizer,
    State,
    Tensor,
    UpdateRules,
    square_mean,
    words_of,
)
from dpcore.training.optimizers.plain import BETA1, BETA2, absorb_moments, absorb_square

READINGS = {  # reading -> one line on its use of an example, and on its charge
    "scaled": (
        "R2c: gradients are divided by noisy public history, clipped, noised. Charges each step at"
        " (q, sigma)."
    ),
    "literal": (
        "R2: each example goes through the update rule with noisy state. Charges each step at (q,"
        " sigma)."
    ),
    "raw": (
        "R3, unsound: the state sees gradients without noise, so no epsilon is given. A"
        " demonstration."
    ),
}
FLOOR = 1.0  # A
SMALL = 1e-8  # the a of the literal direction, as Adam's
TINY = 1e-16  # added to the mean of s, so that D is above 0 for a history of zeros


class Row(NamedTuple):
    """A row of Table 1; f and s come with the factor that corrects their start bias."""

    starts: tuple[float, ...]  # of the history, a state
    absorb: Callable[[Tensor, State], None]  # as an optimizer's
    # The gradient, the history that absorbed it -> f.
    first: Callable[[Tensor, State], tuple[Tensor, float]]
    second: Callable[[State], tuple[Tensor, float]]  # s


def optimizer_of(name: str, row: Row) -> Optimizer:
    """The optimizer with this row, in all readings."""

    def rules(momentum: float, reading: str) -> UpdateRules:
        return scaled(row) if reading == "scaled" else literal(row, raw=reading == "raw")

    return Optimizer(**words_of(name), rules=rules, readings=tuple(READINGS))


def scaled(row: Row) -> UpdateRules:
    """Step -lr f / (sqrt(s) + a)."""

    def step(parameters: Tensor, gradient: Tensor, state: State, lr: float) -> None:
        assert state.scale is not None  # there is one after the first step
        first, factor = row.first(gradient, state)
        bias = row.second(state)[1]
        # Sqrt(s) + a.
        divisor = state.scale * ((state.mean * bias + TINY).sqrt_() * ((1 + FLOOR) / factor))
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
    """D = (sqrt(s) / r + A) / (1 + A), between A / (1 + A) and sqrt(d); r^2 is the mean of s over
    all coordinates.

    >>> import torch
    >>> scale_of(torch.tensor([0.0, 2.0]), torch.tensor(1.0))
    tensor([0.5000, 1.2071])
    """
    return (second / (mean * (1 + FLOOR) ** 2 + TINY)).sqrt_().add_(FLOOR / (1 + FLOOR))


def literal(row: Row, *, raw: bool) -> UpdateRules:
    """Step -lr u, where u is the noisy mean of clipped directions; the history is of u, or of raw
    gradients.
    """

    def step(parameters: Tensor, direction: Tensor, state: State, lr: float) -> None:
        parameters.add_(direction, alpha=-lr)

    def transform(history: State) -> Callable[[Tensor], Tensor]:
        def direction(gradients: Tensor) -> Tensor:
            own = tuple(vector.repeat(len(gradients), 1) for vector in history.vectors)
            seen = history._replace(count=history.count + 1, vectors=own)
            row.absorb(gradients, seen)
            first, up = row.first(gradients, seen)
            second, factor = row.second(seen)
            return first.mul_(up).div_(second.mul_(factor).sqrt_().add_(SMALL))

        return direction

    if raw:
        return UpdateRules(
            row.starts, lambda gradient, state: None, step, transform=transform, peek=row.absorb
        )
    return UpdateRules(row.starts, row.absorb, step, transform=transform)


# f = m / (1 - .9^t); s = v / (1 - .999^t). Adam's recursion is on the means without correction,
# unlike in the table.
ADAM_ROW = Row(
    (0.0, 0.0),
    absorb_moments,
    first=lambda gradient, state: (state.vectors[0], 1 / (1 - BETA1**state.count)),
    second=lambda state: (state.vectors[1], 1 / (1 - BETA2**state.count)),
)
# f = g; s <- s + g^2 from 0.
ADAGRAD_ROW = Row(
    (0.0,),
    absorb_square,
    first=lambda gradient, state: (gradient, 1.0),
    second=lambda state: (state.vectors[0], 1.0),
)
RMSPROP_BETA2 = 0.99  # noisy squares need a longer memory than the usual 0.9
# f = g; s without its start bias, so that the first steps are no longer than the rest. The table
# gives no beta2.
RMSPROP_ROW = Row(
    (0.0,),
    square_mean(RMSPROP_BETA2),
    first=lambda gradient, state: (gradient, 1.0),
    second=lambda state: (state.vectors[0], 1 / (1 - RMSPROP_BETA2**state.count)),
)
PI_ADAM = optimizer_of("pi_adam", ADAM_ROW)
PI_ADAGRAD = optimizer_of("pi_adagrad", ADAGRAD_ROW)
PI_RMSPROP = optimizer_of("pi_rmsprop", RMSPROP_ROW)
