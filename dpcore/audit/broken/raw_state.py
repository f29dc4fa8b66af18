"""PIAdam whose history is fed with gradients without noise, and charged as if it were not."""

from dataclasses import replace

from dpcore.audit.broken.base import Trainer
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.plan import plan

SOUND = "literal"  # the reading that takes the same steps from a history of releases


def _trains(config: RunConfig) -> RunConfig:
    trained = (config.dataset, config.model, "pi_adam", config.source)
    rates = defaults(*trained, reading="raw", features=config.features)
    asked = replace(config, stop_epsilon=0.0)  # what has no epsilon cannot stop at one
    return replace(asked, optimizer="pi_adam", reading="raw", clip_norm=rates.clip_norm, lr=rates.lr)


def _claims(config: RunConfig, accepted: int | None) -> Mechanism | None:
    return plan(replace(config, reading=SOUND)).mechanism


RAW_STATE = Trainer(
    name="raw_state",
    title="PIAdam on a raw history",
    story="Each example goes through an update rule whose moments were fed without noise: clipping bounds none of it.",
    fails="history",
    trains=_trains,
    claims=_claims,
)
