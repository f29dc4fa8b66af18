"""The least that a private step of the mlp can take on this machine, as a multiple of PyTorch's plain SGD step.

python -m tests.benchmarks.roofline [--rounds 12]

What a private step has to do beyond the plain one is timed alone, on all cores at once, in memory that stays in their
caches: AES words and the logarithm, root, sine and cosine in float64 of which Gaussian numbers are made; for methods
that scale gradients the product of matrices that their norms take; and the vectors that those read and write, at the
rate of a copy. All else that is private counts as free here, and the plain step as work that cannot be done faster.
Parts are the least of many times, so that the bound is rather too low than too high; steps are medians, and the
contenders take turns. Prints the parts, then of each contender its multiple, the bound, and what is wanted at most.
"""

import argparse
import math
import time
import warnings
from collections.abc import Callable

import torch

from dpcore.training.gradients.core_threads import Cores
from dpcore.training.randomness.random_words import AesWords
from tests.benchmarks.training import WORK, contenders, measure

INPUTS, HIDDEN, OUTPUTS, BATCH = 784, 1000, 10, WORK["mlp-600"][2]
NUMBERS = (INPUTS + 1) * HIDDEN + (HIDDEN + 1) * OUTPUTS  # parameters
BLOCK = 12_500  # numbers of float64 that all fit into a core's cache, and are enough to hide the call
REPEAT = 30
WANTED = {  # at most so many plain steps, and how often a vector is read or written
    "dpcore": (1.1, 0),
    "dpcore pi_adam": (1.5, 2 + 2 + 3),  # m, v both ways; 1 / D^2 written, then read by norms and noise
    "dpcore adadp": (1.5, 2 + 3),
}
Work = Callable[[], object]


def least(cores: Cores, makers: Callable[[], Work]) -> float:
    """Milliseconds, at least, until every core has done its work; each gets memory of its own."""
    works = [makers() for _ in range(cores.count)]
    times = []
    with cores.working():
        for _ in range(REPEAT):
            start = time.perf_counter()
            cores.map(lambda work: work(), works)
            times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def parts() -> dict[str, float]:
    """Milliseconds that all cores together take for a part of a step."""
    cores = Cores()
    blocks = math.ceil(NUMBERS / cores.count / BLOCK)
    of_block = NUMBERS / (cores.count * blocks * BLOCK)  # the last one is not full

    def words() -> Work:
        stream, memory = AesWords(bytes(32)), torch.empty(BLOCK, dtype=torch.int64)
        return lambda: [stream.fill(memory) for _ in range(blocks)]

    def functions() -> Work:
        given = torch.rand(BLOCK // 2, dtype=torch.float64)
        out, kinds = torch.empty_like(given), (torch.log, torch.sqrt, torch.sin, torch.cos)
        return lambda: [kind(given, out=out) for _ in range(blocks) for kind in kinds]

    def product() -> Work:  # the squares of a core's share of the gradients at the hidden layer, times 1 / D^2
        squares, inverse = torch.rand(math.ceil(BATCH / cores.count), HIDDEN), torch.rand(HIDDEN, INPUTS)
        return lambda: squares @ inverse

    def copy() -> Work:
        given = torch.rand(math.ceil(NUMBERS / cores.count))
        out = torch.empty_like(given)
        return lambda: out.copy_(given)

    return {
        "words": least(cores, words) * of_block,
        "functions": least(cores, functions) * of_block,
        "product": least(cores, product),
        "vector": least(cores, copy) / 2,  # to read or to write it once
    }


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    rounds = parser.parse_args().rounds
    warnings.filterwarnings("ignore")
    makers = contenders(*WORK["mlp-600"], with_opacus=False)
    rows = measure({name: makers[name]() for name in ("non-private", "non-private adam", *WANTED)}, rounds)
    found, plain = parts(), rows["non-private"]["ms"]
    print(f"plain step {plain:.2f} ms; of all cores: {', '.join(f'{part} {ms:.2f} ms' for part, ms in found.items())}")
    for name, (wanted, vectors) in WANTED.items():
        beyond = found["words"] + found["functions"] + (found["product"] if vectors else 0.0)
        bound = 1 + (beyond + vectors * found["vector"]) / plain
        figures = f"{rows[name]['ms']:.2f} ms, x{rows[name]['multiple']:.2f}, at least x{bound:.2f}"
        print(f"{name:<16} {figures}, wanted x{wanted:.2f}{', cannot be reached here' if bound > wanted else ''}")


if __name__ == "__main__":
    main()
