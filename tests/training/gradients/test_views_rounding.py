"""Norms of means over views are never taken for less than they are: views that cancel, against
float64.
"""

import itertools
import math

import pytest
import torch
from torch import Tensor, nn

from dpcore.training.gradients.clipped_sum import group_sizes
from dpcore.training.gradients.clipping import CLIPPINGS, Flat
from dpcore.training.gradients.engines import BookKeeping
from dpcore.training.gradients.layers import LinearOfViews
from dpcore.training.gradients.rounding import gram, gram_operations, raised, relative_error
from tests.training.gradients.test_rounding import hostile_rows
from tests.training.oracles import ENGINES, WAYS, engine_on

OUTPUTS = 5
C = 0.7


def cancelling(views: int, inputs: int, apart: float) -> Tensor:
    """Examples with nearly opposite views: (8, K, inputs)."""
    rows, noise = torch.randn(2, 8, views, inputs, generator=torch.Generator().manual_seed(views))
    signs = torch.tensor([1.0, -1.0]).repeat(views)[:views]
    return 1e5 * (rows[:, :1] * signs[None, :, None] + apart * noise)


def hostile_views(views: int, inputs: int) -> Tensor:
    """Views that cancel, or differ in length by 1e6, or whose squares are lost beside larger ones:
    (31, K, inputs).
    """
    rows = torch.randn(5, views, inputs, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([1e3, 1e-3]).repeat(views)[:views, None]
    lost = hostile_rows(inputs)[:, None].expand(-1, views, -1)
    signs = torch.tensor([1.0, -1.0]).repeat(views)[:views, None]
    cancel = [cancelling(views, inputs, apart) for apart in (1e-6, 1e-3)]
    return torch.cat([*cancel, rows * lengths, 100 * lost, 100 * lost * signs])


def exact(x: Tensor, g: Tensor, inverse: list[Tensor]) -> tuple[Tensor, Tensor]:
    """sqrt(Q) and S of the theorem in float64, for x (B, K, in), ones for a bias behind them, and g
    (B, K, out).
    """
    root = (
        torch.cat([inverse[0], inverse[1][:, None]], 1).double().sqrt()
        if len(inverse) == 2
        else inverse[0].double().sqrt()
    )
    gradients = g.double()[..., None] * x.double()[:, :, None] * root  # (B, K, out, in)
    return gradients.sum(1).flatten(1).norm(dim=1), gradients.flatten(2).norm(dim=2).sum(1)


@pytest.mark.parametrize("inputs", [1, 783, 3969])
@pytest.mark.parametrize("views", [1, 2, 16])
def test_what_the_theorem_says_of_a_squared_norm_holds(views, inputs):
    for bias, scaled in itertools.product((False, True), repeat=2):
        assert_theorem(views, inputs, bias, scaled)


def assert_theorem(views: int, inputs: int, bias: bool, scaled: bool) -> None:
    module = nn.Linear(inputs, OUTPUTS, bias=bias)
    layer = LinearOfViews(module, views)
    x = hostile_views(views, inputs)
    g = torch.randn(len(x), 1, OUTPUTS, generator=torch.Generator().manual_seed(1)).repeat(
        1, views, 1
    )
    g[::3] += 1e-3 * torch.randn(g[::3].shape, generator=torch.Generator().manual_seed(2))
    given = [
        torch.logspace(-2, 2, weight.numel()).view(weight.shape) for weight in module.parameters()
    ]
    squares, _ = layer.book(x.flatten(0, 1), g.flatten(0, 1), given if scaled else None)
    ones = torch.ones(*x.shape[:2], 1)
    root, total = exact(
        torch.cat([x, ones], 2) if bias else x,
        g,
        given if scaled else [part * 0 + 1 for part in given],
    )
    found = squares.double().sqrt()
    assert (found >= root + relative_error(views + 1) * total).all()
    allowed = relative_error(layer._operations + 4 * views + 14)
    assert (found <= root * (1 + 1e-6) + 1.01 * math.sqrt(2 * allowed) * total + 1e-9).all()


def test_what_underflows_in_one_factor_is_not_lost_where_the_other_is_large():
    for views in [1, 2, 16]:
        for size in [1e-45, 1e-40, 1e-25, 1e-21]:
            layer = LinearOfViews(nn.Linear(783, OUTPUTS, bias=False), views)
            x, g = torch.full((1, views, 783), size), torch.full((1, views, OUTPUTS), 1e15)
            # Either factor.
            for one, other in ((x, g), (x[:, :, :OUTPUTS], g[:, :, :1].expand(-1, -1, 783))):
                inputs, outputs = (one, other) if one.shape[2] == 783 else (other, one)
                squares, _ = layer.book(inputs.flatten(0, 1), outputs.flatten(0, 1))
                root, total = exact(inputs, outputs, [torch.ones(OUTPUTS, 783)])
                assert (
                    squares.double().sqrt() >= root + relative_error(views + 1) * total
                ).all(), (views, size)


def test_what_overflows_is_infinite_so_that_its_factor_is_zero():
    layer = LinearOfViews(nn.Linear(3, OUTPUTS), 2)
    x = torch.tensor([[1e25, 1.0, 1.0], [-1e25, 1.0, 1.0]])
    squares, _ = layer.book(x, torch.ones(2, OUTPUTS))
    assert squares.tolist() == [math.inf]
    assert Flat(1.0).factors(squares[None]).tolist() == [[0.0]]


def test_products_of_rows_err_by_less_than_the_bound():
    for terms in [1, 783, 4096, 4097, 10_000]:
        rows = hostile_rows(terms)[:, None].repeat(1, 2, 1)
        rows[:, 1] = rows[:, 1].flip(1) * torch.linspace(0.1, 1.0, terms)
        products = rows.double() @ rows.double().mT
        assert (
            (gram(rows).double() / products - 1).abs() <= relative_error(gram_operations(terms))
        ).all(), terms


def network(depth: int, inputs: int) -> nn.Sequential:
    """One layer of zeros, for which opposite views cancel, or two layers."""
    torch.manual_seed(2)
    if depth == 2:
        return nn.Sequential(nn.Linear(inputs, 20), nn.ReLU(), nn.Linear(20, OUTPUTS))
    module = nn.Linear(inputs, OUTPUTS, bias=False)
    nn.init.zeros_(module.weight)
    return nn.Sequential(module)


@pytest.mark.parametrize("kind", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("views", [2, 16])
def test_no_mean_over_hostile_views_is_longer_than_the_bound(views, depth, kind):
    engine, x = (
        engine_on(kind, network(depth, 783), chunk=16, views=views),
        hostile_views(views, 783)[::2],
    )
    for clipping, scaled in WAYS:
        inverse = torch.logspace(-1, 1, len(engine.parameters)) ** -2 if scaled else None
        divisor, bound = (
            1.0 if inverse is None else inverse.double().rsqrt(),
            CLIPPINGS[clipping](C),
        )
        lengths = []
        for i in range(len(x)):
            total = engine.clipped_sum(
                x[i : i + 1], torch.tensor([i % OUTPUTS]), bound, inverse
            ).total
            lengths.append(
                (total.double() / divisor).norm().item()
                / (C * bound.sensitivity(len(group_sizes(engine.module))))
            )
        # It is reached, or this would say nothing.
        assert 0.999 < max(lengths) <= 1.0, (clipping, scaled)


def longest(engine) -> float:
    """The longest contribution of an example whose views nearly cancel, in units of C."""
    x = cancelling(2, 783, 1e-6)
    sums = [
        engine.clipped_sum(x[i : i + 1], torch.tensor([0]), Flat(C)).total.double().norm()
        for i in range(len(x))
    ]
    return float(max(sums)) / C


def test_the_sum_of_the_products_alone_would_break_the_bound(monkeypatch):
    engine = engine_on(BookKeeping, network(1, 783), views=2)
    assert longest(engine) <= 1.0
    monkeypatch.setattr(
        "dpcore.training.gradients.layers.raised",
        lambda products, *others: products.sum((1, 2)).clamp(min=0),
    )
    assert longest(engine) > 1.01


def test_an_error_allowed_for_relative_to_the_norm_would_not_save_it(monkeypatch):
    engine = engine_on(BookKeeping, network(1, 783), views=2)
    monkeypatch.setattr(
        "dpcore.training.gradients.layers.raised",
        lambda products, lengths, operations: (
            products.sum((1, 2)).clamp(min=0) * (1 + relative_error(operations))
        ),
    )
    assert longest(engine) > 1.01


def test_views_that_cancel_are_taken_for_longer_than_they_are_and_others_hardly():
    products, lengths = (
        torch.tensor([[[1.0, -1.0], [-1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]),
        torch.ones(2, 2),
    )
    cancel, equal = raised(products, lengths, 1000).sqrt().tolist()
    error = relative_error(1000 + 4 * 2 + 14)
    assert cancel == pytest.approx(2 * math.sqrt(error / (1 - error)), rel=1e-5)
    assert equal == pytest.approx(2, rel=1e-4)
    assert equal > 2
