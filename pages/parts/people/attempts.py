"""How often a key may be guessed that somebody chose: so many times a minute from one address, and from all of them."""

import threading
import time
from collections import deque
from collections.abc import Callable

EACH, ALL, WITHIN = 5, 20, 60.0  # attempts from one address, from all of them, and seconds


class Attempts:
    """The attempts of the last minute."""

    def __init__(self, each: int = EACH, every: int = ALL, clock: Callable[[], float] = time.monotonic) -> None:
        self._each, self._every, self._clock = each, every, clock
        self._made: deque[tuple[float, str]] = deque()
        self._lock = threading.Lock()

    def another(self, address: str) -> bool:
        """Whether one more may be made from an address now; then it counts."""
        with self._lock:
            now = self._clock()
            while self._made and now - self._made[0][0] >= WITHIN:
                self._made.popleft()
            mine = sum(each == address for _, each in self._made)
            if mine >= self._each or len(self._made) >= self._every:
                return False
            self._made.append((now, address))
            return True
