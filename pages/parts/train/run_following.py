"""What the charts of the train page follow: which line grows with what of which run."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpcore.figures import Track, charted
from dpcore.figures.style import NORMAL, written
from dpcore.figures.training import MAX_POINTS, accuracy_lines
from dpcore.privacy.types import FloatArray, IntArray
from dpcore.training.events import NORM_QUANTILES
from pages.parts.components.live_chart import Growth, Label, Mark, Strip, Table
from pages.parts.results import cache
from pages.parts.train.run_history import Watched


def accuracy_growths(watched: Sequence[Watched], tracks: Sequence[Track], accountant: str, across: str) -> list[Growth]:
    """How the lines of `accuracy_figure` grow with the tests of the active runs."""
    found = []
    for line, (place, style, _) in enumerate(accuracy_lines(tracks)):
        each, track = watched[place], tracks[place]
        table = None if across == "epoch" else spent_table(each, accountant)
        if not each.run.active or (across != "epoch" and not table and not track.level):
            continue
        text = written(style, f"{f'{place + 1}: ' if len(tracks) > 1 else ''}{{}} %", NORMAL)["text"]
        field = "accuracy" if style.label == track.label else "averaged_accuracy"
        label = Label(style.label, text)
        growth = Growth(each.run.id, each.history.sequence, line, y=field, scale=100.0, label=label)
        found.append(growth if across == "epoch" else replace(growth, table=table, level=track.level))
    return found


def report_growths(watched: Sequence[Watched], quantity: str, scale: float = 1.0) -> list[Growth]:
    """How the lines of one quantity grow with the reports of the active runs; clipping where there is any."""
    return [
        Growth(each.run.id, each.history.sequence, line, event="stepped", y=quantity, scale=scale)
        for line, each in enumerate(watched)
        if each.run.active and (each.config.private or quantity != "clipped")
    ]


def class_growths(watched: Watched) -> list[Growth]:
    """How the bars of the classes change with the tests of a run."""
    active = watched.run.active
    return [Growth(watched.run.id, watched.history.sequence, 0, y="per_class", scale=100.0)] if active else []


def proposals(watched: Watched) -> list[Strip]:
    """The strip of what simulated annealing accepts and rejects, while the run goes on."""
    since = (watched.run.id, watched.history.sequence)
    return [Strip(*since, watched.history.decisions, watched.config.q, MAX_POINTS)] if watched.run.active else []


def norm_growths(watched: Watched) -> list[Growth]:
    """How the lines of `norms_figure` grow with the reports of a run."""
    since, lines = (watched.run.id, watched.history.sequence), range(len(NORM_QUANTILES) if watched.run.active else 0)
    return [Growth(*since, trace=item, event="stepped", y="norms", item=item) for item in lines]


def walking(watched: Watched) -> list[Mark]:
    """The line on the epsilon chart that says where the run is."""
    return [Mark(watched.run.id, watched.history.sequence, shape=0)] if watched.run.active else []


def charted_epochs(watched: Watched) -> FloatArray:
    """Epochs at the points of the run's epsilon curves (n,); what comes before the steps takes none."""
    return np.asarray(_charted_steps(watched) * watched.config.q, dtype=np.float64)


def spent_table(watched: Watched, accountant: str) -> Table | None:
    """Epsilon by an accountant after some of the run's steps; None where it has no answer."""
    mechanism = watched.plan.mechanism
    if mechanism is None:
        return None
    steps, spent = _charted_steps(watched), cache.curve(accountant, mechanism, watched.config.delta).epsilon
    said = (steps > 0) & np.isfinite(spent)
    return Table(tuple(steps[said].tolist()), tuple(spent[said].tolist())) if said.any() else None


def _charted_steps(watched: Watched) -> IntArray:
    """The run's steps at the points of its epsilon curves (n,)."""
    mechanism = watched.plan.mechanism
    assert mechanism, "a run without privacy has no such curves"
    return np.maximum(charted(mechanism) - watched.plan.compositions_at(0), 0)
