"""Models of a comparison: loss, gradients and their proven bounds, for several parameter vectors at
once.
"""

from abc import ABC, abstractmethod
from typing import final

import numpy as np
from scipy.special import expit

from dpcore.privacy.mechanism import FloatArray


class RowModel(ABC):
    """A score f(x; theta) of a row under parameters, with the logistic loss ln(1 + exp(-y f))."""

    name: str
    title: str
    note: str
    convex: bool  # is the loss of every row convex in theta?
    linear: bool  # is the score linear in theta, and so the Hessian of a row's loss of rank 1?
    # G: bound of the loss's gradient for rows of norm at most 1; None: no bound.
    lipschitz: float | None
    smoothness: float | None  # of the loss of one row of norm at most 1; None: no bound

    @abstractmethod
    def parameters(self, features: int) -> int:
        """Return the number of parameters p."""

    @abstractmethod
    def start(self, features: int) -> FloatArray:
        """Return the initial parameters (p,), a public constant."""

    @abstractmethod
    def scores(self, thetas: FloatArray, rows: FloatArray) -> FloatArray:
        """Return f of every row under every parameter vector: (S, p) and (n, d) give (S, n)."""

    @abstractmethod
    def gradients(
        self,
        thetas: FloatArray,
        rows: FloatArray,
        labels: FloatArray,
        clip_norm: float | None = None,
    ) -> FloatArray:
        """Return the mean gradient of the loss under every vector (S, p), each row's clipped if
        there is a norm.
        """

    @abstractmethod
    def row_gradients(
        self,
        thetas: FloatArray,
        rows: FloatArray,
        labels: FloatArray,
        clip_norm: float | None = None,
    ) -> FloatArray:
        """Return the gradient (S, p) of the loss of one row for each vector: rows (S, d), labels
        (S,).
        """

    def losses(
        self, thetas: FloatArray, rows: FloatArray, labels: FloatArray, regulariser: float
    ) -> FloatArray:
        """Return L(theta) = mean loss of the rows + (regulariser / 2) |theta|^2, (S,)."""
        mean = np.logaddexp(0, -labels * self.scores(thetas, rows)).mean(axis=1)
        return mean + regulariser / 2 * (thetas**2).sum(axis=1)

    def accuracies(self, thetas: FloatArray, rows: FloatArray, labels: FloatArray) -> FloatArray:
        """Return the share of rows classified correctly, (S,); a score of 0 is wrong."""
        return (labels * self.scores(thetas, rows) > 0).mean(axis=1)


def slopes(scores: FloatArray, labels: FloatArray) -> FloatArray:
    """Derivative of the logistic loss by the score."""
    return -labels * expit(-labels * scores)


@final
class Logistic(RowModel):
    """f = theta . x.

    The gradient of a row's loss is a multiple of the row, between 0 and 1 of -y x.
    """

    name = "logistic"
    title = "Logistic regression"
    note = "One weight for each feature; the loss is convex, and its gradient is at most 1 long."
    convex = True
    linear = True
    lipschitz = 1.0
    smoothness = 0.25

    def parameters(self, features: int) -> int:
        return features

    def start(self, features: int) -> FloatArray:
        return np.zeros(features)

    def scores(self, thetas: FloatArray, rows: FloatArray) -> FloatArray:
        return thetas @ rows.T

    def gradients(
        self,
        thetas: FloatArray,
        rows: FloatArray,
        labels: FloatArray,
        clip_norm: float | None = None,
    ) -> FloatArray:
        weights = _clipped(slopes(self.scores(thetas, rows), labels), rows, clip_norm)
        return weights @ rows / len(rows)

    def row_gradients(
        self,
        thetas: FloatArray,
        rows: FloatArray,
        labels: FloatArray,
        clip_norm: float | None = None,
    ) -> FloatArray:
        weights = slopes((thetas * rows).sum(axis=1), labels)
        return _clipped(weights, rows, clip_norm)[:, None] * rows


def _clipped(weights: FloatArray, rows: FloatArray, clip_norm: float | None) -> FloatArray:
    """Reduce weights so that no weight times row is longer than the clipping norm, if any."""
    if clip_norm is None:
        return weights
    norms = np.linalg.norm(rows, axis=1)
    most = np.divide(clip_norm, norms, out=np.full(len(rows), np.inf), where=norms > 0)
    return np.clip(weights, -most, most)


@final
class Mlp(RowModel):
    """f = v . tanh(W x), with as many hidden units as features.

    Source: Kang et al., input perturbation, section 6: one hidden layer of the input's size; no
    activation is named.
    """

    name = "mlp"
    title = "Network with one hidden layer"
    note = (
        "As many tanh units as features. The loss is not convex, and only clipping bounds its"
        " gradients."
    )
    convex = False
    linear = False
    lipschitz = None
    smoothness = None

    def parameters(self, features: int) -> int:
        return features * features + features

    def start(self, features: int) -> FloatArray:
        drawn = np.random.RandomState(0).standard_normal(self.parameters(features))
        return drawn / np.sqrt(features)

    def scores(self, thetas: FloatArray, rows: FloatArray) -> FloatArray:
        scores = []
        for theta in thetas:
            hidden, outer = _forward(theta, rows)
            scores.append(hidden @ outer)
        return np.stack(scores)

    def gradients(
        self,
        thetas: FloatArray,
        rows: FloatArray,
        labels: FloatArray,
        clip_norm: float | None = None,
    ) -> FloatArray:
        return np.stack([_gradient(theta, rows, labels, clip_norm) for theta in thetas])

    def row_gradients(
        self,
        thetas: FloatArray,
        rows: FloatArray,
        labels: FloatArray,
        clip_norm: float | None = None,
    ) -> FloatArray:
        count, features = rows.shape
        outer = thetas[:, :features]
        inner = thetas[:, features:].reshape(count, features, features)
        hidden = np.tanh(np.einsum("shd,sd->sh", inner, rows))
        back = outer * (1 - hidden**2)
        weights = slopes((hidden * outer).sum(axis=1), labels)
        weights = _clipped_layers(weights, hidden, back, rows, clip_norm)[:, None]
        products = np.einsum("sh,sd->shd", weights * back, rows)
        return np.concatenate([weights * hidden, products.reshape(count, -1)], axis=1)


def _forward(theta: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the hidden activations (n, d) and v (d,)."""
    features = rows.shape[1]
    return np.tanh(rows @ theta[features:].reshape(features, features).T), theta[:features]


def _gradient(
    theta: FloatArray, rows: FloatArray, labels: FloatArray, clip_norm: float | None
) -> FloatArray:
    """Return the mean gradient (p,) of the rows, each one's clipped if there is a norm.

    The gradient of a row is r (h, (v (1 - h^2)) x^T), which gives its norm without computing it.
    """
    hidden, outer = _forward(theta, rows)
    back = outer * (1 - hidden**2)  # (n, d)
    weights = _clipped_layers(slopes(hidden @ outer, labels), hidden, back, rows, clip_norm)
    inner = (weights[:, None] * back).T @ rows
    return np.concatenate([weights @ hidden, inner.reshape(-1)]) / len(rows)


def _clipped_layers(
    weights: FloatArray,
    hidden: FloatArray,
    back: FloatArray,
    rows: FloatArray,
    clip_norm: float | None,
) -> FloatArray:
    """Reduce the weights (n,) so that no row's gradient is longer than the clipping norm."""
    if clip_norm is None:
        return weights
    squares = (hidden**2).sum(axis=1) + (back**2).sum(axis=1) * (rows**2).sum(axis=1)
    return weights / np.maximum(1.0, np.abs(weights) * np.sqrt(squares) / clip_norm)


MODELS = {model.name: model for model in (Logistic(), Mlp())}
