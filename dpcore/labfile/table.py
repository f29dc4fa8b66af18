"""The table of all numbers of a file: computed by processes, packed into bytes, and read again."""

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from dpcore import __version__, check
from dpcore.labfile.row import CODES, PLANES, Row, row_of
from dpcore.labfile.stops import LEAST_DELTA, Stop, Stops
from dpcore.privacy.mechanism import read_only

CHUNK = 4  # rows that a process computes before it asks for more
LEVEL = 9  # of compression
Planes = NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Table:
    """The numbers at all stops."""

    n: int
    delta: float
    stops: Stops
    planes: Planes  # (PLANES, batches, sigmas, epochs), read-only
    apart: Mapping[str, str]  # "number cell": a text that its code does not give
    version: str  # of the package that computed them

    def __post_init__(self) -> None:
        object.__setattr__(self, "planes", read_only(self.planes))

    def numbers(self, stop: Stop) -> list[int]:
        """The numbers of one stop."""
        return self.planes[:, *self.stops.places(stop)].tolist()

    def apart_at(self, stop: Stop) -> dict[str, str]:
        """The texts at one stop that their codes do not give, by the names of these."""
        cell = int(np.ravel_multi_index(self.stops.places(stop), self.planes.shape[1:]))
        found = {}
        for number, name in enumerate(CODES):
            text = self.apart.get(f"{number} {cell}")
            if text:
                found[name] = text
        return found

    @property
    def head(self) -> dict[str, object]:
        """The numbers that the others belong to, for JSON."""
        return {
            "n": self.n,
            "delta": self.delta,
            "version": self.version,
            "stops": self.stops._asdict(),
        }

    def packed(self) -> bytes:
        """All numbers, deflated: differences along sigma, first all low bytes, then the high ones;
        then the texts apart.
        """
        steps = np.diff(self.planes, axis=2, prepend=np.uint16(0))  # modulo 2^16
        low_and_high = steps.astype("<u2").view(np.uint8).reshape(-1, 2)
        texts = json.dumps(dict(self.apart), separators=(",", ":"))
        return zlib.compress(low_and_high.T.tobytes() + texts.encode(), LEVEL)


def unpacked(head: Mapping[str, object], packed: bytes) -> Table:
    """The table of a head and its packed numbers."""
    given = head["stops"]
    assert isinstance(given, dict)
    stops = Stops(**{name: tuple(values) for name, values in given.items()})
    shape = (PLANES, len(stops.batch), len(stops.sigma), len(stops.epochs))
    size = 2 * int(np.prod(shape))
    unfolded = zlib.decompress(packed)
    both = np.frombuffer(unfolded[:size], dtype=np.uint8).reshape(2, -1)
    steps = (both[0] + (both[1].astype(np.uint16) << 8)).reshape(shape)
    planes = np.cumsum(steps, axis=2, dtype=np.uint16)
    apart = json.loads(unfolded[size:])
    return Table(
        int(str(head["n"])), float(str(head["delta"])), stops, planes, apart, str(head["version"])
    )


def computed(
    n: int,
    delta: float,
    stops: Stops,
    *,
    processes: int = 2,
    report: Callable[[float], object] = lambda share: None,
) -> Table:
    """Compute the numbers at all stops; `report` hears the share that is done.

    Errors: ValueError for a delta that no stop can be computed at.
    """
    check.in_range(LEAST_DELTA, 1, ends="[)", delta=delta)
    pairs = list(product(stops.batch, stops.sigma))
    ask = partial(_row, n, delta, stops.epochs)
    rows = []
    # Spawned, not forked: a fork copies the threads' locks.
    pool = ProcessPoolExecutor(
        processes, get_context("spawn"), initializer=threadpool_limits, initargs=(1,)
    )
    with pool:
        for row in pool.map(ask, pairs, chunksize=CHUNK):
            rows.append(row)
            report(len(rows) / len(pairs))
    return table_of(n, delta, stops, rows)


def _row(n: int, delta: float, epochs: tuple[float, ...], pair: tuple[int, float]) -> Row:
    return row_of(n, delta, epochs, *pair)


def table_of(n: int, delta: float, stops: Stops, rows: Sequence[Row]) -> Table:
    """The table of rows in the order of batches and, within, of sigmas."""
    shape = (len(stops.batch), len(stops.sigma), len(stops.epochs), PLANES)
    numbers = np.array([row.numbers for row in rows], dtype=np.uint16).reshape(shape)
    apart = {}
    for number, row in enumerate(rows):
        first = number * len(stops.epochs)
        for place, code, text in row.apart:
            apart[f"{code} {first + place}"] = text
    return Table(n, delta, stops, np.moveaxis(numbers, -1, 0), apart, __version__)
