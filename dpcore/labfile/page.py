"""The HTML file of a table: the template with the numbers, words and colours that it needs."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from dpcore.figures.style import ATTACK_LOOK, COLOURS, GREY, SIGNS, THEMES, style_of
from dpcore.labfile.codes import INFINITE, text_of
from dpcore.labfile.learnt import Learnt, learnt
from dpcore.labfile.lesson import lesson_of
from dpcore.labfile.row import (
    ALPHAS,
    BETA_PARTS,
    CERTAIN,
    CODES,
    COUNTS,
    DELTA_PARTS,
    OTHERS,
    PLANES,
    SLOPES,
    WORTH_BITS,
    WORTHS,
)
from dpcore.labfile.stops import Stop, opened
from dpcore.labfile.table import Table
from dpcore.privacy import words_in
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import MARKS, epochs_of, finite, plain, raised
from dpcore.privacy.report.numbers import WORDS as KINDS
from dpcore.privacy.report.ruler import LEAST, MOST, RULER
from dpcore.training.settings import SETTINGS, Count, Number, Settings
from dpcore.training.slider_stops import show

FOLDER = Path(__file__).parent
TEMPLATE = FOLDER / "template"
SCRIPTS = (
    "numbers.js",
    "chart.js",
    "hatching.js",
    "pictures.js",
    "page.js",
)  # in this order, as one script
WORDS = words_in(FOLDER / "words.toml")
PLACE = re.compile(r"\[\[(\w+)\]\]")  # in the template
FAINT = "60"  # the opacity of faint lines, as two digits of a colour
TICKS = (0.01, 0.1, 1, 10, 100)  # of the axis of epsilon


def page_of(table: Table, dataset: str) -> str:
    """The file of a table, with the recorded accuracies on a data set.

    It opens at the stop that is nearest to the lab's defaults for these data.
    """
    start = table.stops.nearest(opened(dataset, table.n))
    records = learnt(dataset, table.n, WORDS["learns"])
    lesson = ""
    title = WORDS["title_of_others"]
    if dataset == Settings().dataset:  # of which the lesson speaks, too
        lesson = lesson_of(table, start, records, WORDS["lesson"])
        title = WORDS["title"]
    parts = {
        "title": escape(title),
        "name": escape(WORDS["name"]),
        "style": _colours() + _text("lab.css"),
        "still": escape(_still(table, start)),
        "open": _opener(lesson),
        "lesson": lesson,
        "made": _made(table, dataset),
        "head": _in_html(_head(table, start, records)),
        "numbers": b64encode(table.packed()).decode(),
        "script": "\n".join(map(_text, SCRIPTS)),
    }
    return PLACE.sub(lambda found: parts[found[1]], _text("lab.html"))


def _opener(lesson: str) -> str:
    """The button that leads to the lesson, if there is one."""
    if not lesson:
        return ""
    return (
        f'<button type="button" id="open-lesson" hidden>{escape(WORDS["lesson"]["open"])}</button>'
    )


def _text(name: str) -> str:
    return (TEMPLATE / name).read_text(encoding="utf-8")


def _in_html(values: Mapping[str, Any]) -> str:
    """Values as JSON that can stand within a script of HTML."""
    text = json.dumps(finite(values), separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c")


def _colours() -> str:
    """The colours of the roles as variables of CSS, on light, dark and printed paper."""
    roles = [f"--{name}:{color}" for name, color in COLOURS.items()]
    roles.append(f"--faint:{GREY}{FAINT}")
    light, dark = (_theme(place) for place in range(2))
    return (
        f":root{{color-scheme:light dark;{';'.join(roles)};{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"@media print{{:root{{color-scheme:light;{light}}}}}\n"
    )


def _theme(place: int) -> str:
    return ";".join(f"--{name}:{colors[place]}" for name, colors in THEMES.items())


def _head(table: Table, start: Stop, records: Sequence[Learnt]) -> dict[str, Any]:
    """What the script reads beside the numbers."""
    batch, sigma, epochs = table.stops.places(start)
    counts = len(CODES) + len(COUNTS)
    return {
        **table.head,
        "delta": _delta(table),
        "start": {"batch": batch, "sigma": sigma, "epochs": epochs},
        "fixed": f"n = {table.n:,}, delta = {_delta(table)}, Poisson batches",
        "meanings": {name: _meanings(name) for name in Stop._fields},
        "planes": PLANES,
        "names": [*CODES, *COUNTS],
        "tangents": counts,
        "corners": counts + len(SLOPES),
        "slopes": SLOPES,
        "alphas": ALPHAS,
        "parts": {"delta": DELTA_PARTS, "beta": BETA_PARTS},
        "certain": CERTAIN,
        "others": [_look(name) for name in (*OTHERS, CERTIFIED)],
        "worths": WORTHS,
        "signs": SIGNS["worth"],
        "attack": ATTACK_LOOK[0],
        "recorded": [each.shown for each in records],
        "ruler": [each._asdict() for each in RULER],  # null stands for infinity
        "scale": [LEAST, MOST],
        "ticks": TICKS,
        "words": WORDS,
    }


def _delta(table: Table) -> str:
    return plain(raised(table.delta))


def _meanings(name: str) -> tuple[str, str]:
    """What left and right mean on a setting's slider."""
    setting = SETTINGS[name]
    assert isinstance(setting, Number | Count)
    assert setting.slider is not None
    return setting.slider.left, setting.slider.right


def _look(name: str) -> dict[str, Any]:
    """How an accountant is drawn, written and judged."""
    kind = ACCOUNTANTS[name].kind
    style = style_of(name)
    certified = name == CERTIFIED
    shift = 0 if certified else WORTH_BITS * (OTHERS.index(name) + 1)
    return {
        "plane": "upper" if certified else name,
        "label": escape(style.label),
        "title": escape(ACCOUNTANTS[name].title),
        "color": style.color,
        "dash": style.dash,
        "mark": MARKS[kind],
        "bound": kind.is_bound,
        "kind": KINDS[kind],
        "certified": certified,
        "shift": shift,
    }


def _still(table: Table, start: Stop) -> str:
    """The stop at which the file opens, as a sentence for readers without scripts."""
    numbers = dict(zip((*CODES, *COUNTS), table.numbers(start), strict=False))
    words, end = "at most", "upper"
    if numbers["upper"] == INFINITE:
        words, end = "at least", "lower"
    text = table.apart_at(start).get(end) or text_of(numbers[end], bound=True)
    return WORDS["still"].format(
        sigma=show(start.sigma),
        batch=f"{start.batch:,}",
        epochs=epochs_of(start.epochs),
        epsilon=f"{words} {text}",
        delta=_delta(table),
        people=numbers["people"],
    )


def _made(table: Table, dataset: str) -> str:
    """How the numbers were made and where the live lab is, as HTML."""
    command = (
        f"python -m dpcore lab export FILE.html --n {table.n} --delta {plain(table.delta)}"
        f" --dataset {dataset}"
    )
    return WORDS["made"].format(version=escape(table.version), command=escape(command))
