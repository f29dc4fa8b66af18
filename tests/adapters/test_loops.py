"""Loops that call dpcore.follow themselves: plain PyTorch, and JAX with jax_privacy."""

import numpy as np
import pytest

import dpcore
from dpcore.data.loading import load
from dpcore.runs.store import Store
from tests.adapters.examples import check_stopped, kept_in, library, lines_of

pytestmark = pytest.mark.filterwarnings("ignore")
TARGET = 3.0  # of the examples
BATCH = 100
SIGMA = 1.2
EXAMPLES = 2_000
TOLD = {"delta": 1e-5, "examples": EXAMPLES, "batch": BATCH, "sigma": SIGMA, "unit": "image"}


def images() -> tuple[np.ndarray, np.ndarray]:
    """The first images of MNIST's sample, flat, and their digits."""
    part = load("mnist", "sample").train
    flat = part.images[:EXAMPLES].reshape(EXAMPLES, -1).astype(np.float32)
    return flat / max(float(flat.max()), 1.0), part.labels[:EXAMPLES].astype(np.int64)


def test_a_plain_loop_of_pytorch_stops_at_its_target_and_learns(store: Store) -> None:
    import torch
    from torch.func import functional_call, grad, vmap

    torch.manual_seed(0)
    x, y = (torch.from_numpy(each) for each in images())
    model = torch.nn.Linear(x.shape[1], 10)
    names = {
        "torch": torch,
        "dpcore": dpcore,
        "functional_call": functional_call,
        "grad": grad,
        "vmap": vmap,
        "cross_entropy": torch.nn.functional.cross_entropy,
        "model": model,
        "x": x,
        "y": y,
        "clip": 1.0,
        "rate": 0.5,
        "sigma": SIGMA,
        "batch": BATCH,
        "told": TOLD,
    }
    exec(lines_of("A plain loop of PyTorch"), names)
    check_stopped(kept_in(store), TARGET)
    guessed = functional_call(model, names["weights"], x).argmax(dim=1)
    assert (guessed == y).float().mean() > 0.6


@pytest.mark.long
def test_a_loop_of_jax_privacy_stops_at_its_target_and_learns(store: Store) -> None:
    library("jax_privacy")
    jax = library("jax")
    execution_plan = library("jax_privacy.experimental.execution_plan")
    x, y = (jax.numpy.asarray(each) for each in images())
    config = execution_plan.BandMFExecutionPlanConfig(
        iterations=10_000,
        strategy=np.ones(1),
        epsilon=None,
        delta=None,
        noise_multiplier=SIGMA,
        sampling_prob=BATCH / EXAMPLES,
        noise_seed=0,
    )

    def loss(weights, x, y):
        scores = jax.nn.log_softmax(x @ weights)
        return -jax.numpy.take_along_axis(scores, y[:, None], axis=1).mean()

    names = {
        "dpcore": dpcore,
        "plan": config.plan,
        "gradients": jax.jit(config.plan.clipped_grad(loss, batch_argnums=(1, 2))),
        "pad_to_multiple_of": library("jax_privacy.batch_selection").pad_to_multiple_of,
        "weights": jax.numpy.zeros((x.shape[1], 10)),
        "x": x,
        "y": y,
        "rate": 0.5,
        "batch": BATCH,
        "told": TOLD,
    }
    exec(lines_of("JAX's jax_privacy"), names)
    check_stopped(kept_in(store), TARGET)
    guessed = (x @ names["weights"]).argmax(axis=1)
    assert float((guessed == y).mean()) > 0.6
    # What jax_privacy itself counts for as many steps, by its own accountant.
    accounting = library("dp_accounting")
    own = accounting.pld.PLDAccountant(accounting.NeighboringRelation.REPLACE_SPECIAL)
    step = accounting.PoissonSampledDpEvent(BATCH / EXAMPLES, accounting.GaussianDpEvent(SIGMA))
    own.compose(step, kept_in(store).done)
    assert own.get_epsilon(1e-5) == pytest.approx(TARGET, rel=0.01)
