"""What shuffled batches still tell where each epoch drops the examples that fill no batch."""

import math

EVERY_EPOCH, ONCE = "shuffle", "shuffle_once"  # other examples are dropped in each epoch, or always the same


def of_dropped(sampler: str, share: float, epochs: int) -> float:
    """The natural logarithm of the least probability that an example takes part in all epochs.

    >>> round(of_dropped("shuffle", 0.1, 2), 4), round(of_dropped("shuffle_once", 0.1, 2), 4)
    (-0.2107, -0.1054)
    """
    return {EVERY_EPOCH: epochs, ONCE: 1}.get(sampler, 0) * math.log1p(-share)


def delta_without(delta: float, dropped: float) -> float:
    """The delta at which a lower bound without dropping is to be taken; 1 or more where nothing is left of it.

    Let P and Q be the laws of the epochs' largest coordinates with the example and without, as no example is dropped,
    and p the probability that the example is in all epochs. If examples are dropped, the first law is at least p P
    everywhere. In the second, each coordinate is a mixture of its law under Q and of one that lies lower: where the
    example is dropped, all batches are full of the others. The density of the largest of N(a, 1) and k standard normals
    has a monotone likelihood ratio in a >= 0, so that the best test of P against Q rejects on a set A that is closed
    upwards, whose probability only falls. So delta(epsilon) >= p P(A) - e^epsilon Q(A) = p delta_PQ(epsilon - ln p),
    that is epsilon >= epsilon_PQ(delta / p) + ln p. The likelihood ratio: with x = c - a, h = phi / Phi, r = k h(c) and
    m = 1 / h(x), the derivative of its logarithm in a is (x - r) / (1 + m r), and that rises in c: the numerator of its
    derivative is 1 + r (m - x - x^2 m + (c + h(c))(1 + x m)) + r^2 (1 + x m), where 1 + x m > 0, and as c + h(c) is at
    least x + h(x) the bracket is at least m + h(x) + x > 0.
    """
    return delta * math.exp(min(-dropped, 700.0))
