"""One row with the noise of input perturbation, drawn as a picture at each epsilon."""

import math
from functools import lru_cache
from html import escape
from typing import NamedTuple

import numpy as np
import streamlit as st

from dpcore.data.catalogue import DATASETS, available
from dpcore.data.loading import load
from dpcore.data.tabular import TABLES
from dpcore.data.tabular.columns import unit_rows
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import nearest, short
from dpcore.training.perturbation.methods.input_noise import LocalInputPerturbation
from dpcore.training.perturbation.request import Request
from dpcore.training.perturbation.task import Task
from pages.parts.perturbation.conditions import TEXTS
from pages.parts.results.tables import image, table

IMAGES = ("digits", "mnist", "fashion_mnist")  # whose features are the pixels of a square
INPUT = LocalInputPerturbation()
USES = (  # of the noisy row, from above
    "with noise",
    "nearest public row",
    "chance of a flipped label",
)


class Public(NamedTuple):
    """Rows that anybody may see, the test part, as features in [-1, 1] and as unit rows."""

    features: FloatArray  # (m, d)
    rows: FloatArray  # (m, d + 1), of norm at most 1
    classes: tuple[str, ...]  # of each row


def before_and_after(request: Request, task: Task) -> None:
    """Draw, folded, one row as a picture at every epsilon, and its numbers."""
    high = max(request.epsilons)
    low = min(request.epsilons)
    sizes = _noise_at(task, high)
    if low < high:
        sizes += f" and {_noise_at(task, low)}"
    square = "pixel" if request.dataset in IMAGES else "feature"
    public = public_rows(request.dataset, request.classes)
    box = st.expander("What input perturbation does to one row")
    box.html(pictures(request, task, public))
    box.caption(TEXTS["one_row"].format(square=square, sizes=sizes))
    if square == "feature":
        st.expander("The row in numbers").html(row_table(request, task, public))


def _noise_at(task: Task, epsilon: float) -> str:
    return f"{nearest(INPUT.noise(task, epsilon), 3)} at epsilon {epsilon:g}"


def noisy(task: Task, epsilon: float, public: Public) -> tuple[FloatArray, FloatArray]:
    """Return the first row with noise, and its features.

    The random numbers are the same at every epsilon, scaled.
    """
    row = public.rows[0]  # (d + 1,)
    drawn = np.random.RandomState(0).standard_normal(row.shape)
    after = row + INPUT.noise(task, epsilon) * drawn  # (d + 1,)
    return after, after[:-1] / row[-1]  # the constant last feature has the scale


@lru_cache(maxsize=4)
def public_rows(dataset: str, classes: tuple[str, ...]) -> Public:
    """Return the test rows of the two classes; ValueError, as a sentence, without the data."""
    data = TABLES[dataset]
    pair = data.pair(classes)
    if dataset not in DATASETS:
        problem = data.problem(classes)
        rows = problem.test_rows  # (m, d + 1)
        features = rows[:, :-1] / rows[:, -1:]  # (m, d), since the last feature is a constant
        return Public(features, rows, _classes_of(problem.test_labels, pair))
    test = load(dataset, available(dataset)[0]).test
    signs = data.signs(test.labels, classes)  # 0 for other classes
    kept = np.flatnonzero(signs)  # (m,)
    features = test.images[kept].reshape(len(kept), -1) / 127.5 - 1.0  # (m, d)
    return Public(features, unit_rows(features, data.bound), _classes_of(signs[kept], pair))


def _classes_of(signs: FloatArray, pair: tuple[str, str]) -> tuple[str, ...]:
    return tuple(pair[0] if sign > 0 else pair[1] for sign in signs)


def pictures(request: Request, task: Task, public: Public) -> str:
    """Return an HTML table: a column for each epsilon, rows for the noisy row and its uses."""
    heads = ["", "before"]
    columns = []
    for epsilon in sorted(request.epsilons, reverse=True):
        heads.append(f"ε = {epsilon:g}")
        columns.append(_pictures_at(epsilon, task, public))
    before = _image(public.features[0], f"The row before: {public.classes[0]}", public.classes[0])
    rows = []
    for place, name in enumerate(USES):
        rows.append([name, "" if place else before, *(column[place] for column in columns)])
    return table("A row before and after", "pictures", heads, rows)


def _pictures_at(epsilon: float, task: Task, public: Public) -> tuple[str, str, str]:
    """Return the cells at one epsilon, from above."""
    at = f"at epsilon {epsilon:g}"
    after, values = noisy(task, epsilon, public)
    most = f"up to ±{short(float(np.abs(values).max()))}"
    distances = ((public.rows - after) ** 2).sum(axis=1)  # (m,)
    closest = int(np.argmin(distances))
    hit = "found again"
    if closest > 0:
        hit = public.classes[closest]
    return (
        _image(values, f"Noisy row {at}, clipped to its range: values {most}", most),
        _image(public.features[closest], f"Nearest public row {at}: {hit}", hit),
        nearest(INPUT.flips(epsilon), 3),
    )


def row_table(request: Request, task: Task, public: Public) -> str:
    """Return an HTML table of each feature of the row before, and with noise at each epsilon."""
    data = TABLES[request.dataset]
    names = data.names or [f"feature {place + 1}" for place in range(data.features)]
    heads = ["before"]
    columns = [public.features[0]]
    for epsilon in sorted(request.epsilons, reverse=True):
        heads.append(f"ε = {epsilon:g}")
        columns.append(noisy(task, epsilon, public)[1])
    rows = []
    for name, *values in zip(names, *columns, strict=True):
        rows.append([escape(name), *(nearest(float(value), 3) for value in values)])
    return table("The row in numbers", "verdicts features", ("Feature", *heads), rows, heads)


def _image(values: FloatArray, alt: str, caption: str) -> str:
    """Return an image of values, a square for each: from -1 or less, black, to 1 or more, white."""
    side = math.ceil(math.sqrt(values.size))
    height = math.ceil(values.size / side)
    brightness = np.clip((values + 1) / 2, 0, 1)
    # Grey and opacity: what is left over is clear.
    shades = np.zeros((height * side, 2), dtype=np.uint8)
    shades[: values.size, 0] = (255 * brightness).round()
    shades[: values.size, 1] = 255
    return image(shades.reshape(height, side, 2), alt, caption)
