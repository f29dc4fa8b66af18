"""Layers of the book-keeping engine: forward, backward, and what each example's gradient adds up to.

Every layer is written out, so that one forward and one backward pass give the per-example gradient norms, and the
clipped sum follows from what was kept. Images are (B, H, W, channels) here: what a product over unfolded patches gives.

Source: Bu et al. 2022, arXiv 2210.00038, "Differentially private optimization on large model at small cost".
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dpcore.training.gradients.rounding import operations, row_sums, squared_norms

NARROW = 16  # outputs, up to which a product takes half the time where they come first: of 3,969, 1.3 us a row, not 2.8
Kept = Any  # what a layer keeps from its forward pass
AddSum = Callable[[Tensor, list[Tensor], int], None]  # factors (B,), sums shaped as the parameters, beta in {0, 1}:
# sums <- beta sums + sum over the batch of factor * gradient; beta = 0 also where the sums hold anything at all


class Layer(ABC):
    """A layer without parameters, or the base of one with them."""

    @abstractmethod
    def forward(self, x: Tensor) -> tuple[Tensor, Kept]:
        """The output, and what `backward` needs."""

    @abstractmethod
    def backward(self, kept: Kept, g: Tensor) -> Tensor:
        """The loss gradient at the input, from that at the output; without parameters it may be written over that."""


class ParametricLayer(Layer):
    """A layer with parameters."""

    @abstractmethod
    def book(self, kept: Kept, g: Tensor, inverse: list[Tensor] | None = None) -> tuple[Tensor, AddSum]:
        """Squared gradient norm of each example (B,), and a function that adds the weighted sum of the gradients.

        `inverse` holds 1 / D^2 shaped as the parameters: the norm is then that of gradient / D, elementwise.
        """

    @abstractmethod
    def operations(self) -> int:
        """Rounded operations, at most, between an entry of what the norm is taken of and its square."""


@final
class Linear(ParametricLayer):
    """nn.Linear on (B, in). The gradient of example i is g_i a_i^T, so its norm is |g_i| |a_i|.

    Divided by D its squared norm is (g_i^2)^T (1 / D^2) a_i^2: one more product, and still no gradient is formed.
    """

    def __init__(self, module: nn.Linear) -> None:
        self.module = module
        self._narrow = module.out_features <= NARROW < module.in_features

    def forward(self, x: Tensor) -> tuple[Tensor, Any]:
        if x.dim() != 2:
            raise ValueError(f"Expected the input of a Linear layer to be (B, in), not {tuple(x.shape)}.")
        weight, bias = self.module.weight, self.module.bias
        if not self._narrow:
            return F.linear(x, weight, bias), x
        y = weight @ x.T if bias is None else torch.addmm(bias[:, None], weight, x.T)
        return y.T.contiguous(), x

    def backward(self, kept: Any, g: Tensor) -> Tensor:
        return g @ self.module.weight

    def book(self, kept: Any, g: Tensor, inverse: list[Tensor] | None = None) -> tuple[Tensor, AddSum]:
        squares = self._squares(kept, g) if inverse is None else weighted(kept.square(), g.square(), inverse)
        return squares, partial(add_products, kept, g)

    def _squares(self, x: Tensor, g: Tensor) -> Tensor:
        squares = squared_norms(x)
        if self.module.bias is not None:
            squares = squares + 1.0
        return squares.mul_(squared_norms(g))

    def operations(self) -> int:
        outputs, inputs = self.module.weight.shape
        return max(outputs, operations(outputs)) + operations(inputs)  # with a D a product adds the outputs up


@final
class Conv2d(ParametricLayer):
    """nn.Conv2d as a product with the unfolded input, which forward, norms and sums share.

    The gradient of example i is the (out, K) matrix g_i^T U_i, with U_i (positions, K) its unfolded patches.
    """

    def __init__(self, module: nn.Conv2d) -> None:
        self.module = module
        self.padding = pair(module.padding)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> tuple[Tensor, Any]:
        height, width = self.padding
        padded = F.pad(x, (0, 0, width, width, height, height))
        patches = unfold(padded, self.module.kernel_size, self.module.stride)  # (B, h, w, kh, kw, C)
        size, rows, columns = patches.shape[:3]
        unfolded = patches.reshape(size, rows * columns, -1)  # (B, P, K)
        flat = unfolded.view(-1, unfolded.shape[2])
        kernel = self._kernel()
        bias = self.module.bias
        y = torch.addmm(bias, flat, kernel.T) if bias is not None else flat @ kernel.T
        return y.view(size, rows, columns, -1), (unfolded, padded.shape)

    def backward(self, kept: Any, g: Tensor) -> Tensor:
        _, shape = kept
        size, rows, columns, channels = g.shape
        kernel_size = self.module.kernel_size
        patches = (g.reshape(-1, channels) @ self._kernel()).view(size, rows, columns, *kernel_size, shape[3])
        height, width = self.padding
        folded = fold(patches, shape, self.module.stride)
        return folded[:, height : shape[1] - height, width : shape[2] - width]

    def book(self, kept: Any, g: Tensor, inverse: list[Tensor] | None = None) -> tuple[Tensor, AddSum]:
        unfolded, _ = kept
        out, channels = self.module.out_channels, self.module.in_channels
        by_position = g.reshape(len(g), -1, out)  # (B, P, out)
        kernels = torch.bmm(by_position.transpose(1, 2), unfolded).flatten(1)  # (B, out K)
        squares = squared_norms(kernels, patch_order(inverse[0]) if inverse else None)
        biases = None
        if self.module.bias is not None:
            biases = by_position.sum(1)  # (B, out)
            squares = squares + squared_norms(biases, inverse[1] if inverse else None)

        def add_sum(factors: Tensor, sums: list[Tensor], beta: int) -> None:
            total = (factors @ kernels).view(out, *self.module.kernel_size, channels).permute(0, 3, 1, 2)
            sums[0].copy_(total + sums[0] if beta else total)
            if biases is not None:
                torch.addmv(sums[1], biases.T, factors, beta=beta, out=sums[1])

        return squares, add_sum

    def operations(self) -> int:
        return operations(self.module.weight.numel()) + operations(self.module.out_channels)

    def _kernel(self) -> Tensor:
        return patch_order(self.module.weight)


@final
class Tanh(Layer):
    """nn.Tanh."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = torch.tanh(x)
        return y, y

    def backward(self, kept: Tensor, g: Tensor) -> Tensor:
        return torch.ops.aten.tanh_backward.grad_input(g, kept, grad_input=g)


@final
class ReLU(Layer):
    """nn.ReLU."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = torch.relu(x)
        return y, y

    def backward(self, kept: Tensor, g: Tensor) -> Tensor:
        return torch.ops.aten.threshold_backward.grad_input(g, kept, 0, grad_input=g)


@final
class MaxPool2d(Layer):
    """nn.MaxPool2d on (B, H, W, C)."""

    def __init__(self, module: nn.MaxPool2d) -> None:
        self.window = (pair(module.kernel_size), pair(module.stride), pair(module.padding))

    def forward(self, x: Tensor) -> tuple[Tensor, Any]:
        image = x.permute(0, 3, 1, 2)
        y, chosen = torch.ops.aten.max_pool2d_with_indices(image, *self.window)
        return y.permute(0, 2, 3, 1), (image, chosen)

    def backward(self, kept: Any, g: Tensor) -> Tensor:
        image, chosen = kept
        back = torch.ops.aten.max_pool2d_with_indices_backward
        return back(g.permute(0, 3, 1, 2), image, *self.window, (1, 1), False, chosen).permute(0, 2, 3, 1)


@final
class Flatten(Layer):
    """nn.Flatten, which lays the channels out first."""

    def forward(self, x: Tensor) -> tuple[Tensor, Any]:
        image = x.permute(0, 3, 1, 2) if x.dim() == 4 else x
        return image.flatten(1), image.shape

    def backward(self, kept: Any, g: Tensor) -> Tensor:
        image = g.view(kept)
        return image.permute(0, 2, 3, 1) if len(kept) == 4 else image


def weighted(x: Tensor, g: Tensor, inverse: list[Tensor]) -> Tensor:
    """g^T (1 / D^2) x of each row, for x (B, in) and g (B, out), and g times that of the bias if there is one: (B,)."""
    biases = torch.mv(g, inverse[1]) if len(inverse) == 2 else x.new_zeros(len(x))
    return biases.add_(row_sums((g @ inverse[0]).mul_(x)))


def add_products(x: Tensor, g: Tensor, factors: Tensor, sums: list[Tensor], beta: int) -> None:
    """sums <- beta sums + the sum over rows of factor * g x^T, and of factor * g if there is a bias; g is used up."""
    if len(sums) == 2:
        torch.addmv(sums[1], g.T, factors, beta=beta, out=sums[1])
    torch.addmm(sums[0], g.mul_(factors[:, None]).T, x, beta=beta, out=sums[0])


def patch_order(weight: Tensor) -> Tensor:
    """A convolution's weights in the order of a patch: (out, C, kh, kw) -> (out, kh kw C)."""
    return weight.permute(0, 2, 3, 1).flatten(1)


def pair(size: int | tuple[int, int]) -> tuple[int, int]:
    """The size as (height, width)."""
    return (size, size) if isinstance(size, int) else size


def unfold(x: Tensor, kernel: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    """All patches as a view, no copy: (B, H, W, C) -> (B, h, w, kh, kw, C)."""
    size, height, width, channels = x.shape
    rows, columns = (height - kernel[0]) // stride[0] + 1, (width - kernel[1]) // stride[1] + 1
    along_b, along_h, along_w, along_c = x.stride()
    steps = (along_b, along_h * stride[0], along_w * stride[1], along_h, along_w, along_c)
    return x.as_strided((size, rows, columns, kernel[0], kernel[1], channels), steps)


def fold(patches: Tensor, shape: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    """The sum of overlapping patches, the transpose of `unfold`: (B, h, w, kh, kw, C) -> (B, H, W, C).

    Patches that do not overlap are added at once: ceil(kh / stride)^2 additions of strided views.
    """
    rows, columns, kernel_rows, kernel_columns = patches.shape[1:5]
    down, right = stride
    spare_rows, spare_columns = -kernel_rows % down, -kernel_columns % right
    if spare_rows or spare_columns:  # fill the kernel up to whole strides
        patches = F.pad(patches, (0, 0, 0, spare_columns, 0, spare_rows))
    reach_down, reach_right = patches.shape[3] // down, patches.shape[4] // right
    size, channels = shape[0], shape[3]
    blocks = patches.view(size, rows, columns, reach_down, down, reach_right, right, channels)
    height, width = rows + reach_down - 1, columns + reach_right - 1  # in strides
    x = patches.new_zeros(size, height, down, width, right, channels)
    for i in range(reach_down):
        for j in range(reach_right):
            x[:, i : i + rows, :, j : j + columns] += blocks[:, :, :, i, :, j].transpose(2, 3)
    return cropped(x.view(size, height * down, width * right, channels), shape)


def cropped(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The images cut, or filled up with zeros, to the shape's height and width."""
    return F.pad(x, (0, 0, 0, shape[2] - x.shape[2], 0, shape[1] - x.shape[1]))
