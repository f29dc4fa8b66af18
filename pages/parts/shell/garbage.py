"""What the garbage collector need not look at: what modules hold, which is there as long as the server is."""

import gc
import sys

_known: list[int] = [0]  # how many modules there were when they were last set aside


def set_modules_aside() -> None:
    """Let later collections pass by all that is there now, if modules have come since the last time.

    They hold most of a million objects, of which none is ever garbage; with them a whole collection takes a tenth of a
    second, in which every page waits. Without them it is short, and so Python makes it more often: each run of a page
    leaves hundreds of objects that refer to one another.
    """
    if _known[0] != len(sys.modules):
        _known[0] = len(sys.modules)
        gc.collect()
        gc.freeze()
