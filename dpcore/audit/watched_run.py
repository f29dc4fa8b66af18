"""A run under audit: with canaries in its data, its trainer's parts replaced, and each step
recorded.
"""

import math
import time
from dataclasses import replace

import numpy as np
import torch
from numpy.random import SeedSequence
from numpy.typing import NDArray
from torch import Tensor

from dpcore.audit.bounds.e_process import NoiseEvidence
from dpcore.audit.broken_trainers import replace_parts
from dpcore.audit.canaries import CanaryScores, WithCanaries, flip_coins
from dpcore.audit.events import Prepared, Watched
from dpcore.audit.probe import Look, NeighbourProbe, Observer, SeenStep, divided
from dpcore.audit.request import AuditRequest
from dpcore.data.catalogue import DATASETS
from dpcore.privacy.mechanism import FloatArray
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan
from dpcore.training.training_run import TrainingRun

PROJECTIONS = 200_000  # of the noise, over all steps
MIN_DIRECTIONS = 32
TRACKED_PAIRS = 4_000_000  # of tracked examples in one batch, over all steps
LOOKS = 8  # steps that are probed
ROUNDINGS = 4  # more than the release and its noise undergo, in units of the spacing of numbers
DOMAIN = int.from_bytes(b"audit")  # keeps an audit's random numbers apart from those of every run
WITHOUT_NOISE = "No canaries: the settings have no noise to hide them."
TRANSFORMED = (
    "No canaries: this optimizer changes gradients before clipping, so no canary keeps its own"
    " direction."
)


class Record:
    """Measurements of a watched run, step by step."""

    def __init__(
        self, config: RunConfig, steps: int, parameters: int, rng: np.random.Generator
    ) -> None:
        self._config = config
        count = min(parameters, max(PROJECTIONS // steps, MIN_DIRECTIONS))
        # Coordinates.
        self._directions = torch.as_tensor(np.sort(rng.choice(parameters, count, replace=False)))
        self._tracked = min(
            config.examples, int(math.sqrt(2 * TRACKED_PAIRS / steps) / config.q) + 1
        )
        self.noise: list[FloatArray] = []  # (k,) a step: the release less the clipped sum, over C D
        self.evidence = NoiseEvidence(steps, count)
        self.sigmas: list[float] = []  # charged for each step
        self.inclusions: list[NDArray[np.bool_]] = []  # (k,) a step: tracked examples in its batch
        self.sizes: list[int] = []  # of the whole batches
        self.looks: list[Look] = []

    def add(self, seen: SeenStep, drawn: NDArray[np.bool_], sigma: float) -> None:
        """Take in a step, the examples drawn for it as flags (n,), and the sigma charged."""
        released, clipped = self._at(seen.released), self._at(seen.clipped)
        scale = None if seen.scale is None else self._at(seen.scale)
        noise, rounded = (
            divided(each, scale).numpy() / self._config.clip_norm
            for each in (released - clipped, released.abs() + clipped.abs())
        )
        self.noise.append(noise)
        if sigma > 0:
            spacing = ROUNDINGS * torch.finfo(seen.released.dtype).eps
            self.evidence.take(noise / sigma, spacing * (rounded / sigma + 1))
        self.inclusions.append(drawn[: self._tracked].copy())
        self.sizes.append(int(drawn.sum()))
        self.sigmas.append(sigma)

    def _at(self, vector: Tensor) -> Tensor:
        """Return the recorded coordinates of a vector, in float64."""
        return vector[self._directions.to(vector.device)].cpu().double()

    @property
    def steps(self) -> int:
        return len(self.sizes)

    def noise_factor(self) -> float | None:
        """Return the root mean square of the noise over the noise charged; None if none is charged
        or seen.
        """
        if not self.sigmas or not all(self.sigmas):
            return None
        factor = math.sqrt(np.mean((np.array(self.noise) / np.array(self.sigmas)[:, None]) ** 2))
        return factor if math.isfinite(factor) else None


class WatchedRun:
    """One run in training, and its record."""

    def __init__(self, request: AuditRequest, start: int) -> None:
        secret, coins, choices = SeedSequence((start, DOMAIN)).spawn(3)
        config = replace(request.trained, seed=None)  # draws noise that no other run draws
        self.request, self.config, self.plan = request, config, plan(config)
        secret_bits = int.from_bytes(secret.generate_state(4, np.uint32).tobytes())  # 128
        self.run = run = TrainingRun(config, time.perf_counter, self.plan, secret_bits)
        self.classes = len(DATASETS[config.dataset].classes)
        noisy = config.private and config.sigma > 0
        self.without_canaries = ""
        if not noisy:
            self.without_canaries = WITHOUT_NOISE
        elif run.descent.optimizer.transform:
            self.without_canaries = TRANSFORMED
        count = 0 if self.without_canaries else request.canaries
        self.canaries = flip_coins(
            count, run.engine.parameters, config.clip_norm, np.random.default_rng(coins)
        )
        self._with_canaries = WithCanaries(run.engine, self.canaries, self.classes)
        present = self._put_in()
        request.by.alter(run)
        self.observer = Observer(run, present)
        self._probe = NeighbourProbe(run, self.observer, self.classes)
        self._looks = set(
            np.linspace(1, self.plan.steps, min(LOOKS, self.plan.steps)).astype(int).tolist()
        )
        self.record = Record(
            config, self.plan.steps, len(run.engine.parameters), np.random.default_rng(choices)
        )
        self.scores = CanaryScores(len(self.canaries), self.plan.steps)

    def _put_in(self) -> Tensor:
        """Put canaries in the places of the first examples; return the places that hold an example,
        as flags (n,).
        """
        run, count = self.run, len(self.canaries)
        replace_parts(run, engine=self._with_canaries)
        x, y = run.train
        labels = y.clone()
        labels[:count] = self.classes + torch.arange(count, device=y.device)
        run.train = (x, labels)
        present = torch.ones(len(y), dtype=torch.bool, device=y.device)
        present[:count] = torch.as_tensor(self.canaries.inside, device=y.device)
        return present

    def step(self, step: int) -> None:
        """Take a step and record it. Errors: RuntimeError if the loss is not finite."""
        sigma, looked = float(self.run.sigmas[step - 1]), step in self._looks
        before = self.run.snapshot() if looked else None
        seen = self.observer.take(step)
        drawn = np.zeros(self.config.examples, dtype=np.bool_)
        drawn[self.observer.drawn] = True
        self.record.add(seen, drawn, sigma)
        if len(self.canaries):
            self._score(seen, drawn[: len(self.canaries)] & self.canaries.inside, sigma)
        if before:
            look = self._probe.measure(step, before, seen)
            self.record.looks += [look] if look else []

    def _score(self, seen: SeenStep, sampled: NDArray[np.bool_], sigma: float) -> None:
        at, clip_norm = self.canaries.coordinates, self.config.clip_norm
        scale = None if seen.scale is None else seen.scale[at].double()
        own = divided(seen.released[at].double() - self._with_canaries.others.double(), scale)
        self.scores.add(own.cpu().numpy() / clip_norm, sampled, self.config.q, sigma)

    def losses(self) -> tuple[FloatArray, FloatArray]:
        """Return the trained model's losses on the training examples without canaries, and on the
        test examples.
        """
        run, count = self.run, len(self.canaries)
        members = tuple(rows.all_of(slice(count, None)) for rows in self.observer.rows)
        return self._losses(*members), self._losses(*run.test)

    def _losses(self, x: Tensor, y: Tensor) -> FloatArray:
        with self.run.cores.working():
            logits = self.run.engine.logits(x)
        return torch.nn.functional.cross_entropy(logits.double(), y, reduction="none").cpu().numpy()

    @property
    def accepted(self) -> int | None:
        """The number of accepted steps; None for a run that accepts every step."""
        return self.run.annealing.accepted if self.run.annealing else None

    def prepared(self) -> Prepared:
        """Return the event before the first step."""
        claim = self.request.by.claims(self.config, self.plan.steps if self.run.annealing else None)
        releases = () if claim is None else claim.releases
        return Prepared(
            self.config.examples,
            self.plan.steps,
            self.config.q,
            len(self.run.engine.parameters),
            len(self.canaries),
            int(self.canaries.inside.sum()),
            str(self.run.device),
            tuple((each.q, each.sigma, each.count) for each in releases),
            self.config.delta,
            "" if claim else self.plan.unaccounted,
        )

    def progress(self, step: int) -> Watched:
        factor = self.record.noise_factor()
        sigma = None if factor is None else factor * self.config.sigma
        looks = self.record.looks
        alone = max((look.alone for look in looks), default=None)
        moved = max((look.moved for look in looks), default=None)
        logs = ()
        caught = ""
        evidence = self.record.evidence
        if evidence.seen:
            logs = evidence.logs
            caught = evidence.caught
        return Watched(step, self.plan.steps, sigma, alone, moved, logs, caught)
