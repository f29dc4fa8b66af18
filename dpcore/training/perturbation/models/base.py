"""What a model is: its loss, its gradients, and what is proven of them. Several parameter vectors are taken at once."""

from abc import ABC, abstractmethod

import numpy as np
from scipy.special import expit

from dpcore.privacy.types import FloatArray


class Model(ABC):
    """A score f(x; theta) of a row under parameters, with the logistic loss ln(1 + exp(-y f))."""

    name: str
    title: str
    note: str
    convex: bool  # whether the loss of every row is convex in theta
    linear: bool  # whether the score is linear in theta: the Hessian of a row's loss is then of rank 1
    lipschitz: float | None  # G: bound of the loss's gradient for rows of norm at most 1; None: there is none
    smoothness: float | None  # of the loss of one row of norm at most 1; None: there is no bound

    @abstractmethod
    def parameters(self, features: int) -> int:
        """How many, p."""

    @abstractmethod
    def start(self, features: int) -> FloatArray:
        """Where learning starts, (p,): a public constant."""

    @abstractmethod
    def scores(self, thetas: FloatArray, rows: FloatArray) -> FloatArray:
        """f of every row under every vector of parameters: (S, p) and (n, d) give (S, n)."""

    @abstractmethod
    def gradients(
        self, thetas: FloatArray, rows: FloatArray, labels: FloatArray, clip_norm: float | None = None
    ) -> FloatArray:
        """Mean over rows of the loss's gradient under every vector (S, p), each row's clipped where asked for."""

    @abstractmethod
    def row_gradients(
        self, thetas: FloatArray, rows: FloatArray, labels: FloatArray, clip_norm: float | None = None
    ) -> FloatArray:
        """Gradient (S, p) of the loss of one row for each vector: rows (S, d), labels (S,)."""

    def losses(self, thetas: FloatArray, rows: FloatArray, labels: FloatArray, regulariser: float) -> FloatArray:
        """L(theta) = mean loss of the rows + (regulariser / 2) |theta|^2, (S,)."""
        mean = np.logaddexp(0, -labels * self.scores(thetas, rows)).mean(axis=1)
        return mean + regulariser / 2 * (thetas**2).sum(axis=1)

    def accuracies(self, thetas: FloatArray, rows: FloatArray, labels: FloatArray) -> FloatArray:
        """Share of rows whose class is told, (S,); a score of 0 tells none."""
        return (labels * self.scores(thetas, rows) > 0).mean(axis=1)


def slopes(scores: FloatArray, labels: FloatArray) -> FloatArray:
    """Derivative of the logistic loss by the score."""
    return -labels * expit(-labels * scores)
