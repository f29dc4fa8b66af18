"""What the pools of this machine and of a cluster have in common: a thread that serves a store until it is closed."""

import threading
from abc import ABC, abstractmethod
from typing import Self

from dpcore.runs.store import Store


class PoolThread(ABC):
    """Has the runs of `store` done, in a thread of its own.

    `trouble` says what keeps runs from starting, or is None; what workers print is in `log`.
    """

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.log = store.home / "workers.log"
        self.trouble: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)

    @abstractmethod
    def _serve(self) -> None:
        """Serve until `_stop` is set."""

    def start(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        return self

    @property
    def closed(self) -> bool:
        """Whether it serves no more."""
        return self._stop.is_set()

    def close(self) -> None:
        """Serve no more; a run that trains goes on."""
        self._stop.set()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()
