"""What an optimizer is: rules for each coordinate that work in place, so that a step can go piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import torch

Tensor: TypeAlias = "torch.Tensor"  # in words, for torch takes seconds to load
POST_PROCESSING = "Sound: it only works on the noisy mean gradient. Charges each step at (q, sigma)."


class State(NamedTuple):
    """What an optimizer remembers, all of it from releases; of a piece, the vectors are those of its coordinates."""

    count: int  # steps taken; inside `absorb` and `step` the one under way is counted
    mean: Tensor  # () over all coordinates, of what `averaged` names
    vectors: tuple[Tensor, ...]  # (d,) each
    variance: float | Tensor = 0.0  # of the noise in a coordinate of the gradient that a rule sees, before a D


class UpdateRules(NamedTuple):
    """Post-processing of the noisy mean gradient: it sees nothing else of the data, so it costs no privacy.

    Every rule acts on each coordinate alone, so a piece of the coordinates is treated as the whole is. What coordinates
    share is `count`, `mean` and `variance`: all pieces are absorbed, then the mean is taken, then all pieces step.
    `scale` and `transform` see the state only, and so earlier releases only: what they give is public, and each
    example's part in the sum is a function of that example and of public values. The one exception is `peek`, for the
    demonstration of the unsound reading: a run that has it has no epsilon.
    """

    starts: tuple[float, ...]  # what the vectors of the state are filled with at first
    absorb: Callable[[Tensor, State], None]  # noisy mean gradient (k,), state: the vectors take it in
    step: Callable[[Tensor, Tensor, State, float, Tensor | None], None]  # parameters (k,), which move, gradient (k,),
    # the state that absorbed it, learning rate, D after it
    averaged: Callable[[State], Tensor] | None = None  # state -> the vector (k,) whose mean `scale` and `step` use
    scale: Callable[[State], Tensor] | None = None  # state -> D (k,) above 0: gradients / D are clipped
    wait: int = 0  # steps before there is a D
    transform: Callable[[State], Callable[[Tensor], Tensor]] | None = None  # state -> f((B, d)) -> (B, d), row by row
    peek: Callable[[Tensor, State], None] | None = None  # as `absorb`, of the mean gradient without noise


class Hyperparameters(NamedTuple):
    """What a run may choose about its optimizer, beside the learning rate."""

    momentum: float = 0.9
    reading: str = "scaled"


@dataclass(frozen=True, eq=False)
class Optimizer:
    """An optimizer as a run names it: its words, its rules, and the settings to start it from.

    The rates were found by trying on MNIST, at sigma 1.23 and the clipping norm given here.
    """

    name: str  # in configurations, addresses and on the command line
    title: str  # in a sentence
    note: str  # one line: whether it is sound, and what it charges
    source: str
    rules: Callable[[Hyperparameters], UpdateRules]
    lr: float  # default learning rate of a private run
    baseline_lr: float  # without clipping and noise: gradients at their full length want shorter steps
    clip_norm: float = 0.1  # default C
    special_lr: Mapping[tuple[str, str], float] = field(default_factory=dict)  # (data set, model) -> a better rate
    directions: tuple[float, float] | None = None  # default C and rate of the readings that release directions
    readings: tuple[str, ...] = ("scaled",)  # the readings of its paper that it has, see `pi`
    momentum: bool = False  # whether the hyperparameter momentum has a say
    proportional: bool = False  # whether a step is proportional to the gradients released, and so to C
    by_relevance: bool = False  # whether noise is allotted by a release of relevances before the first step
    in_torch: str = ""  # torch's own, if it has the same: a line, or lines, that return it, of `weights` and `config`

    def scales_with_c(self, reading: str) -> bool:
        """Whether a step is in proportion to C: directions that are released are clipped to C, and are the step."""
        return self.proportional or reading != "scaled"


def begin(rules: UpdateRules, parameters: Tensor) -> State:
    """The state before the first step, for parameters (d,)."""
    vectors = tuple(parameters.new_full(parameters.shape, start) for start in rules.starts)
    return State(0, parameters.new_zeros(()), vectors)
