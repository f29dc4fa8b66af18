"""The head: the only process of a home that talks to the Ray cluster and records its runs.

`RayPool` starts it as `python -m dpcore.runs.ray_pool.head`, apart from the pages, since Ray ends
its drivers if the cluster goes, and may wait long for a silent cluster. Its standard output says in
lines of JSON why no run can start, or null. Its runs end with it, and the next head continues them
from their checkpoints. A head that Ray keeps waiting for too long ends, even where Ray ignores
signals, and leaves its stack in the log.
"""

import faulthandler
import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from dpcore import extras
from dpcore.runs.ray_pool import CONNECTING
from dpcore.runs.ray_pool.streams import Streams
from dpcore.runs.record import StoreError
from dpcore.runs.store import Store
from dpcore.runs.supervision import LEFTOVER_SECONDS, lock_of, remove_needless

LOCK_SECONDS = 0.2  # seconds between two looks for the lock of the home
CONNECT = 30.0  # seconds in which the cluster must accept this process
ROUND = 120.0  # seconds that a round may take: Ray waits a minute for a lost cluster


class StatusPipe:
    """The channel to the pool; output of Ray goes to the log instead."""

    def __init__(self) -> None:
        self._line = ""
        self._pipe = os.fdopen(os.dup(sys.stdout.fileno()), "w")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def say(self, trouble: str | None) -> None:
        """Write a line of JSON if it is new."""
        line = json.dumps(trouble)
        if line != self._line:
            self._line = line
            print(line, file=self._pipe, flush=True)


def serve(store: Store, options: dict[str, Any], pipe: StatusPipe) -> str | None:
    """Do runs on the cluster until SIGTERM, or while the parent lives.

    Return the reason if that is impossible.
    """
    parent = options.pop("parent")
    pipe.say(CONNECTING)
    faulthandler.dump_traceback_later(CONNECT, exit=True)
    try:
        from dpcore.runs.ray_pool.ray_cluster import RayCluster, Unreachable
    except ImportError as error:
        missing = extras.sentence("ray", "ray", "DPCORE_POOL=ray needs it")
        return f"{missing} Python says: {error}. Runs stay queued."
    try:
        streams = Streams(store, RayCluster(options.pop("address")), **options)
    except Unreachable as error:
        return str(error)
    told_to_end = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told_to_end.set())  # in place of Ray's handler
    pipe.say(None)
    swept = -LEFTOVER_SECONDS
    while not told_to_end.is_set() and os.getppid() == parent:
        faulthandler.dump_traceback_later(ROUND, exit=True)
        try:
            streams.round()
            if time.monotonic() - swept > LEFTOVER_SECONDS:
                swept = time.monotonic()
                remove_needless(store)
            pipe.say(streams.trouble)
        except (StoreError, OSError) as error:
            pipe.say(str(error))
            time.sleep(LOCK_SECONDS)
    with suppress(StoreError):
        streams.close()
    return None


def main() -> None:
    """Wait for the home to be free, then serve it; `RayPool` gives the home and options in JSON."""
    home = sys.argv[1]
    options = json.loads(sys.argv[2])
    pipe = StatusPipe()
    with Store(home) as store:
        lock = lock_of(store.home)
        while lock is None and os.getppid() == options["parent"]:
            pipe.say(None)
            time.sleep(LOCK_SECONDS)
            lock = lock_of(store.home)
        trouble = serve(store, options, pipe) if lock else None
        with suppress(BrokenPipeError):
            pipe.say(trouble)
        if lock:
            lock.close()
    os._exit(0)  # Ray's own way out may wait for a cluster that is gone


if __name__ == "__main__":
    main()
