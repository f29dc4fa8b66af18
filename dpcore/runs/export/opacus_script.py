"""A script that repeats a run with Opacus: another implementation of the private step, on the same data and network."""

from collections.abc import Sequence
from string import Template
from textwrap import indent

from dpcore.data.catalogue import DATASETS
from dpcore.runs.export.base import RunRecord, TextForm
from dpcore.runs.export.script import as_code
from dpcore.training.config import RunConfig
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import settings_of

# fmt: off
REPEATED = frozenset({  # the settings that the script heeds, and `ema`, which is an average beside the weights
    "dataset", "source", "public", "model", "activation", "width", "optimizer", "lr", "momentum", "lr_schedule",
    "lr_end", "lr_epochs", "sigma", "schedule", "rate", "level_steps", "batch", "clip_norm", "epochs", "delta",
    "stop_epsilon", "stop_accountant", "seed", "device", "ema",
})
# fmt: on
SCRIPT = Template('''"""Repeats the run $run with Opacus (pip install opacus): DP-SGD on Poisson batches.

Sampling, gradients of each example, clipping and noise are those of Opacus, the optimizer is torch's. Data, network,
first weights, noise multipliers and learning rates are those of the package dpcore. Noise and batches are fresh:
accuracy differs as it does between seeds, and to release both models costs both epsilons.
$imported"""

import secrets
import sys
import warnings

sys.path.append(sys.path.pop(0))  # this file may have the name of a package
import torch
from opacus import GradSampleModule
from opacus.accountants import RDPAccountant
from opacus.optimizers import DPOptimizer
from opacus.utils.uniform_sampler import UniformWithReplacementSampler

from dpcore.data.catalogue import DATASETS
from dpcore.data.loading import load
from dpcore.training.config import RunConfig
from dpcore.training.models import build
from dpcore.training.plan import plan
from dpcore.training.randomness.streams import streams_of
from dpcore.training.schedules import LearningRate
from dpcore.training.inputs import tensors
from dpcore.training.training_run import device_of

SETTINGS = $settings


def optimizer_of(weights):
$optimizer


warnings.filterwarnings("ignore", "Full backward hook")  # images need no gradients
warnings.filterwarnings("ignore", "Optimal order")  # its bound may not be its tightest one
config = RunConfig(**SETTINGS)
n, steps, sigmas, device = config.examples, plan(config).steps, plan(config).sigmas, device_of(config.device)
rates = LearningRate(config.lr_schedule, config.lr, config.lr_end, config.lr_epochs * n / config.batch or steps)
data = load(config.dataset, config.source)
(x, y), (test_x, test_y) = tensors(data.train, device), tensors(data.test, device)
first = streams_of(config, secrets.randbits(128) if config.seed is None else None).weights
classes = len(DATASETS[config.dataset].classes)
network = build(config.model, config.activation, first, config.shape, classes, config.width).to(device)

module = GradSampleModule(network)
optimizer = DPOptimizer(
    optimizer_of(list(module.parameters())),
    noise_multiplier=config.sigma,
    max_grad_norm=config.clip_norm,
    expected_batch_size=config.batch,
)
batches = UniformWithReplacementSampler(num_samples=n, sample_rate=config.q, steps=steps)
for step, batch in enumerate(batches, 1):
    optimizer.noise_multiplier = float(sigmas[step - 1])
    for group in optimizer.param_groups:
        group["lr"] = rates.at(step)
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(module(x[batch]), y[batch]).backward()
    optimizer.step()

with torch.no_grad():
    accuracy = (network(test_x).argmax(1) == test_y).double().mean().item()
accountant = RDPAccountant()
for sigma in sigmas:
    accountant.step(noise_multiplier=float(sigma), sample_rate=config.q)
print("steps", steps, "epsilon", accountant.get_epsilon(config.delta), "by Opacus at delta", config.delta)
print("accuracy", accuracy, "recorded", $accuracy)
''')


def opacus_script(records: Sequence[RunRecord]) -> str:
    """The script of a run. Errors: ValueError for one that is no DP-SGD as Opacus has it, which says why."""
    (record,) = records
    if why := obstacle(record.config):
        raise ValueError(f"Expected run={record.run.id!r} to be one that Opacus can repeat, but {why}.")
    return SCRIPT.substitute(
        run=record.run.id,
        settings=as_code(record.config.chosen()),
        optimizer=indent(OPTIMIZERS[record.config.optimizer].in_torch, "    "),
        imported=f"{record.not_measured}\n" if record.not_measured else "",
        accuracy=record.finished and record.finished.accuracy,
    )


def obstacle(config: RunConfig) -> str:
    """Why there is no such script, as a clause; empty where there is one.

    >>> obstacle(RunConfig(optimizer="pi_adam")), obstacle(RunConfig())
    ('it has no optimizer pi_adam', '')
    """
    against = {
        "the run has no noise": not config.private or config.sigma == 0,
        f"it has no optimizer {config.optimizer}": not OPTIMIZERS[config.optimizer].in_torch,
        f"it has no clipping {config.clipping} with the sensitivity of this one": config.clipping != "flat",
        "it has no DP-PCA": config.pca > 0,
        "it accepts every step": config.acceptance != "none",
        "its gradients of ids were never compared with those of this program": DATASETS[config.dataset].ids > 0,
    }
    for name, setting in settings_of(type(config)).items():
        new = name not in REPEATED and name in config.chosen() and setting.is_used(config)
        against[f"the script does not heed {name} ({setting.label})"] = new
    return next((why for why, holds in against.items() if holds), "")


OPACUS = TextForm("opacus", "A script that repeats it with Opacus", ".py", "text/x-python", opacus_script)
