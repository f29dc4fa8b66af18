"""The first screen of the Lab: what a network learns, and what it keeps secret.

Two large numbers, with a picture for each: test digits with the networks' answers, and a hundred
people of whom a spy guesses who was in the data.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import streamlit as st

from dpcore.data.catalogue import DATASETS, available
from dpcore.data.loading import load_test_images
from dpcore.figures.sampled import Sampled
from dpcore.figures.style import run_styles
from dpcore.privacy import words_in
from dpcore.privacy.accountants import CERTIFIED, Curve
from dpcore.privacy.mechanism import Kind
from dpcore.privacy.report.attack_risk import Risks
from dpcore.privacy.report.numbers import marked, plain
from dpcore.privacy.report.ruler import LEAST, MOST, RULER, range_of
from dpcore.privacy.report.statement import delta_warning
from dpcore.privacy.report.verdict import lowered
from dpcore.privacy.sampling.base import Poisson
from dpcore.runs.history import RunRecord
from dpcore.runs.record import Status
from dpcore.training.config import RunConfig
from dpcore.training.events import SHOWN_EXAMPLES
from dpcore.training.recorded import (
    DELTA,
    Recorded,
    most_private,
    of_recipe,
    recipe,
    recorded_at,
)
from pages.parts.components.elements import LiveNumber, follows, headline, mount
from pages.parts.controls.mechanism import after_training
from pages.parts.results import cache
from pages.parts.results.odds import BEFORE, PEOPLE, crowd, of_hundred, term
from pages.parts.results.sampled import answers, sampled_end
from pages.parts.results.sampled import range_of as range_of_reading
from pages.parts.results.tables import image_source
from pages.parts.train.buttons import alike
from pages.parts.train.form import Form, baseline_of
from pages.parts.train.run_charts import marked_epsilon, spent_by_step
from pages.parts.train.run_history import epsilons_of

WORDS = words_in(Path(__file__).with_name("hero.toml"))
MIDDLE = 0.5  # of the ruler
UP = 1 + 1e-12  # above the rounding of a chance


class Before(NamedTuple):
    """What is said of a network that has not been trained yet, from recorded trainings."""

    large: str
    words: str
    number: str  # the first of the words, without a price of privacy


def last_of(watched: Sequence[RunRecord], *, private: bool) -> RunRecord | None:
    """The last of the runs shown that is private, or that is not."""
    for each in reversed(watched):
        if each.config.private is private:
            return each
    return None


def say_learnt(form: Form, watched: Sequence[RunRecord], epsilon: float) -> None:
    """Draw how much the network learns: of the run shown, or else what was recorded.

    Privacy has a price once a private run has finished: before, its accuracy is that of a shorter
    training.
    """
    st.html(f"<h2 class=hero>{WORDS['learns']}</h2>")
    private = last_of(watched, private=True)
    compared = watched
    if private:  # only its own baseline tells the cost of privacy
        own = baseline_of(private.config)
        compared = [each for each in watched if alike(each.run, own)]
    baseline = last_of(compared, private=False)
    before = _recorded(form, epsilon)
    if private is None and baseline is None:
        large = before.large if before else WORDS["waiting"]
        asked = WORDS["ask"] if form.configs else ""
        words = before.words if before else asked
        untrained = "" if form.configs else WORDS["untrained"]
        headline([large], {}, "learnt")
        headline([f"{words} {untrained}".strip()], {})
        return
    large = [before.large if before else WORDS["waiting"]]
    large_numbers = {}
    numbers = {}
    sentences = [_until_tested(before, private)]
    recorded_stands = before is not None and private is not None
    if baseline:
        large_numbers["baseline"] = _accuracy(baseline, digits=0)
        numbers["baseline"] = _accuracy(baseline)
    if baseline and not recorded_stands:
        large.append(WORDS["large_baseline"])
        alone = WORDS["baseline"]
        queued = [each for each in watched if each.run.status is Status.QUEUED]
        if last_of(queued, private=True):
            alone = f"{alone} {WORDS['next']}"
        sentences.append(alone)
    if private:
        large.append(WORDS["large"])
        large_numbers["accuracy"] = _accuracy(private, digits=0)
        numbers |= {"accuracy": _accuracy(private), "epsilon": _epsilon(private)}
        sentences += _reached(private, form, baseline)
    if before and private and _of_other_settings(private.config, form):
        large = [before.large]  # beside what these settings keep secret
        of_run = _reached(private, form, baseline)
        sentences = [before.words, *(f"{before.words} {each}" for each in of_run)]
    headline(large, large_numbers, "learnt")
    headline(sentences, numbers)


def _until_tested(before: Before | None, private: RunRecord | None) -> str:
    """The words until a run has a number: of a private one without a price, which it has not."""
    if before is None:
        return WORDS["preparing"]
    if private is None:
        return before.words
    if private.run.active:
        return f"{before.number} {WORDS['no_test_yet']}"
    return before.number


def _recorded(form: Form, epsilon: float) -> Before | None:
    """The number and the words of what the recorded recipe reached at this epsilon.

    Where other settings are chosen, or more privacy than was recorded, both say that they are of
    the defaults. None if nothing is recorded.
    """
    found = _found(form, epsilon)
    if found is None or not _was_recorded(form):
        return _of_defaults(form, found)
    if math.isinf(_at_recorded_delta(form, epsilon)):
        return _of_least_noise(form, found)
    how = [WORDS["how"]]
    same = marked(found.epsilon, Kind.CERTIFIED) == marked(epsilon, Kind.CERTIFIED)
    if form.delta != DELTA or not same:
        how.append(WORDS["of_epsilon"].format(epsilon=_spent(found, form)))
    how += _other_length(form)
    lost = 100 * (found.baseline - found.accuracy)
    words = WORDS["recorded"] if lost > 0 else WORDS["recorded_free"]
    accuracy = f"{100 * found.accuracy:.1f}"
    said = words.format(
        how=" ".join(how),
        accuracy=accuracy,
        baseline=f"{100 * found.baseline:.1f}",
        lost=f"{lost:.1f}",
    )
    large = WORDS["large"].format(accuracy=f"{100 * found.accuracy:.0f}")
    number = WORDS["recorded_number"].format(how=" ".join(how), accuracy=accuracy)
    return Before(large, said, number)


def _of_defaults(form: Form, found: Recorded | None) -> Before | None:
    """The number and the words of the defaults' training that is `found`, or the most private."""
    words = WORDS["of_defaults"]
    if found is None and form.data.here:
        words = WORDS["of_less_private"]
        found = most_private(form.data.dataset, form.data.source)
    if found is None:
        return None
    large = WORDS["large_defaults"].format(accuracy=f"{100 * found.accuracy:.0f}")
    accuracy = f"{100 * found.accuracy:.1f}"
    said = words.format(accuracy=accuracy, epsilon=_spent(found, form))
    return Before(large, said, said)


def _of_least_noise(form: Form, found: Recorded) -> Before:
    """The words where no epsilon is proven: no recorded training is like that, and no number is."""
    accuracy = f"{100 * found.accuracy:.1f}"
    said = WORDS["of_least_noise"].format(accuracy=accuracy, epsilon=_spent(found, form))
    return Before(WORDS["waiting"], said, said)


def _spent(found: Recorded, form: Form) -> str:
    """The epsilon of a recorded training, with its delta where another one is chosen."""
    spent = marked(found.epsilon, Kind.CERTIFIED)
    return spent if form.delta == DELTA else f"{spent} at delta {plain(DELTA)}"


def expected_accuracy(form: Form, epsilon: float) -> float | None:
    """The accuracy that was recorded of the form's settings at this epsilon, if there is one."""
    found = _found(form, epsilon)
    return found.accuracy if found and _was_recorded(form) else None


def _found(form: Form, epsilon: float) -> Recorded | None:
    data = form.data
    if not data.here:
        return None
    return recorded_at(data.dataset, data.source, _at_recorded_delta(form, epsilon))


def _at_recorded_delta(form: Form, epsilon: float) -> float:
    """The proven upper bound of the settings at the delta of all recorded trainings, since epsilons
    at two deltas cannot be compared; `epsilon` is that at their own delta.
    """
    if form.delta == DELTA:
        return epsilon
    mechanism = form.mechanism
    if mechanism is None:
        return math.inf
    if answers(form.sampler, mechanism):
        return float(sampled_end(form.sampler, mechanism, DELTA).last.value)
    return float(cache.final(CERTIFIED, mechanism, DELTA).last.value)


def _was_recorded(form: Form) -> bool:
    return form.sampler == Poisson.name and of_recipe(form.settings)


def _other_length(form: Form) -> list[str]:
    """The batch and the epochs that were recorded, in words, where others are chosen."""
    usual = recipe(form.data.dataset)
    if form.run is None or (form.run.batch, form.run.epochs) == (usual.batch, usual.epochs):
        return []
    return [WORDS["of_length"].format(batch=usual.batch, epochs=usual.epochs)]


def _reached(private: RunRecord, form: Form, baseline: RunRecord | None) -> list[str]:
    """The sentences about a private run, the ones with more numbers later."""
    at = ""
    if private.plan.mechanism:
        at = " at epsilon {epsilon}"
        if private.config.delta != form.delta:
            at += f", delta {plain(private.config.delta)}"
    finished = private.run.status is Status.FINISHED
    if finished:
        end = "."
    elif private.run.active:
        end = WORDS["so_far"]
    else:
        end = WORDS["cut_short"]
    alone = f"{{accuracy}} %{at}{end}"
    if _of_other_settings(private.config, form):
        alone = f"{WORDS['other_settings']} {alone}"
    elif finished:  # at the epsilon that the page shows
        alone = WORDS["this_run"]
    if baseline is None:
        return [alone]
    if not (finished and baseline.run.status is Status.FINISHED):
        so_far = WORDS["without_so_far"] if baseline.run.active else WORDS["without"]
        return [alone, f"{alone} {so_far}"]
    return [alone, f"{alone} {WORDS['costs']}", f"{alone} {WORDS['gains']}"]


def _of_other_settings(config: RunConfig, form: Form) -> bool:
    """True unless the form describes the run, except for its seed."""
    if not form.configs:
        return True
    return replace(form.configs[0], seed=config.seed) != config


def _accuracy(watched: RunRecord, digits: int = 1) -> LiveNumber:
    tests = watched.history.evaluated
    value = f"{100 * tests[-1].accuracy:.{digits}f}" if tests else ""
    return LiveNumber(
        "", value, *watched.since, event="evaluated", y="accuracy", scale=100.0, digits=digits
    )


def _epsilon(watched: RunRecord) -> LiveNumber:
    tests = watched.history.evaluated
    spent = epsilons_of(watched, CERTIFIED, [tests[-1].step]) if tests else ()
    value = marked_epsilon(watched, CERTIFIED, spent[0]) if spent else ""
    return LiveNumber(
        "", value, *watched.since, event="evaluated", texts=spent_by_step(watched, CERTIFIED)
    )


def say_changed(watched: RunRecord) -> None:
    """Draw the test after the run's latest step, and the one before it."""
    tests = watched.history.evaluated[-2:]
    shown = {
        "step": LiveNumber("", "", y="step", digits=0),
        "accuracy": LiveNumber("", "", y="accuracy", scale=100.0, digits=2),
        "loss": LiveNumber("", "", y="loss", digits=4),
    }
    numbers = {}
    run, after = watched.since
    for name, number in shown.items():
        texts = ["", *(_written(getattr(test, number.y), number) for test in tests)]
        latest = replace(number, value=texts[-1], run=run, after=after, event="evaluated")
        numbers[name] = latest
        numbers[f"{name}_before"] = replace(
            latest, value=texts[-2] if tests else "", latest=texts[-1]
        )
    headline(["", WORDS["after"], WORDS["changed"]], numbers, "what_changed")


def _written(value: float, number: LiveNumber) -> str:
    return f"{value * number.scale:,.{number.digits}f}"


def say_kept(found: Risks | None, cost: str, *, other_batches: bool = False) -> None:
    """Draw how often the best spy is right, and the worst single case; all if nothing is proven.

    Of `other_batches` than Poisson's there may be an epsilon and no bound of a spy.
    """
    st.html(f"<h2 class=hero>{WORDS['secret']}</h2>")
    if found is None and other_batches:
        headline([WORDS["no_bound"]], {}, "kept")
        st.html(f"<p class=kept-words>{WORDS['no_bound_words']} {cost}</p>")
        return
    after = of_hundred(found) if found else PEOPLE
    headline([WORDS["spy"].format(after=after)], {}, "kept")
    if after == PEOPLE:
        words = WORDS["no_promise"]
    else:
        assert found, "else the spy may always be right"
        words = WORDS["average"].format(before=BEFORE, sure=_sure(found))
    st.html(f"<p class=kept-words>{words} {cost}</p>")


def _sure(found: Risks) -> str:
    """How sure a spy who was 50 % sure becomes of one person, rounded up."""
    sure = math.ceil(1000 * found.sure) / 10
    return f"at most {sure:g} %" if sure < 100 else "more than 99.9 %"


def _sure_of(epsilon: float) -> float:
    """How sure a spy who was 50 % sure becomes by an epsilon without a delta, in percent,
    rounded up.
    """
    return math.ceil(1000 / (1 + math.exp(-epsilon)) * UP) / 10


def cost_of(form: Form, curves: Mapping[str, Curve], otherwise: Sampled | None) -> str:
    """What the settings cost, as HTML; after the steps that other batches than Poisson's count."""
    after = ""
    if otherwise:
        last = otherwise.curve.last
        said = after_training(f"{otherwise.epochs[-1]:g}", int(otherwise.curve.steps[-1]))
        after = f" {lowered(said)}"
    elif CERTIFIED not in curves:
        return escape(WORDS["unproven"])
    elif form.sampler != Poisson.name:
        return escape(WORDS["unproven_batches"])
    else:
        last = curves[CERTIFIED].last
    epsilon = term("epsilon", "hero", "Epsilon", more=_range_in_words(float(last.value)))
    value = f"<b>{marked(last.value, last.kind, last.lower)}</b>"
    words = WORDS["cost"]
    if otherwise:
        value = f"<b>{range_of_reading(last)}</b>"
        words = WORDS["cost_of_others"]
    said = delta_warning(form.delta, form.n)
    if not said:
        return words.format(epsilon=epsilon, value=value, after=after)
    large = WORDS["large_delta_warning"]
    warning = f"<strong role=alert title={quoteattr(said)}>{large}</strong>"
    return WORDS["large_delta"].format(epsilon=epsilon, value=value, after=after, warning=warning)


def _range_in_words(epsilon: float) -> str:
    own = range_of(epsilon)
    return f"Here: {own.name}. {own.reason}"


def kept_picture(found: Risks | None, epsilon: float, *, other_batches: bool = False) -> None:
    """Draw a hundred people, one person in the worst case, and the ruler of epsilon.

    Only the ruler is drawn of `other_batches` of which no bound of a spy is proven.
    """
    if found is None and other_batches:
        st.html(f"<div class=kept-picture><div>{ruler(epsilon)}</div></div>")
        return
    after = of_hundred(found) if found else PEOPLE
    sure = 1.0 if found is None or found.empty else found.sure
    share = min(math.ceil(1000 * sure) / 10, 100.0)
    words = WORDS["certain"]
    if found and share < 100:
        words = WORDS["single"].format(sure=_sure(found))
        alone = _sure_of(epsilon)
        if alone < share:
            words += f" {WORDS['beyond'].format(alone=f'{alone:g} %')}"
    shown = f"{share:g} %"
    if found and not found.empty and share == 100:
        shown = "&gt; 99.9 %"
    single = (
        f"<div class=single><i style='width:{share}%'></i>"
        f"<span class=term><button popovertarget=worst-case>{WORDS['worst']}</button> {shown}"
        f"<span popover id=worst-case>{words}</span></span></div>"
    )
    st.html(f"<div class=kept-picture>{crowd(after)}<div>{single}{ruler(epsilon)}</div></div>")


def ruler(epsilon: float) -> str:
    """The ruler of epsilon as HTML: its ranges with their words and reasons, and a mark on it."""
    decades = math.log10(MOST / LEAST)
    own = range_of(epsilon)
    ranges = []
    below = LEAST
    for each in RULER:
        share = math.log10(min(each.most, MOST * 10**0.5) / below) / decades
        here = " class=here" if each is own else ""
        word = f"<span title={quoteattr(each.reason)}>{each.name}</span>"
        ranges.append(f'<li{here} data-range={each.name} style="flex:{share:.4f}">{word}</li>')
        below = each.most
    whole = decades + 0.5  # in decades; none, above the last limit, takes half of one
    at = math.log10(min(max(epsilon, LEAST), MOST * 10**0.5) / LEAST) / whole
    side = " class=before" if at > MIDDLE else ""
    ticks = []
    for tick in (0.1, 1, 10, 100):
        place = math.log10(tick / LEAST) / whole
        ticks.append(f'<span style="left:{100 * place:.1f}%">{tick:g}</span>')
    mark = f'<b style="left:{100 * at:.1f}%">▼<i{side}>epsilon</i></b>'
    return (
        f"<div class=ruler><ol>{''.join(ranges)}</ol>{mark}"
        f"<p aria-hidden=true>{''.join(ticks)}</p></div>"
    )


def show_answers(form: Form, watched: Sequence[RunRecord]) -> None:
    """Show the first test images with the answers of the last private run and of its baseline.

    Nothing is shown for other data. A click on an image shows the probabilities of all runs, or a
    hint before there are any.
    """
    data = watched[-1].config if watched else form.data
    dataset = data.dataset
    source = data.source
    here = watched or form.data.here
    if not here or not DATASETS[dataset].images or source not in available(dataset):
        return
    if not follows():
        return
    try:
        images, labels = first_test_images(dataset, source)
    except ValueError:  # a damaged file: a run that is started says so
        return
    shown = [each for each in watched if each.config.dataset == dataset]
    runs = []
    styles = run_styles(each.config.private for each in shown)
    for each, style in zip(shown, styles, strict=True):
        known = [test.answers for test in each.history.evaluated if test.answers]
        run = {
            "run": each.run.id,
            "label": each.label,
            "color": style.color,
            "active": each.run.active,
            "after": each.history.sequence,  # number of the last event that is known
            "answers": known[-1] if known else None,
        }
        runs.append(run)
    last = last_of(shown, private=True)
    other = last is not None and _of_other_settings(last.config, form)
    private_name = WORDS["other_row"] if other else WORDS["private_row"]
    rows = []  # of answers: the place of their run, and their name
    for private, name in ((True, private_name), (False, WORDS["baseline_row"])):
        of = last_of(shown, private=private)
        rows.append({"run": shown.index(of) if of else -1, "name": name})
    data = {
        "label": "Test images, and what the networks answer for each",
        "caption": WORDS["images_row"].format(images=len(images)),
        "images": images,
        "labels": labels,
        "grey": DATASETS[dataset].grey,
        "classes": DATASETS[dataset].classes,
        "runs": runs,
        "rows": rows,
        "hint": "Press Train: what the network answers appears here.",
    }
    mount("answers", "answers", data)


@lru_cache(maxsize=8)
def first_test_images(dataset: str, source: str) -> tuple[list[str], list[int]]:
    """The test images whose answers runs tell, as addresses that hold them, and their labels.

    The darkness of a grey one is its opacity, so that it can have the colour of the text.
    """
    test = load_test_images(dataset, source)
    images = test.images[:SHOWN_EXAMPLES]
    labels = test.labels[:SHOWN_EXAMPLES].tolist()
    if DATASETS[dataset].grey:
        pixels = [np.dstack([np.zeros_like(each), each]) for each in images]
    else:
        pixels = [np.ascontiguousarray(np.moveaxis(each, 0, -1)) for each in images]
    return [image_source(each) for each in pixels], labels
