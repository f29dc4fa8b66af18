"""The exponential moving average of the weights: post-processing of noisy weights, so it costs no privacy."""

from torch import Tensor


class WeightAverage:
    """avg_t = sum of d^(t-s) w_s over s <= t, over the sum of its weights: no bias to the first weights.

    Source: Polyak and Juditsky 1992; for private training De et al. 2022, arXiv 2204.13650, section 3.
    """

    def __init__(self, parameters: Tensor, decay: float) -> None:
        self.vector = parameters.clone()  # (d,)
        self.count = 0
        self._decay = decay

    def add(self, parameters: Tensor) -> None:
        """Take in the weights (d,) after one more step."""
        self.count += 1
        self.vector.lerp_(parameters, (1 - self._decay) / (1 - self._decay**self.count))
