"""ADPPL in a sound variant: more noise where a coordinate matters less to the output.

Inspired by, not a reproduction of, Gong et al. 2020 (Neural Networks 125), for which no code was
found: there Laplace noise of a scale in inverse proportion to a neuron's relevance is added to the
gradients in each step. Here the noise is Gaussian: coordinates of relevance c_j get D_j in
proportion to 1 / sqrt(c_j), the gradient divided by D is clipped to C, and the noise of coordinate
j is sigma C D_j. **Soundness:** given public relevances each step is one sampled Gaussian of
multiplier sigma, as DP-SGD. The relevances are a noisy release of their own, charged once
(`relevance_sigma`).
"""

from __future__ import annotations

from dpcore import check
from dpcore.training.optimizers.base import Optimizer, State, Tensor, UpdateRules, words_of
from dpcore.training.optimizers.plain import sgd


def allot(state: State, relevance: Tensor) -> None:
    """Set D = 1 / sqrt(c), of root mean square 1, for relevances c (d,) > 0; the total variance of
    the noise stays.
    """
    check.positive(relevance=float(relevance.min()), largest_relevance=float(relevance.max()))
    scale = relevance.rsqrt()
    state.vectors[1].copy_(scale.mul_(len(scale) ** 0.5 / float(scale.norm())))


def rules(momentum: float, reading: str) -> UpdateRules:
    """v <- momentum v + g; step -lr v.

    The state is v and the D of the whole run, ones until it is allotted.
    """
    return sgd(momentum, reading)._replace(starts=(0.0, 1.0), scale=lambda state: state.vectors[1])


ADPPL = Optimizer(
    **words_of("adppl"), rules=rules, momentum=True, proportional=True, by_relevance=True
)
