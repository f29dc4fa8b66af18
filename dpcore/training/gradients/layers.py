"""Layers of the book-keeping engine: forward, backward, and the norm and clipped sum of each
example's gradient.

One forward and one backward pass give the per-example gradient norms, and the clipped sum follows
from the kept values. Images are (B, H, W, channels) here, as a product over unfolded patches
returns them.

With K views the loss of an example is the mean over them. The loss gradients here are already
divided by K, and the example's gradient is the sum over the consecutive rows of its views: (B K,
...).

Source: Bu et al. 2022, arXiv 2210.00038, "Differentially private optimization on large model at
small cost"; for views De et al. 2022, arXiv 2204.13650, "augmentation multiplicity".
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcore.training.gradients.rounding import (
    TINY,
    gram,
    gram_operations,
    most_operations,
    operations,
    raised,
    row_sums,
    squared_norms,
)

# Up to so many outputs a product is twice as fast with them first: 1.3 us a row of 3,969, not 2.8.
NARROW = 16
Kept = Any  # values that a layer keeps from its forward pass
Weights = list[Tensor]  # shaped as a layer's parameters
# Factors (B,), sums shaped as the parameters, beta in {0, 1}:
AddSum = Callable[[Tensor, Weights, int], None]
# sums <- beta sums + sum over the batch of factor * gradient; at beta = 0 the sums may hold
# anything


class Layer(ABC):
    """A layer without parameters, or the base of one with them."""

    @abstractmethod
    def forward(self, x: Tensor) -> tuple[Tensor, Kept]:
        """The output, and the values for `backward`."""

    @abstractmethod
    def backward(self, kept: Kept, g: Tensor) -> Tensor:
        """The loss gradient at the input, from `g` at the output; a layer without parameters may
        overwrite `g`.
        """


class ParametricLayer(Layer):
    """A layer with parameters."""

    @abstractmethod
    def book(self, kept: Kept, g: Tensor, inverse: Weights | None = None) -> tuple[Tensor, AddSum]:
        """Squared gradient norm of each example (B,), and a function that adds the weighted sum of
        the gradients.

        With `inverse`, 1 / D^2 shaped as the parameters, the norm is that of gradient / D,
        elementwise.
        """

    @abstractmethod
    def operations(self) -> int:
        """The most rounded operations between an entry of the gradient and the squared norm."""


@final
class Linear(ParametricLayer):
    """nn.Linear on (B, in). The gradient of example i is g_i a_i^T, so its norm is |g_i| |a_i|.

    Divided by D its squared norm is (g_i^2)^T (1 / D^2) a_i^2, one more product without forming the
    gradient.
    """

    def __init__(self, module: nn.Linear) -> None:
        self.module = module
        self._narrow = module.out_features <= NARROW < module.in_features

    def forward(self, x: Tensor) -> tuple[Tensor, Kept]:
        if x.dim() != 2:
            raise ValueError(
                f"Expected the input of a Linear layer to be (B, in), not {tuple(x.shape)}."
            )
        weight = self.module.weight
        bias = self.module.bias
        if not self._narrow:
            return F.linear(x, weight, bias), x
        y = weight @ x.T if bias is None else torch.addmm(bias[:, None], weight, x.T)
        return y.T.contiguous(), x

    def backward(self, kept: Tensor, g: Tensor) -> Tensor:
        return g @ self.module.weight

    def book(
        self, kept: Tensor, g: Tensor, inverse: Weights | None = None
    ) -> tuple[Tensor, AddSum]:
        add_sum = partial(add_products, kept, g)
        if inverse is not None:
            return weighted(kept.square(), g.square(), inverse), add_sum
        squares = squared_norms(kept)
        if self.module.bias is not None:
            squares.add_(1.0)
        return squares.mul_(squared_norms(g)), add_sum

    def operations(self) -> int:
        outputs, inputs = self.module.weight.shape
        # With a D a product adds up the outputs.
        return max(outputs, operations(outputs)) + operations(inputs)


@final
class Conv2d(ParametricLayer):
    """nn.Conv2d as a product with the unfolded input, which forward, norms and sums share.

    The gradient of example i is the (out, K) matrix g_i^T U_i, where U_i (positions, K) are its
    unfolded patches. The positions of all views of an example lie side by side, as in one image.
    """

    def __init__(self, module: nn.Conv2d, views: int = 1) -> None:
        self.module = module
        self._views = views
        self.padding: tuple[int, int] = module.padding  # type: ignore[assignment]

    def forward(self, x: Tensor) -> tuple[Tensor, Kept]:
        height, width = self.padding
        padded = F.pad(x, (0, 0, width, width, height, height))
        # (B, h, w, kh, kw, C).
        patches = unfold(padded, self.module.kernel_size, self.module.stride)
        size, rows, columns = patches.shape[:3]
        unfolded = patches.reshape(size, rows * columns, -1)  # (B, P, K)
        flat = unfolded.view(-1, unfolded.shape[2])
        y = F.linear(flat, patch_order(self.module.weight), self.module.bias)
        return y.view(size, rows, columns, -1), (unfolded, padded.shape)

    def backward(self, kept: Kept, g: Tensor) -> Tensor:
        _, shape = kept
        products = g.reshape(-1, g.shape[3]) @ patch_order(self.module.weight)
        patches = products.view(*g.shape[:3], *self.module.kernel_size, shape[3])
        height, width = self.padding
        folded = fold(patches, shape, self.module.stride)
        return folded[:, height : shape[1] - height, width : shape[2] - width]

    def book(self, kept: Kept, g: Tensor, inverse: Weights | None = None) -> tuple[Tensor, AddSum]:
        unfolded, _ = kept
        out = self.module.out_channels
        channels = self.module.in_channels
        by_position = g.reshape(len(g) // self._views, -1, out)  # (B, P, out)
        patches = unfolded.view(len(by_position), -1, unfolded.shape[2])
        kernels = torch.bmm(by_position.transpose(1, 2), patches).flatten(1)  # (B, out K)
        squares = squared_norms(kernels, patch_order(inverse[0]) if inverse else None)
        biases = None
        if self.module.bias is not None:
            biases = by_position.sum(1)  # (B, out)
            squares = squares + squared_norms(biases, inverse[1] if inverse else None)

        def add_sum(factors: Tensor, sums: Weights, beta: int) -> None:
            total = (factors @ kernels).view(out, *self.module.kernel_size, channels)
            add_to(sums[0], total.permute(0, 3, 1, 2), beta)
            if biases is not None:
                torch.addmv(sums[1], biases.T, factors, beta=beta, out=sums[1])

        return squares, add_sum

    def operations(self) -> int:
        return operations(self.module.weight.numel()) + operations(self.module.out_channels)


@final
class Activation(Layer):
    """nn.Tanh or nn.ReLU: a function, and its backward function of a gradient and the function's
    value.
    """

    def __init__(
        self, function: Callable[[Tensor], Tensor], back: Callable[[Tensor, Tensor], Tensor]
    ) -> None:
        self._function = function
        self._back = back

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = self._function(x)
        return y, y

    def backward(self, kept: Tensor, g: Tensor) -> Tensor:
        return self._back(g, kept)


TANH = Activation(
    torch.tanh, lambda g, y: torch.ops.aten.tanh_backward.grad_input(g, y, grad_input=g)
)
RELU = Activation(
    torch.relu, lambda g, y: torch.ops.aten.threshold_backward.grad_input(g, y, 0, grad_input=g)
)


@final
class MaxPool2d(Layer):
    """nn.MaxPool2d on (B, H, W, C)."""

    def __init__(self, module: nn.MaxPool2d) -> None:
        self.window = (module.kernel_size, module.stride, module.padding)

    def forward(self, x: Tensor) -> tuple[Tensor, Kept]:
        image = x.permute(0, 3, 1, 2)
        y, chosen = torch.ops.aten.max_pool2d_with_indices(image, *self.window)
        return y.permute(0, 2, 3, 1), (image, chosen)

    def backward(self, kept: Kept, g: Tensor) -> Tensor:
        image, chosen = kept
        back = torch.ops.aten.max_pool2d_with_indices_backward
        own = back(g.permute(0, 3, 1, 2), image, *self.window, (1, 1), False, chosen)
        return own.permute(0, 2, 3, 1)


@final
class Flatten(Layer):
    """nn.Flatten, with the channels first."""

    def forward(self, x: Tensor) -> tuple[Tensor, Kept]:
        image = x.permute(0, 3, 1, 2) if x.dim() == 4 else x
        return image.flatten(1), image.shape

    def backward(self, kept: Kept, g: Tensor) -> Tensor:
        image = g.view(kept)
        return image.permute(0, 2, 3, 1) if len(kept) == 4 else image


def weighted(x: Tensor, g: Tensor, inverse: Weights) -> Tensor:
    """g^T (1 / D^2) x of each row, for x (B, in) and g (B, out), plus the term of the bias, if any:
    (B,).
    """
    biases = torch.mv(g, inverse[1]) if len(inverse) == 2 else x.new_zeros(len(x))
    return biases.add_(row_sums((g @ inverse[0]).mul_(x)))


def add_products(x: Tensor, g: Tensor, factors: Tensor, sums: Weights, beta: int) -> None:
    """Set sums <- beta sums + the sum over rows of factor * g x^T, and of factor * g for a bias;
    overwrites g.
    """
    if len(sums) == 2:
        torch.addmv(sums[1], g.T, factors, beta=beta, out=sums[1])
    torch.addmm(sums[0], g.mul_(factors[:, None]).T, x, beta=beta, out=sums[0])


def add_to(total: Tensor, part: Tensor, beta: int) -> None:
    """Set total <- beta total + part."""
    total.copy_(part + total if beta else part)


def patch_order(weight: Tensor) -> Tensor:
    """A convolution's weights in the order of a patch: (out, C, kh, kw) -> (out, kh kw C)."""
    return weight.permute(0, 2, 3, 1).flatten(1)


def unfold(x: Tensor, kernel: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    """View all patches without a copy: (B, H, W, C) -> (B, h, w, kh, kw, C)."""
    patches = x.unfold(1, kernel[0], stride[0]).unfold(2, kernel[1], stride[1])
    return patches.permute(0, 1, 2, 4, 5, 3)


def fold(patches: Tensor, shape: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    """The sum of overlapping patches, the transpose of `unfold`: (B, h, w, kh, kw, C) -> (B, H, W,
    C).

    All patches add their pixel at one place of the kernel together.
    """
    x = patches.new_zeros(shape)
    places = unfold(x, patches.shape[3:5], stride)
    for i in range(patches.shape[3]):
        for j in range(patches.shape[4]):
            places[:, :, :, i, j] += patches[:, :, :, i, j]
    return x


MAX_IDS = 4096  # of one example, up to which rounding is allowed for
NONE = -1  # in the place of an id: a row without one


class MeanOfRows(nn.Module):
    """The mean of the rows of each example: (B, T, d) -> (B, d)."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(1)


class Factors(nn.Module):
    """Join two rows of factors (B, 2, k + m): the first k of both multiplied, the others side by
    side (B, k + 2 m).

    Source: He et al. 2017, arXiv 1708.05031, equations (8) and (12): both branches of neural
    collaborative filtering.
    """

    def __init__(self, multiplied: int) -> None:
        super().__init__()
        self.multiplied = multiplied

    def forward(self, x: Tensor) -> Tensor:
        first, second = x.unbind(1)
        k = self.multiplied
        return torch.cat([first[:, :k] * second[:, :k], first[:, k:], second[:, k:]], 1)


@final
class Embedding(ParametricLayer):
    """nn.Embedding on ids (B, T).

    An id that occurs several times in an example has one row of its gradient.

    So the loss gradients of equal ids are added up before the norm. The sum's squared norm can be T
    times the sum of the squared norms.
    """

    def __init__(self, module: nn.Embedding) -> None:
        self.module = module

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if x.dim() != 2 or x.is_floating_point() or x.shape[1] > MAX_IDS:
            raise ValueError(
                f"Expected the input of an Embedding to be ids (B, T <= {MAX_IDS}), not {x.shape}."
            )
        return nn.functional.embedding(x, self.module.weight), x

    def backward(self, kept: Tensor, g: Tensor) -> Tensor:
        raise RuntimeError("ids have no gradient: an Embedding is the first layer")

    def book(
        self, kept: Tensor, g: Tensor, inverse: Weights | None = None
    ) -> tuple[Tensor, AddSum]:
        ids, rows = by_id(kept, g)

        def add_sum(factors: Tensor, sums: Weights, beta: int) -> None:
            weighted = rows * factors[:, None, None]
            add_to(sums[0], rows_added(weighted, ids, self.module.num_embeddings), beta)

        if inverse is None:
            return squared_norms(rows), add_sum
        squares = rows.square().mul_(inverse[0][ids.clamp(min=0)])
        return row_sums(squares.flatten(1)), add_sum

    def operations(self) -> int:
        return most_operations(MAX_IDS * self.module.embedding_dim)


@final
class RowMean(Layer):
    def __init__(self, module: MeanOfRows) -> None:
        self.module = module

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        return self.module(x), x.shape[1]

    def backward(self, kept: int, g: Tensor) -> Tensor:
        return (g / kept)[:, None].expand(-1, kept, -1)


@final
class FactorRows(Layer):
    def __init__(self, module: Factors) -> None:
        self.module = module

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.module(x), x

    def backward(self, kept: Tensor, g: Tensor) -> Tensor:
        k = self.module.multiplied
        size = kept.shape[2]
        product, *alone = g.split([k, size - k, size - k], 1)
        multiplied = product[:, None] * kept[:, :, :k].flip(1)
        return torch.cat([multiplied, torch.stack(alone, 1)], 2)


def by_id(ids: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """The distinct ids of each example, then NONE (B, T), and their summed gradients, then zeros
    (B, T, d).
    """
    ordered, order = ids.long().sort(1)
    starts = torch.ones_like(ordered)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    groups = starts.cumsum(1) - 1  # (B, T): index among the example's distinct ids
    once = torch.full_like(ordered, NONE).scatter_(1, groups, ordered)
    size, length = ids.shape
    places = groups + length * torch.arange(size, device=ids.device)[:, None]
    sorted_g = g.gather(1, order[:, :, None].expand_as(g))
    return once, rows_added(sorted_g, places, size * length).view_as(g)


def rows_added(rows: Tensor, places: Tensor, count: int) -> Tensor:
    """Add each row (B, T, d) at its place (B, T) to zeros (count, d), always in one order."""
    back = torch.ops.aten.embedding_dense_backward
    return back(rows.reshape(-1, rows.shape[2]), places.flatten(), count, NONE, False)


@final
class LinearOfViews(ParametricLayer):
    """nn.Linear. The gradient of an example, the sum over its views of g_v a_v^T, is not formed.

    README.md, "Views", has its squared norm. Divided by D a pair has (g_u g_v)^T (1 / D^2) (a_u
    a_v), with elementwise products in brackets.
    """

    def __init__(self, module: nn.Linear, views: int) -> None:
        self._layer = Linear(module)
        self._views = views
        outputs, inputs = module.weight.shape
        of_grams = gram_operations(outputs) + gram_operations(inputs) + 2
        self._operations = max(self._layer.operations(), of_grams)

    def forward(self, x: Tensor) -> tuple[Tensor, Kept]:
        return self._layer.forward(x)

    def backward(self, kept: Kept, g: Tensor) -> Tensor:
        return self._layer.backward(kept, g)

    def book(self, kept: Kept, g: Tensor, inverse: Weights | None = None) -> tuple[Tensor, AddSum]:
        views = self._views
        x = kept.unflatten(0, (-1, views))  # (B, K, in)
        rows = g.unflatten(0, (-1, views))  # (B, K, out)
        if inverse is None:
            products, lengths = self._products(x, rows)
        else:
            products, lengths = self._scaled_products(x, rows, inverse)

        def add_sum(factors: Tensor, sums: Weights, beta: int) -> None:
            add_products(kept, g, factors[:, None].expand(-1, views).flatten(), sums, beta)

        return raised(products, lengths, self._operations), add_sum

    def _products(self, x: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
        """The products of the views' gradients with one another (B, K, K), and their lengths (B,
        K).
        """
        inputs = gram(x)
        outputs = gram(g)
        if self._layer.module.bias is not None:
            inputs.add_(1.0)
        lengths = lengths_of(inputs).mul_(lengths_of(outputs))
        return inputs.mul_(outputs), lengths

    def _scaled_products(self, x: Tensor, g: Tensor, inverse: Weights) -> tuple[Tensor, Tensor]:
        """The products and lengths of the gradients divided by D."""
        products = x.new_empty(len(x), self._views, self._views)
        for u in range(self._views):
            # With itself and later ones.
            inputs = x[:, u:] * x[:, u : u + 1]
            outputs = g[:, u:] * g[:, u : u + 1]
            row = weighted(inputs.flatten(0, 1), outputs.flatten(0, 1), inverse)
            products[:, u, u:] = products[:, u:, u] = row.view(len(x), -1)
        return products, lengths_of(products)

    def operations(self) -> int:
        return 0  # the squared norm is raised already


def lengths_of(products: Tensor) -> Tensor:
    """The lengths (B, K) of vectors with these products with one another (B, K, K)."""
    return (products.diagonal(dim1=1, dim2=2) + TINY).sqrt_()


AVERAGED = {nn.Linear: LinearOfViews, nn.Conv2d: Conv2d}  # take the number of views
