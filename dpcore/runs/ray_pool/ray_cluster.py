"""A cluster of Ray: a worker is a detached actor, a question the reference of its answer."""

import logging
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import ray
from ray.exceptions import ActorDiedError, RayError, RayTaskError

from dpcore.runs.ray_pool.cluster import Gone, NoAnswer, Shape
from dpcore.runs.ray_pool.node import NodeWorker

NAMESPACE = "dpcore"
PROBE = 3.0  # seconds that the address has to take a connection


class Unreachable(RuntimeError):
    """The cluster cannot be used; the text says which and why."""


class RayCluster:
    """The cluster at an address, which must be up already. Errors: Unreachable."""

    def __init__(self, address: str) -> None:
        probe(address)
        try:
            ray.init(address, namespace=NAMESPACE, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError, RayError) as error:
            raise Unreachable(
                f"Expected the Ray cluster at {address} to take this machine as one of its own, but: "
                f"{' '.join(str(error).split())} Runs stay queued."
            ) from error

    def start(self, name: str, shape: Shape, train: str) -> Any:
        """See `Cluster`."""
        options = {
            "name": name,
            "lifetime": "detached",
            "num_cpus": shape.cpus,
            "num_gpus": shape.gpus,
            "max_restarts": 0,  # what Ray did again by itself would draw its noise again, unseen by the store
            "max_task_retries": 0,
        }
        return ray.remote(NodeWorker).options(**options).remote(train, shape.cpus, shape.gpus)

    def find(self, name: str) -> Any | None:
        """See `Cluster`."""
        try:
            return ray.get_actor(name)
        except ValueError:
            return None

    def ask(self, worker: Any, method: str, *values: Any) -> Any:
        """See `Cluster`."""
        return getattr(worker, method).remote(*values)

    def answered(self, questions: Sequence[Any], within: float) -> Sequence[Any]:
        """See `Cluster`."""
        if not questions:
            return []
        return ray.wait(list(questions), num_returns=len(questions), timeout=within, fetch_local=False)[0]

    def answer(self, question: Any) -> Any:
        """See `Cluster`."""
        try:
            return ray.get(question)
        except (ActorDiedError, RayTaskError) as error:
            raise Gone(last_line(error)) from error
        except RayError as error:
            raise NoAnswer(last_line(error)) from error

    def end(self, worker: Any) -> None:
        """See `Cluster`."""
        with suppress(RayError):
            ray.kill(worker)

    def room(self, shape: Shape) -> int:
        """See `Cluster`."""
        free = ray.available_resources()
        return int(min(free.get("CPU", 0.0) / shape.cpus, free.get("GPU", 0.0) / shape.gpus if shape.gpus else 1e9))

    def fits(self, shape: Shape) -> bool:
        """See `Cluster`."""
        every = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        return any(has.get("CPU", 0) >= shape.cpus and has.get("GPU", 0) >= shape.gpus for has in every)

    def has_gpus(self) -> bool:
        """See `Cluster`."""
        return ray.cluster_resources().get("GPU", 0) > 0


def probe(address: str) -> None:
    """Unreachable where nobody takes a connection at host:port: Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if address == "auto":  # Ray looks whether this machine is part of a cluster
        return
    if not host or "/" in host or not port.isdecimal():
        raise Unreachable(f"Expected the Ray address {address!r} to be host:port, as `ray start` says it.")
    try:
        socket.create_connection((host, int(port)), PROBE).close()
    except (OSError, OverflowError, ValueError) as error:  # ValueError: a name that no machine can have
        raise Unreachable(
            f"Expected a Ray cluster to answer at {address}, but: {error}. Runs stay queued until it does; "
            "docs/cluster.md says how to start one."
        ) from error


def last_line(error: Exception) -> str:
    """The last line of what Ray says, without the stack before it."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
