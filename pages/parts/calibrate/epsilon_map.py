"""The map of epsilon over sigma and epochs: axes, cached rows, data, and the cell of a click."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpcore.figures import heatmap_figure
from dpcore.figures.alt_texts import heatmap_alt
from dpcore.figures.epsilon import GHOST_NAME
from dpcore.figures.heatmap import Mark, contour
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.accountants.base import FloatArray
from dpcore.privacy.calibration.solve import MAX_SOLVED_STEPS
from dpcore.privacy.calibration.targets import EpsilonTarget, Target
from dpcore.privacy.report.numbers import WORDS, epochs_of, nearest, plain, raised
from dpcore.privacy.schedule import Recipe
from dpcore.training.slider_stops import show
from pages.parts.calibrate import question
from pages.parts.calibrate.question import recipe_of
from pages.parts.components.elements import follows
from pages.parts.components.live_chart import Drawing, clicked_point, live_chart
from pages.parts.controls.fields import epochs_text
from pages.parts.controls.mechanism import ChosenSetting
from pages.parts.controls.url_state import write
from pages.parts.layout import throttle
from pages.parts.results import cache
from pages.parts.results.exports import Origin, Rows, address, csv_button, lowers, origin_of_any
from pages.parts.shell.streamlit_internals import uninterrupted

CELLS = 40  # along each axis
FEW = 14  # rows of a map whose every row takes long: a schedule, certified
SIGMAS = (0.5, 10.0)
EPOCHS = (1.0, 300.0)
WHOLE = 5  # epochs, from which on the map has whole ones only
BEYOND = 1.3  # a map that has to grow ends at so many times the present point
KEY = "map"
AXES = "map_axes"  # of the map that is on the screen
# Drawn first where the certified map, which takes long, is not known yet: a proven bound, and
# quick.
FIRST = "rdp"
PAINTED = "first_map_painted"
PAUSE = 0.3  # seconds until the certified map is begun
NOW = "now"
ANSWER = "answer"
WAITING = "So far by Rényi DP, a proven upper bound."


class Axes(NamedTuple):
    """The grid of a map; hashable."""

    sigmas: tuple[float, ...]
    steps: tuple[int, ...]
    q: float
    delta: float
    recipe: Recipe

    @property
    def epochs(self) -> FloatArray:
        return np.array(self.steps) * self.q

    def hold(self, epochs: float, sigma: float) -> bool:
        """True for a point that is not beyond the grid."""
        between_epochs = self.epochs[0] <= epochs <= self.epochs[-1]
        return bool(between_epochs and self.sigmas[0] <= sigma <= self.sigmas[-1])


class Shown(NamedTuple):
    """The setting, the question, the accountant and the pinned setting of a map."""

    setting: ChosenSetting
    solved: str
    target: Target | None
    by: str
    pinned: ChosenSetting | None

    @property
    def thick(self) -> float | None:
        """The target, if the map can have its contour, which is that of one run."""
        if isinstance(self.target, EpsilonTarget) and not self.target.runs:
            return self.target.size
        return None

    def marks(self) -> list[Mark]:
        """The present point, the answer unless it has another q, and the pinned setting."""
        setting = self.setting
        found = [Mark(setting.epochs, setting.sigma, NOW)]
        if self.target:
            asked = question.asked_of(self.solved, self.target, setting)
            answer = question.settable(asked, self.by)
            if not isinstance(answer, str):
                first = answer.mechanism.releases[0]
                epochs = answer.mechanism.steps * first.q
                if found == [Mark(epochs, first.sigma, NOW)]:
                    found = [Mark(epochs, first.sigma, f"{NOW}: the {ANSWER}", "diamond")]
                elif first.q == setting.q:
                    found.append(Mark(epochs, first.sigma, ANSWER, "diamond"))
        if self.pinned:
            ghost = GHOST_NAME.lower()
            found.append(Mark(self.pinned.epochs, self.pinned.sigma, ghost, "square"))
        return found

    def figure(self, rows: Sequence[Curve], axes: Axes) -> go.Figure:
        return heatmap_figure(
            np.array(axes.sigmas),
            rows,
            axes.epochs,
            target=self.thick,
            marks=self.marks(),
        )

    def title(self, origin: Origin) -> str:
        """The lines over a picture that a reader saves."""
        parts = [
            f"{mark.word}: sigma {nearest(mark.sigma, 6)}, {epochs_of(mark.epochs)}"
            for mark in self.marks()
        ]
        if self.thick:
            parts.insert(0, f"thick: epsilon {self.thick:g}")
        first = f"Epsilon over sigma and epochs, by {ACCOUNTANTS[self.by].title}"
        return f"{first}\n{origin.words}\n{'; '.join(parts)}"


def show_map(shown: Shown) -> None:
    """Draw the map; a click on it loads a cell. Then a button for its numbers."""
    axes = axes_of(shown.setting, shown.by)
    st.session_state[AXES] = axes
    if follows() and shown.by == CERTIFIED and not known(axes, shown.by):
        st.session_state[PAINTED] = False
        st.fragment(_meanwhile, run_every=PAUSE)(shown, axes)
        return
    rows = list(rows_of(axes, shown.by))
    origin = origin_of_any(shown.setting, address())
    file = origin.file(f"epsilon-map-by-{shown.by}")
    _draw(shown, axes, rows, file).caption(caption(rows, axes, shown))

    def cells() -> Rows:
        return [origin._asdict() | cell for cell in cells_of(rows, axes, shown.by)]

    csv_button("Download the map (CSV)", cells, f"{file}.csv", "download")


def _meanwhile(shown: Shown, axes: Axes) -> None:
    """Draw a quick bound; the next time compute the certified map, and run the page again."""
    below = _draw(shown, axes, list(rows_of(axes, FIRST)), "epsilon-map")
    below.caption(WAITING)
    if not st.session_state[PAINTED]:
        st.session_state[PAINTED] = True
        return
    with throttle():
        # Between rows the page hears the reader's next move.
        for done, _ in enumerate(rows_of(axes, shown.by), 1):
            below.caption(f"{WAITING} {done} of {len(axes.sigmas)} rows done.")
    st.rerun()


def _draw(shown: Shown, axes: Axes, rows: Sequence[Curve], file: str) -> Any:
    """Draw a map of these axes, and return the place below it."""
    live_chart(
        shown.figure(rows, axes),
        [],
        key=KEY,
        alt=heatmap_alt(np.array(axes.sigmas), rows, axes.epochs, shown.thick, shown.marks()),
        title=shown.title(origin_of_any(shown.setting, address())),
        file=file,
        preview=partial(previewed, shown, axes),
        clicked=clicked,
    )
    return st.empty()


def previewed(shown: Shown, axes: Axes, field: str, text: str) -> Drawing | None:
    """The map with this text in a field; None where it would be another map, or may take long."""
    setting = shown.setting
    best_of_runs = getattr(shown.target, "runs", None)
    if best_of_runs or cache.slow(setting.mechanism, setting.delta):
        return None
    if field.startswith(question.TARGET):
        if shown.target:
            target = question.moved_target(shown.target, field, text)
            shown = shown._replace(target=target)
    else:
        shown = shown._replace(setting=setting.moved(field, text))
    if axes_of(shown.setting, shown.by) != axes:
        return None
    return Drawing(shown.figure(list(rows_of(axes, shown.by)), axes))


def caption(rows: Sequence[Curve], axes: Axes, shown: Shown) -> str:
    """The caption: delta, q, accountant, kinds of numbers, and what a click does."""
    kinds = Counter(each.kind for each in rows)
    named = []
    for kind, count in kinds.items():
        words = WORDS[kind]
        if len(kinds) > 1:
            words += f" ({count} sigmas)"
        named.append(words)
    thick = _about_target(rows, axes, shown.thick)
    return (
        f"Epsilon at delta = {plain(raised(axes.delta))} and q = {nearest(axes.q)} by"
        f" {ACCOUNTANTS[shown.by].title}: {', '.join(named)}. {thick}"
        f"{_about_answer(axes, shown)}Click a point to load its sigma and epochs on all pages."
    )


def _about_target(rows: Sequence[Curve], axes: Axes, target: float | None) -> str:
    """The words on the line of the target, if a map can have one."""
    if target is None:
        return ""
    line = contour(np.array(axes.sigmas), np.stack([each.epsilon for each in rows]), target)
    if np.isnan(line).all():
        return "The target lies beyond this map. "
    return "The thick line is the target. "


def _about_answer(axes: Axes, shown: Shown) -> str:
    """The words on an answer that the map does not show; "" where it does, or there is none."""
    for mark in shown.marks():
        if mark.word == ANSWER and not axes.hold(mark.epochs, mark.sigma):
            return "The answer lies beyond this map. "
    return ""


def axes_of(setting: ChosenSetting, by: str) -> Axes:
    """The axes that hold the present point; they stay while it moves within them."""
    constant = setting.schedule == "constant"
    slow = not constant and by == CERTIFIED
    sigma = min(max(setting.sigma, 0.05), 1000.0)
    sigmas = _spaced(SIGMAS, sigma, FEW if slow else CELLS)
    most = MAX_SOLVED_STEPS * setting.q
    now = setting.epochs
    if constant:
        high = min(EPOCHS[1], most)
        low = min(EPOCHS[0], high / 100)
        epochs = _spaced((low, high), min(now, most), CELLS)
        epochs = [round(each) if each >= WHOLE else each for each in epochs]
    else:  # the noise of a longer run may end, and each epoch adds a level
        epochs = np.geomspace(min(1.0, now / 10), now, CELLS).tolist()
    steps = {_steps_in(each, setting.q) for each in epochs}
    return Axes(tuple(sigmas), tuple(sorted(steps)), setting.q, setting.delta, recipe_of(setting))


def _steps_in(epochs: float, q: float) -> int:
    return min(max(1, math.ceil(epochs / q - 1e-9)), MAX_SOLVED_STEPS)


def rows_of(axes: Axes, by: str) -> Iterator[Curve]:
    """Epsilon at each sigma in turn, over the steps; each row is computed once for all readers."""
    for sigma in axes.sigmas:
        one = axes._replace(sigmas=(sigma,))
        kept = _kept(one, by)
        if not kept:
            kept.append(_computed(one, by))
        yield kept[0]


def known(axes: Axes, by: str) -> bool:
    """True if the whole map has been computed before, for any reader."""
    return all(_kept(axes._replace(sigmas=(sigma,)), by) for sigma in axes.sigmas)


@lru_cache(maxsize=1024)
def _kept(axes: Axes, by: str) -> list[Curve]:
    """The row, which its first reader computes and adds; empty before."""
    return []


def _computed(axes: Axes, by: str) -> Curve:
    """A row; +inf with a note where its schedule leaves the range of sigmas."""
    steps = np.array(axes.steps)  # (T,)
    accountant = ACCOUNTANTS[by]
    try:
        mechanism = axes.recipe.mechanism(axes.q, axes.sigmas[0], axes.steps[-1])
    except ValueError as error:
        deltas = np.full(steps.shape, axes.delta)  # (T,)
        infinite = np.full(steps.shape, np.inf)  # (T,)
        return Curve(steps, deltas, infinite, None, accountant.kind, str(error))
    return accountant.curve(mechanism, steps, axes.delta)


@uninterrupted
def clicked() -> None:
    """Load the clicked cell into the controls; for a callback."""
    point = clicked_point(KEY)
    axes = st.session_state.get(AXES)
    if axes and point and min(point) > 0:  # a browser can send nonsense
        write(cell(axes, *point))


def cell(axes: Axes, epochs: float, sigma: float) -> dict[str, str]:
    """The fields of the cell nearest to a point.

    >>> cell(Axes((1.0, 2.0), (100, 200), 0.01, 1e-5, Recipe()), 1.9, 1.1)
    {'sigma': '1', 'length': 'epochs', 'epochs': '2', 'steps': '200'}
    """
    nearest = min(axes.sigmas, key=lambda each: abs(math.log(each / sigma)))
    steps = min(axes.steps, key=lambda each: abs(math.log(each * axes.q / epochs)))
    return {
        "sigma": show(nearest),
        "length": "epochs",
        "epochs": epochs_text(steps, axes.q),
        "steps": show(steps),
    }


def cells_of(rows: Sequence[Curve], axes: Axes, by: str) -> Rows:
    """A row for each cell, by one accountant; `lower` is empty where none is proven."""
    cells = []
    for sigma, row in zip(axes.sigmas, rows, strict=True):
        along = zip(axes.steps, axes.epochs, row.epsilon, lowers(row), strict=True)
        for steps, epochs, epsilon, lower in along:
            cell = {
                "accountant": by,
                "kind": row.kind.value,
                "q": axes.q,
                "delta": axes.delta,
                "sigma": sigma,
                "steps": steps,
                "epochs": epochs,
                "epsilon": epsilon,
                "lower": lower,
            }
            cells.append(cell)
    return cells


def _spaced(ends: tuple[float, float], now: float, count: int) -> list[float]:
    """Values of three digits, evenly spaced in logarithms; `now` may move an end outwards."""
    low, high = ends
    if now < low:
        low = min(low, now / BEYOND)
    if now > high:
        high = max(high, now * BEYOND)
    return sorted({float(f"{each:.3g}") for each in np.geomspace(low, high, count).tolist()})
