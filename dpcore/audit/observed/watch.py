"""A run that is trained under the audit's eyes: canaries put in, the trainer's parts replaced, everything seen."""

import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import torch
from numpy.random import SeedSequence
from torch import Tensor

from dpcore.audit.events import Prepared, Watched
from dpcore.audit.observed.canaries import Canaries, CanaryScores, WithCanaries, flipped
from dpcore.audit.observed.look import Looking, divided
from dpcore.audit.observed.observer import Observer, Seen
from dpcore.audit.observed.own_gradients import OwnGradients
from dpcore.audit.observed.record import Record
from dpcore.audit.parts import put_in
from dpcore.audit.request import AuditRequest
from dpcore.data.catalogue import DATASETS
from dpcore.privacy.types import FloatArray
from dpcore.training.plan import plan
from dpcore.training.training_run import TrainingRun

LOOKS = 8  # steps that are looked at closely
DOMAIN = int.from_bytes(b"audit")  # keeps an audit's random numbers apart from those of every run
WITHOUT_NOISE = "No canaries: without noise there is nothing that could hide them."
TRANSFORMED = (
    "No canaries: this optimizer changes each gradient before it is clipped, and leaves none its own direction."
)


class Watch:
    """One run in training, and what was seen of it."""

    def __init__(self, request: AuditRequest, start: int) -> None:
        secret, coins, choices = SeedSequence((start, DOMAIN)).spawn(3)
        config = replace(request.trained, seed=None)  # noise that no other run draws, whatever its seed
        self.request, self.config, self.plan = request, config, plan(config)
        self._rng = np.random.default_rng(choices)
        self.run = run = TrainingRun(config, time.perf_counter, self.plan, _whole(secret))
        self.classes = len(DATASETS[config.dataset].classes)
        self.without_canaries = _obstacle(run)
        self.canaries = self._flip(np.random.default_rng(coins))
        self._with_canaries = WithCanaries(run.engine, self.canaries, self.classes)
        present = self._put_in()
        request.by.alter(run)
        self.observer = Observer(run, present)
        own = OwnGradients(run.engine.module, run.descent.clipping)
        self._looking = Looking(run, self.observer, own, self.classes)
        self._looks = set(np.linspace(1, self.plan.steps, min(LOOKS, self.plan.steps)).astype(int).tolist())
        self.record = Record(config, self.plan.steps, len(run.engine.parameters), self._rng)
        self.scores = CanaryScores(len(self.canaries), self.plan.steps)

    def _flip(self, coins: np.random.Generator) -> Canaries:
        count = 0 if self.without_canaries else self.request.canaries
        return flipped(count, self.run.engine.parameters, self.config.clip_norm, coins)

    def _put_in(self) -> Tensor:
        """Put the canaries in the places of the first examples; which of all places hold an example (n,)."""
        run, count = self.run, len(self.canaries)
        put_in(run, engine=self._with_canaries)
        x, y = run.train
        labels = y.clone()
        labels[:count] = self.classes + torch.arange(count, device=y.device)
        run.train = (x, labels)
        present = torch.ones(len(y), dtype=torch.bool, device=y.device)
        present[:count] = torch.as_tensor(self.canaries.inside, device=y.device)
        return present

    def step(self, step: int) -> None:
        """Take a step, and keep what is seen of it. Errors: RuntimeError if the loss stops being finite."""
        sigma, looked = float(self.run.sigmas[step - 1]), step in self._looks
        before = self.run.snapshot() if looked else None
        seen = self.observer.take(step)
        self.record.add(seen, self.observer.drawn, sigma)
        if len(self.canaries):
            self._score(seen, sigma)
        if before:
            look = self._looking.at(step, before, seen)
            self.record.looks += [look] if look else []

    def _score(self, seen: Seen, sigma: float) -> None:
        """Add a step to the canaries' scores."""
        at, clip_norm = self.canaries.coordinates, self.config.clip_norm
        scale = None if seen.scale is None else seen.scale[at].double()
        own = divided(seen.released[at].double() - self._with_canaries.others.double(), scale)
        drawn = np.zeros(self.config.examples, dtype=np.bool_)
        drawn[self.observer.drawn] = True
        sampled = drawn[: len(self.canaries)] & self.canaries.inside
        self.scores.add(own.cpu().numpy() / clip_norm, sampled, self.config.q, sigma)

    def losses(self) -> tuple[FloatArray, FloatArray]:
        """The trained model's losses on the training examples, canaries left out, and on the test examples."""
        run, count = self.run, len(self.canaries)
        members = tuple(rows.all_of(slice(count, None)) for rows in self.observer.rows)
        return self._losses(*members), self._losses(*run.test)

    def _losses(self, x: Tensor, y: Tensor) -> FloatArray:
        with self.run.cores.working():
            logits = self.run.engine.logits(x)
        return torch.nn.functional.cross_entropy(logits.double(), y, reduction="none").cpu().numpy()

    @property
    def accepted(self) -> int | None:
        """Steps that were accepted; None for a run that accepts everything."""
        return self.run.annealing.accepted if self.run.annealing else None

    def prepared(self) -> Prepared:
        """What is known before the first step."""
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

    def watched(self, step: int) -> Watched:
        """How far it is."""
        factor, looks = self.record.noise_factor(), self.record.looks
        sigma = None if factor is None else factor * self.config.sigma
        return Watched(
            step,
            self.plan.steps,
            sigma,
            _largest(look.alone for look in looks),
            _largest(look.moved for look in looks),
        )


def _whole(seed: SeedSequence) -> int:
    """128 bits of the seed."""
    return int.from_bytes(seed.generate_state(4, np.uint32).tobytes())


def _obstacle(run: TrainingRun) -> str:
    """Why the run can have no canaries, as a sentence; empty where it can."""
    if not run.config.private or run.config.sigma == 0:
        return WITHOUT_NOISE
    return TRANSFORMED if run.descent.optimizer.transform else ""


def _largest(values: Iterable[float]) -> float | None:
    return max(values, default=None)
