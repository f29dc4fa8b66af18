"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from dpcore.regular_file import check_regular


def private(path: str, flags: int) -> int:
    """Open a file for its owner alone. Errors: OSError, also for a pipe, which might never open."""
    check_regular(path)
    return os.open(path, flags, 0o600)


@contextmanager
def whole_file(path: Path, *, shared: bool = False) -> Iterator[IO[bytes]]:
    """Write a file inside, which then replaces that at the path; after an error the path is as
    before.

    Only its owner can read it, unless it is `shared`. Errors: OSError.
    """
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")  # of this process alone
    try:
        path.parent.mkdir(mode=0o777 if shared else 0o700, parents=True, exist_ok=True)
        with open(aside, "xb", opener=None if shared else private) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # else a power cut might leave the name with no bytes behind it
        os.replace(aside, path)
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
