"""SA-DPSGD that charges the steps that it accepted, and releases all others for nothing."""

from dataclasses import replace

from dpcore.audit.broken.base import Trainer
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.config import RunConfig
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.plan import plan

PUBLIC = 10  # one in so many examples is held out to judge proposals by, where none is
STRICT = 1000.0  # Q0, where none was chosen: a proposal that raises the public loss is nearly always rejected


def _trains(config: RunConfig) -> RunConfig:
    if config.acceptance == "sa":
        return config
    most = config.examples
    public = most // PUBLIC
    asked = replace(config, acceptance="sa", sa_q0=STRICT, public=public, batch=min(config.batch, most - public))
    if not OPTIMIZERS[config.optimizer].momentum:
        return asked
    return replace(asked, momentum=0.0, lr=config.lr / (1 - config.momentum))  # momentum would smooth rejections out


def _claims(config: RunConfig, accepted: int | None) -> Mechanism | None:
    return plan(config).claimed(accepted)


ACCEPTED_ONLY = Trainer(
    name="accepted_only",
    title="SA-DPSGD, accepted steps charged",
    story="Proposals that are rejected were released to be judged; the paper charges those that are kept.",
    fails="releases",
    trains=_trains,
    claims=_claims,
)
