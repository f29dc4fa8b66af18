"""An audit of each method: a canary's part in the release is as far from the noise as is charged,
and no further.

An attacker who knows all but the noise projects what the optimizer is given, divided by D, on the
canary's clipped gradient. With and without the canary the projections are two normal laws, whose
distance over their std is the mu that the step really has. It is charged as 1 / sigma for the sigma
of `plan`.
"""

import dataclasses

import numpy as np
import pytest
import torch

from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from tests.training.small_runs import CNN, mechanism_of, of_both_suites, run_of, scale_after

METHODS = {
    **{name: {"optimizer": name} for name in OPTIMIZERS},
    "literal": {"optimizer": "pi_adam", "reading": "literal"},
    "auto_s": {"clipping": "auto_s"},
    "per_layer": {"clipping": "per_layer"},
    "adadp per_layer": {"optimizer": "adadp", "clipping": "per_layer"},
}
SIGMA = 0.25  # a canary that stands out, so that few trials do
TRIALS = 40  # with the canary, and as many without: the mu found errs by about a tenth of it
OTHERS = 3  # examples beside the canary


def audited(method: str) -> tuple[float, float]:
    """The mu that the canary shows in one step, and the one that is charged for the step."""
    run = run_of(
        dataclasses.replace(
            CNN, clip_norm=0.01, sigma=SIGMA, lr=0.01, epochs=1.0, **METHODS[method]
        )
    )
    descent, before = run.descent, run.engine.parameters.clone()
    for step in range(1, descent.optimizer.wait + 2):
        run.step(step)
    # At the first weights every layer of the canary's gradient is long.
    run.engine.parameters.copy_(before)
    state, scale = descent.snapshot(), scale_after(descent.optimizer, descent.state)
    x, y = run.train[0][: OTHERS + 1].clone(), run.train[1][: OTHERS + 1].clone()
    x[-1] = 1 - x[-1]  # bright where others are dark
    given: list[torch.Tensor] = []
    rules = descent.optimizer
    descent.optimizer = rules._replace(
        absorb=lambda gradient, state: given.append(gradient.double())
    )

    def released(size: int, sigma: float) -> np.ndarray:
        descent.restore(state)
        run.engine.parameters.copy_(before)
        given.clear()
        descent.take(x[:size], y[:size], sigma, 0.01)
        assert len(given) == 1, "a network of one piece"
        return (given[0] * run.config.batch / (1.0 if scale is None else scale)).numpy()

    with run.cores.working():
        canary = released(OTHERS + 1, 0.0) - released(OTHERS, 0.0)
        canary /= np.linalg.norm(canary)
        seen = np.array(
            [
                [released(size, SIGMA) @ canary for _ in range(TRIALS)]
                for size in (OTHERS, OTHERS + 1)
            ]
        )
    mechanism = mechanism_of(run.config)
    return (
        float(np.diff(seen.mean(1))[0] / np.sqrt(seen.var(1).mean())),
        1 / mechanism.releases[-1].sigma,
    )


@pytest.mark.parametrize("method", of_both_suites(METHODS, ("sgd", "pi_adam", "per_layer")))
def test_a_canary_shows_the_mu_that_is_charged_and_half_the_noise_would_be_noticed(
    method, monkeypatch
):
    found, charged = audited(method)
    assert 0.65 * charged < found < 1.4 * charged
    add = GaussianNoise.add
    monkeypatch.setattr(
        GaussianNoise,
        "add",
        lambda own, piece, target, std, scale=None: add(own, piece, target, std / 2, scale),
    )
    found, charged = audited(method)
    assert found > 1.4 * charged
