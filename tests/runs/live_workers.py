"""Which worker processes live, and a store that another process holds."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def processes(home: Path, module: str = "dpcore.runs.worker") -> list[int]:
    """Ids of the live worker processes that serve `home`, or of those that another module was
    started as.
    """
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if module.encode() in words and str(home).encode() in words:
            found.append(int(entry.name))
    return found


HOLD = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
db.execute("ROLLBACK")
"""


@contextmanager
def held(file: Path, seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """The database in the hands of another process, for so many seconds from the beginning of the
    block on.
    """
    command = [sys.executable, "-c", HOLD, str(file), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            yield holder
        finally:
            holder.kill()
