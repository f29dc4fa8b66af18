"""Optimizers: rules for each coordinate that work in place, so a step can go piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from dpcore.privacy import named_words

if TYPE_CHECKING:
    import torch

Tensor: TypeAlias = "torch.Tensor"  # a string, since torch takes seconds to load
POST_PROCESSING = (
    "Sound: it only works on the noisy mean gradient. Charges each step at (q, sigma)."
)


def words_of(name: str) -> dict[str, Any]:
    """The name, title, note, source and rates of an optimizer."""
    return {
        "note": POST_PROCESSING,
        **named_words(Path(__file__).with_name("optimizers.toml"), name),
    }


class State(NamedTuple):
    """The memory of an optimizer, which follows from releases alone; a piece has the vectors of its
    coordinates.
    """

    count: int  # steps taken; `absorb` and `step` count the current one
    mean: Tensor  # () over all coordinates, of the vector that `averaged` returns
    vectors: tuple[Tensor, ...]  # (d,) each
    # Of the noise in a coordinate of the gradient that a rule sees, before a D.
    variance: float | Tensor = 0.0
    scale: Tensor | None = None  # the D that follows, in a step of rules with `averaged`


class UpdateRules(NamedTuple):
    """Post-processing of the noisy mean gradient: it sees nothing else of the data, so it costs no
    privacy.

    Every rule acts on each coordinate alone, so pieces of the coordinates can be treated one by
    one. Coordinates share `count`, `mean` and `variance`: all pieces are absorbed, then the mean is
    taken, then all pieces step. `scale` and `transform` see the state only, and so earlier releases
    only: their results are public, and an example's part in the sum is a function of that example
    and of public values. The one exception is `peek`, for the demonstration of the unsound reading:
    such a run has no epsilon.
    """

    starts: tuple[float, ...]  # first values of the vectors of the state
    absorb: Callable[[Tensor, State], None]  # noisy mean gradient (k,), state: update the vectors
    # Parameters (k,), which move; gradient (k,); the state that absorbed it; learning rate.
    step: Callable[[Tensor, Tensor, State, float], None]
    # State -> the vector (k,) whose mean `scale` and `step` use.
    averaged: Callable[[State], Tensor] | None = None
    # State -> D (k,) above 0: gradients / D are clipped.
    scale: Callable[[State], Tensor] | None = None
    wait: int = 0  # steps before there is a D
    # State -> f((B, d)) -> (B, d), row by row.
    transform: Callable[[State], Callable[[Tensor], Tensor]] | None = None
    # As `absorb`, of the mean gradient without noise.
    peek: Callable[[Tensor, State], None] | None = None


@dataclass(frozen=True, eq=False)
class Optimizer:
    """An optimizer with its default settings."""

    name: str  # in configurations, addresses and on the command line
    title: str  # in a sentence
    note: str  # one line on its soundness and its charge
    source: str
    rules: Callable[[float, str], UpdateRules]  # of a run's momentum and reading
    lr: float  # default learning rate of a private run
    baseline_lr: float  # without clipping and noise: gradients of full length need shorter steps
    clip_norm: float = 0.1  # default C
    # "mnist cnn", data set and model -> a better rate.
    special_lr: Mapping[str, float] = field(default_factory=dict)
    directions: Sequence[float] = ()  # default C and rate of the readings that release directions
    readings: tuple[str, ...] = ("scaled",)  # the readings of its paper that it has, see `pi`
    momentum: bool = False  # true if its rules use the momentum
    # True if a step is proportional to the released gradients, and so to C.
    proportional: bool = False
    # True if a release of relevances before the first step allots the noise.
    by_relevance: bool = False
    # Lines that return torch's own, of `weights` and `config`, if torch has the same.
    in_torch: str = ""

    def scales_with_c(self, reading: str) -> bool:
        """True if a step is proportional to C; a released direction is clipped to C and is the
        step.
        """
        return self.proportional or reading != "scaled"


def begin(rules: UpdateRules, parameters: Tensor) -> State:
    """The state before the first step, for parameters (d,)."""
    vectors = tuple(parameters.new_full(parameters.shape, start) for start in rules.starts)
    return State(0, parameters.new_zeros(()), vectors)


def square_mean(decay: float) -> Callable[[Tensor, State], None]:
    """A rule `absorb`: s <- decay s + (1 - decay) g^2, where s is the first vector of the state."""

    def absorb(gradient: Tensor, state: State) -> None:
        state.vectors[0].mul_(decay).addcmul_(gradient, gradient, value=1 - decay)

    return absorb
