"""The steps of gradient perturbation, which are charged by a closed form, under the certified accountant."""

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.perturbation.methods import METHODS
from tests.training.perturbation.problems import random_problem, task_for


def test_the_certified_band_of_the_steps_of_gradient_perturbation_holds_its_epsilon() -> None:
    for epsilon in [0.01, 0.25, 1.0, 8.0]:
        task = task_for(random_problem())
        sigma = METHODS["gradient"].noise(task, epsilon) * task.examples / (2 * task.lipschitz)
        band, less = (
            ACCOUNTANTS["pld"].curve(Mechanism.constant(1.0, noise, task.steps), task.steps, task.delta).last
            for noise in (sigma, 0.99 * sigma)
        )
        assert band.lower <= epsilon <= band.value, epsilon
        assert band.value == pytest.approx(epsilon, rel=1e-3), epsilon
        assert less.lower > epsilon, epsilon
