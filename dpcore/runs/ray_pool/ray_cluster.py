"""A cluster of Ray, whose generator tasks do runs."""

import logging
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import ray
from ray.exceptions import RayError

from dpcore.runs.ray_pool.node import Gone, Job, Shape, work

PROBE_SECONDS = 3.0  # that the address has to take a connection


class Unreachable(RuntimeError):
    """The cluster cannot be used; the text says which and why."""


class RayCluster:
    """The cluster at an address, which must be up already; a stream is a task of it. Errors: Unreachable."""

    def __init__(self, address: str) -> None:
        probe(address)
        try:
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError, RayError) as error:
            raise Unreachable(
                f"Expected the Ray cluster at {address} to take this machine as one of its own, but: "
                f"{' '.join(str(error).split())} Runs stay queued."
            ) from error

    def start(self, job: Job, train: str, shape: Shape) -> Any:
        """The stream of a new task that does `work`; it may have to wait for a place."""
        return _task_of(shape).remote(job, train, shape)

    def ready(self, streams: Sequence[Any], within: float) -> Sequence[Any]:
        """Those that have something to say, or have ended, after so many seconds."""
        return ray.wait(list(streams), num_returns=len(streams), timeout=within)[0] if streams else []

    def take(self, stream: Any) -> Any:
        """The next that the task says. Errors: Gone."""
        try:
            return ray.get(next(stream))
        except StopIteration:
            raise Gone("it has ended without a word") from None
        except RayError as error:
            lines = str(error).strip().splitlines()  # the last says it, behind the stack
            raise Gone(lines[-1].strip() if lines else type(error).__name__) from error

    def end(self, stream: Any) -> None:
        """End a task at once, whatever it does."""
        with suppress(RayError):
            ray.cancel(stream, force=True)

    def room(self, shape: Shape) -> int:
        """How many more tasks of this shape the cluster may have a place for now."""
        free = ray.available_resources()
        return int(min(free.get("CPU", 0.0) / shape.cpus, free.get("GPU", 0.0) / shape.gpus if shape.gpus else 1e9))

    def fits(self, shape: Shape) -> bool:
        """Whether a node is there that could have a task of this shape."""
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        return any(has.get("CPU", 0) >= shape.cpus and has.get("GPU", 0) >= shape.gpus for has in nodes)

    def has_gpus(self) -> bool:
        """Whether some node has a GPU."""
        return ray.cluster_resources().get("GPU", 0) > 0


@cache  # Ray keeps every one that it is told of
def _task_of(shape: Shape) -> Any:
    options = ray.remote(
        num_returns="streaming",
        num_cpus=shape.cpus,
        num_gpus=shape.gpus,
        max_calls=1,  # nothing of a run reaches the next one
        max_retries=0,  # what Ray did again by itself would draw its noise again, unseen by the store
    )
    return options(work)


def probe(address: str) -> None:
    """Unreachable where nobody takes a connection at host:port: Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if address == "auto":  # Ray looks whether this machine is part of a cluster
        return
    if not host or "/" in host or not port.isdecimal():
        raise Unreachable(f"Expected the Ray address {address!r} to be host:port, as `ray start` says it.")
    try:
        socket.create_connection((host, int(port)), PROBE_SECONDS).close()
    except (OSError, OverflowError, ValueError) as error:  # ValueError: a name that no machine can have
        raise Unreachable(
            f"Expected a Ray cluster to answer at {address}, but: {error}. Runs stay queued until it does; "
            "docs/cluster.md says how to start one."
        ) from error
