"""The hockey-stick curve of a law on a lattice."""

import numpy as np

from dpcore.privacy.certified.step_law import LossLaw


def of_law(law: LossLaw, epsilon: np.ndarray) -> np.ndarray:
    """delta at (n,) epsilons, of one use."""
    values = law.offset + law.mesh * np.arange(law.mass.size)
    return law.infinite + np.array(
        [law.mass @ np.maximum(-np.expm1(each - values), 0.0) for each in epsilon]
    )
