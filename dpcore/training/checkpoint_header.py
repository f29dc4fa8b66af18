"""The first line of a checkpoint, JSON that can be read without torch. The state follows."""

import hashlib
import json
from pathlib import Path
from typing import IO, Any, NamedTuple

from dpcore.regular_file import open_regular

DIGEST_BYTES = 16


class Label(NamedTuple):
    """The run, step, machine and data of a checkpoint."""

    step: int
    settings: dict[str, Any]  # of the run, without those at their defaults
    where: dict[str, str]  # "device", "threads", "torch", which decide the last bit of a weight
    secret: str  # the fingerprint of the run's secret seed; empty for a fixed seed
    # The fingerprint of the training data: on other data the same noise would reveal a difference.
    data: str
    digest: str = ""  # of all this and the state, keyed; empty in a file of an older version

    def sealed(self, state: memoryview | bytes, key: bytes) -> "Label":
        """The label with the digest of a state.

        Changed weights would get the noise that steps with others had: both sums together reveal
        their difference. Nobody makes the digest of a changed file without the key.
        """
        text = json.dumps(self._replace(digest="")._asdict())
        digest = hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES, key=key)
        digest.update(state)
        return self._replace(digest=digest.hexdigest())

    def belongs_to(self, state: memoryview | bytes, key: bytes) -> bool:
        """Return whether this label was sealed with the key for this state."""
        return self.sealed(state, key).digest == self.digest


def write_label(file: IO[bytes], label: Label) -> None:
    file.write(json.dumps(label._asdict()).encode() + b"\n")


def read_label(file: IO[bytes]) -> Label | None:
    """The label at the start of the file; None if the file is damaged, or older than labels."""
    try:
        label = Label(**json.loads(file.readline()))
    except (ValueError, TypeError):
        return None
    kinds = (
        (label.step, int),
        (label.settings, dict),
        (label.where, dict),
        (label.digest, str),
    )
    return label if all(isinstance(value, kind) for value, kind in kinds) else None


def label_of(path: Path) -> Label | None:
    """The label of a checkpoint. Errors: OSError if the file cannot be read."""
    with open_regular(path) as file:
        return read_label(file)
