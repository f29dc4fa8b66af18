"""Small tables of the lab in a file, and what the live lab shows at their stops."""

import math
import random
import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import product

from dpcore.figures.style import SIGNS
from dpcore.labfile.row import OTHERS, mechanism_at, row_of
from dpcore.labfile.stops import Stop, Stops
from dpcore.labfile.table import Table, table_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.attack_risk import of_hundred
from dpcore.privacy.report.numbers import marked, outward
from dpcore.privacy.report.statement import odds
from dpcore.privacy.report.verdict import verdict
from pages.parts.results import cache as live
from pages.parts.results.tables import verdict_table

N, DELTA = 10_000, 1e-5
# The default, the lesson's sigmas, and stops without sampling, with an epsilon of many digits and
# without any promise.
FEW = Stops((0.3, 0.5, 1.23, 4.0, 100.0), (256, 10_000), (0.1, 1.0, 5.0, 150.0))
CELL = re.compile(r"<td[^>]*>(.*?)</td>")


@cache
def small_table() -> Table:
    """The table of a few stops, computed in this process."""
    ask = partial(row_of, N, DELTA, FEW.epochs)
    rows = [ask(batch, sigma) for batch, sigma in product(FEW.batch, FEW.sigma)]
    return table_of(N, DELTA, FEW, rows)


def drawn(stops: Stops, count: int, seed: int) -> Iterator[Stop]:
    """Stops drawn with this seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield Stop(*(chance.choice(values) for values in stops))


def shown_live(stop: Stop, n: int, delta: float) -> dict[str, object]:
    """The numbers of the live lab at a stop, as texts."""
    mechanism = mechanism_at(n, stop.batch, stop.sigma, stop.epochs)
    names = (*OTHERS, CERTIFIED)
    curves = {name: live.curve(name, mechanism, delta) for name in names}
    band = curves[CERTIFIED]
    shown = {}
    table = verdict_table(curves).partition("<tbody>")[2]
    for name, row in zip(names, table.split("</tr>"), strict=False):
        last = curves[name].last
        sign, _ = SIGNS["worth"][verdict(curves[name], band).worth]
        epsilon = marked(last.value, last.kind, last.lower)
        assert CELL.findall(row)[0] == epsilon
        shown[ACCOUNTANTS[name].title] = [epsilon, CELL.findall(row)[1], sign]
    risks = live.risks(mechanism, delta)
    return {
        "accountants": shown,
        "lower": outward(band.last.lower or 0.0, math.floor),
        "people": f"{of_hundred(risks)} of 100",
        "sure": certainty(odds(risks)),
        "steps": f"{mechanism.steps:,} step",
    }


def certainty(sentence: str) -> str:
    """The certainty in a sentence: "87.4 %", "more than 99.9 %" or "certain".

    >>> certainty("it ends up at most 87.4 % certain, except"), certainty("may end up certain.")
    ('87.4 %', 'certain')
    """
    found = re.search(r"(more than )?\d+\.\d %", sentence)
    return found[0] if found else "certain"
