"""What input perturbation makes of one row, and what can still be made of that."""

from base64 import b64encode
from functools import lru_cache
from html import escape
from io import BytesIO
from typing import NamedTuple

import numpy as np
import streamlit as st

from dpcore.data.catalogue import DATASETS, available
from dpcore.data.loading import load
from dpcore.data.tabular import TABLES
from dpcore.data.tabular.columns import unit_rows
from dpcore.data.tabular.table import REST
from dpcore.privacy.mechanism import FloatArray
from dpcore.privacy.report.numbers import nearest, short
from dpcore.training.perturbation.methods.input_noise import LocalInputPerturbation
from dpcore.training.perturbation.request import Request
from dpcore.training.perturbation.task import Task
from pages.parts.controls.widgets import choice_of
from pages.parts.results.tables import row_cells, table

PIXELS = 56  # of a side of an image on the page
SQUARES = {64: 8, 784: 28}  # features that are an image of so many pixels a side
SEED = 0
INPUT = LocalInputPerturbation()


class Public(NamedTuple):
    """Rows that anybody may see, those of the test part, as features in [-1, 1] and as what is learnt from."""

    features: FloatArray  # (m, d)
    rows: FloatArray  # (m, d + 1), of norm at most 1
    classes: tuple[str, ...]  # of each row


def before_and_after(request: Request, task: Task) -> None:
    """Draw the section: images at every epsilon, of a table one row at the epsilon that is chosen."""
    side = SQUARES.get(TABLES[request.dataset].features)
    ends = dict.fromkeys((min(request.epsilons), max(request.epsilons)))
    sizes = [f"{nearest(INPUT.noise(task, each), 3)} at epsilon {each:g}" for each in ends]
    with st.expander("What input perturbation looks like, and what can be made of it", expanded=True):
        st.markdown(
            "One row of the public test part, handed over by input perturbation. Its noise is drawn for this picture, "
            "always the same, and belongs to no comparison; its size is that of the method, "
            f"a standard deviation of {' and '.join(sizes)} for rows of length at most 1. To cut what was handed over "
            "to the range that it must lie in, or to look for the nearest row among all that are public, is free: "
            "nothing that is done with it costs privacy, or gets back what the noise covers."
        )
        public = public_rows(request.dataset, request.classes)
        if side:
            st.html(images_table(request, task, public, side))
        else:
            epsilons = tuple(f"{each:g}" for each in request.epsilons)
            epsilon = float(choice_of(st, "Epsilon of the row", tuple(reversed(epsilons)), "row_epsilon"))
            st.html(row_table(request, task, public, epsilon))


def handed_over(task: Task, epsilon: float, row: FloatArray) -> FloatArray:
    """The row with noise drawn for a picture: the same numbers at every epsilon, longer at a smaller one."""
    drawn = np.random.RandomState(SEED).standard_normal(row.shape)
    return row + INPUT.noise(task, epsilon) * drawn


def nearest_row(public: Public, row: FloatArray) -> int:
    """The public row that is nearest to a perturbed one."""
    return int(np.argmin(((public.rows - row) ** 2).sum(axis=1)))


@lru_cache(maxsize=4)
def public_rows(dataset: str, classes: tuple[str, ...]) -> Public:
    """The test rows of the two classes; ValueError, as a sentence, where the data are not here."""
    data = TABLES[dataset]
    pair = data.pair(classes)
    if dataset not in DATASETS:
        problem = data.problem(classes)
        features = problem.test_rows[:, :-1] / problem.test_rows[:, -1:]  # the last feature is a constant
        names = tuple(pair[0] if each > 0 else pair[1] for each in problem.test_labels)
        return Public(features, problem.test_rows, names)
    test = load(dataset, available(dataset)[0]).test
    first = test.labels == data.classes.index(pair[0])
    other = ~first if pair[1] == REST else test.labels == data.classes.index(pair[1])
    kept = np.flatnonzero(first | other)
    features = test.images[kept].reshape(len(kept), -1) / 127.5 - 1.0
    names = tuple(pair[0] if first[each] else pair[1] for each in kept)
    return Public(features, unit_rows(features, data.bound), names)


def images_table(request: Request, task: Task, public: Public, side: int) -> str:
    """An HTML table of images, a column for each epsilon: handed over, cut to its range, and the nearest public one.

    The last row has the chance that the label is flipped.
    """
    epsilons, row, bound = sorted(request.epsilons), public.rows[0], TABLES[request.dataset].bound
    what = ("handed over", "cut to its range", "nearest public image", "its label is flipped with chance")
    lines: list[list[str]] = [[] for _ in what]
    for epsilon in epsilons:
        after = handed_over(task, epsilon, row)
        pixels, at = after[:-1] * bound, f"at epsilon {epsilon:g}"
        found = nearest_row(public, after)
        span = f"from {short(float(pixels.min()))} to {short(float(pixels.max()))}"
        lines[0].append(_image(pixels, side, f"Perturbed image {at}: pixels {span}", span, stretched=True))
        lines[1].append(_image(pixels, side, f"The same cut to its range {at}", ""))
        hit = "the very image" if found == 0 else f"another: {public.classes[found]}"
        lines[2].append(_image(public.features[found], side, f"Nearest public image {at}: {hit}", hit))
        lines[3].append(_chance(epsilon))
    heads = "".join(f"<th scope=col>ε = {epsilon:g}</th>" for epsilon in epsilons)
    before = _image(public.features[0], side, f"The image before: {public.classes[0]}", public.classes[0])
    rows = (
        f"<tr><th scope=row>{name}</th>{f'<td rowspan={len(what)}>{before}</td>' if not place else ''}"
        f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for place, (name, cells) in enumerate(zip(what, lines, strict=True))
    )
    return table("Images before and after", "pictures", f"<td></td><th scope=col>before</th>{heads}", rows)


def row_table(request: Request, task: Task, public: Public, epsilon: float) -> str:
    """An HTML table of one row: each feature before, handed over, cut to its range, and of the nearest public row."""
    data = TABLES[request.dataset]
    after = handed_over(task, epsilon, public.rows[0])
    found = nearest_row(public, after)
    values = after[:-1] / public.rows[0, -1]
    names = data.names or tuple(f"feature {place + 1}" for place in range(data.features))
    public_row = f"nearest public row ({'the same' if not found else 'another'})"
    heads = ("before", "handed over", "cut to its range", public_row)
    columns = (public.features[0], values, np.clip(values, -1, 1), public.features[found])
    texts = zip(*([nearest(float(each), 3) for each in column] for column in columns), strict=True)
    rows = (
        f"<tr><th scope=row>{escape(name)}</th>{row_cells(heads, cells, number=True)}</tr>"
        for name, cells in zip(names, texts, strict=True)
    )
    top = "".join(f"<th scope=col class=number>{head}</th>" for head in heads)
    flipped = f"Its label is flipped with chance {_chance(epsilon)}."
    labelled = f"<p class=promise>{flipped} Features are scaled to −1 … 1 by public constants.</p>"
    return labelled + table("A row before and after", "verdicts features", f"<th scope=col>Feature</th>{top}", rows)


def _chance(epsilon: float) -> str:
    """The chance that input perturbation flips the label."""
    return nearest(INPUT.flips(epsilon), 3)


def _image(values: FloatArray, side: int, alt: str, caption: str, *, stretched: bool = False) -> str:
    """An image of values in [-1, 1], or of whatever they span."""
    from PIL import Image  # here, not above: few pages draw one

    low, high = (float(values.min()), float(values.max())) if stretched else (-1.0, 1.0)
    grey = np.clip((values - low) / max(high - low, 1e-12), 0, 1).reshape(side, side)
    file = BytesIO()
    Image.fromarray((255 * grey).round().astype(np.uint8)).save(file, "PNG")
    source = b64encode(file.getvalue()).decode()
    note = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    image = f'<img src="data:image/png;base64,{source}" width={PIXELS} height={PIXELS} alt="{escape(alt)}">'
    return f"<figure>{image}{note}</figure>"
