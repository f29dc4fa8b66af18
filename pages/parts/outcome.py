"""The lab's answer to its own question: what privacy costs and buys, in a sentence, and in answers for test images."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from dpcore.data.catalogue import DATASETS, available
from dpcore.data.loading import Images, load_test_images
from dpcore.figures.sampled import Sampled
from dpcore.figures.style import run_styles
from dpcore.privacy.accountants import CERTIFIED, Curve
from dpcore.privacy.report.numbers import marked
from dpcore.privacy.report.verdict import lowered
from dpcore.runs.record import Status
from dpcore.training.events import SHOWN_EXAMPLES
from pages.parts.components.elements import Answering, LiveNumber, answers_strip, headline
from pages.parts.train.buttons import alike
from pages.parts.train.form import Form, baseline_of
from pages.parts.train.run_charts import marked_epsilon, spent_by_step
from pages.parts.train.run_history import Watched

ASKED = "Press Train to see how accurate a model this private can be."


def say_outcome(form: Form, curves: Mapping[str, Curve], otherwise: Sampled | None, watched: Sequence[Watched]) -> None:
    """Say what epsilon the settings cost; of runs that are shown, what accuracy they reached for it.

    Privacy has a price once a private run has ended: until then its accuracy is that of a shorter training.
    """
    private = last_of(watched, private=True)
    plain = baseline_of(private.config) if private else None  # only beside it their accuracies tell what privacy costs
    baseline = last_of([each for each in watched if plain is None or alike(each.run, plain)], private=False)
    cost = _cost(form, curves, otherwise)
    chosen = form.configs[0] if form.configs else None
    if private and (chosen is None or replace(chosen, seed=private.config.seed) != private.config):  # of other settings
        other = "" if private.config.delta == form.delta else f", delta {plain(private.config.delta)}"
        run = f"{cost} The run in the chart: {{accuracy}} % right at epsilon {{epsilon}}{other}."
        headline([cost, run], _numbers(private))
        return
    sentences, numbers = [f"{cost} {ASKED}" if form.configs else cost], {}
    if baseline:
        numbers["baseline"] = _accuracy(baseline)
        coming = any(each.config.private and each.run.status is Status.QUEUED for each in watched)
        sentences.append(f"{{baseline}} % right without privacy.{' The private run comes next.' if coming else ''}")
    if private:
        numbers |= _numbers(private)
        spent = "{accuracy} % right at epsilon {epsilon}"
        ended = private.run.status is Status.FINISHED
        sentences.append(f"{spent}{'' if ended else ', so far' if private.run.active else ', cut short'}.")
        if baseline:
            both = f"{spent}. Without privacy {{baseline}} %: privacy "
            costs = [
                f"{both}costs {{lost}} points in this run.",
                f"{both}costs nothing in this run, {{gained}} points to the good.",
            ]
            sentences += costs if ended else [f"{sentences[-1]} Without privacy {{baseline}} %."]
    headline(sentences, numbers)


def _numbers(private: Watched) -> dict[str, LiveNumber]:
    return {"accuracy": _accuracy(private), "epsilon": _epsilon(private)}


def last_of(watched: Sequence[Watched], *, private: bool) -> Watched | None:
    """The last of the runs shown that is private, or that is not."""
    return next((each for each in reversed(watched) if each.config.private is private), None)


def _cost(form: Form, curves: Mapping[str, Curve], otherwise: Sampled | None) -> str:
    last = otherwise.curve.last if otherwise else curves[CERTIFIED].last if CERTIFIED in curves else None
    if last is None:
        return "No epsilon is proven of these settings."
    return f"Epsilon {marked(last.value, last.kind, last.lower)} {lowered(form.after)}."


def _accuracy(watched: Watched) -> LiveNumber:
    tests = watched.history.evaluated
    value = f"{100 * tests[-1].accuracy:.1f}" if tests else ""
    return LiveNumber("", value, *_since(watched), event="evaluated", y="accuracy", scale=100.0)


def _epsilon(watched: Watched) -> LiveNumber:
    tests = watched.history.evaluated
    spent = watched.epsilons(CERTIFIED, [tests[-1].step]) if tests else ()
    value = marked_epsilon(watched, CERTIFIED, spent[0]) if spent else ""
    return LiveNumber("", value, *_since(watched), event="evaluated", texts=spent_by_step(watched, CERTIFIED))


def _since(watched: Watched) -> tuple[str, int]:
    return watched.since if watched.run.active else ("", 0)


def show_answers(form: Form, watched: Sequence[Watched]) -> None:
    """Show the first test images, below each what the last private run shown answers; nothing for other data."""
    config = watched[-1].config if watched else form.configs[0] if form.configs else None
    dataset, source = (config.dataset, config.source) if config else (form.data.dataset, form.data.source)
    if not DATASETS[dataset].images or source not in available(dataset):
        return
    try:
        images = first_test_images(dataset, source)
    except ValueError:  # a damaged file: a run that is started says so
        return
    shown = [each for each in watched if each.config.dataset == dataset]
    detail = last_of(shown, private=True) or (shown[-1] if shown else None)
    runs = [
        Answering(each.run.id, each.label, style.color, each.run.active, each.history.sequence, _last(each))
        for each, style in zip(shown, run_styles(each.config.private for each in shown), strict=True)
    ]
    answers_strip(images, DATASETS[dataset].classes, runs, shown.index(detail) if detail else 0)


def _last(watched: Watched) -> tuple[tuple[float, ...], ...] | None:
    return next((each.answers for each in reversed(watched.history.evaluated) if each.answers), None)


@lru_cache(maxsize=8)
def first_test_images(dataset: str, source: str) -> Images:
    """The test images whose answers runs tell."""
    test = load_test_images(dataset, source)
    return Images(test.images[:SHOWN_EXAMPLES].copy(), test.labels[:SHOWN_EXAMPLES].copy())
