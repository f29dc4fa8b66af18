"""A Ray cluster, whose generator tasks do runs."""

import logging
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import ray
from ray.exceptions import RayError

from dpcore.runs.ray_pool.node import Gone, Job, Shape, work

PROBE_SECONDS = 3.0  # in which the address must accept a connection


class Unreachable(RuntimeError):
    """The cluster does not work; the text says which and why."""


class RayCluster:
    """The running cluster at an address; its streams are tasks. Errors: Unreachable."""

    def __init__(self, address: str) -> None:
        probe(address)
        try:
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError, RayError) as error:
            raise Unreachable(
                f"The Ray cluster at {address} does not accept this machine:"
                f" {' '.join(str(error).split())} Runs stay queued."
            ) from error

    def start(self, job: Job, train: str, shape: Shape) -> Any:
        """Start a task that does `work`, and return its stream; it may wait for a place."""
        return _task_of(shape).remote(job, train, shape)

    def ready(self, streams: Sequence[Any], within: float) -> Sequence[Any]:
        """The streams that have a message, or have ended, within so many seconds."""
        if not streams:
            return []
        ready, _ = ray.wait(list(streams), num_returns=len(streams), timeout=within)
        return ready

    def take(self, stream: Any) -> Any:
        """The next message of the task. Errors: Gone."""
        try:
            return ray.get(next(stream))
        except StopIteration:
            raise Gone("it ended without a message") from None
        except RayError as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise Gone(lines[-1].strip()) from error  # after the stack

    def end(self, stream: Any) -> None:
        with suppress(RayError):
            ray.cancel(stream, force=True)

    def room(self, shape: Shape) -> int:
        """The number of further tasks of this shape that may fit now."""
        free = ray.available_resources()
        room = free.get("CPU", 0.0) / shape.cpus
        if shape.gpus:
            room = min(room, free.get("GPU", 0.0) / shape.gpus)
        return int(room)

    def fits(self, shape: Shape) -> bool:
        """True if a task of this shape fits on some empty node."""
        for node in ray.nodes():
            has = node["Resources"] if node["Alive"] else {}
            if has.get("CPU", 0) >= shape.cpus and has.get("GPU", 0) >= shape.gpus:
                return True
        return False

    def has_gpus(self) -> bool:
        return ray.cluster_resources().get("GPU", 0) > 0


@cache  # Ray keeps all that are made
def _task_of(shape: Shape) -> Any:
    options = ray.remote(
        num_returns="streaming",
        num_cpus=shape.cpus,
        num_gpus=shape.gpus,
        max_calls=1,  # nothing of a run reaches the next one
        max_retries=0,  # a retry by Ray would draw noise again, unknown to the store
    )
    return options(work)


def probe(address: str) -> None:
    """Raise Unreachable if host:port accepts no connection, for which Ray would wait minutes."""
    host, _, port = address.rpartition(":")
    if address == "auto":  # Ray finds this machine's cluster
        return
    if not host or "/" in host or not port.isdecimal():
        raise Unreachable(
            f"Write the Ray address as host:port, as `ray start` prints it, not {address!r}."
        )
    try:
        socket.create_connection((host, int(port)), PROBE_SECONDS).close()
    except (OSError, OverflowError, ValueError) as error:  # ValueError: an impossible name
        raise Unreachable(
            f"No Ray cluster answers at {address}: {error}. Runs stay queued until one does; "
            "docs/cluster.md says how to start one."
        ) from error
