"""The first line of a checkpoint, JSON that can be read without torch. The state follows."""

import hashlib
import json
from pathlib import Path
from typing import IO, Any, NamedTuple

from dpcore.regular_file import open_regular


class Label(NamedTuple):
    """The run, step, machine and data of a checkpoint."""

    step: int
    settings: dict[str, Any]  # of the run, without those at their defaults
    where: dict[str, str]  # "device", "threads", "torch", which decide the last bit of a weight
    secret: str  # the fingerprint of the run's secret seed; empty for a fixed seed
    data: str  # the fingerprint of the training data: on other data the same noise would reveal a difference
    digest: str = ""  # of all this and the state; empty in a file of an older version

    def sealed(self, state: memoryview | bytes) -> "Label":
        """The label with the digest of a state: a byte changed by a disk would change the noise."""
        digest = hashlib.blake2b(json.dumps(self._replace(digest="")._asdict()).encode(), digest_size=16)
        digest.update(state)
        return self._replace(digest=digest.hexdigest())

    def belongs_to(self, state: memoryview | bytes) -> bool:
        """False if label or state have changed since they were written, as far as the digest tells."""
        return not self.digest or self.sealed(state).digest == self.digest


def write_label(file: IO[bytes], label: Label) -> None:
    file.write(json.dumps(label._asdict()).encode() + b"\n")


def read_label(file: IO[bytes]) -> Label | None:
    """The label at the start of the file; None if the file is damaged, or older than labels."""
    try:
        label = Label(**json.loads(file.readline()))
    except (ValueError, TypeError):
        return None
    sound = isinstance(label.step, int) and isinstance(label.settings, dict) and isinstance(label.where, dict)
    return label if sound else None


def label_of(path: Path) -> Label | None:
    """The label of a checkpoint. Errors: OSError if the file cannot be read."""
    with open_regular(path) as file:
        return read_label(file)
