"""How much memory steps add, each kind of step measured in processes of its own."""

import ctypes
import gc
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

CLEAR = Path("/proc/self/clear_refs")


def peak(words: list[str]) -> float | None:
    """The MiB that this module of ours prints: the median of three processes; None where that
    cannot be measured.
    """
    if not CLEAR.exists():
        return None
    runs = [
        subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
        for _ in range(3)
    ]
    return (
        statistics.median(float(done.stdout) for done in runs)
        if not any(done.returncode for done in runs)
        else None
    )


def added(work: Callable[[], object]) -> float:
    """MiB that work adds at its peak to what this process holds before it."""
    gc.collect()
    # Gives back what was freed: to take it again adds as much.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
    CLEAR.write_text("5")  # forget the peak so far
    before = held("VmRSS")
    work()
    return (held("VmHWM") - before) / 1024


def held(field: str) -> int:
    """KiB of this process."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
