"""Which conditions of which theorem hold for what the controls say, before anything is compared."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape

import numpy as np

from dpcore.data.catalogue import DATASETS, available
from dpcore.data.loading import load
from dpcore.data.tabular import TABLES
from dpcore.data.tabular.table import REST
from dpcore.figures.perturbation import method_style
from dpcore.privacy.report.kinds import WORDS
from dpcore.privacy.report.verdict import Worth
from dpcore.privacy.types import Kind
from dpcore.training.perturbation import methods
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.models import MODELS
from dpcore.training.perturbation.request import Request
from dpcore.training.perturbation.task import Task
from pages.parts.explain.terms import head, linked, term
from pages.parts.results.table import drawn_line, scrolling, sign

HEADS = ("Every row is protected", "Kind", "Verdict")
PROTECTED = {
    methods.Kind.CENTRAL: "from whoever sees the model",
    methods.Kind.LOCAL: "from those who learn, too",
    methods.Kind.NONE: "from nobody",
}


@lru_cache(maxsize=32)
def sizes(dataset: str, classes: tuple[str, ...]) -> tuple[int, int]:
    """Rows to learn from and features; ValueError, as a sentence, where the data make no problem."""
    table = TABLES[dataset]
    if dataset not in DATASETS:
        problem = table.problem(classes)
        return problem.examples, problem.features
    first, second = table.pair(classes)  # of images: as a table of numbers they would take a gigabyte here
    labels = load(dataset, available(dataset)[0]).train.labels
    number = table.classes.index(first)
    other = labels != number if second == REST else labels == table.classes.index(second)
    return int(np.count_nonzero((labels == number) | other)), table.features + 1


def task_of(request: Request) -> Task:
    """What the conditions depend on; ValueError, as a sentence, where the data make no problem."""
    settings = (request.delta, request.steps, request.rate, request.regulariser, request.clip_norm)
    return Task(request.model, *sizes(request.dataset, request.classes), *settings)


def examples_of(request: Request) -> int | None:
    """Rows to learn from; None where the data make no problem, which is said elsewhere."""
    try:
        return task_of(request).examples
    except ValueError:
        return None


def failing(task: Task, method: str, epsilons: Sequence[float]) -> dict[str, tuple[float, ...]]:
    """Each sentence on what fails for the method, with the epsilons that it fails at; empty where all holds."""
    found: dict[str, tuple[float, ...]] = {}
    for epsilon in sorted(epsilons):
        for sentence in METHODS[method].obstacles(task, epsilon):
            found[sentence] = (*found.get(sentence, ()), epsilon)
    return found


def conditions(title: str, request: Request) -> str:
    """A title, and an HTML table: each method, who is protected, what kind of number its epsilon is, and what fails.

    Errors: ValueError, as a sentence, where the data make no problem.
    """
    task, where = task_of(request), title.lower().replace(" ", "-")
    heads = "".join(f"<th scope=col>{head(each, where)}</th>" for each in HEADS)
    rows = "".join(_row(request, task, name, where) for name in request.methods)
    head_row = f"<thead><tr><th scope=col>Method</th>{heads}</tr></thead>"
    table = scrolling(title, f"<table class=verdicts>{head_row}<tbody>{rows}</tbody></table>")
    return f"<h2 class=part>{title}</h2>{table}"


def _row(request: Request, task: Task, name: str, where: str) -> str:
    method, fails = METHODS[name], failing(task, name, request.epsilons)
    worth, verdict = _verdict(request, task, name, fails)
    kind = Kind.UPPER if worth is Worth.SOUND_AND_TIGHT else Kind.CLAIMED
    said = term(kind, f"{where}-{name}", WORDS[kind]) if method.takes_epsilon else "no epsilon"
    protected = PROTECTED[method.kind] if worth is not Worth.CLAIMS_LESS else "nothing is proven"
    return (
        f"<tr><th scope=row>{drawn_line(method_style(name))} {escape(method.title)}</th>"
        f'<td data-label="Every row is protected">{escape(protected)}</td><td data-label=Kind>{said}</td>'
        f"<td class=verdict>{sign(worth)} {linked(verdict)}</td></tr>"
    )


def _verdict(request: Request, task: Task, name: str, fails: dict[str, tuple[float, ...]]) -> tuple[Worth, str]:
    method = METHODS[name]
    if not method.takes_epsilon:
        return Worth.NOT_AVAILABLE, " ".join(fails)
    if not fails:
        return Worth.SOUND_AND_TIGHT, f"All conditions hold for this model. {method.note} {method.source}."
    at, reasons = sorted({epsilon for each in fails.values() for epsilon in each}), " ".join(fails)
    if len(at) == len(request.epsilons):
        others = (replace(task, model_name=each) for each in MODELS)
        elsewhere = any(not failing(each, name, request.epsilons) for each in others)
        model = f" for this model ({MODELS[request.model].title.lower()})" if elsewhere else ""
        return Worth.CLAIMS_LESS, f"Not private{model}: {reasons}"
    where = ", ".join(f"{each:g}" for each in at)
    return Worth.OUTSIDE, f"Not private at epsilon {where}: {reasons} Elsewhere all holds."
