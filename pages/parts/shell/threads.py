"""NumPy and SciPy, loaded with one BLAS thread each: import this before anything else that loads them.

A page's matrix products are small. With more threads each product waits for all of them, which took the certified
curve from 35 to 80 ms while a run trained on the other core. The variable is put back, so that workers keep theirs.
"""

import os

NAME = "OPENBLAS_NUM_THREADS"

if NAME not in os.environ:
    os.environ[NAME] = "1"
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401

    del os.environ[NAME]
