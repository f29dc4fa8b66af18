"""How many threads the pages' matrix products take."""

import os
from functools import lru_cache

import numpy  # noqa: F401  # what is loaded later would not be limited
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_limits

CHOICE = "OPENBLAS_NUM_THREADS"  # who sets it has chosen


@lru_cache(maxsize=1)
def one_thread_for_products() -> None:
    """Let every BLAS product of this process run on one thread; training workers, processes of their own, keep theirs.

    A page's products are small. With more threads each product waits for all of them: while another core was busy, the
    certified curve at q = 256/60000, sigma = 0.7, T = 10546 took 629 ms with two threads on two cores, 220 with one.
    """
    if CHOICE not in os.environ:
        threadpool_limits(1, user_api="blas")
