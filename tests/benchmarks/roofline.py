"""The least that a private step of the mlp can take on this machine, as a multiple of PyTorch's plain SGD step.

python -m tests.benchmarks.roofline [--rounds 12]

What a private step has to do beyond the plain one is timed alone, on all cores at once, in memory that stays in their
caches: AES words and the logarithm, root, sine and cosine in float64 of which Gaussian numbers are made; for methods
that scale gradients the product of matrices that their norms take; and the vectors that those read and write, at the
rate of a copy. All else that is private counts as free here, and the plain step as work that cannot be done faster.
Parts are the least of many times, so that the bound is rather too low than too high; steps are medians, and the
contenders take turns. Prints the parts with what they amount to, then for each contender its multiple, the bound, what
is wanted at most, and whether that is reached or cannot be reached here, then one JSON object.
"""

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import torch

from dpcore.training.gradients.core_threads import Cores
from dpcore.training.randomness.random_words import AesWords
from tests.benchmarks.training import WORK, contenders, measure

INPUTS, HIDDEN, OUTPUTS, BATCH = 784, 1000, 10, WORK["mlp-600"][2]
NUMBERS = (INPUTS + 1) * HIDDEN + (HIDDEN + 1) * OUTPUTS  # parameters
BLOCK = 12_500  # numbers of float64 that all fit into a core's cache, and are enough to hide the call
REPEAT = 30
VECTORS = {  # a vector is read or written so often: m, v both ways; 1 / D^2 written, then read by norms and noise
    "dpcore": 0,
    "dpcore pi_adam": 2 + 2 + 3,
    "dpcore adadp": 2 + 3,
}
WANTED = {"dpcore": 1.1, "dpcore pi_adam": 1.5, "dpcore adadp": 1.5}  # at most so many plain steps
AMOUNTS = {  # of each part, however it is computed
    "words": f"{8 * NUMBERS / 1e6:.1f} MB",
    "functions": f"{2 * NUMBERS / 1e6:.1f} million values",
    "product": f"{2 * BATCH * HIDDEN * INPUTS / 1e9:.2f} GFLOP",
    "vector": f"{4 * NUMBERS / 1e6:.1f} MB",
}


class Parts(NamedTuple):
    """Milliseconds that all cores together take for a part of a step."""

    words: float
    functions: float
    product: float
    vector: float  # to read or to write a vector once

    def beyond(self, contender: str) -> float:
        """What the contender's step has to do beyond the plain one.

        >>> Parts(words=0.25, functions=1.0, product=2.0, vector=0.5).beyond("dpcore adadp")
        5.75
        """
        vectors = VECTORS[contender]
        return self.words + self.functions + (self.product if vectors else 0.0) + vectors * self.vector


def least(cores: Cores, makers: Callable[[], Callable[[], object]]) -> float:
    """Milliseconds, at least, until every core has done its work; each gets memory of its own."""
    works = [makers() for _ in range(cores.count)]
    times = []
    with cores.working():
        for _ in range(REPEAT):
            start = time.perf_counter()
            cores.map(lambda work: work(), works)
            times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def parts() -> Parts:
    """What each part takes."""
    cores = Cores()
    blocks = math.ceil(NUMBERS / cores.count / BLOCK)
    of_block = NUMBERS / (cores.count * blocks * BLOCK)  # the last one is not full
    return Parts(
        words=least(cores, lambda: words(blocks)) * of_block,
        functions=least(cores, lambda: functions(blocks)) * of_block,
        product=least(cores, lambda: product(math.ceil(BATCH / cores.count))),
        vector=least(cores, lambda: copy(math.ceil(NUMBERS / cores.count))) / 2,
    )


def words(blocks: int) -> Callable[[], object]:
    """A word for each number."""
    stream, memory = AesWords(bytes(32)), torch.empty(BLOCK, dtype=torch.int64)
    return lambda: [stream.fill(memory) for _ in range(blocks)]


def functions(blocks: int) -> Callable[[], object]:
    """A logarithm, a root, a sine and a cosine for every two numbers."""
    given = torch.rand(BLOCK // 2, dtype=torch.float64)
    out = torch.empty_like(given)

    def work() -> None:
        for _ in range(blocks):
            for function in (torch.log, torch.sqrt, torch.sin, torch.cos):
                function(given, out=out)

    return work


def product(rows: int) -> Callable[[], object]:
    """The squares of a core's share of the gradients at the hidden layer, times 1 / D^2."""
    squares, inverse = torch.rand(rows, HIDDEN), torch.rand(HIDDEN, INPUTS)
    return lambda: squares @ inverse


def copy(size: int) -> Callable[[], object]:
    """A core's share of a vector, read and written."""
    given, out = torch.rand(size), torch.empty(size)
    return lambda: out.copy_(given)


def verdict(multiple: float, least: float, wanted: float) -> str:
    """What is to be said of a target.

    >>> verdict(1.4, 1.2, 1.5), verdict(1.6, 1.2, 1.5), verdict(1.9, 1.6, 1.5)
    ('reached', 'missed', 'cannot be reached here')
    """
    if multiple <= wanted:
        return "reached"
    return "missed" if least <= wanted else "cannot be reached here"


def table(found: Parts, rows: dict[str, dict[str, float | None]]) -> dict[str, dict[str, float | str]]:
    """Of each private contender the multiple, the bound, what is wanted, and whether it is reached."""
    plain = rows["non-private"]["ms"]
    assert plain
    result: dict[str, dict[str, float | str]] = {}
    for name, wanted in WANTED.items():
        ms, least = rows[name]["ms"], 1 + found.beyond(name) / plain
        assert ms
        multiple = ms / plain
        figures = {"ms": ms, "multiple": multiple, "at least": least, "wanted": wanted}
        result[name] = {**figures, "verdict": verdict(multiple, least, wanted)}
    return result


def main() -> None:
    """Measure, print a table, print the JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    rounds = parser.parse_args().rounds
    warnings.filterwarnings("ignore")
    makers = contenders(*WORK["mlp-600"], with_opacus=False)
    rows = measure({name: makers[name]() for name in ("non-private", "non-private adam", *VECTORS)}, rounds)
    found = parts()
    print(f"plain step {rows['non-private']['ms']:.2f} ms; of all cores:")
    for part, ms in found._asdict().items():
        print(f"  {part:<14} {ms:>6.2f} ms for {AMOUNTS[part]}")
    print(f"{'contender':<16} {'ms':>6} {'multiple':>9} {'at least':>9} {'wanted':>9}")
    result = table(found, rows)
    for name, row in result.items():
        multiples = f"{row['multiple']:>9.2f} {row['at least']:>9.2f} {row['wanted']:>9.2f}"
        print(f"{name:<16} {row['ms']:>6.2f} {multiples} {row['verdict']}")
    setting = {"torch": torch.__version__, "threads": torch.get_num_threads(), "plain ms": rows["non-private"]["ms"]}
    print(json.dumps({**setting, "parts": found._asdict(), **result}))


if __name__ == "__main__":
    main()
