"""Which worker processes live."""

from pathlib import Path


def processes(home: Path) -> list[int]:
    """Ids of the live worker processes that serve `home`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"dpcore.runs.worker" in words and str(home).encode() in words:
            found.append(int(entry.name))
    return found
