"""A run under audit: with canaries in its data, its trainer's parts replaced, and each step
recorded.
"""

import math
import time
from dataclasses import replace

import numpy as np
import torch
from numpy.random import SeedSequence
from torch import Tensor

from dpcore.audit.bounds.e_process import NoiseEvidence
from dpcore.audit.bounds.finding import Flags
from dpcore.audit.broken_trainers import replace_parts
from dpcore.audit.canaries import CanaryScores, WithCanaries, flip_coins
from dpcore.audit.events import Prepared, Watched
from dpcore.audit.probe import Look, NeighbourProbe, Observer, SeenStep
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
        self._clip_norm = config.clip_norm
        count = min(parameters, max(PROJECTIONS // steps, MIN_DIRECTIONS))
        # Coordinates.
        self._directions = torch.as_tensor(np.sort(rng.choice(parameters, count, replace=False)))
        self._tracked = int(math.sqrt(2 * TRACKED_PAIRS / steps) / config.q) + 1  # or all
        self.noise: list[FloatArray] = []  # (k,) a step: the release less the clipped sum, over C D
        self.evidence = NoiseEvidence(steps, count)
        self.sigmas: list[float] = []  # charged for each step
        self.inclusions: list[Flags] = []  # (k,) a step: tracked examples in its batch
        self.sizes: list[int] = []  # of the whole batches
        self.looks: list[Look] = []

    def add(self, seen: SeenStep, drawn: Flags, sigma: float) -> None:
        """Take in a step, the examples drawn for it as flags (n,), and the sigma charged."""
        released = self._at(seen.released)
        clipped = self._at(seen.clipped)
        scale = self._at(seen.scale)
        noise = ((released - clipped) / scale).numpy() / self._clip_norm
        self.noise.append(noise)
        if sigma > 0:
            spacing = ROUNDINGS * torch.finfo(seen.released.dtype).eps
            most = (released.abs() + clipped.abs()) / scale
            rounded = most.numpy() / self._clip_norm
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
        relative = np.array(self.noise) / np.array(self.sigmas)[:, None]
        factor = math.sqrt(np.mean(relative**2))
        return factor if math.isfinite(factor) else None


class WatchedRun:
    """One run in training, and its record."""

    def __init__(self, request: AuditRequest, start: int) -> None:
        secret, coins, choices = SeedSequence((start, DOMAIN)).spawn(3)
        config = replace(request.trained, seed=None)  # draws noise that no other run draws
        self.request = request
        self.config = config
        self.plan = plan(config)
        secret_bits = int.from_bytes(secret.generate_state(4, np.uint32).tobytes())  # 128
        self.run = run = TrainingRun(config, time.perf_counter, self.plan, secret_bits)
        self.classes = len(DATASETS[config.dataset].classes)
        count = request.canaries
        self.without_canaries = ""
        if not config.private or config.sigma == 0:
            count = 0
            self.without_canaries = WITHOUT_NOISE
        elif run.descent.optimizer.transform:
            count = 0
            self.without_canaries = TRANSFORMED
        parameters = run.engine.parameters
        self.canaries = flip_coins(
            count, parameters, config.clip_norm, np.random.default_rng(coins)
        )
        self._with_canaries = WithCanaries(run.engine, self.canaries, self.classes)
        present = self._put_in()
        self._examples = run.train  # as they are before anything replaces them
        request.by.alter(run)
        self.observer = Observer(run, present)
        self._probe = NeighbourProbe(run, self.observer, self.classes)
        steps = self.plan.steps
        self._looks = set(np.linspace(1, steps, min(LOOKS, steps)).astype(int).tolist())
        self.record = Record(config, steps, len(parameters), np.random.default_rng(choices))
        self.scores = CanaryScores(len(self.canaries), steps)

    def _put_in(self) -> Tensor:
        """Put canaries in the places of the first examples; return the places that hold an example,
        as flags (n,).
        """
        run = self.run
        count = len(self.canaries)
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
        sigma = float(self.run.sigmas[step - 1])
        before = self.run.snapshot() if step in self._looks else None
        seen = self.observer.take(step)
        drawn = np.zeros(self.config.examples, dtype=np.bool_)
        drawn[self.observer.drawn] = True
        self.record.add(seen, drawn, sigma)
        if len(self.canaries):
            self._score(seen, drawn[: len(self.canaries)] & self.canaries.inside, sigma)
        if before:
            look = self._probe.measure(step, before, seen)
            if look:
                self.record.looks.append(look)

    def _score(self, seen: SeenStep, sampled: Flags, sigma: float) -> None:
        at = self.canaries.coordinates
        own = seen.released[at].double() - self._with_canaries.others.double()
        projections = (own / seen.scale[at]).cpu().numpy() / self.config.clip_norm
        self.scores.add(projections, sampled, self.config.q, sigma)

    def losses(self) -> tuple[FloatArray, FloatArray]:
        """Return the trained model's losses on the training examples without canaries, and on the
        test examples.
        """
        x, y = self._examples
        count = len(self.canaries)
        return self._losses(x[count:], y[count:]), self._losses(*self.run.test)

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
        accepted = self.plan.steps if self.run.annealing else None
        claim = self.request.by.claims(self.config, accepted)
        claimed = []
        unaccounted = self.plan.unaccounted
        if claim:
            claimed = [(each.q, each.sigma, each.count) for each in claim.releases]
            unaccounted = ""
        return Prepared(
            self.config.examples,
            self.plan.steps,
            self.config.q,
            len(self.run.engine.parameters),
            len(self.canaries),
            int(self.canaries.inside.sum()),
            str(self.run.device),
            tuple(claimed),
            self.config.delta,
            unaccounted,
        )

    def progress(self, step: int) -> Watched:
        factor = self.record.noise_factor()
        sigma = None if factor is None else factor * self.config.sigma
        looks = self.record.looks
        alone = max((look.alone for look in looks), default=None)
        moved = max((look.moved for look in looks), default=None)
        evidence = self.record.evidence
        logs = evidence.logs if evidence.seen else ()
        return Watched(step, self.plan.steps, sigma, alone, moved, logs, evidence.caught)
