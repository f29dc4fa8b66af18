"""Logistic regression."""

from typing import final

import numpy as np

from dpcore.privacy.types import FloatArray
from dpcore.training.perturbation.models.base import Model, slopes


@final
class Logistic(Model):
    """f = theta . x. The gradient of a row's loss is a multiple of the row, between 0 and 1 of -y x."""

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
        self, thetas: FloatArray, rows: FloatArray, labels: FloatArray, clip_norm: float | None = None
    ) -> FloatArray:
        weights = slopes(self.scores(thetas, rows), labels)
        if clip_norm is not None:
            weights = _clipped(weights, rows, clip_norm)
        return weights @ rows / len(rows)

    def row_gradients(
        self, thetas: FloatArray, rows: FloatArray, labels: FloatArray, clip_norm: float | None = None
    ) -> FloatArray:
        weights = slopes((thetas * rows).sum(axis=1), labels)
        if clip_norm is not None:
            weights = _clipped(weights, rows, clip_norm)
        return weights[:, None] * rows


def _clipped(weights: FloatArray, rows: FloatArray, clip_norm: float) -> FloatArray:
    """The weights, less where weight times row would be longer than the clipping norm."""
    norms = np.linalg.norm(rows, axis=1)
    most = np.divide(clip_norm, norms, out=np.full(len(rows), np.inf), where=norms > 0)
    return np.clip(weights, -most, most)
