"""One run in training: its data, model and random streams, a step, and an evaluation.

A private step draws a Poisson batch, clips per-example gradients to C, adds Gaussian noise of std
sigma C to their sum, divides by the expected batch q n, and takes an optimizer's step. An empty
batch is a step of noise alone. Batches of another sampler are accounted for by that sampler.
Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, final

import numpy as np
import torch
from numpy.random import SeedSequence
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.sampling import SAMPLERS
from dpcore.training.config import RunConfig
from dpcore.training.dp_step import Descent
from dpcore.training.events import SHOWN_EXAMPLES, Evaluated, Stepped
from dpcore.training.gradients.clipped_sum import ClippedSum
from dpcore.training.gradients.core_threads import Cores
from dpcore.training.gradients.engines import engine_of
from dpcore.training.inputs import Inputs, Labelled, PickedRows, Positions, inputs_of, moved, picked
from dpcore.training.models import build
from dpcore.training.one_time_releases import (
    neuron_count,
    private_mean,
    private_projection,
    relevance_of,
    without_mean,
)
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.adppl import allot
from dpcore.training.optimizers.base import State
from dpcore.training.plan import Plan, matching, plan
from dpcore.training.progress import ReportTimes, StepTotals
from dpcore.training.randomness.batches import EpochBatches, batch_of_step
from dpcore.training.randomness.gaussian_noise import GaussianNoise
from dpcore.training.randomness.random_words import AesWords, machine_of, secret_of
from dpcore.training.randomness.streams import Streams, secret_or_new, streams_of
from dpcore.training.schedules import Annealing, LearningRate, WeightAverage


class Snapshot(NamedTuple):
    """The state that decides the next private steps."""

    parameters: Tensor
    state: State
    noise: list[Tensor]
    batches: Tensor


Figures = tuple[Tensor, Tensor, Tensor]  # losses, norms, and clipped or not; (B,) each


class StepRunner(ABC):
    """A way to take the steps of a run: it decides how, and never which batch or noise.

    A run holds its runner, so that no runner may hold its run: neither would free its memory.
    """

    note: str  # stands behind the engine's name; empty for the ordinary step on a CPU

    @abstractmethod
    def take(self, run: "TrainingRun", step: int, drawn: Positions) -> Figures:
        """Take the step of that number, for the examples at the drawn positions."""


@final
class OrdinaryStep(StepRunner):
    """Gathers the drawn examples and descends."""

    def __init__(self, note: str = "") -> None:
        self.note = note

    def take(self, run: "TrainingRun", step: int, drawn: Positions) -> Figures:
        at = moved(drawn, run.device)
        x, y = run.train
        _, losses, norms, clipped = run.descend(step, picked(x, at), y[at])
        return losses, norms, clipped


class TrainingRun:
    """One run's data, model and random streams."""

    def __init__(
        self,
        config: RunConfig,
        clock: Callable[[], float],
        planned: Plan | None = None,
        secret: int | None = None,
        inputs: Inputs | None = None,
    ) -> None:
        self.config = config
        self.secret = secret_or_new(secret) if config.seed is None else None
        self.plan = matching(config, planned) if planned else plan(config)
        self.device = device_of(config.device)
        self.cores = Cores(None if self.device.type == "cpu" else 1)
        streams = streams_of(config, self.secret)
        inputs = inputs or inputs_of(config, self.device)
        inputs = self._released_inputs(inputs, streams)
        self.train = inputs.train
        self.public = inputs.public
        self.test = inputs.test
        self.fingerprint = inputs.fingerprint
        self.note = inputs.note
        module = self._network(streams)
        transforms = config.reading != "scaled"
        self.engine = engine_of(module, self.cores, transforms=transforms, views=config.views)
        # On which the last bit of a weight depends.
        self.machine = machine_of(self.device, self.cores.count)
        key = secret_of(streams.batches, self.machine)
        self.batches = AesWords(key)
        self.epoch_batches = self._allotted_batches(key)
        self.noise = self._noise(len(self.engine.parameters), streams.noise)
        self.sigmas = self.plan.sigmas  # (T,)
        lr_steps = config.lr_epochs * config.examples / config.batch or self.plan.steps
        self.learning_rate = LearningRate(config.lr_schedule, config.lr, config.lr_end, lr_steps)
        self.descent = Descent(config, self.engine, self.noise, self.cores)
        if OPTIMIZERS[config.optimizer].by_relevance and config.private:
            self._allot_noise(streams)
        self.average = WeightAverage(self.engine.parameters, config.ema) if config.ema else None
        self.confusion: tuple[tuple[int, ...], ...] | None = None  # of the latest evaluation
        self.annealing: Annealing | None = None
        if config.acceptance == "sa":
            chances = np.random.default_rng(streams.chances)
            self.annealing = Annealing(config.sa_q0, config.sa_mu0, chances)
            self.public_loss = self._loss(self.public)
        self.runner: StepRunner = OrdinaryStep()
        self.report_times = ReportTimes(clock, config.batch / config.examples)
        self.step_totals = StepTotals(at_once=self.device.type == "cpu")

    def _allotted_batches(self, key: bytes) -> EpochBatches | None:
        """The batches of a sampler that allots whole epochs; None if each is drawn for itself."""
        config = self.config
        if not SAMPLERS[config.sampler].by_epoch:
            return None
        return EpochBatches(config.sampler, config.examples, config.q, key)

    def _network(self, streams: Streams) -> nn.Sequential:
        """The network with its first weights."""
        config = self.config
        classes = len(DATASETS[config.dataset].classes)
        network = build(
            config.model, config.activation, streams.weights, config.shape, classes, config.width
        )
        return network.to(self.device)

    def _released_inputs(self, inputs: Inputs, streams: Streams) -> Inputs:
        """Inputs after the releases that change every example: DP-PCA, or the mean."""
        config = self.config
        examples = inputs.train[0]
        if config.pca:
            noise = self._once(examples[0].numel() ** 2, streams.projection)
            directions = private_projection(examples, config.pca, config.pca_sigma, noise)
            return inputs.changed(lambda x: x.flatten(1) @ directions)
        if config.mean_sigma:
            noise = self._once(examples[:1].numel() // config.views, streams.mean)
            mean = private_mean(examples, config.views, config.mean_sigma, noise)
            return inputs.changed(lambda x: without_mean(x, config.views, mean))
        return inputs

    def _allot_noise(self, streams: Streams) -> None:
        """Allot the optimizer's noise by the private relevance of each parameter."""
        module = self._network(streams)  # a copy, since autograd needs gradients
        noise = self._once(neuron_count(module), streams.relevance)
        relevance = relevance_of(module, self.train, self.config.relevance_sigma, noise)
        allot(self.descent.state, relevance)
        self.descent.restore(self.descent.state)

    def _once(self, size: int, seed: SeedSequence) -> GaussianNoise | None:
        """Noise for a release before the first step; None for a run without noise."""
        noisy = self.config.private and self.config.sigma > 0
        return self._noise(size, seed) if noisy else None

    def _noise(self, size: int, seed: SeedSequence) -> GaussianNoise:
        """A stream of noise vectors (size,) from the run's generator."""
        secure = self.config.noise_generator == "secure"
        return GaussianNoise(size, seed, self.device, self.cores, secure=secure)

    def snapshot(self) -> Snapshot:
        """The run's state between two steps."""
        parameters = self.engine.parameters.clone()
        state = self.descent.snapshot()
        return Snapshot(parameters, state, self.noise.states(), self.batches.state())

    def restore(self, snapshot: Snapshot) -> None:
        self.engine.parameters.copy_(snapshot.parameters)
        self.descent.restore(snapshot.state)
        self.noise.restore(snapshot.noise)
        self.batches.restore(snapshot.batches)

    def step(self, step: int) -> None:
        """One step of DP-SGD on the step's batch."""
        drawn = self.drawn(step)
        losses, norms, clipped = self.runner.take(self, step, drawn)
        self.step_totals.add(step, losses, norms, clipped)
        if self.average:
            self.average.add(self.engine.parameters)

    def drawn(self, step: int) -> Positions:
        """Positions of the examples in the step's batch."""
        if self.epoch_batches:
            return self.epoch_batches.drawn(step)
        config = self.config
        return batch_of_step(config.sampler, config.examples, config.q, self.batches)

    def numbers(self, step: int) -> tuple[float, float]:
        """The sigma and the learning rate of a step."""
        return float(self.sigmas[step - 1]), self.learning_rate.at(step)

    def report(self, step: int) -> Stepped:
        """The figures since the last report."""
        self.step_totals.settle()  # waits for the device, so that the rate counts completed steps
        return self.step_totals.report(step, self.epoch(step), self.report_times.reported(step))

    def descend(self, step: int, x: Tensor | PickedRows, y: Tensor) -> ClippedSum:
        """Clip, sum, add noise, divide and move the parameters; return the figures of the batch."""
        take = self._propose if self.annealing else self.descent.take
        return take(x, y, *self.numbers(step))

    def _propose(self, x: Tensor | PickedRows, y: Tensor, sigma: float, lr: float) -> ClippedSum:
        """Take the step, and go back if simulated annealing rejects it."""
        assert self.annealing
        parameters = self.engine.parameters
        descent = self.descent
        before = parameters.clone()
        state = descent.snapshot()
        found = descent.take(x, y, sigma, lr)
        loss = self._loss(self.public)
        accepted = self.annealing.accepts(self.public_loss, loss)
        if accepted:
            self.public_loss = loss
        else:
            parameters.copy_(before)
            descent.restore(state)
        self.step_totals.judge(accepted, self.annealing.accepted)
        return found

    def _loss(self, part: Labelled) -> float:
        """The mean loss on a part of the data."""
        return cross_entropy(self.engine.logits(part[0]), part[1]).item()

    def evaluated(self, step: int) -> Evaluated:
        """Figures on the test set."""
        self.step_totals.settle()  # raises for a run that diverged
        with self.report_times.evaluating(step), self.cores.working():
            x, labels = self.test
            logits = self.engine.logits(x).cpu()
            y = labels.cpu()
            loss = cross_entropy(logits, y).item()
            if not math.isfinite(loss):  # no batch has seen the last step's weights
                raise RuntimeError(f"loss is not finite at step {step}")
            answers = logits.argmax(1)
            self.confusion = confusion_of(answers, y, logits.shape[1])
            right = (answers == y).double()
            per_class = torch.bincount(y, weights=right) / torch.bincount(y).clamp(min=1)
            dataset = DATASETS[self.config.dataset]
            return Evaluated(
                step,
                self.epoch(step),
                right.mean().item(),
                loss,
                tuple(per_class.tolist()),
                averaged_accuracy=self._averaged_accuracy(),
                rmse=rmse_of(logits, y) if dataset.numbers else None,
                answers=shown_answers(logits) if dataset.images else None,
            )

    def _averaged_accuracy(self) -> float | None:
        """Test accuracy of the averaged weights, if an average is kept."""
        if not self.average:
            return None
        parameters = self.engine.parameters
        x, y = self.test
        own = parameters.clone()
        parameters.copy_(self.average.vector)
        right = (self.engine.logits(x).argmax(1) == y).float().mean().item()
        parameters.copy_(own)
        return right

    def epoch(self, step: int) -> float:
        """The epochs of expected batches after the step."""
        return step * self.config.batch / self.config.examples


def shown_answers(logits: Tensor) -> tuple[tuple[float, ...], ...]:
    """The probabilities of all classes for the first few examples, to a thousandth.

    >>> shown_answers(torch.tensor([[0.0, 0.0], [9.0, 0.0]]))
    ((0.5, 0.5), (1.0, 0.0))
    """
    probabilities = torch.softmax(logits[:SHOWN_EXAMPLES].double(), 1)
    return tuple(tuple(round(each, 3) for each in row) for row in probabilities.tolist())


def rmse_of(logits: Tensor, y: Tensor) -> float:
    """The root mean square error of the expected class under softmax, for classes that are
    consecutive numbers.

    Source: Bu et al. 2020, arXiv 1911.11607, Table 4 and its code.

    >>> logits = torch.tensor([[9.0, 9.0, -99.0], [-99.0, -99.0, 9.0]])
    >>> round(rmse_of(logits, torch.tensor([1, 2])), 4)
    0.3536
    """
    numbers = torch.arange(logits.shape[1], dtype=torch.float64)
    expected = torch.softmax(logits.double(), 1) @ numbers
    return (expected - y).square().mean().sqrt().item()


def confusion_of(answers: Tensor, y: Tensor, classes: int) -> tuple[tuple[int, ...], ...]:
    """The confusion matrix: examples by class (rows) and by answer (columns).

    >>> confusion_of(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]), 2)
    ((1, 1), (0, 1))
    """
    counts = torch.bincount(y * classes + answers, minlength=classes * classes)
    return tuple(map(tuple, counts.view(classes, classes).tolist()))


def device_of(name: str) -> torch.device:
    """The device of that name; "auto" takes CUDA, then MPS, then the CPU.

    Errors: ValueError if it is missing.
    """
    present = ["cpu"]
    if torch.backends.mps.is_available():
        present.insert(0, "mps")
    if torch.cuda.is_available():
        present.insert(0, "cuda")
    if name == "auto":
        name = present[0]
    if name not in present:
        here = ", ".join(["auto", *present])
        raise ValueError(f"Expected device={name!r} to be one of this machine: {here}.")
    return torch.device(name)
