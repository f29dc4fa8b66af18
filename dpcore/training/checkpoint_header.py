"""What a checkpoint says of itself: its first line, as JSON, which needs no torch to be read. The state follows."""

import hashlib
import json
import os
from pathlib import Path
from typing import IO, Any, NamedTuple


class Label(NamedTuple):
    """Whose state it is, after how many steps, and what it was computed on."""

    step: int
    settings: dict[str, Any]  # of the run, where they are not at their defaults
    where: dict[str, str]  # "device", "threads", "torch": each has a say in the last bit of a weight
    secret: str  # the fingerprint of the run's secret seed; empty for a fixed seed
    data: str  # the fingerprint of what it was trained on: on other data the same noise would give away a difference
    digest: str = ""  # of all this and the state; empty in a file of an older version, which has none

    def sealed(self, state: memoryview | bytes) -> "Label":
        """The label with the digest that belongs to a state: a byte that a disk has changed would change the noise."""
        digest = hashlib.blake2b(json.dumps(self._replace(digest="")._asdict()).encode(), digest_size=16)
        digest.update(state)
        return self._replace(digest=digest.hexdigest())

    def belongs_to(self, state: memoryview | bytes) -> bool:
        """Whether label and state are those that were written, as far as that can be told."""
        return not self.digest or self.sealed(state).digest == self.digest


def private(path: str, flags: int) -> int:
    """Open a file that only its owner may read: it holds what the noise of later steps follows from."""
    return os.open(path, flags, 0o600)


def write_label(file: IO[bytes], label: Label) -> None:
    """Write the line."""
    file.write(json.dumps(label._asdict()).encode() + b"\n")


def read_label(file: IO[bytes]) -> Label | None:
    """The line at the file's start; None where there is none: it is damaged, or older than labels."""
    try:
        label = Label(**json.loads(file.readline()))
    except (ValueError, TypeError):
        return None
    sound = isinstance(label.step, int) and isinstance(label.settings, dict) and isinstance(label.where, dict)
    return label if sound else None


def label_of(path: Path) -> Label | None:
    """The label of a checkpoint; OSError where the file cannot be read."""
    with open(path, "rb") as file:
        return read_label(file)
