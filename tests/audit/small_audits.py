"""Audits of a second, and what they say."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from dpcore.audit.events import Event, Judged, Measured
from dpcore.audit.request import AuditRequest
from dpcore.audit.run_audit import audit
from dpcore.audit.watched_run import WatchedRun
from dpcore.training import training_run
from dpcore.training.config import RunConfig
from dpcore.training.randomness import gaussian_noise

QUICK = RunConfig(
    seed=1,
    model="mlp",
    width=20,
    batch=500,
    clip_norm=0.1,
    lr=0.5,
    sigma=1.0,
    epochs=0.6,
    device="cpu",
)
CNN = replace(QUICK, model="cnn", width=RunConfig().width, batch=64, epochs=0.06)


def request_for(
    trainer: str = "own", canaries: int = 0, config: RunConfig = QUICK, **settings: Any
) -> AuditRequest:
    """An audit of the quick run, with other settings where they are named."""
    return AuditRequest(replace(config, **settings), trainer, canaries=canaries)


def said_by(request: AuditRequest) -> list[Event]:
    """All events of an audit."""
    return list(audit(request))


def findings_of(said: list[Event]) -> dict[str, Measured]:
    """The findings by the names of their audits."""
    return {event.audit: event for event in said if isinstance(event, Measured)}


def verdict_of(said: list[Event]) -> Judged:
    """The verdict."""
    (judged,) = (event for event in said if isinstance(event, Judged))
    return judged


def watched(request: AuditRequest, steps: int | None = None, start: int = 1) -> WatchedRun:
    """A watched run after so many steps, or all."""
    watch = WatchedRun(request, start)
    for step in range(1, (watch.plan.steps if steps is None else steps) + 1):
        watch.step(step)
    return watch


def pin_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have seeds give the same draws wherever the tests run, so that no sound trainer fails an
    audit by bad luck.
    """

    def machine_of(device: torch.device, threads: int) -> dict[str, str]:
        return {"device": str(device), "threads": "1", "torch": "any"}

    for user in (training_run, gaussian_noise):
        monkeypatch.setattr(user, "machine_of", machine_of)
