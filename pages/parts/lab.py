"""The lab: the epsilon of settings and the accuracy of runs, in charts."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpcore.figures import charted, epochs_at, gaussian_line, tradeoff_figure
from dpcore.figures.alt_texts import curves_alt, tradeoff_alt
from dpcore.figures.epsilon import Ghost
from dpcore.figures.lab import (
    CURVE,
    GHOST,
    NO_PROMISE,
    NOW,
    RUN,
    LabRun,
    lab_accuracy_figure,
    lab_epsilon_figure,
    label_of,
    promises_nothing,
)
from dpcore.figures.layout import written
from dpcore.figures.sampled import Sampled
from dpcore.figures.style import GREY, Style, run_styles
from dpcore.papers.better_features.best import best_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import Risks
from dpcore.privacy.report.numbers import marked, percent
from dpcore.privacy.report.verdict import lowered, verdict
from dpcore.privacy.sampling.base import Poisson
from dpcore.privacy.schedule import CONSTANT
from dpcore.runs.history import History, RunRecord
from dpcore.runs.holding import steps_granted
from dpcore.runs.in_words import with_origin
from dpcore.runs.record import Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.slider_stops import show
from pages.parts.attacker.game import attacker
from pages.parts.components.elements import follows, replay
from pages.parts.components.live_chart import (
    SHARE,
    Drawing,
    Growth,
    Label,
    Mark,
    live_chart,
    still_chart,
)
from pages.parts.controls.widgets import titled
from pages.parts.explain.lesson_panel import LESSON
from pages.parts.hero import (
    cost_of,
    expected_accuracy,
    kept_picture,
    last_of,
    say_changed,
    say_kept,
    say_learnt,
    show_answers,
)
from pages.parts.results import attack, cache
from pages.parts.results.exports import (
    Origin,
    accountants_sources,
    address,
    chart,
    curves_download,
    origin_of,
)
from pages.parts.results.odds import WORDS, legend, not_promised, signs_in_a_word
from pages.parts.results.pinned_setting import words_of
from pages.parts.results.tables import card, verdict_table
from pages.parts.shell.menu import chart_size, link, press
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.step import pictured, settings_of_run, step_html, step_shown
from pages.parts.train.followed_run import say_followed
from pages.parts.train.form import Form
from pages.parts.train.live import HELD, run_status
from pages.parts.train.run_charts import gradient_norms, say_left_out, spent_table
from pages.parts.train.run_history import epsilons_of, watched_runs
from pages.parts.train.run_labels import labels_of
from pages.parts.train.run_picker import WHOLE

REPLAYED = "lab_replayed"  # in the session: the turn of the replay that goes on
TURN = "lab_turns"  # the replays so far
SEEN = "lab_replay_seen"  # the last one for which the page was drawn
REPLAY_SECONDS = 10.0
RECIPES = "epsilon, beside the best recipes"  # the choice of what the accuracy is drawn against
HEIGHT = 368
BELOW_CARD = 0.35  # of the window's height: the large numbers and a lesson's card are seen, too
WHOLE_GRADIENT = "flat"  # the clipping that pictures of a step show
ALWAYS = ("sound_and_tight", "loose", "claims_less")  # verdicts that a drag may bring
BESIDE_HEIGHT = 240  # of the small chart
UNTRAINABLE = "You cannot train with these settings;<br>see the note under the button"
NO_STORE = "Nothing can be trained here:<br>there is no store for its runs"


class Shown(NamedTuple):
    """What the charts are drawn of, and how."""

    form: Form
    curves: Mapping[str, Curve]
    store: Store | None
    ids: tuple[str, ...]
    risks: Risks | None = None  # of any attack; None if nothing is proven
    log: bool = True
    across: str = "epoch"  # or "epsilon", or `RECIPES`
    ghost: Ghost | None = None  # of the setting that is pinned
    otherwise: Sampled | None = None  # the same training with batches that are not Poisson
    # Epsilon against delta in place of epsilon against epoch: what `chart` takes.
    profile: tuple[go.Figure, str, str, str, Origin | None] | None = None


def lab_chart(shown: Shown) -> bool:
    """Draw the numbers, pictures and charts, which the browser lets keep up with runs; return
    whether any run goes on.
    """
    watched: list[RunRecord] = []
    if shown.store is not None:
        with suppress(UnknownRun, StoreError):  # what draws their progress says so
            watched = watched_runs(shown.store, shown.ids)
    _draw(shown, watched)
    return any(each.run.active for each in watched)


def _draw(shown: Shown, watched: Sequence[RunRecord]) -> None:
    form = shown.form
    if st.session_state.get(REPLAYED) and follows():
        watched = [_from_the_start(each) for each in watched]
        ids = [each.run.id for each in watched]
        replay(ids, st.session_state[REPLAYED], REPLAY_SECONDS, _end_replay)
    runs = runs_on_chart(watched, form)
    own = own_of(watched)
    upper = upper_epsilon(shown)
    other_batches = form.sampler != Poisson.name and form.mechanism is not None
    with st.container(key="in_sight", gap=None):
        learns, secret = st.columns(2, gap="medium")
        with learns:
            say_learnt(form, own, upper)
        with secret:
            cost = cost_of(form, shown.curves, shown.otherwise)
            say_kept(shown.risks, cost, other_batches=other_batches)
    with st.container(key="pictures", gap=None):
        learns, secret = st.columns(2, gap="medium")
        with learns:
            show_answers(form, own)
        with secret:
            kept_picture(shown.risks, upper, other_batches=other_batches)
    with st.container(key="plots", gap=None):
        _step_of_held(shown.store, own)
        learns, secret = st.columns(2, gap="medium")
        with learns:
            _accuracy_chart(shown, runs, watched)
        with secret:
            _epsilon_chart(shown, runs, watched)
    if shown.store is None:
        return
    say_followed(watched)
    with st.container(horizontal=True, key="whole"):
        for each in watched:
            link("pages/runs.py", f"One run, whole: {each.label}", {WHOLE.name: each.run.id})


def own_of(watched: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs of this program, which alone tell a baseline, answers and gradients."""
    return [each for each in watched if not each.followed]


def _from_the_start(watched: RunRecord) -> RunRecord:
    """A finished run as it was before its first event, to be played again."""
    if watched.run.active:
        return watched
    began = replace(watched.run, status=Status.RUNNING)
    return replace(watched, run=began, history=History())


@uninterrupted
def _play_again() -> None:
    st.session_state[REPLAYED] = st.session_state.get(TURN, 0) + 1
    st.session_state[TURN] = st.session_state[REPLAYED]


@uninterrupted
def _end_replay() -> None:
    st.session_state.pop(REPLAYED, None)


def _step_of_held(store: Store | None, watched: Sequence[RunRecord]) -> None:
    """Draw, while a run is held, an example of a step, another one for each step that it takes,
    and what the last step changed.
    """
    if store is None:
        return
    for each in watched:
        taken = steps_granted(store, each.run.id) if each.run.active else None
        if taken is not None:
            with st.container(key="held_step", gap=None):
                _example_of_step(each, taken)
                say_changed(each)
            return


def _example_of_step(held: RunRecord, taken: int) -> None:
    words = WORDS["lab"]
    if not held.config.private:
        st.html(f"<p>{words['paused_baseline']}</p>")
        return
    turn = crc32(held.run.id.encode()) + taken  # of two runs the batches differ
    settings = settings_of_run(held.config)
    step = pictured(settings, turn) if _steps_as_pictured(held.config) else None
    if step is None:
        st.html(f"<p>{words['paused_unpictured']}</p>")
        return
    st.html(f"<p>{words['paused'].format(example=words['example_step'])}</p>")
    st.html(step_html(settings, step, turn))


def _steps_as_pictured(config: RunConfig) -> bool:
    """True for Poisson batches, gradients cut as a whole, and one noise that is not 0."""
    usual = config.sampler == Poisson.name and config.schedule == CONSTANT.name
    return usual and config.clipping == WHOLE_GRADIENT and config.sigma > 0


def upper_epsilon(shown: Shown) -> float:
    """The proven upper bound of the settings with their batches, or infinity."""
    if shown.otherwise:
        return float(shown.otherwise.curve.last.value)
    if shown.form.sampler == Poisson.name and CERTIFIED in shown.curves:
        return float(shown.curves[CERTIFIED].last.value)
    return math.inf


def share_of_window() -> float:
    """The share of the window's height that a chart takes."""
    return BELOW_CARD if LESSON.value else SHARE


def _accuracy_chart(shown: Shown, runs: Sequence[LabRun], watched: Sequence[RunRecord]) -> None:
    by_epsilon = shown.across != "epoch"
    if shown.store is None:
        without = NO_STORE
    elif shown.form.configs:
        without = press("Train")
    else:
        without = UNTRAINABLE
    behind = []
    end = float(epochs_of(shown.form)[-1])
    if by_epsilon:
        upper = upper_epsilon(shown)
        end = upper if math.isfinite(upper) else 0.0
    if shown.across == RECIPES:
        behind = best_recipe(shown, max([end, *(run.most for run in runs)]))
    expected = expected_accuracy(shown.form, upper_epsilon(shown))
    if expected is None and any(each.run.active for each in watched):
        expected = 0.0  # it must be seen, wherever it goes
    figure = lab_accuracy_figure(
        [*behind, *runs],
        by_epsilon=by_epsilon,
        end=end,
        without=without,
        expected=expected,
        height=HEIGHT,
    )
    follows = []
    for run, record in zip(runs, watched, strict=True):
        follows += accuracy_following(figure, run, record, by_epsilon)
    live_chart(
        figure,
        follows,
        key="accuracy_chart",
        alt=accuracy_alt(runs, watched),
        title="Accuracy",
        file="accuracy",
        fits=True,
        share=share_of_window(),
    )
    if by_epsilon:
        say_left_out(watched)


def _epsilon_chart(shown: Shown, runs: Sequence[LabRun], watched: Sequence[RunRecord]) -> None:
    form = shown.form
    if shown.profile is not None:
        chart(*shown.profile)
        return
    title = "Epsilon"
    if form.pinnable:
        title += f"\n{words_of(form.pinnable)}"
    file = "epsilon"
    if form.mechanism:
        file = origin_of(form.mechanism, form.delta, form.n).file(file)
    drawing = drawing_of(shown, runs, watched)
    live_chart(
        *drawing,
        key="epsilon_chart",
        alt=epsilon_alt(shown.curves, shown.otherwise),
        title=title,
        file=file,
        preview=partial(previewed, shown, watched),
        fits=True,
        share=share_of_window(),
    )
    band = shown.curves.get(CERTIFIED)
    if shown.otherwise is None and band and band.lower is not None:
        worths = [verdict(curve, band).worth for curve in shown.curves.values()]
        traces: Any = drawing.figure.data
        hatched = any(each.fill == "toself" for each in traces)  # as epsilon_figure draws areas
        st.html(signs_in_a_word([*ALWAYS, *worths], hatched=hatched))


def draw_statuses(store: Store | None, going_on: bool, watched: Sequence[RunRecord]) -> None:
    """Draw the progress of the runs that go on or went wrong, the one that trains first.

    The page is run anew if the pictures beside, drawn while runs were `going_on`, are behind.
    """
    if store is None:
        return
    if going_on and not any(each.run.active for each in watched):
        st.rerun()
    trains = any(each.run.status is Status.RUNNING for each in watched)
    named = list(zip(watched, short_names(watched), strict=True))
    named.sort(key=lambda each: each[0].run.status is not Status.RUNNING)
    with st.container(key="statuses", gap="xsmall"):
        for each, name in named:
            if trains and each.run.status is Status.QUEUED:
                st.caption(f"Next: {lowered(name)}.")
            elif each.run.active or each.run.status in (Status.FAILED, Status.LOST):
                several = len(watched) > 1
                run_status(store, each, several=several, narrow=True, name=name)
    finished = [each for each in watched if each.run.status is Status.FINISHED]
    if finished and len(finished) == len(watched) and follows():
        st.button(
            "Play again",
            type="tertiary",
            icon=":material/replay:",
            key="play_runs_again",
            on_click=_play_again,
        )
    replay_asked = st.session_state.get(REPLAYED, 0)
    if st.session_state.pop(HELD, False) or replay_asked > st.session_state.get(SEEN, 0):
        st.session_state[SEEN] = replay_asked
        st.rerun()  # the pictures beside are drawn by the page


def short_names(watched: Sequence[RunRecord]) -> list[str]:
    """A name for each run: private or not, or what tells it from others of its kind."""
    kinds = Counter(each.private for each in watched)
    names = []
    for each in watched:
        if each.followed:
            names.append(each.words)
        elif kinds[each.private] > 1:
            names.append(each.label)
        else:
            names.append("Private run" if each.private else "Run without privacy")
    return names


def drawing_of(shown: Shown, runs: Sequence[LabRun], watched: Sequence[RunRecord]) -> Drawing:
    """The figure of epsilon, and what in it follows the runs that go on; asks Streamlit nothing."""
    figure = lab_epsilon_figure(
        shown.curves,
        epochs_of(shown.form),
        runs,
        log=shown.log,
        ghost=shown.ghost,
        otherwise=shown.otherwise,
        height=HEIGHT,
    )
    follows = []
    for run, record in zip(runs, watched, strict=True):
        follows += mark_following(figure, run, record)
    return Drawing(figure, follows)


def best_recipe(shown: Shown, end: float) -> list[LabRun]:
    """The data set's best recipe on the full data, as a run up to one point beyond an epsilon."""
    records = best_of(shown.form.usual.dataset).private
    if not records:
        return []
    epsilons = [record.epsilon or 0.0 for record in records]
    accuracies = [record.mean / 100 for record in records]
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


def epsilon_alt(curves: Mapping[str, Curve], otherwise: Sampled | None) -> str:
    """The chart of epsilon in words and numbers."""
    ends = []
    for name, curve in curves.items():
        ends.append(f"{titled(name)} {marked(curve.last.value, curve.kind, curve.last.lower)}")
    if otherwise:
        ends.append(otherwise.words)
    spent = f" At the end: {', '.join(ends)}." if ends else ""
    nothing = ""
    if promises_nothing(curves, otherwise):
        nothing = f" {NO_PROMISE.replace('<br>', ' ')}."
    return f"{WORDS['lab']['epsilon_alt']}{spent}{nothing}"


def accuracy_alt(runs: Sequence[LabRun], watched: Sequence[RunRecord]) -> str:
    """The chart of accuracy in words and numbers; a run that goes on has none yet."""
    reached = []
    for run, of in zip(runs, watched, strict=True):
        if run.accuracy and not of.run.active:
            reached.append(f"{run.style.label} {percent(run.accuracy[-1])}")
    bought = f" At the end: {', '.join(reached)}." if reached else ""
    return f"{WORDS['lab']['accuracy_alt']}{bought}"


def accuracy_following(
    figure: go.Figure, run: LabRun, watched: RunRecord, by_epsilon: bool
) -> list[Growth]:
    """The growth of a run's line with its tests while it goes on."""
    if not watched.run.active:
        return []
    table = spent_table(watched, CERTIFIED) if by_epsilon else None
    level = by_epsilon and run.level
    if by_epsilon and not (table or level):
        return []
    name = f"{RUN}{run.place}"
    label = Label(name, written(run.drawn, label_of(run))["text"])
    trace = places_of(figure)[name]
    growth = Growth(*watched.since, trace, scale=100.0, table=table, level=level, label=label)
    return [growth]


def mark_following(figure: go.Figure, run: LabRun, watched: RunRecord) -> list[Mark]:
    """The mark on the curves of epsilon of the first run that trains."""
    places = places_of(figure)
    if not watched.run.active or run.now is None or NOW not in places:
        return []
    own = f"{GHOST}{run.place}" if run.ghost else CURVE
    curves = tuple(place for uid, place in places.items() if uid.startswith(own))
    return [Mark(*watched.since, shape=0, trace=places[NOW], curves=curves)]


def places_of(figure: go.Figure) -> dict[str, int]:
    """The place of each trace in the figure, by its id."""
    traces: Any = figure.data  # plotly's own types do not say what is in it
    return {trace.uid or "": place for place, trace in enumerate(traces)}


def epochs_of(form: Form) -> np.ndarray:
    """The epochs at which the curves of the chosen settings are drawn."""
    if form.mechanism is None:
        return np.linspace(0, form.steps * form.q, 2)
    return epochs_at(form.mechanism, charted(form.mechanism))


def runs_on_chart(watched: Sequence[RunRecord], form: Form) -> list[LabRun]:
    """The runs beside the settings that are chosen now: a ghost where one has others."""
    styles = enumerate(run_styles(each.private for each in watched))
    return [
        _on_chart(each, place, style, form)
        for (place, style), each in zip(styles, watched, strict=True)
    ]


def _on_chart(watched: RunRecord, place: int, style: Style, form: Form) -> LabRun:
    tests = watched.history.evaluated
    mechanism = watched.plan.mechanism
    label = watched.words  # a caption says that it is followed
    if not watched.followed:
        label = with_origin(label_beside(watched.config, form), watched.run)
    ghost = None
    if mechanism and mechanism != form.mechanism:
        curve = cache.curve(CERTIFIED, mechanism, watched.delta)
        ghost = Ghost(label, curve, epochs_at(mechanism, charted(mechanism)))
    most = epsilons_of(watched, CERTIFIED, [watched.plan.steps])
    return LabRun(
        style=style._replace(label=label),
        place=place,
        epochs=[each.epoch for each in tests],
        accuracy=[each.accuracy for each in tests],
        spent=epsilons_of(watched, CERTIFIED, [each.step for each in tests]),
        level=not watched.private,
        now=watched.now if watched.run.active and mechanism else None,
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
    figure = lab_epsilon_figure(cheap, epochs, log=log, height=HEIGHT)
    st.html("<div class=hero-place></div>")
    st.markdown(cache.COMING)
    still_chart(figure, key="first_chart", alt=curves_alt(cheap, epochs))


def attack_beside(mechanism: Mechanism, origin: Origin) -> None:
    """Draw the trade-off picture of any attack, the game, and what is not promised."""
    lines = [gaussian_line(cache.mu(mechanism))]
    band = cache.band(mechanism)
    picture, words = st.columns(2, gap="medium")
    with picture:
        height = chart_size().scaled(BESIDE_HEIGHT)
        figure = tradeoff_figure(band, lines, log=True, height=height)
        alt = tradeoff_alt(band, lines, log=True)
        chart(figure, "tradeoff_chart", alt, "Trade-off function", origin)
    with words:
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
    with st.container(horizontal=True, key="numbers_out", vertical_alignment="center"):
        curves_download(mechanism, against, origin_of(mechanism, delta, n, address()))
        link("pages/calibrate.py", f"Epsilon by sigma and epochs, for n = {n:,}: map and table")
    card(mechanism, curves[CERTIFIED], CERTIFIED, n)


def gradients(form: Form, store: Store | None, ids: Sequence[str]) -> None:
    """Draw the norms of the last private run shown, and on demand a step in pictures."""
    private = None
    if store is not None:
        try:
            private = last_of(own_of(watched_runs(store, ids)), private=True)
        except (UnknownRun, StoreError):  # the chart above says so
            return
    if private:
        gradient_norms(private)
    step_shown(form)
