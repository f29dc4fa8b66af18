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
from pages.parts.results.tables import framed, image, table

IMAGES = ("digits", "mnist", "fashion_mnist")  # whose features are the pixels of a square
INPUT = LocalInputPerturbation()


class Public(NamedTuple):
    """Rows that anybody may see: those of the test part, as features in [-1, 1] and as unit rows."""

    features: FloatArray  # (m, d)
    rows: FloatArray  # (m, d + 1), of norm at most 1
    classes: tuple[str, ...]  # of each row


def before_and_after(request: Request, task: Task) -> None:
    """Draw the section: one row as a picture at every epsilon, and, folded, its numbers."""
    ends = dict.fromkeys((max(request.epsilons), min(request.epsilons)))
    sizes = " and ".join(
        f"{nearest(INPUT.noise(task, each), 3)} at epsilon {each:g}" for each in ends
    )
    square = "pixel" if request.dataset in IMAGES else "feature"
    public = public_rows(request.dataset, request.classes)
    st.html("<h2 class=part>What input perturbation does to one row</h2>")
    st.html(pictures(request, task, public))
    st.caption(TEXTS["one_row"].format(square=square, sizes=sizes))
    if request.dataset not in IMAGES:
        st.expander("The row in numbers").html(row_table(request, task, public))


def noisy(task: Task, epsilon: float, public: Public) -> tuple[FloatArray, FloatArray]:
    """Return the first row with noise, and its features: the same random numbers at every epsilon,
    scaled.
    """
    row = public.rows[0]
    after = row + INPUT.noise(task, epsilon) * np.random.RandomState(0).standard_normal(row.shape)
    return after, after[:-1] / row[-1]  # the constant last feature has the scale


@lru_cache(maxsize=4)
def public_rows(dataset: str, classes: tuple[str, ...]) -> Public:
    """Return the test rows of the two classes; ValueError, as a sentence, if the data are missing."""
    data = TABLES[dataset]
    pair = data.pair(classes)
    if dataset not in DATASETS:
        problem = data.problem(classes)
        # The last feature is a constant.
        features = problem.test_rows[:, :-1] / problem.test_rows[:, -1:]
        names = tuple(pair[0] if each > 0 else pair[1] for each in problem.test_labels)
        return Public(features, problem.test_rows, names)
    test = load(dataset, available(dataset)[0]).test
    signs = data.signs(test.labels, classes)
    kept = np.flatnonzero(signs)
    features = test.images[kept].reshape(len(kept), -1) / 127.5 - 1.0
    names = tuple(pair[0] if signs[each] > 0 else pair[1] for each in kept)
    return Public(features, unit_rows(features, data.bound), names)


def pictures(request: Request, task: Task, public: Public) -> str:
    """Return an HTML table of pictures: a column for each epsilon, rows for the noisy row and what
    is made of it.
    """
    epsilons = sorted(request.epsilons, reverse=True)
    what = ("with noise", "clipped to its range", "nearest public row", "chance of a flipped label")
    lines: list[list[str]] = [[] for _ in what]
    for epsilon in epsilons:
        at, (after, values) = f"at epsilon {epsilon:g}", noisy(task, epsilon, public)
        most = f"±{short(float(np.abs(values).max()))}"
        lines[0].append(
            _image(values, f"Noisy row {at}: values within {most}", most, stretched=True)
        )
        lines[1].append(_image(values, f"Noisy row clipped to its range {at}", ""))
        nearest_row = int(np.argmin(((public.rows - after) ** 2).sum(axis=1)))
        hit = public.classes[nearest_row] if nearest_row else "found again"
        lines[2].append(
            _image(public.features[nearest_row], f"Nearest public row {at}: {hit}", hit)
        )
        lines[3].append(nearest(INPUT.flips(epsilon), 3))
    heads = "".join(f"<th scope=col>ε = {epsilon:g}</th>" for epsilon in epsilons)
    before = _image(public.features[0], f"The row before: {public.classes[0]}", public.classes[0])
    rows = (
        "<tr><th"
        f" scope=row>{name}</th>{f'<td rowspan={len(what)}>{before}</td>' if not place else ''}"
        f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for place, (name, cells) in enumerate(zip(what, lines, strict=True))
    )
    return framed(
        "A row before and after", "pictures", f"<td></td><th scope=col>before</th>{heads}", rows
    )


def row_table(request: Request, task: Task, public: Public) -> str:
    """Return an HTML table of each feature of the row before, and with noise at each epsilon."""
    data, epsilons = TABLES[request.dataset], sorted(request.epsilons, reverse=True)
    names = data.names or tuple(f"feature {place + 1}" for place in range(data.features))
    columns = (public.features[0], *(noisy(task, each, public)[1] for each in epsilons))
    heads = ("before", *(f"ε = {each:g}" for each in epsilons))
    rows = zip(
        map(escape, names),
        *([nearest(float(each), 3) for each in column] for column in columns),
        strict=True,
    )
    return table("The row in numbers", "verdicts features", ("Feature", *heads), rows, heads)


def _image(values: FloatArray, alt: str, caption: str, *, stretched: bool = False) -> str:
    """Return an image of values in [-1, 1], or scaled to their own range, a square for each, row by
    row.
    """
    low, high = (float(values.min()), float(values.max())) if stretched else (-1.0, 1.0)
    side = math.ceil(math.sqrt(values.size))
    height = math.ceil(values.size / side)
    # Grey and opacity: what is left over is clear.
    shades = np.full((height * side, 2), (0, 0), dtype=np.uint8)
    shades[: values.size, 0] = (
        255 * np.clip((values - low) / max(high - low, 1e-12), 0, 1)
    ).round()
    shades[: values.size, 1] = 255
    return image(shades.reshape(height, side, 2), alt, caption)
