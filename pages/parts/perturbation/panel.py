"""A comparison on its page: the form that asks for it, its button, its progress and its charts."""

from collections.abc import Sequence
from typing import Any

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
from dpcore.training.perturbation.request import (
    EPSILONS,
    MAX_RATE,
    MAX_REGULARISER,
    MAX_SEEDS,
    MAX_STEPS,
    Request,
)
from pages.parts.controls.fields import Fields, Options, own_quantity
from pages.parts.controls.mechanism import DELTA
from pages.parts.controls.url_state import (
    fields_on_screen,
    ids_on_screen,
    page_fields,
    page_ids,
)
from pages.parts.controls.widgets import Drawing, several
from pages.parts.perturbation.conditions import TEXTS, promise
from pages.parts.perturbation.results import Results, example, numbers
from pages.parts.results.exports import chart
from pages.parts.shell.menu import press
from pages.parts.shown_job import Asked, ShownJob, line_end

DEFAULT = Request()
DATA = Options("table", "Data", tuple(TABLES), lambda name: TABLES[name].title)
MODEL = Options("learner", "Model", tuple(MODELS), lambda name: MODELS[name].title)
SEEDS = own_quantity("fits", DEFAULT.seeds, MAX_SEEDS)
STEPS = own_quantity("descent", DEFAULT.steps, MAX_STEPS)
RATE = own_quantity("stride", most=MAX_RATE)
REGULARISER = own_quantity("ridge", DEFAULT.regulariser, MAX_REGULARISER)
CLIP = own_quantity("longest", str(DEFAULT.clip_norm))
STRIDE_BY = Options("stride_by", "Step size", ("largest proven", "own"), help=help_on("step_size"))
CHOSEN = [format(each, "g") for each in EPSILONS]
SHOWN = ShownJob(
    PERTURBATION.name,
    "comparison",
    "Compare",
    ":material/play_arrow:",
    "comparison",
    "a comparison on this machine",
    first="The first comparison of these settings here: its time is not known yet.",
    replaces=True,
)
TITLES = {"accuracy": "Accuracy against epsilon", "gap": "Optimality gap against epsilon"}


def request_form() -> Asked:
    """Draw the controls below the button; return the request, or a sentence if there is none."""
    fields = page_fields()
    table = TABLES[fields.choice(DATA)]
    _read(fields)
    drawing = Drawing(fields)
    drawing.draw(DATA.key)
    if len(table.classes) > 2:
        left, right = st.container(key="halves").columns(2, gap="small", wrap=False)
        with left:
            drawing.draw(f"class_{table.name}")
        with right:
            drawing.draw(f"other_{table.name}")
    drawing.draw(MODEL.key)
    st.caption(MODELS[fields.choice(MODEL)].note)
    methods, epsilons = _choices()
    drawing.draw(DELTA.key)
    drawing.draw(SEEDS.key)
    with st.expander("Descent, step size, regulariser", expanded=drawing.opened("descent_open")):
        drawing.draw(STEPS.key)
        drawing.draw_buttons(STRIDE_BY)
        if RATE.key in fields.rows:
            drawing.draw(RATE.key, label=False)
        drawing.draw_rest()
    return asked_of(fields, methods, epsilons)


def _choices() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Draw the methods and the epsilons, each folded behind what is chosen; return both."""
    row = st.container(horizontal=True, gap="small")
    with row.popover(_said("methods", [*METHODS], "methods"), key="methods_choice"):
        methods = several(
            st, "Methods", tuple(METHODS), "methods", [*METHODS], lambda name: METHODS[name].title
        )
    with row.popover(_said("epsilons", CHOSEN, "epsilons"), key="epsilons_choice"):
        epsilons = several(st, "Epsilons", CHOSEN, "epsilons", CHOSEN, str, help_on("epsilon"))
    return methods, epsilons


def _said(key: str, options: Sequence[str], noun: str) -> str:
    """The number of the chosen options in words."""
    chosen = len(page_ids(key, options, options))
    return f"all {noun}" if chosen == len(options) else f"{chosen} of {len(options)} {noun}"


def asked_on_screen() -> Asked:
    """The request of the controls as the browser shows them; for a callback."""
    fields = fields_on_screen()
    methods = ids_on_screen("methods", tuple(METHODS), tuple(METHODS))
    return asked_of(fields, methods, ids_on_screen("epsilons", CHOSEN, CHOSEN))


def asked_of(fields: Fields, methods: Sequence[str], epsilons: Sequence[str]) -> Asked:
    """The request that the fields make, or a sentence on why there is none."""
    table = TABLES[fields.choice(DATA)]
    settings = _read(fields)
    absent = table.absent()
    if absent:
        return Asked(None, absent)
    if not methods or not epsilons:
        return Asked(None, "Choose at least one method and one epsilon.")
    chosen = tuple(float(epsilon) for epsilon in epsilons)
    try:
        request = Request(dataset=table.name, methods=tuple(methods), epsilons=chosen, **settings)
        return Asked(request)
    except ValueError as error:
        return Asked(None, str(error))


def _read(fields: Fields) -> dict[str, Any]:
    """Read all fields but the choice of the data; the arguments of the request that they make."""
    classes = _classes(fields, TABLES[fields.choice(DATA)])
    model = fields.choice(MODEL)
    settings: dict[str, Any] = {
        "classes": classes,
        "model": model,
        "delta": fields.number(DELTA),
        "seeds": int(fields.number(SEEDS)),
        "steps": int(fields.number(STEPS)),
    }
    if fields.choice(STRIDE_BY) == "own":
        settings["rate"] = fields.number(RATE)
    settings["regulariser"] = fields.number(REGULARISER)
    if MODELS[model].lipschitz is None:
        settings["clip_norm"] = fields.number(CLIP)
    return settings


def _classes(fields: Fields, table: Table) -> tuple[str, ...]:
    """The two chosen classes; none for a table with two classes."""
    if len(table.classes) == 2:
        return ()
    first = fields.choice(Options(f"class_{table.name}", "Tell", table.classes, str))
    others = [*table.classes, REST]
    others.remove(first)
    return first, fields.choice(Options(f"other_{table.name}", "from", tuple(others), str))


def line_of(run: Run) -> str:
    """Return a line that tells a comparison from the others."""
    request = run.request
    data = TABLES[request.dataset].title
    if request.classes:
        data += f" ({' or '.join(request.classes)})"
    model = MODELS[request.model].title.lower()
    count = len(request.methods)
    methods = "one method"
    if count > 1:
        methods = f"{count} methods"
    low = min(request.epsilons)
    high = max(request.epsilons)
    epsilons = f"epsilon {low:g}"
    if high > low:
        epsilons += f" to {high:g}"
    return f"{data}, {model}, {methods}, {epsilons} {line_end(run)}"


def draw(store: Store, found: Results, picked: Sequence[str]) -> None:
    """Draw a comparison as far as it is, with the lines of the picked methods in front."""
    assert found.run, "the example, which has no run, is drawn by `show_example`"
    st.markdown(f"**{described(found)}**")
    until = f"Until then it had {found.done} of {found.request.results} results."
    SHOWN.status(store, found.run, found.done / found.request.results, _progress(found), until)
    if found.run.status is Status.FINISHED:
        text = _measured(found)
        if found.prepared:
            text = " ".join([text, *found.prepared.notes])
        st.caption(text)
    if found.measured:
        charts(found, picked)
        numbers(found)


def show_example(picked: Sequence[str]) -> None:
    """Draw the comparison that ships with the package."""
    st.markdown(f":blue-badge[Example] **{described(example())}**")
    st.caption(
        f"Measured before with the default settings. {press(SHOWN.verb)} for your own."
        f" {_measured(example())}"
    )
    charts(example(), picked)
    numbers(example())


def described(found: Results) -> str:
    """Return data, model, seeds and promise of a comparison in a line."""
    request = found.request
    table = TABLES[request.dataset]
    first, second = table.pair(request.classes)
    rows = ""
    if found.prepared:
        rows = f", {found.prepared.examples:,} rows to learn from"
    seeds = "1 seed"
    if request.seeds > 1:
        seeds = f"{request.seeds} seeds"
    what = f"{table.title} ({first} or {second}{rows}) · {MODELS[request.model].title}"
    return f"{what} · {seeds} · {promise(request.delta)}"


def _progress(found: Results) -> str:
    if found.prepared is None:
        return "reading the data"
    progress = f"{found.done} of {found.request.results} results"
    done = {each.method for each in (*found.measured, *found.skipped)}
    for name in found.request.methods:
        if name not in done:
            return f"{progress}, now {METHODS[name].title.lower()}"
    return progress


def _measured(found: Results) -> str:
    tests = ""
    if found.prepared:
        tests = f" on {found.prepared.tests:,} held-out rows"
    took = ""
    if found.finished:
        took = f" ({duration(found.finished.seconds)})"
    text = f"Tested{tests}{took}."
    seeds = found.request.seeds
    if seeds > 1:
        text += f" Lines are means over {seeds} seeds; bars and shades span worst to best."
    return text


def charts(found: Results, picked: Sequence[str]) -> None:
    """Draw the accuracy of the methods that keep their epsilon; the rest is folded.

    Warnings give the reason of each that was skipped.
    """
    if any(found.spreads("accuracy", kept=True)):
        _chart(found, "accuracy", picked, kept=True)
        with st.expander(TITLES["gap"]):
            _chart(found, "gap", picked, kept=True)
    if any(found.spreads("accuracy", kept=False)):
        with st.expander("Methods without a proof, shown separately"):
            st.markdown(TEXTS["apart"])
            beside = st.container(key="fan").columns(2, gap="medium")
            for column, measure in zip(beside, TITLES, strict=True):
                with column:
                    _chart(found, measure, picked, kept=False)
    skipped: dict[tuple[str, str], list[str]] = {}  # each reason is given once
    for each in found.skipped:
        epsilons = skipped.setdefault((each.method, each.reason), [])
        if each.epsilon is not None:
            epsilons.append(f"{each.epsilon:g}")
    for (method, reason), epsilons in skipped.items():
        what = METHODS[method].title
        if epsilons:
            what += f" at epsilon {', '.join(epsilons)}"
        st.warning(f"{what}: {reason}")


def _chart(found: Results, measure: str, picked: Sequence[str], *, kept: bool) -> None:
    spreads = found.spreads(measure, kept=kept)
    levels = found.levels(measure)
    title = TITLES[measure]
    key = f"{measure}_kept"
    if not kept:
        levels = levels[-1:]
        title = f"{title}, not private"
        key = f"{measure}_apart"
    drawn = {spread.method for spread in spreads}
    figure = perturbation_figure(
        spreads,
        measure,
        levels=levels,
        kept=kept,
        picked=[name for name in picked if name in drawn],
        epsilons=found.request.epsilons,
    )
    alt = perturbation_alt(spreads, measure, levels=levels, kept=kept)
    chart(figure, key, alt, title, None)
