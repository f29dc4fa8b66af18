"""How long a full comparison of perturbation methods takes.

    python tests/benchmarks/perturbation.py

Breast Cancer without noise, and six methods at 10 epsilons with 10 seeds each. Prints the seconds of each repeat, and
those of a core. Wanted: at most 10 s on 2 cores.
"""

import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from dpcore.training.perturbation.comparison import compare  # noqa: E402
from dpcore.training.perturbation.events import Measured  # noqa: E402
from dpcore.training.perturbation.request import Request  # noqa: E402

REPEATS = 3


def main() -> None:
    for _ in range(REPEATS):
        wall, cpu = time.perf_counter(), time.process_time()
        fits = sum(len(event.gaps) for event in compare(Request()) if isinstance(event, Measured))
        print(f"{fits} fits: {time.perf_counter() - wall:.1f} s, {time.process_time() - cpu:.1f} s of a core")


if __name__ == "__main__":
    main()
