"""A network with one hidden layer."""

from typing import final

import numpy as np

from dpcore.privacy.types import FloatArray
from dpcore.training.perturbation.models.base import Model, slopes


@final
class Mlp(Model):
    """f = v . tanh(W x), with as many hidden units as features.

    Source: Kang et al., input perturbation, section 6: one hidden layer of the input's size, its activation untold.
    """

    name = "mlp"
    title = "Network with one hidden layer"
    note = "As many tanh units as features; not convex, and its gradients have no bound but that of clipping."
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
        return np.stack([_forward(theta, rows)[1] for theta in thetas])

    def gradients(
        self, thetas: FloatArray, rows: FloatArray, labels: FloatArray, clip_norm: float | None = None
    ) -> FloatArray:
        return np.stack([_gradient(theta, rows, labels, clip_norm) for theta in thetas])

    def row_gradients(
        self, thetas: FloatArray, rows: FloatArray, labels: FloatArray, clip_norm: float | None = None
    ) -> FloatArray:
        inner, outer = thetas[:, rows.shape[1] :].reshape(len(rows), rows.shape[1], -1), thetas[:, : rows.shape[1]]
        hidden = np.tanh(np.einsum("shd,sd->sh", inner, rows))
        back = outer * (1 - hidden**2)
        weights = _clipped(slopes((hidden * outer).sum(axis=1), labels), hidden, back, rows, clip_norm)[:, None]
        products = np.einsum("sh,sd->shd", weights * back, rows)
        return np.concatenate([weights * hidden, products.reshape(len(rows), -1)], axis=1)


def _parts(theta: FloatArray, features: int) -> tuple[FloatArray, FloatArray]:
    """W (d, d) and v (d,)."""
    return theta[features:].reshape(features, features), theta[:features]


def _forward(theta: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What the hidden units say (n, d), and the scores (n,)."""
    inner, outer = _parts(theta, rows.shape[1])
    hidden = np.tanh(rows @ inner.T)
    return hidden, hidden @ outer


def _gradient(theta: FloatArray, rows: FloatArray, labels: FloatArray, clip_norm: float | None) -> FloatArray:
    """Mean gradient (p,) of the rows, each one's clipped where asked for.

    The gradient of a row is r (h, (v (1 - h^2)) x^T), so its norm needs no gradient of its own.
    """
    hidden, scores = _forward(theta, rows)
    back = _parts(theta, rows.shape[1])[1] * (1 - hidden**2)  # (n, d)
    weights = slopes(scores, labels)
    weights = _clipped(weights, hidden, back, rows, clip_norm)
    inner = (weights[:, None] * back).T @ rows
    return np.concatenate([weights @ hidden, inner.reshape(-1)]) / len(rows)


def _clipped(
    weights: FloatArray, hidden: FloatArray, back: FloatArray, rows: FloatArray, clip_norm: float | None
) -> FloatArray:
    """The weights (n,), less where a row's gradient would be longer than the clipping norm."""
    if clip_norm is None:
        return weights
    squares = (hidden**2).sum(axis=1) + (back**2).sum(axis=1) * (rows**2).sum(axis=1)
    return weights / np.maximum(1.0, np.abs(weights) * np.sqrt(squares) / clip_norm)
