"""The conditions that theorems ask for: which there are, and whether they hold for what is public of a fit."""

from typing import NamedTuple

from dpcore.training.perturbation.task import Task

NOT_CONVEX = "The loss is not convex: nothing bounds how far one row moves the parameters."
NOT_SMOOTH = "Nothing bounds the curvature of the loss."
UNASKED = "not asked for"


class Condition(NamedTuple):
    """One condition: its name, whether it holds, and why, which is a sentence where it fails and a few words elsewhere.

    What the theorem does not ask for, though another one does, neither holds nor fails: None.
    """

    name: str
    holds: bool | None
    said: str

    @property
    def fails(self) -> bool:
        """Whether the theorem asks for it in vain."""
        return self.holds is False


def asked(name: str, holds: bool, held: str, failed: str) -> Condition:
    """The condition with the words for what is the case."""
    return Condition(name, holds, held if holds else failed)


def unasked(*names: str) -> tuple[Condition, ...]:
    """Conditions of other theorems, which this one does not ask for."""
    return tuple(Condition(name, None, UNASKED) for name in names)


def convex(task: Task) -> Condition:
    """Whether the loss of every row is convex in the parameters."""
    return asked("convex", task.model.convex, "yes", NOT_CONVEX)


def smooth(task: Task) -> Condition:
    """Whether the eigenvalues of the Hessian of the objective have a bound, Lsm."""
    return asked("smooth", task.model.smoothness is not None, f"up to {task.smoothness:.3g}", NOT_SMOOTH)


def bounded_gradients(task: Task) -> Condition:
    """That the gradient of one row's loss is at most G long; it always is, where need be by clipping."""
    how = "by the loss" if task.clipping is None else "by clipping"
    return Condition("gradients bounded", True, f"at most {task.lipschitz:g} long {how}")


def tails(task: Task, mu: float, count: int = 1) -> Condition:
    """Whether delta pays for the noise that no generator returns: `count` releases, each of which a row moves by mu."""
    missing = task.missing(mu, count)
    return asked("tails of the noise", not missing, "what is never drawn is paid for", missing)
