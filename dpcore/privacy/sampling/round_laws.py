"""What one round tells: a step under another adjacency, or a whole epoch."""

from typing import NamedTuple

from dpcore.privacy.certified.step_law import StepLaws


class RoundLaws(NamedTuple):
    """The laws of one round on a lattice of losses, and by how much any divergence of them may be off."""

    laws: StepLaws
    error: float
