"""The four places where noise can go: picture, text of the chosen one, conditions that hold."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from dpcore.data.catalogue import DATASETS, available
from dpcore.data.loading import load
from dpcore.data.tabular import TABLES
from dpcore.figures.perturbation import method_style
from dpcore.privacy import words_in
from dpcore.privacy.mechanism import Kind
from dpcore.privacy.report.numbers import WORDS, plain
from dpcore.privacy.report.verdict import Worth
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.methods.base import Condition
from dpcore.training.perturbation.models import MODELS
from dpcore.training.perturbation.request import Request
from dpcore.training.perturbation.task import NEIGHBOURS, Task
from pages.parts.components.elements import mount
from pages.parts.controls.url_state import Remembered, say_unknown, unknown
from pages.parts.results.odds import linked, term
from pages.parts.results.tables import drawn_line, place_of, sign, table
from pages.parts.shell.streamlit_internals import uninterrupted

TEXTS = words_in(Path(__file__).with_name("places.toml"))
PLACES = {each["id"]: each for each in TEXTS["places"]}
PLACE = Remembered("place")  # the id of the chosen one, if any
PICTURE = "places_picture"


def chosen_place() -> dict[str, Any] | None:
    """Draw the picture and the text of the chosen place, and return what places.toml says of it."""
    strange = unknown(PLACE.name, [*PLACES])
    place = PLACES.get(PLACE.value)
    if place is None:
        PLACE.set("")
    chosen = PLACE.value  # "" for none
    say_unknown(PLACE.name, strange, [*PLACES], [chosen] if chosen else [])
    names = [f"{each['title']} ({each['method']})" for each in PLACES.values()]
    data = {
        "label": f"Where noise can go: {', '.join(names)}",
        "chosen": chosen,
        "places": TEXTS["places"],
        "ends": TEXTS["ends"],
    }
    mount("places_picture", PICTURE, data, pressed=choose_pressed)
    text = TEXTS["unchosen"]
    if place:
        text = f"**Noise on {place['title']}: {place['method']}.** {place['said']}"
    st.markdown(text)
    return place


@uninterrupted
def choose_pressed() -> None:
    """Choose the place that was pressed in the picture, or unchoose it if it was chosen.

    As a callback.
    """
    pressed = st.session_state[PICTURE].get("pressed")
    if isinstance(pressed, str) and pressed in PLACES:
        PLACE.set("" if PLACE.value == pressed else pressed)


# The conditions of a method at each epsilon, which rise.
Judged = dict[float, tuple[Condition, ...]]


@lru_cache(maxsize=32)
def sizes(dataset: str, classes: tuple[str, ...]) -> tuple[int, int]:
    """Count rows to learn from and features; ValueError, as a sentence, without usable data."""
    data = TABLES[dataset]
    if dataset not in DATASETS:
        problem = data.problem(classes)
        return problem.examples, problem.features
    # A table of all numbers would take a gigabyte.
    labels = load(dataset, available(dataset)[0]).train.labels
    return int(np.count_nonzero(data.signs(labels, classes))), data.features + 1


def task_of(request: Request) -> Task:
    """Return the task of the conditions; ValueError, as a sentence, if the data cannot be used."""
    return request.task(*sizes(request.dataset, request.classes))


def examples_of(request: Request) -> int | None:
    """Count rows to learn from; None if the data cannot be used, which the page says elsewhere."""
    try:
        return task_of(request).examples
    except ValueError:
        return None


def judged(task: Task, method: str, epsilons: Sequence[float]) -> Judged:
    """Return the conditions of the method's theorem at each epsilon."""
    return {epsilon: METHODS[method].conditions(task, epsilon) for epsilon in sorted(epsilons)}


def failing(found: Judged) -> dict[str, tuple[float, ...]]:
    """Return each sentence on a failing condition with its epsilons; nothing if all hold."""
    fails: dict[str, tuple[float, ...]] = {}
    for epsilon, conditions in found.items():
        for condition in conditions:
            if condition.fails:
                fails[condition.said] = (*fails.get(condition.said, ()), epsilon)
    return fails


def checked(found: Judged) -> str:
    """Return conditions as HTML on one line, each with a check, a cross or a dash.

    A cross says at which epsilons it fails, a dash that it is not needed.
    """
    signed = []
    for each in zip(*found.values(), strict=True):  # one condition at every epsilon
        first = each[0]
        at = [epsilon for epsilon, here in zip(found, each, strict=True) if here.fails]
        if at:
            text = f"{sign(Worth.CLAIMS_LESS, said='fails:')} {escape(first.name)}"
            if len(at) < len(found):
                text += f" at {_listed(at)}"
        else:
            mark = sign(Worth.SOUND_AND_TIGHT, said="holds:")
            if first.holds is None:
                mark = sign(Worth.NOT_AVAILABLE, said="not needed:")
            text = f"{mark} {escape(f'{first.name}: {first.said}')}"
        signed.append(text)
    return f"<small>{'; '.join(signed)}</small>"


def conditions(title: str, request: Request) -> str:
    """Return a title and an HTML table of methods: the protected, the kind of epsilon, a verdict.

    Errors: ValueError, as a sentence, if the data cannot be used.
    """
    task = task_of(request)
    where = place_of(title)
    heads = ("Method", "Every row is protected", "Kind", "Verdict")
    rows = [_row(request, task, name, where) for name in request.methods]
    made = table(title, "verdicts", heads, rows)
    return f"<h2 class=part>{title}</h2><p class=promise>{escape(promise(request.delta))}</p>{made}"


def promise(delta: float) -> str:
    """Return delta and the definition of neighbours, the conditions of every epsilon."""
    return f"δ = {plain(delta)}; {NEIGHBOURS}"


def _row(request: Request, task: Task, name: str, where: str) -> list[str]:
    method = METHODS[name]
    found = judged(task, name, request.epsilons)
    fails = failing(found)
    worth, verdict = _verdict(request, task, name, fails)
    protected = TEXTS["protected"][method.kind]
    kind = Kind.UPPER
    if worth is Worth.CLAIMS_LESS:
        protected = "nothing is proven"
        kind = Kind.CLAIMED
    kind_text = "no epsilon"
    if method.takes_epsilon:
        words = WORDS[kind]
        if worth is Worth.OUTSIDE:
            words += f", except at {_listed(_places(fails))}"
        kind_text = term(kind, f"{where}-{name}", words)
    return [
        f"{drawn_line(method_style(name))} {escape(method.title)}",
        escape(protected),
        kind_text,
        f"{sign(worth)} {linked(verdict)}<br>{checked(found)}",
    ]


def _verdict(
    request: Request, task: Task, name: str, fails: dict[str, tuple[float, ...]]
) -> tuple[Worth, str]:
    method = METHODS[name]
    if not method.takes_epsilon:
        return Worth.NOT_AVAILABLE, " ".join(fails)
    if not fails:
        text = f"All conditions hold for this model. {method.note} {method.source}."
        return Worth.SOUND_AND_TIGHT, text
    at = _places(fails)
    reasons = " ".join(fails)
    if len(at) < len(request.epsilons):
        text = f"Not private at epsilon {_listed(at)}: {reasons} Elsewhere all holds."
        return Worth.OUTSIDE, text
    model = ""
    for other in MODELS:
        if not failing(judged(replace(task, model_name=other), name, request.epsilons)):
            model = f" for this model ({MODELS[request.model].title.lower()})"
            break
    return Worth.CLAIMS_LESS, f"Not private{model}: {reasons}"


def _places(fails: dict[str, tuple[float, ...]]) -> list[float]:
    """Return the epsilons at which anything fails."""
    return sorted(set().union(*fails.values()))


def _listed(epsilons: Sequence[float]) -> str:
    return ", ".join(f"{each:g}" for each in epsilons)
