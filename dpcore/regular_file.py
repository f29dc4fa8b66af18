"""Open regular files only: to open a pipe waits for its other end, which may never come."""

import errno
import os
import stat
from pathlib import Path
from typing import IO


def check_regular(path: str | Path) -> None:
    """Raise OSError if a pipe, a device or a socket is at the path; nothing there is no error.

    Also ValueError for a path that no system has.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "Is a pipe or a device, not a file", os.fspath(path))


def open_regular(path: str | Path) -> IO[bytes]:
    """Open a regular file to read its bytes. Errors: OSError, and ValueError as for `open`."""
    check_regular(path)
    return open(path, "rb")


def regular_text(path: Path) -> str:
    """Return the text of a regular file. Errors: OSError; ValueError if it is no UTF-8."""
    check_regular(path)
    return path.read_text(encoding="utf-8")
