"""The black-box audit of a trained model: who took part tends to have a smaller loss.

Source: Yeom et al. 2018, Privacy risk in machine learning, arXiv 1709.01604; Carlini et al. 2022, arXiv 2112.03570, for
the true-positive rate at a small false-positive rate as the number to look at.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, final

from numpy.typing import ArrayLike

from dpcore.audit.bounds.finding import CONFIDENCE, Evidence, Finding
from dpcore.audit.bounds.inputs import constant, numbers, trouble
from dpcore.audit.bounds.roc import Roc, roc_of
from dpcore.audit.bounds.two_run import Rates, audit_two_run
from dpcore.privacy.report.numbers import nearest, outward


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class LossFinding(Finding):
    """How well a threshold on the loss tells members from others."""

    title: ClassVar[str] = "Losses of a trained model"
    tests: ClassVar[str] = "What is released, the model, hides who took part as well as is claimed."
    untested: ClassVar[str] = (
        "A better attack than a threshold on the loss; one model is one run, in which examples are not independent."
    )
    source: ClassVar[str] = "Yeom et al. 2018, arXiv 1709.01604; Carlini et al. 2022, arXiv 2112.03570"

    roc: Roc | None = None
    rates: Rates | None = None  # of the threshold that epsilon follows from

    def _measured(self) -> str:
        told = self.roc.told if self.roc else ()
        shares = " and ".join(
            f"{nearest(100 * each.seen, 3)} % at {nearest(100 * each.rate, 3)} % false positives" for each in told
        )
        return (
            f"A threshold on the loss finds {shares}. Were examples independent, epsilon would be at least "
            f"{outward(self.epsilon or 0.0, math.floor)} (an estimate)."
        )


def audit_losses(members: ArrayLike, others: ArrayLike, delta: float, *, confidence: float = CONFIDENCE) -> LossFinding:
    """What the losses of examples that took part (n,), and of others of the same kind (k,), show.

    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> audit_losses(generator.exponential(0.2, 500), generator.exponential(1.0, 500), 1e-5).epsilon > 0.3
    True
    """
    inside, outside = -numbers("members", members), -numbers("others", others)
    if note := trouble(losses_of_members=inside, losses_of_others=outside) or constant("losses", inside, outside):
        return LossFinding(confidence=confidence, note=note)
    counted = audit_two_run(inside, outside, delta, independent=False, confidence=confidence)
    return LossFinding(
        confidence=confidence,
        epsilon=counted.epsilon,
        evidence=Evidence.ESTIMATE,
        note=counted.note,
        roc=roc_of(inside, outside, confidence=confidence),
        rates=counted.rates,
    )
