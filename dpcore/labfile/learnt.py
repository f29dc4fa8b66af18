"""What networks learnt, as it was recorded: accuracies by the epsilon that they cost."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from dpcore.data.catalogue import DATASETS
from dpcore.labfile.codes import nearest_code
from dpcore.labfile.stops import opening
from dpcore.papers.better_features.best import best_of
from dpcore.privacy.mechanism import Kind
from dpcore.privacy.report.numbers import marked, rounded
from dpcore.training.recorded import recorded


class Learnt(NamedTuple):
    """A recorded training: its epsilon, the share of test images that are right, and a sentence."""

    epsilon: float
    right: str
    sentence: str

    @property
    def code(self) -> int:
        """The code of the epsilon as it is shown."""
        return nearest_code(rounded(self.epsilon, Kind.CERTIFIED))

    @property
    def shown(self) -> dict[str, Any]:
        """What the page reads: the epsilon as text and as code, the share, and the sentence."""
        return {
            "code": self.code,
            "epsilon": marked(self.epsilon, Kind.CERTIFIED),
            "accuracy": self.right,
            "text": self.sentence,
        }


def learnt(dataset: str, n: int, words: dict[str, str]) -> list[Learnt]:
    """The recorded trainings by rising epsilon, each more accurate than those before.

    They are the lab's own on its n examples, and those of the best recipe on all data beside any
    other n; none if nothing was recorded.
    """
    first = opening(dataset)
    if n == first.examples and recorded(dataset, first.source):
        return list(_of_lab(dataset, first.source, words))
    return list(_of_best(dataset, words))


def _of_lab(dataset: str, source: str, words: dict[str, str]) -> Iterator[Learnt]:
    most = 0.0
    for row in recorded(dataset, source):
        if row.accuracy <= most:
            continue
        most = row.accuracy
        sentence = words["lab"].format(
            epsilon=marked(row.epsilon, Kind.CERTIFIED),
            baseline=f"{100 * row.baseline:.0f}",
            lost=f"{100 * (row.baseline - row.accuracy):.1f}",
        )
        yield Learnt(row.epsilon, f"{100 * row.accuracy:.0f}", sentence)


def _of_best(dataset: str, words: dict[str, str]) -> Iterator[Learnt]:
    best = best_of(dataset)
    for record in best.private:
        epsilon = record.epsilon or 0.0
        sentence = words["best"].format(
            examples=f"{DATASETS[record.data.name].examples('full'):,}",
            title=record.data.title,
            epsilon=marked(epsilon, Kind.CERTIFIED),
            seeds=record.seeds,
        )
        if best.plain:
            sentence = f"{sentence} {words['plain'].format(plain=f'{best.plain.mean:.1f}')}"
        yield Learnt(epsilon, f"{record.mean:.1f}", sentence)
