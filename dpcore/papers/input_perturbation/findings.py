"""Numbers in the answers to paper 003's claims."""

import math
from dataclasses import replace

from dpcore.papers.input_perturbation.noise_formulas import gradient_noise, local_noise, own_noise
from dpcore.papers.input_perturbation.numbers import BREAST_CANCER, EPSILONS, WORDS, local_epsilon
from dpcore.papers.words import Numbers, findings
from dpcore.privacy.report.numbers import outward, plain, short

GIVEN = BREAST_CANCER
PROMISED: dict[str, object] = {"epsilon": plain(GIVEN.epsilon), "delta": plain(GIVEN.delta), "steps": GIVEN.steps}


def _private() -> Numbers:
    noise = own_noise(GIVEN)
    kept = outward(local_epsilon(noise, GIVEN.delta), math.ceil)
    needed = outward(local_noise(GIVEN), math.ceil)
    counts = {"n": GIVEN.n, "convexity": GIVEN.convexity}
    return PROMISED | counts | {"claimed": short(noise), "kept": kept, "needed": needed}


def _between() -> Numbers:
    noises = [outward(local_noise(replace(GIVEN, epsilon=each)), math.ceil) for each in EPSILONS]
    told = ", ".join(f"{noise} at epsilon {epsilon:g}" for epsilon, noise in zip(EPSILONS, noises, strict=True))
    return PROMISED | {"noises": told}


def _less_noise() -> Numbers:
    return {"convexity": GIVEN.convexity, "ratio": short(own_noise(GIVEN) / gradient_noise(GIVEN))}


def _as_accurate() -> Numbers:
    noises = {
        "local": local_noise(GIVEN),
        "halved": local_noise(replace(GIVEN, epsilon=GIVEN.epsilon / 2)),
        "gradient": 2 / GIVEN.n * math.sqrt(GIVEN.steps) * GIVEN.unit_noise,
    }
    return PROMISED | {name: outward(noise, math.ceil) for name, noise in noises.items()}


FINDINGS = findings(WORDS, private=_private, between=_between, less_noise=_less_noise, as_accurate=_as_accurate)
