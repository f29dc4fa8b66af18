"""The lab in pictures: what settings cost and runs have bought, an attacker's odds, and how a step treats gradients."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.figures import charted, epochs_at, gaussian_line, tradeoff_figure
from dpcore.figures.alt_texts import curves_alt, tradeoff_alt
from dpcore.figures.epsilon import Ghost
from dpcore.figures.lab import CURVE, GHOST, INVITATION, NOW, RUN, LabRun, lab_figure, label_of, over_epsilon
from dpcore.figures.layout import Size, written
from dpcore.figures.sampled import Sampled
from dpcore.figures.style import GREY, Style, run_styles
from dpcore.papers.better_features import PAPER
from dpcore.papers.records import recorded
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.report.numbers import marked, percent
from dpcore.runs.in_words import with_origin
from dpcore.runs.record import Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.slider_stops import show
from pages.parts.attacker import attacker
from pages.parts.components.live_chart import Drawing, Growth, Label, Mark, live_chart
from pages.parts.controls.widgets import titled
from pages.parts.outcome import say_outcome, show_answers
from pages.parts.results import attack, cache
from pages.parts.results.attack import band_and_clt
from pages.parts.results.exports import address, chart, curves_download, curves_table, origin_of, tradeoff_table
from pages.parts.results.odds import legend, not_promised, odds_icons
from pages.parts.results.pinned_setting import words_of
from pages.parts.results.tables import card, verdict_table
from pages.parts.shell.menu import SMALL, chart_size, link
from pages.parts.step import step_shown
from pages.parts.train.form import Form
from pages.parts.train.live import draw_apart, run_status
from pages.parts.train.run_charts import gradient_norms, spent_table
from pages.parts.train.run_history import Watched, watched_runs
from pages.parts.train.run_labels import labels_of

RECIPES = "epsilon, beside the best recipes"  # the choice of what the accuracy is drawn against
HEIGHT = 470
BESIDE_HEIGHT = 180  # of the small chart, whose key stands below it in a column this narrow
UNTRAINABLE = "You cannot train with these settings;<br>see the note under the button"
NO_STORE = "Nothing can be trained here:<br>there is no store for its runs"
ALT = (
    "Line chart of epsilon against epoch for each chosen accountant, with the certified band. Below it, over the same "
    "axis, the test accuracy of the runs shown."
)


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


def _draw(shown: Shown, watched: Sequence[Watched]) -> None:
    form = shown.form
    say_outcome(form, shown.curves, shown.otherwise, watched)
    st.markdown(shown.certain, help=help_on("epsilon", "delta"))
    show_answers(form, watched)
    runs, size = runs_on_chart(watched, form), chart_size()
    drawing = drawing_of(shown, runs, watched, size)
    title = f"Epsilon and accuracy\n{words_of(form.pinnable)}" if form.pinnable else "Epsilon and accuracy"
    name = "epsilon-and-accuracy"
    file = origin_of(form.mechanism, form.delta, form.n).file(name) if form.mechanism else name
    alt = alt_of(shown.curves, runs, watched, shown.otherwise)
    preview = partial(previewed, shown, watched, size)
    with st.container(key="in_sight", gap=None):
        live_chart(*drawing, key="epsilon_chart", alt=alt, title=title, file=file, preview=preview, fits=True)
    statuses = st.container(key="statuses", gap="xsmall")
    for each in sorted(watched, key=lambda each: each.run.status is not Status.RUNNING):
        if shown.store is not None and (each.run.active or each.run.status in (Status.FAILED, Status.LOST)):
            with statuses:
                run_status(shown.store, each, several=len(watched) > 1)


def drawing_of(shown: Shown, runs: Sequence[LabRun], watched: Sequence[Watched], size: Size) -> Drawing:
    """The figure, and what in it follows the runs that go on; asks Streamlit nothing."""
    look = {"log": shown.log, "across": shown.across, "ghost": shown.ghost, "otherwise": shown.otherwise}
    before_runs = INVITATION if shown.form.configs else UNTRAINABLE
    look |= {"without": NO_STORE if shown.store is None else before_runs, "height": HEIGHT, "size": size}
    by_epsilon = over_epsilon(shown.curves, shown.across)
    behind = best_recipe(shown, runs) if by_epsilon and shown.across == RECIPES else []
    figure = lab_figure(shown.curves, epochs_of(shown.form), [*behind, *runs], **look)
    both = zip(runs, watched, strict=True)
    return Drawing(figure, [each for run, of in both for each in following(figure, run, of, by_epsilon, size)])


def best_recipe(shown: Shown, runs: Sequence[LabRun]) -> list[LabRun]:
    """The data set's best recipe, recorded on the full data, as a run up to one point beyond the others."""
    title = DATASETS[shown.form.usual.dataset].title
    configs = [config for each in PAPER.ladders if each.place == title for _, config in each.rungs[-1].configs]
    end = max([shown.curves[CERTIFIED].epsilon[-1], *(run.most for run in runs)])
    found = [(record.epsilon or 0.0, record.mean / 100) for each in configs if (record := recorded(PAPER.id, each))]
    spent, accuracy = zip(*found[: 1 + sum(spent < end for spent, _ in found)], strict=True) if found else ((), ())
    style = Style(GREY, "dot", "┄┄", "best recipe, full data")
    return [LabRun(style, -1, [], accuracy, spent)] if found else []


def previewed(shown: Shown, watched: Sequence[Watched], size: Size, field: str, text: str) -> Drawing | None:
    """The figure where a field has this text, as the page will draw it; None where that may take long."""
    form = shown.form.moved(field, text)
    if form is None or form.mechanism is None or cache.slow(form.mechanism, form.delta) or shown.otherwise:
        return None
    curves = {name: cache.curve(name, form.mechanism, form.delta) for name in shown.curves}
    runs = runs_on_chart(watched, form)
    return drawing_of(shown._replace(form=form, curves=curves), runs, watched, size)


def alt_of(
    curves: Mapping[str, Curve], runs: Sequence[LabRun], watched: Sequence[Watched], otherwise: Sampled | None = None
) -> str:
    """The chart in words and numbers; a run that goes on has none yet."""
    ends = [
        f"{titled(name)} {marked(curve.last.value, curve.kind, curve.last.lower)}" for name, curve in curves.items()
    ]
    reached = [
        f"{run.style.label} {percent(run.accuracy[-1])}"
        for run, of in zip(runs, watched, strict=True)
        if run.accuracy and not of.run.active
    ]
    ends += [otherwise.words] if otherwise else []
    spent = f" Epsilon at the end: {', '.join(ends)}." if ends else ""
    bought = f" Accuracy at the end: {', '.join(reached)}." if reached else ""
    return f"{ALT}{spent}{bought}"


def following(figure: go.Figure, run: LabRun, watched: Watched, by_epsilon: bool, size: Size) -> list[Growth | Mark]:
    """What of the figure grows with a run that goes on: its accuracy, and the mark of the first one that trains."""
    if not watched.run.active:
        return []
    traces: Any = figure.data  # plotly's own types do not say what is in it
    places = {trace.uid or "": place for place, trace in enumerate(traces)}
    table = spent_table(watched, CERTIFIED) if by_epsilon else None
    level = by_epsilon and run.level
    if by_epsilon and not (table or level):
        return []
    name = f"{RUN}{run.place}"
    label = Label(name, written(run.drawn, label_of(run), size)["text"])
    since: dict[str, Any] = {"run": watched.run.id, "after": watched.history.sequence, "table": table}
    found: list[Growth | Mark] = [Growth(**since, trace=places[name], scale=100.0, level=level, label=label)]
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


def runs_on_chart(watched: Sequence[Watched], form: Form) -> list[LabRun]:
    """The runs beside the settings that are chosen now: a ghost where one has others."""
    styles = enumerate(run_styles(each.config.private for each in watched))
    return [_on_chart(each, place, style, form) for (place, style), each in zip(styles, watched, strict=True)]


def _on_chart(watched: Watched, place: int, style: Style, form: Form) -> LabRun:
    tests, mechanism = watched.history.evaluated, watched.plan.mechanism
    label, ghost = with_origin(label_beside(watched.config, form), watched.run), None
    if mechanism and mechanism != form.mechanism:
        curve = cache.curve(CERTIFIED, mechanism, watched.config.delta)
        ghost = Ghost(label, curve, epochs_at(mechanism, charted(mechanism)))
    most = watched.epsilons(CERTIFIED, [watched.plan.steps])
    return LabRun(
        style=style._replace(label=label),
        place=place,
        epochs=[each.epoch for each in tests],
        accuracy=[each.accuracy for each in tests],
        spent=watched.epsilons(CERTIFIED, [each.step for each in tests]),
        level=mechanism is None,
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
    cheap = {name: cache.curve(name, form.mechanism, form.delta) for name in names if name != CERTIFIED}
    epochs = epochs_of(form)
    figure = lab_figure(cheap, epochs, log=log, height=HEIGHT, size=chart_size())
    st.html("<div class=headline-place></div>")
    st.markdown(cache.COMING)
    st.html("<div class=answers-place></div>")
    st.plotly_chart(figure, key="first_chart", config=SMALL, alt=curves_alt(cheap, epochs))


def attack_beside(mechanism: Mechanism, delta: float, n: int) -> None:
    """Draw what is certain about any attacker: a hundred people, and the trade-off picture."""
    mu, band, found = cache.mu(mechanism), cache.band(mechanism), cache.risks(mechanism, delta)
    lines, origin = [gaussian_line(mu)], origin_of(mechanism, delta, n, address())
    st.html(f"<div class=visitor>{odds_icons(found)}</div>")
    figure = tradeoff_figure(band, lines, log=True, height=chart_size().scaled(BESIDE_HEIGHT), size=chart_size())
    chart(figure, "tradeoff_chart", tradeoff_alt(band, lines, log=True), "Trade-off function", origin)
    st.caption(attack.TRADEOFF)
    link("pages/tradeoff.py", "What can an attacker do?")
    if st.button("Be the attacker", icon=":material/person_search:", key="be_attacker"):
        attacker()
    st.html(f"{legend('legend')}{not_promised()}")


def numbers_below(mechanism: Mechanism, curves: Mapping[str, Curve], delta: float, n: int, against: str) -> None:
    """Draw the verdicts, why they differ, the tables, the download and the statement."""
    st.html(verdict_table(curves))
    notes = " ".join(ACCOUNTANTS[name].note for name in curves)
    st.markdown(f"**Why they differ.** All of them describe the same noise. {notes}")
    curves_table(mechanism, curves)
    tradeoff_table(band_and_clt(cache.band(mechanism), cache.mu(mechanism)), "The numbers in the trade-off chart")
    curves_download(mechanism, against, origin_of(mechanism, delta, n, address()))
    card(mechanism, curves[CERTIFIED], CERTIFIED, n)


def gradients(form: Form, store: Store | None, ids: Sequence[str]) -> None:
    """Draw the norms of the last private run shown, and on demand a step in pictures."""
    try:
        private = [each for each in watched_runs(store, ids) if each.config.private] if store is not None else []
    except (UnknownRun, StoreError):  # the chart above says so
        return
    if private:
        gradient_norms(private[-1])
    step_shown(form)
