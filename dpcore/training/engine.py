"""The training loop: a generator of events.

One private step: a Poisson batch, per-example gradients clipped to C, Gaussian noise of std sigma C on their sum, the
sum divided by the expected batch q n, an optimizer's step. An empty batch is a step like any other: noise only.
Source: Abadi et al. 2016, arXiv 1607.00133, Algorithm 1.
"""

import math
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from dpcore.data.load import Images, load
from dpcore.training.config import RunConfig
from dpcore.training.cores import Cores
from dpcore.training.events import Evaluated, Event, Finished, Started
from dpcore.training.gradients import Engine, engine_of, unknown
from dpcore.training.models import build
from dpcore.training.noise import GaussianNoise
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.pace import Pace
from dpcore.training.sampling import poisson_sample
from dpcore.training.tally import Tally


def train(config: RunConfig, clock: Callable[[], float] = time.perf_counter) -> Iterator[Event]:
    """The events of one run, as they happen; closing the generator stops it within one step.

    **Guarantees:** the same configuration gives the same parameters on the same device with as many threads. Which
    steps are reported together, and when the model is evaluated, follows `clock` (seconds) and does not change them.
    The training loss, the clipped fraction and the norms are exact figures of the training data: epsilon does not
    cover showing them.
    Errors: ValueError for data or a device that is not here; RuntimeError if the loss stops being finite.
    """
    yield from Run(config, clock).events()


class Run:
    """One run's data, model and random streams."""

    def __init__(self, config: RunConfig, clock: Callable[[], float]) -> None:
        self.config = config
        self.device = device_of(config.device)
        data = load(config.dataset, config.source)
        if len(data.train) != config.examples:
            raise ValueError(
                f"Expected {config.examples} training examples; {config.source} data has {len(data.train)}."
            )
        self.train, self.test = tensors(data.train, self.device), tensors(data.test, self.device)
        init, batches, noise = (int(seed) for seed in np.random.SeedSequence(config.seed).generate_state(3, np.uint64))
        self.cores = cores = Cores(None if self.device.type == "cpu" else 1)
        module = build(config.model, config.activation, init % 2**63).to(self.device)
        why = unknown(module)
        self.engine: Engine = engine_of(module, cores)
        self.engine_name = f"{self.engine.name}: {why}" if why else self.engine.name
        self.batches = np.random.default_rng(batches)
        self.noise = GaussianNoise(len(self.engine.parameters), noise % 2**63, self.device, cores)
        self.optimizer = OPTIMIZERS[config.optimizer](config)
        self.state = self.optimizer.init(self.engine.parameters)
        self.pace = Pace(clock, config.batch / config.examples)
        self.tally = Tally()
        self.clip_norm = config.clip_norm if config.private else math.inf

    def events(self) -> Iterator[Event]:
        """Start, steps and evaluations in between, finish."""
        config, steps = self.config, self.config.steps
        parameters = len(self.engine.parameters)
        yield Started(config.examples, steps, config.q, str(self.device), parameters, self.engine_name)
        self.pace.start()
        for step in range(1, steps + 1):
            with self.cores.working():
                self.step(step)
            if self.pace.report_due(step) or step == steps:
                yield self.tally.report(step, self.epoch(step), self.pace.reported(step))
            if step < steps and self.pace.evaluation_due(step):
                yield self.evaluated(step)
        last = self.evaluated(steps)
        yield last
        yield Finished(steps, self.pace.elapsed(), last.accuracy)

    def step(self, step: int) -> None:
        """One step of DP-SGD on a fresh Poisson batch."""
        drawn = torch.from_numpy(poisson_sample(self.config.examples, self.config.q, self.batches)).to(self.device)
        x, y = self.train
        losses, norms = self.descend(x[drawn], y[drawn])
        self.tally.add(step, losses, norms, self.clip_norm)

    def descend(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Clip, sum, add noise, divide, move the parameters; the batch's losses (B,) and gradient norms (B,)."""
        config = self.config
        total, losses, norms = self.engine.clipped_sum(x, y, self.clip_norm)
        if config.private and config.sigma > 0:
            self.noise.add_to(total, config.sigma * config.clip_norm)
        mean = total.div_(config.batch)  # the expected batch q n: the realised one is not public
        change, self.state = self.optimizer.update(mean, self.state)
        self.engine.parameters += change
        return losses, norms

    def evaluated(self, step: int) -> Evaluated:
        """Figures on the test set."""
        with self.pace.evaluating(step), self.cores.working():
            logits, y = (values.cpu() for values in (self.engine.logits(self.test[0]), self.test[1]))
            loss = torch.nn.functional.cross_entropy(logits, y).item()
            right = (logits.argmax(1) == y).double()
            per_class = torch.bincount(y, weights=right) / torch.bincount(y).clamp(min=1)
        return Evaluated(step, self.epoch(step), right.mean().item(), loss, tuple(per_class.tolist()))

    def epoch(self, step: int) -> float:
        """Epochs of expected batches done after the step."""
        return step * self.config.batch / self.config.examples


def tensors(part: Images, device: torch.device) -> tuple[Tensor, Tensor]:
    """Images as (n, 1, 28, 28) in [0, 1], a scale that no data set had a say in, and labels (n,)."""
    images = torch.tensor(part.images, device=device)
    return images[:, None].float().div_(255), torch.tensor(part.labels, device=device).long()


def device_of(name: str) -> torch.device:
    """The device of that name; "auto" takes CUDA, then MPS, then the CPU. ValueError if it is not here."""
    here = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        name = next(device for device, present in here.items() if present)
    if not here[name]:
        present = ", ".join(["auto", *(device for device in here if here[device])])
        raise ValueError(f"Expected device={name!r} to be one that is here: {present}.")
    return torch.device(name)
