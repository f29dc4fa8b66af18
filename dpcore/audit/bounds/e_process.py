"""Evidence that grows while a run trains: e-processes against too little noise and against repeated
noise.

An e-process begins at 1, and of a sound trainer it ever reaches 20 with a probability of 1 / 20 at
most, so anybody may look at it after any step. README.md, Theorems 10 to 12, proves it.

Source: González et al. 2025, arXiv 2509.07055, for sequential audits; Ramdas, Grünwald, Vovk and
Shafer 2023, arXiv 2210.01948, for e-processes and Ville's inequality; Shin, Ramdas and Rinaldo
2024, arXiv 2203.03532, for unknown starts.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln

from dpcore import check
from dpcore.audit.bounds.finding import CONFIDENCE, Finding, nothing, numbers
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import short

LINE = 20  # evidence that a sound trainer ever reaches with a probability of 5 % at most
# Of noise drawn to noise charged, on each of which a part of the money is bet.
RATIOS = 1 - 2.0 ** -np.arange(1, 11)
COMPARED = 4096  # the latest steps whose noise is compared with that of the next
FEWEST = 4  # directions in which noise can show a repetition
TINY = 1e-300  # in place of a length of 0
BEYOND_WORDS = 30  # a power of ten from which on a larger one says no more
ARITHMETIC = 1e-12  # more than the error of a product of unit vectors in float64


def evidence_text(power: float) -> str:
    """Write evidence, given by its logarithm to base 10.

    >>> evidence_text(1.34), evidence_text(27_566.7)
    ('10^1.3', 'more than 10^30')
    """
    if power > BEYOND_WORDS:
        return f"more than 10^{BEYOND_WORDS}"
    return f"10^{power:.1f}"


class EProcess:
    """An e-process from factors of each step: README.md, Theorem 12.

    Money of a bet can begin at any step.
    """

    def __init__(self, bets: int) -> None:
        self._logs = np.full(bets, -math.inf)  # of the money of each bet, started so far
        self._steps = 0
        self.log = 0.0  # natural logarithm of the e-process

    def take(self, log_factors: FloatArray | float) -> None:
        """Take in a step: logarithms of factors (bets,), or of one factor for all bets, whose mean
        given the past is at most 1.
        """
        self._steps += 1
        begins = -math.log(self._steps) - math.log(self._steps + 1)
        self._logs = np.logaddexp(self._logs, begins) + log_factors
        started = float(np.logaddexp.reduce(self._logs)) - math.log(len(self._logs))
        self.log = float(np.logaddexp(started, -math.log(self._steps + 1)))


def less_noise(noise: FloatArray, rounding: ArrayLike = 0.0) -> FloatArray:
    """Return log likelihood ratios (RATIOS,) of less noise than is charged: README.md, Theorem 10.

    `noise` (k,) is in units of the noise charged, and within `rounding` of the noise drawn. A
    number that is not finite loses all bets.

    >>> np.exp(less_noise(np.array([0.5]))).round(2).tolist()[:3]
    [1.37, 1.21, 1.1]
    """
    square = float(np.sum(np.square(np.abs(noise) + np.asarray(rounding, dtype=np.float64))))
    if not math.isfinite(square):
        return np.full(len(RATIOS), -math.inf)
    return -len(noise) * np.log(RATIOS) - (RATIOS**-2 - 1) * square / 2


def repeated_noise(correlations: FloatArray, directions: int) -> FloatArray:
    """Return log likelihood ratios (alternatives, n) of correlations (n,) with earlier noise:
    README.md, Theorem 11.

    In each alternative the correlation is that of uniform directions in fewer dimensions.

    >>> np.exp(repeated_noise(np.array([0.0, 0.9]), 5)).round(2).tolist()
    [[0.67, 3.51]]
    """
    fewer = 3.0 * 4 ** np.arange(math.ceil(math.log(directions / 3, 4)))[:, None]
    constants = betaln(0.5, (directions - 1) / 2) - betaln(0.5, (fewer - 1) / 2)
    return constants + (fewer - directions) / 2 * np.log1p(-(correlations**2))


class NoiseEvidence:
    """Evidence against the noise of a run, from its noise in the same directions at each step.

    `logs` are logarithms to base 10: of all evidence together, which is the mean of two
    e-processes; of the one against too little noise; of the one against repeated noise.

    >>> evidence, generator = NoiseEvidence(steps=9, directions=50), np.random.default_rng(0)
    >>> for scale in (1.0, 1.0, 1.0, 0.6):
    ...     evidence.take(generator.normal(0.0, scale, 50))
    >>> evidence.caught
    'Evidence reached 20 at step 4 of 9: the noise is too small.'
    """

    def __init__(self, steps: int, directions: int) -> None:
        check.whole(1, steps=steps, directions=directions)
        self._less = EProcess(len(RATIOS))
        self._repeated = EProcess(len(repeated_noise(np.zeros(1), max(directions, FEWEST))))
        self._units = np.zeros((steps, directions))  # of the noise seen
        self._sum = np.zeros(directions)  # of these
        self.seen = 0  # steps
        self.largest = 0.0  # of the logarithms of all evidence
        self.caught = ""  # a sentence once the evidence has reached LINE

    @property
    def logs(self) -> tuple[float, float, float]:
        less = self._less.log
        repeated = self._repeated.log
        together = float(np.logaddexp(less, repeated)) - math.log(2)
        unit = math.log(10)
        return together / unit, less / unit, repeated / unit

    def take(self, noise: ArrayLike, rounding: ArrayLike = 0.0) -> None:
        """Take in the next step's noise (directions,), in units of the noise charged, and bounds of
        its rounding.
        """
        z = numbers("noise", noise)
        check.whole(1, len(self._units), steps=self.seen + 1)
        if z.shape != self._sum.shape:
            raise ValueError(
                f"Expected noise of shape {z.shape} to have the shape {self._sum.shape} of the"
                " directions."
            )
        with np.errstate(over="ignore", invalid="ignore"):  # a run that diverges loses its bets
            self._less.take(less_noise(z, rounding))
            length = float(np.linalg.norm(np.broadcast_to(rounding, z.shape)))
            self._repeated.take(self._against_earlier(z, length))
        self.seen += 1
        together, less, repeated = self.logs
        self.largest = max(self.largest, together)
        if not self.caught and together >= math.log10(LINE):
            fault = "the noise is too small" if less >= repeated else "the noise repeats"
            self.caught = (
                f"Evidence reached {LINE} at step {self.seen:,} of {len(self._units):,}: {fault}."
            )

    def _against_earlier(self, z: FloatArray, rounding: float) -> FloatArray | float:
        """Return the log factors of the correlations with earlier steps and their sum: half of each
        bet on either.
        """
        length = float(np.linalg.norm(z))
        if not math.isfinite(length + rounding):
            return -math.inf
        length = max(length, TINY)
        unit = z / length
        earlier = self._units[max(0, self.seen - COMPARED) : self.seen]
        total = self._sum
        self._units[self.seen] = unit
        self._sum = total + unit
        if not len(earlier) or len(z) < FEWEST:
            return 0.0
        with_sum = total @ unit / max(float(np.linalg.norm(total)), TINY)
        products = np.append(earlier @ unit, with_sum)
        allowed = ARITHMETIC + 2 * rounding / length
        logs = repeated_noise(np.maximum(np.abs(products) - allowed, 0.0), len(z))
        of_steps = np.logaddexp.reduce(logs[:, :-1], axis=1) - math.log(len(earlier))
        return np.logaddexp(of_steps, logs[:, -1]) - math.log(2)

    def finding(self, confidence: float = CONFIDENCE) -> Finding:
        """Return the outcome so far; the p-value is the reciprocal of the largest evidence at any
        step.
        """
        largest = self.largest  # logarithm of the evidence to base 10
        if not self.seen:
            note = "Nothing can be shown: no step has noise."
            return nothing(note, confidence, steps=0, largest=largest)
        if self.caught:
            shows = (
                f"{self.caught} It grew to {evidence_text(largest)}; sound noise reaches {LINE} in"
                " at most 5 % of runs."
            )
        else:
            most = short(10**largest)
            shows = (
                f"Evidence stayed below {LINE} in {self.seen:,} steps: it reached {most} at most."
            )
        return Finding(
            confidence=confidence,
            p_value=10.0**-largest,
            shows=shows,
            figures={"steps": self.seen, "largest": largest},
        )
