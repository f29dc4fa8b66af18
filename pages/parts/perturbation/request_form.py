"""What is to be compared: the controls of a comparison, and the request that they make."""

import streamlit as st

from dpcore import check
from dpcore.data.tabular import TABLES
from dpcore.data.tabular.table import REST, Table
from dpcore.privacy.report.glossary import help_on
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.models import MODELS
from dpcore.training.perturbation.request import EPSILONS, MOST_SEEDS, MOST_STEPS, Request
from pages.parts.controls.fields import Fields, Options, Quantity
from pages.parts.controls.mechanism import DELTA
from pages.parts.controls.url_state import good_texts, page_texts
from pages.parts.controls.widgets import Drawing, choice_by_title, number, several
from pages.parts.jobs import Asked

DEFAULT = Request()
SEEDS = Quantity(
    "fits", "Seeds", str(DEFAULT.seeds), 1, MOST_SEEDS, lambda seeds: check.whole(1, MOST_SEEDS, seeds=seeds),
    "quicker", "steadier means", help=help_on("fits"), whole=True, name="seeds", stops=(1, 2, 3, 5, 10, 20, 50, 100),
)  # fmt: skip
STEPS = Quantity(
    "descent", "Steps T of descent", str(DEFAULT.steps), 1, 1000,
    lambda steps: check.whole(1, MOST_STEPS, steps=steps), "less noise", "nearer the minimum",
    help=help_on("descent"),
    whole=True, name="steps",
)  # fmt: skip
RATE = Quantity(
    "stride", "Step size", "1", 0.01, 100, lambda rate: check.in_range(0, 1e6, ends="(]", rate=rate),
    "smaller", "larger", name="rate",
)  # fmt: skip
REGULARISER = Quantity(
    "ridge", "Regulariser", str(DEFAULT.regulariser), 1e-4, 1,
    lambda ridge: check.in_range(0, 1e3, regulariser=ridge), "nearer the data", "less noise",
    help=help_on("regulariser"),
    name="regulariser",
)  # fmt: skip
CLIP = Quantity(
    "longest", "Clipping norm G", str(DEFAULT.clip_norm), 0.01, 10,
    lambda norm: check.in_range(1e-6, 1e6, clip_norm=norm), "less noise", "truer gradients",
    help=help_on("row_norm"), name="clip_norm",
)  # fmt: skip
STRIDE_BY = Options("stride_by", "Step size", ("largest proven", "own"), help=help_on("step_size"))
CHOSEN = [format(each, "g") for each in EPSILONS]


def request_form() -> Asked:
    """Draw the controls below the button; values that do not go together are a sentence."""
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
    """The two classes, or none where the table has no others than its two."""
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
