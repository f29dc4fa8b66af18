"""The lab: the epsilon of settings and the accuracy of runs, in words, images and charts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpcore.data.catalogue import DATASETS, available
from dpcore.data.loading import load_test_images
from dpcore.figures import charted, epochs_at, gaussian_line, tradeoff_figure
from dpcore.figures.alt_texts import curves_alt, tradeoff_alt
from dpcore.figures.epsilon import Ghost
from dpcore.figures.lab import (
    CURVE,
    GHOST,
    INVITATION,
    NOW,
    RUN,
    LabRun,
    lab_figure,
    label_of,
    over_epsilon,
)
from dpcore.figures.layout import written
from dpcore.figures.sampled import Sampled
from dpcore.figures.style import GREY, Style, run_styles
from dpcore.papers.better_features import PAPER
from dpcore.papers.records import recorded
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.report.numbers import marked, percent, plain
from dpcore.privacy.report.verdict import lowered
from dpcore.privacy.sampling.base import Poisson
from dpcore.runs.history import RunRecord
from dpcore.runs.in_words import with_origin
from dpcore.runs.record import Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import SHOWN_EXAMPLES
from dpcore.training.slider_stops import show
from pages.parts.attacker.game import attacker
from pages.parts.components.elements import LiveNumber, follows, headline, mount
from pages.parts.components.live_chart import Drawing, Growth, Label, Mark, live_chart, still_chart
from pages.parts.controls.mechanism import after_training
from pages.parts.controls.widgets import titled
from pages.parts.results import attack, cache
from pages.parts.results.exports import (
    accountants_sources,
    address,
    chart,
    curves_download,
    origin_of,
)
from pages.parts.results.odds import WORDS, legend, not_promised, odds_icons
from pages.parts.results.pinned_setting import words_of
from pages.parts.results.tables import card, image_source, verdict_table
from pages.parts.shell.menu import chart_size, link
from pages.parts.step import step_shown
from pages.parts.train.buttons import alike
from pages.parts.train.form import Form, baseline_of
from pages.parts.train.live import draw_apart, run_status
from pages.parts.train.run_charts import (
    gradient_norms,
    marked_epsilon,
    say_left_out,
    spent_by_step,
    spent_table,
)
from pages.parts.train.run_history import epsilons_of, watched_runs
from pages.parts.train.run_labels import labels_of
from pages.parts.train.run_picker import WHOLE

ASKED = "Press Train to see how accurate a model this private can be."
RECIPES = "epsilon, beside the best recipes"  # the choice of what the accuracy is drawn against
HEIGHT = 470
BESIDE_HEIGHT = 180  # of the small chart, whose key stands below it in a column this narrow
UNTRAINABLE = "You cannot train with these settings;<br>see the note under the button"
NO_STORE = "Nothing can be trained here:<br>there is no store for its runs"


class Shown(NamedTuple):
    """What the chart is drawn of, and how."""

    form: Form
    curves: Mapping[str, Curve]
    store: Store | None
    ids: tuple[str, ...]
    certain: str  # what is proven of the settings, in a sentence
    log: bool = False
    across: str = "epoch"  # or "epsilon", or `RECIPES`
    ghost: Ghost | None = None  # of the setting that is pinned
    otherwise: Sampled | None = None  # the same training with batches that are not Poisson


def lab_chart(shown: Shown) -> None:
    """Draw the chart, which follows the runs that go on, and below it how far they are."""
    draw_apart(shown.store, shown.ids, partial(_draw, shown))


def _draw(shown: Shown, watched: Sequence[RunRecord]) -> None:
    form = shown.form
    say_outcome(form, shown.curves, shown.otherwise, watched)
    st.markdown(shown.certain, help=help_on("epsilon", "delta"))
    show_answers(form, watched)
    runs = runs_on_chart(watched, form)
    drawing = drawing_of(shown, runs, watched)
    title = "Epsilon and accuracy"
    if form.pinnable:
        title += f"\n{words_of(form.pinnable)}"
    file = "epsilon-and-accuracy"
    if form.mechanism:
        file = origin_of(form.mechanism, form.delta, form.n).file(file)
    alt = alt_of(shown.curves, runs, watched, shown.otherwise)
    preview = partial(previewed, shown, watched)
    with st.container(key="in_sight", gap=None):
        live_chart(
            *drawing,
            key="epsilon_chart",
            alt=alt,
            title=title,
            file=file,
            preview=preview,
            fits=True,
        )
    if over_epsilon(shown.curves, shown.across):
        say_left_out(watched)
    statuses = st.container(key="statuses", gap="xsmall")
    if shown.store is None:
        return
    for each in sorted(watched, key=lambda each: each.run.status is not Status.RUNNING):
        if each.run.active or each.run.status in (Status.FAILED, Status.LOST):
            with statuses:
                run_status(shown.store, each, several=len(watched) > 1)
    with st.container(horizontal=True, key="whole"):
        for each in watched:
            link("pages/runs.py", f"One run, whole: {each.label}", {WHOLE.name: each.run.id})


def say_outcome(
    form: Form, curves: Mapping[str, Curve], otherwise: Sampled | None, runs: Sequence[RunRecord]
) -> None:
    """Draw the epsilon of the settings, and the accuracy that the runs shown reached for it.

    Privacy has a price once a private run has finished: before, its accuracy is that of a shorter
    training.
    """
    private = last_of(runs, private=True)
    compared = runs
    if private:  # only its own baseline tells the cost of privacy
        own = baseline_of(private.config)
        compared = [each for each in runs if alike(each.run, own)]
    baseline = last_of(compared, private=False)
    cost = _cost(form, curves, otherwise)
    if private and _of_other_settings(private, form):
        run = f"{cost} The run in the chart: {{accuracy}} % right"
        if private.plan.mechanism:
            run += " at epsilon {epsilon}"
            if private.config.delta != form.delta:
                run += f", delta {plain(private.config.delta)}"
        headline([cost, f"{run}."], _numbers(private))
        return
    sentences = [cost]
    # Other batches may cost a run more than whole epochs of them cost here.
    if form.configs and form.sampler == Poisson.name:
        sentences = [f"{cost} {ASKED}"]
    numbers = {}
    if baseline:
        numbers["baseline"] = _accuracy(baseline)
        alone = "{baseline} % right without privacy."
        if any(each.config.private and each.run.status is Status.QUEUED for each in runs):
            alone += " The private run comes next."
        sentences.append(alone)
    if private:
        numbers |= _numbers(private)
        sentences += _reached(private, beside_baseline=baseline is not None)
    headline(sentences, numbers)


def _of_other_settings(private: RunRecord, form: Form) -> bool:
    """True unless the form describes the run, except for its seed."""
    if not form.configs:
        return True
    return replace(form.configs[0], seed=private.config.seed) != private.config


def _reached(private: RunRecord, *, beside_baseline: bool) -> list[str]:
    """The sentences about the accuracy of a private run, the ones with more numbers later."""
    run = private.run
    spent = "{accuracy} % right"
    if private.plan.mechanism:
        spent += " at epsilon {epsilon}"
    finished = run.status is Status.FINISHED
    if finished:
        alone = f"{spent}."
    elif run.active:
        alone = f"{spent}, so far."
    else:
        alone = f"{spent}, cut short."
    if not beside_baseline:
        return [alone]
    if not finished:
        return [alone, f"{alone} Without privacy {{baseline}} %."]
    both = f"{spent}. Without privacy {{baseline}} %: privacy "
    return [
        alone,
        f"{both}costs {{lost}} points in this run.",
        f"{both}costs nothing in this run, {{gained}} points to the good.",
    ]


def _numbers(private: RunRecord) -> dict[str, LiveNumber]:
    return {"accuracy": _accuracy(private), "epsilon": _epsilon(private)}


def last_of(watched: Sequence[RunRecord], *, private: bool) -> RunRecord | None:
    """The last of the runs shown that is private, or that is not."""
    return next((each for each in reversed(watched) if each.config.private is private), None)


def _cost(form: Form, curves: Mapping[str, Curve], otherwise: Sampled | None) -> str:
    after = form.after
    if otherwise:
        last = otherwise.curve.last
        after = after_training(f"{otherwise.epochs[-1]:g}", int(otherwise.curve.steps[-1]))
    elif CERTIFIED in curves:
        last = curves[CERTIFIED].last
    else:
        return "No epsilon is proven of these settings."
    return f"Epsilon {marked(last.value, last.kind, last.lower)} {lowered(after)}."


def _accuracy(watched: RunRecord) -> LiveNumber:
    tests = watched.history.evaluated
    value = f"{100 * tests[-1].accuracy:.1f}" if tests else ""
    return LiveNumber("", value, *watched.since, event="evaluated", y="accuracy", scale=100.0)


def _epsilon(watched: RunRecord) -> LiveNumber:
    tests = watched.history.evaluated
    spent = epsilons_of(watched, CERTIFIED, [tests[-1].step]) if tests else ()
    value = marked_epsilon(watched, CERTIFIED, spent[0]) if spent else ""
    return LiveNumber(
        "", value, *watched.since, event="evaluated", texts=spent_by_step(watched, CERTIFIED)
    )


def show_answers(form: Form, watched: Sequence[RunRecord]) -> None:
    """Show the first test images, each with the answer of the last private run shown.

    Nothing is shown for other data. A click on an image shows the probabilities of all runs, or a
    hint before there are any.
    """
    data = watched[-1].config if watched else form.data
    dataset = data.dataset
    source = data.source
    if not DATASETS[dataset].images or source not in available(dataset) or not follows():
        return
    try:
        images, labels = first_test_images(dataset, source)
    except ValueError:  # a damaged file: a run that is started says so
        return
    shown = [each for each in watched if each.config.dataset == dataset]
    detail = last_of(shown, private=True) or (shown[-1] if shown else None)
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
    data = {
        "label": "Test images, and what is answered for each",
        "images": images,
        "labels": labels,
        "grey": DATASETS[dataset].grey,
        "classes": DATASETS[dataset].classes,
        "runs": runs,
        # The place of the run whose answers are shown.
        "detail": shown.index(detail) if detail else 0,
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


def drawing_of(shown: Shown, runs: Sequence[LabRun], watched: Sequence[RunRecord]) -> Drawing:
    """The figure, and what in it follows the runs that go on; asks Streamlit nothing."""
    if shown.store is None:
        without = NO_STORE
    elif shown.form.configs:
        without = INVITATION
    else:
        without = UNTRAINABLE
    by_epsilon = over_epsilon(shown.curves, shown.across)
    behind = best_recipe(shown, runs) if by_epsilon and shown.across == RECIPES else []
    figure = lab_figure(
        shown.curves,
        epochs_of(shown.form),
        [*behind, *runs],
        log=shown.log,
        across=shown.across,
        ghost=shown.ghost,
        otherwise=shown.otherwise,
        without=without,
        height=HEIGHT,
    )
    follows = []
    for run, record in zip(runs, watched, strict=True):
        follows += following(figure, run, record, by_epsilon)
    return Drawing(figure, follows)


def best_recipe(shown: Shown, runs: Sequence[LabRun]) -> list[LabRun]:
    """The data set's best recipe on the full data, as a run up to one point beyond the others."""
    title = DATASETS[shown.form.usual.dataset].title
    epsilons = []
    accuracies = []
    for grid in PAPER.grids:
        if grid.place != title:
            continue
        for config in grid.curves[-1].configs:
            record = recorded(PAPER.id, config)
            if record:
                epsilons.append(record.epsilon or 0.0)
                accuracies.append(record.mean / 100)
    if not epsilons:
        return []
    end = max([shown.curves[CERTIFIED].epsilon[-1], *(run.most for run in runs)])
    kept = 1 + sum(epsilon < end for epsilon in epsilons)
    style = Style(GREY, "dot", "┄┄", "best recipe, full data")
    return [LabRun(style, -1, [], tuple(accuracies[:kept]), tuple(epsilons[:kept]))]


def previewed(shown: Shown, watched: Sequence[RunRecord], field: str, text: str) -> Drawing | None:
    """The figure where a field has this text, as the page will draw it; None where that may take
    long.
    """
    form = shown.form.moved(field, text)
    if (
        form is None
        or form.mechanism is None
        or cache.slow(form.mechanism, form.delta)
        or shown.otherwise
    ):
        return None
    curves = {name: cache.curve(name, form.mechanism, form.delta) for name in shown.curves}
    runs = runs_on_chart(watched, form)
    return drawing_of(shown._replace(form=form, curves=curves), runs, watched)


def alt_of(
    curves: Mapping[str, Curve],
    runs: Sequence[LabRun],
    watched: Sequence[RunRecord],
    otherwise: Sampled | None = None,
) -> str:
    """The chart in words and numbers; a run that goes on has none yet."""
    ends = [
        f"{titled(name)} {marked(curve.last.value, curve.kind, curve.last.lower)}"
        for name, curve in curves.items()
    ]
    reached = [
        f"{run.style.label} {percent(run.accuracy[-1])}"
        for run, of in zip(runs, watched, strict=True)
        if run.accuracy and not of.run.active
    ]
    ends += [otherwise.words] if otherwise else []
    spent = f" Epsilon at the end: {', '.join(ends)}." if ends else ""
    bought = f" Accuracy at the end: {', '.join(reached)}." if reached else ""
    return f"{WORDS['lab']['alt']}{spent}{bought}"


def following(
    figure: go.Figure, run: LabRun, watched: RunRecord, by_epsilon: bool
) -> list[Growth | Mark]:
    """What of the figure grows with a run that goes on: its accuracy, and the mark of the first one
    that trains.
    """
    if not watched.run.active:
        return []
    traces: Any = figure.data  # plotly's own types do not say what is in it
    places = {trace.uid or "": place for place, trace in enumerate(traces)}
    table = spent_table(watched, CERTIFIED) if by_epsilon else None
    level = by_epsilon and run.level
    if by_epsilon and not (table or level):
        return []
    name = f"{RUN}{run.place}"
    label = Label(name, written(run.drawn, label_of(run))["text"])
    since: dict[str, Any] = {
        "run": watched.run.id,
        "after": watched.history.sequence,
        "table": table,
    }
    found: list[Growth | Mark] = [
        Growth(**since, trace=places[name], scale=100.0, level=level, label=label)
    ]
    if run.now is not None and NOW in places:
        own = f"{GHOST}{run.place}" if run.ghost else CURVE
        curves = tuple(place for uid, place in places.items() if uid.startswith(own))
        found.append(Mark(**since, shape=0, trace=places[NOW], curves=curves))
    return found


def epochs_of(form: Form) -> np.ndarray:
    """The epochs at which the curves of the chosen settings are drawn."""
    if form.mechanism is None:
        return np.linspace(0, form.steps * form.q, 2)
    return epochs_at(form.mechanism, charted(form.mechanism))


def runs_on_chart(watched: Sequence[RunRecord], form: Form) -> list[LabRun]:
    """The runs beside the settings that are chosen now: a ghost where one has others."""
    styles = enumerate(run_styles(each.config.private for each in watched))
    return [
        _on_chart(each, place, style, form)
        for (place, style), each in zip(styles, watched, strict=True)
    ]


def _on_chart(watched: RunRecord, place: int, style: Style, form: Form) -> LabRun:
    tests = watched.history.evaluated
    mechanism = watched.plan.mechanism
    label = with_origin(label_beside(watched.config, form), watched.run)
    ghost = None
    if mechanism and mechanism != form.mechanism:
        curve = cache.curve(CERTIFIED, mechanism, watched.config.delta)
        ghost = Ghost(label, curve, epochs_at(mechanism, charted(mechanism)))
    most = epsilons_of(watched, CERTIFIED, [watched.plan.steps])
    return LabRun(
        style=style._replace(label=label),
        place=place,
        epochs=[each.epoch for each in tests],
        accuracy=[each.accuracy for each in tests],
        spent=epsilons_of(watched, CERTIFIED, [each.step for each in tests]),
        level=not watched.config.private,
        now=watched.history.step * watched.config.q if watched.run.active and mechanism else None,
        end=watched.epochs,
        most=most[0] if most and np.isfinite(most[0]) else 0.0,
        ghost=ghost,
    )


def label_beside(config: RunConfig, form: Form) -> str:
    """What tells a run from the settings that are chosen now, in a few words."""
    if not config.private:
        same = not form.configs or config.epochs == form.configs[0].epochs
        return "non-private" if same else f"non-private, {show(config.epochs)} epochs"
    if not form.configs:
        return labels_of([config])[0]
    chosen = replace(form.configs[0], seed=config.seed)
    return "private" if chosen == config else labels_of([chosen, config])[1]


def first_chart(form: Form, names: Sequence[str], *, log: bool) -> None:
    """Draw the cheap curves alone, while the certified band is computed."""
    if form.mechanism is None:
        return
    cheap = {
        name: cache.curve(name, form.mechanism, form.delta) for name in names if name != CERTIFIED
    }
    epochs = epochs_of(form)
    figure = lab_figure(cheap, epochs, log=log, height=HEIGHT)
    st.html("<div class=headline-place></div>")
    st.markdown(cache.COMING)
    st.html("<div class=answers-place></div>")
    still_chart(figure, key="first_chart", alt=curves_alt(cheap, epochs))


def attack_beside(mechanism: Mechanism, delta: float, n: int) -> None:
    """Draw what is certain about any attacker: a hundred people, and the trade-off picture."""
    mu, band, found = cache.mu(mechanism), cache.band(mechanism), cache.risks(mechanism, delta)
    lines, origin = [gaussian_line(mu)], origin_of(mechanism, delta, n, address())
    st.html(f"<div class=visitor>{odds_icons(found)}</div>")
    figure = tradeoff_figure(band, lines, log=True, height=chart_size().scaled(BESIDE_HEIGHT))
    chart(
        figure, "tradeoff_chart", tradeoff_alt(band, lines, log=True), "Trade-off function", origin
    )
    st.caption(attack.TRADEOFF)
    link("pages/tradeoff.py", "What can an attacker do?")
    if st.button("Be the attacker", icon=":material/person_search:", key="be_attacker"):
        attacker()
    st.html(f"{legend()}{not_promised()}")


def numbers_below(
    mechanism: Mechanism, curves: Mapping[str, Curve], delta: float, n: int, against: str
) -> None:
    """Draw the verdicts, why they differ, the sources, the download and the statement."""
    st.html(verdict_table(curves))
    notes = " ".join(ACCOUNTANTS[name].note for name in curves)
    st.markdown(f"**Why they differ.** All of them describe the same noise. {notes}")
    accountants_sources()
    curves_download(mechanism, against, origin_of(mechanism, delta, n, address()))
    card(mechanism, curves[CERTIFIED], CERTIFIED, n)


def gradients(form: Form, store: Store | None, ids: Sequence[str]) -> None:
    """Draw the norms of the last private run shown, and on demand a step in pictures."""
    try:
        private = (
            [each for each in watched_runs(store, ids) if each.config.private]
            if store is not None
            else []
        )
    except (UnknownRun, StoreError):  # the chart above says so
        return
    if private:
        gradient_norms(private[-1])
    step_shown(form)
