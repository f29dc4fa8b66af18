"""Layers of the book-keeping engine where each example has K views, whose gradients are averaged before clipping.

The loss of an example is the mean over its views. So the loss gradients that come here are divided by K already, and
the gradient of an example is the sum over the rows of its views, which follow one another: (B K, ...).

Source: De et al. 2022, arXiv 2204.13650, "augmentation multiplicity".
"""

from typing import final

from torch import Tensor, nn

from dpcore.training.gradients.layers import AddSum, Conv2d, Kept, Linear, ParametricLayer, add_products, weighted
from dpcore.training.gradients.rounding import TINY, gram, gram_operations, raised


@final
class LinearOfViews(ParametricLayer):
    """nn.Linear. The gradient of an example is the sum over its views of g_v a_v^T, and is not formed.

    Its squared norm is the sum over pairs (u, v) of (<a_u, a_v> + 1) <g_u, g_v>, without the 1 if there is no bias.
    Divided by D a pair has (g_u g_v)^T (1 / D^2) (a_u a_v), each product of two taken entry by entry.
    """

    def __init__(self, layer: Linear, views: int) -> None:
        self._layer, self._views = layer, views
        outputs, inputs = layer.module.weight.shape
        self._operations = max(layer.operations(), gram_operations(outputs) + gram_operations(inputs) + 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Kept]:
        return self._layer.forward(x)

    def backward(self, kept: Kept, g: Tensor) -> Tensor:
        return self._layer.backward(kept, g)

    def book(self, kept: Kept, g: Tensor, inverse: list[Tensor] | None = None) -> tuple[Tensor, AddSum]:
        views = self._views
        x, rows = kept.unflatten(0, (-1, views)), g.unflatten(0, (-1, views))  # (B, K, in), (B, K, out)
        products, lengths = self._products(x, rows) if inverse is None else self._scaled_products(x, rows, inverse)

        def add_sum(factors: Tensor, sums: list[Tensor], beta: int) -> None:
            add_products(kept, g, factors[:, None].expand(-1, views).flatten(), sums, beta)

        return raised(products, lengths, self._operations), add_sum

    def _products(self, x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
        """Those of the views' gradients with one another (B, K, K), and the gradients' lengths (B, K)."""
        inputs, outputs = gram(x), gram(g)
        if self._layer.module.bias is not None:
            inputs.add_(1.0)
        lengths = [(part.diagonal(dim1=1, dim2=2) + TINY).sqrt_() for part in (inputs, outputs)]
        return inputs.mul_(outputs), lengths[0].mul_(lengths[1])

    def _scaled_products(self, x: Tensor, g: Tensor, inverse: list[Tensor]) -> tuple[Tensor, Tensor]:
        """The same of the gradients divided by D."""
        products = x.new_empty(len(x), self._views, self._views)
        for u in range(self._views):
            pairs = [(part[:, u:] * part[:, u : u + 1]).flatten(0, 1) for part in (x, g)]  # with itself and later ones
            row = weighted(pairs[0], pairs[1], inverse).unflatten(0, (-1, self._views - u))
            products[:, u, u:] = products[:, u:, u] = row
        return products, (products.diagonal(dim1=1, dim2=2) + TINY).sqrt_()

    def operations(self) -> int:
        return 0  # that are left to allow for: the squared norm is raised already


@final
class ConvOfViews(ParametricLayer):
    """nn.Conv2d. The positions of all views of an example lie side by side, as if they were those of one image."""

    def __init__(self, layer: Conv2d, views: int) -> None:
        self._layer, self._views = layer, views

    def forward(self, x: Tensor) -> tuple[Tensor, Kept]:
        return self._layer.forward(x)

    def backward(self, kept: Kept, g: Tensor) -> Tensor:
        return self._layer.backward(kept, g)

    def book(self, kept: Kept, g: Tensor, inverse: list[Tensor] | None = None) -> tuple[Tensor, AddSum]:
        unfolded, shape = kept
        return self._layer.book((self._beside(unfolded), shape), self._beside(g), inverse)

    def _beside(self, rows: Tensor) -> Tensor:
        """The first dimension of positions of all views one behind the other: (B K, P, ...) -> (B, K P, ...)."""
        return rows.unflatten(0, (-1, self._views)).flatten(1, 2)

    def operations(self) -> int:
        return self._layer.operations()


AVERAGED = {nn.Linear: LinearOfViews, nn.Conv2d: ConvOfViews}
