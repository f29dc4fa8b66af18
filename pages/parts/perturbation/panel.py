"""A comparison on its page: the form that asks for it, its button, its progress and its charts."""

from collections.abc import Sequence

import streamlit as st

from dpcore.data.tabular import TABLES
from dpcore.data.tabular.table import REST, Table
from dpcore.figures.perturbation import perturbation_alt, perturbation_figure
from dpcore.privacy.report.glossary import help_on
from dpcore.runs.expected import duration
from dpcore.runs.kinds import PERTURBATION
from dpcore.runs.record import Run, Status
from dpcore.runs.store import Store
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.models import MODELS
from dpcore.training.perturbation.request import EPSILONS, MAX_RATE, MAX_REGULARISER, MAX_SEEDS, MAX_STEPS, Request
from pages.parts.controls.fields import Fields, Options, own_quantity
from pages.parts.controls.mechanism import DELTA
from pages.parts.controls.url_state import good_texts, page_texts
from pages.parts.controls.widgets import Drawing, choice_by_title, number, several
from pages.parts.jobs import Asked, ShownJob, line_end
from pages.parts.perturbation.conditions import TEXTS, promise
from pages.parts.perturbation.results import Results, example, numbers
from pages.parts.results.exports import chart
from pages.parts.shell.menu import chart_size

DEFAULT = Request()
SEEDS = own_quantity("fits", DEFAULT.seeds, MAX_SEEDS)
STEPS = own_quantity("descent", DEFAULT.steps, MAX_STEPS)
RATE = own_quantity("stride", most=MAX_RATE)
REGULARISER = own_quantity("ridge", DEFAULT.regulariser, MAX_REGULARISER)
CLIP = own_quantity("longest", str(DEFAULT.clip_norm))
STRIDE_BY = Options("stride_by", "Step size", ("largest proven", "own"), help=help_on("step_size"))
CHOSEN = [format(each, "g") for each in EPSILONS]
SHOWN = ShownJob(
    PERTURBATION.name, "comparison", "Compare", ":material/play_arrow:", "comparison", "a comparison on this machine",
    first="First comparison on this data; time unknown.", replaces=True,
)  # fmt: skip
TITLES = {"accuracy": "Accuracy against epsilon", "gap": "Optimality gap against epsilon"}


def request_form() -> Asked:
    """Draw the controls below the button; return the request, or a sentence on why there is none."""
    table = TABLES[choice_by_title("Data", tuple(TABLES), "table", lambda name: TABLES[name].title)]
    classes = _classes(table)
    model = choice_by_title("Model", tuple(MODELS), "learner", lambda name: MODELS[name].title)
    st.caption(MODELS[model].note)
    methods = several(st, "Methods", tuple(METHODS), "methods", [*METHODS], lambda name: METHODS[name].title)
    epsilons = several(st, "Epsilons", CHOSEN, "epsilons", CHOSEN, str, help_on("epsilon"))
    delta = number(DELTA)
    seeds = int(number(SEEDS))
    fields = Fields(page_texts(), good_texts())
    steps, own = int(fields.number(STEPS)), fields.choice(STRIDE_BY) == "own"
    rate = fields.number(RATE) if own else None
    regulariser = fields.number(REGULARISER)
    clip_norm = DEFAULT.clip_norm if MODELS[model].lipschitz is not None else fields.number(CLIP)
    drawing = Drawing(fields)
    with st.expander("Descent, step size, regulariser", expanded=drawing.opened("descent_open")):
        drawing.draw(STEPS.key)
        drawing.draw_buttons(STRIDE_BY)
        if own:
            drawing.draw(RATE.key, label=False)
        drawing.draw_rest()
    if absent := table.absent():
        return Asked(None, absent)
    if not methods or not epsilons:
        return Asked(None, "Choose at least one method and one epsilon.")
    try:
        request = Request(
            dataset=table.name, classes=classes, model=model, methods=methods,
            epsilons=tuple(float(each) for each in epsilons), delta=delta, seeds=seeds, steps=steps, rate=rate,
            regulariser=regulariser, clip_norm=clip_norm,
        )  # fmt: skip
    except ValueError as error:
        return Asked(None, str(error))
    return Asked(request)


def _classes(table: Table) -> tuple[str, ...]:
    """Draw the choice of two classes; return none for a table with two classes."""
    if len(table.classes) == 2:
        return ()
    left, right = st.container(key="halves").columns(2, gap="small", wrap=False)
    with left:
        first = choice_by_title("Tell", table.classes, f"class_{table.name}", str)
    others = tuple(each for each in (*table.classes, REST) if each != first)
    key = f"other_{table.name}"
    if st.session_state.get(key, others[0]) not in others:  # it has just become the first
        st.session_state[key] = others[0]
    with right:
        second = choice_by_title("from", others, key, str)
    return first, second


def line_of(run: Run) -> str:
    """Return a line that tells a comparison from the others."""
    request = run.request
    data = TABLES[request.dataset].title
    pair = f" ({' or '.join(request.classes)})" if request.classes else ""
    count = len(request.methods)
    methods = f"{count} methods" if count > 1 else "one method"
    low, high = min(request.epsilons), max(request.epsilons)
    epsilons = f"epsilon {low:g} to {high:g}" if high > low else f"epsilon {low:g}"
    return f"{data}{pair}, {MODELS[request.model].title.lower()}, {methods}, {epsilons} {line_end(run)}"


def draw(store: Store, found: Results, picked: Sequence[str]) -> None:
    """Draw a comparison as far as it is, with the lines of the picked methods in front."""
    st.markdown(f"**{described(found)}**")
    until = f"Until then it had {found.done} of {found.request.results} results."
    SHOWN.status(store, found.run, found.done / found.request.results, _progress(found), until)
    if found.run.status is Status.FINISHED:
        st.caption(" ".join([_measured(found), *(found.prepared.notes if found.prepared else ())]))
    if found.measured:
        charts(found, picked)
        numbers(found)


def show_example(picked: Sequence[str]) -> None:
    """Draw the comparison that ships with the package."""
    st.markdown(f":blue-badge[Example] **{described(example())}**")
    st.caption(f"Measured before with the default settings. Press Compare for your own. {_measured(example())}")
    charts(example(), picked)
    numbers(example())


def described(found: Results) -> str:
    """Return data, model, seeds and promise of a comparison in a line."""
    request, table = found.request, TABLES[found.request.dataset]
    first, second = table.pair(request.classes)
    rows = f", {found.prepared.examples:,} rows to learn from" if found.prepared else ""
    seeds = f"{request.seeds} seeds" if request.seeds > 1 else "1 seed"
    what = f"{table.title} ({first} or {second}{rows}) · {MODELS[request.model].title}"
    return f"{what} · {seeds} · {promise(request.delta)}"


def _progress(found: Results) -> str:
    if found.prepared is None:
        return "reading the data"
    place = f"{found.done} of {found.request.results} results"
    done = {each.method for each in (*found.measured, *found.skipped)}
    waiting = [METHODS[name].title.lower() for name in found.request.methods if name not in done]
    return f"{place}, now {waiting[0]}" if waiting else place


def _measured(found: Results) -> str:
    tests, seeds = f" on {found.prepared.tests:,} held-out rows" if found.prepared else "", found.request.seeds
    over = f" Lines are means over {seeds} seeds; bars and shades span worst to best." if seeds > 1 else ""
    return f"Tested{tests} ({duration(found.seconds or 1)}).{over}"


def charts(found: Results, picked: Sequence[str]) -> None:
    """Draw accuracy and gap of the methods that keep their epsilon, then of the others, and why any was skipped."""
    if any(found.spreads("accuracy", kept=True)):
        for measure in TITLES:
            _chart(found, measure, picked, kept=True)
    if any(found.spreads("accuracy", kept=False)):
        st.markdown(TEXTS["apart"])
        beside = st.container(key="fan").columns(2, gap="medium")
        for column, measure in zip(beside, TITLES, strict=True):
            with column:
                _chart(found, measure, picked, kept=False)
    skipped: dict[tuple[str, str], list[str]] = {}  # each reason is given once
    for each in found.skipped:
        skipped.setdefault((each.method, each.reason), []).append("" if each.epsilon is None else f"{each.epsilon:g}")
    for (method, reason), epsilons in skipped.items():
        at = f" at epsilon {', '.join(epsilons)}" if any(epsilons) else ""
        st.warning(f"{METHODS[method].title}{at}: {reason}")


def _chart(found: Results, measure: str, picked: Sequence[str], *, kept: bool) -> None:
    spreads = found.spreads(measure, kept=kept)
    levels = found.levels(measure) if kept else found.levels(measure)[-1:]
    here = [name for name in picked if any(each.method == name for each in spreads)]
    look = {"picked": here, "epsilons": found.request.epsilons, "size": chart_size()}
    figure = perturbation_figure(spreads, measure, levels=levels, kept=kept, **look)
    alt = perturbation_alt(spreads, measure, levels=levels, kept=kept)
    title = TITLES[measure] if kept else f"{TITLES[measure]}, not private"
    chart(figure, f"{measure}_{'kept' if kept else 'apart'}", alt, title, None)
