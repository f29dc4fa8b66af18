"""The settings of a run, drawn."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import streamlit as st

from dpcore.data.catalogue import DATASETS
from dpcore.privacy.report.glossary import GLOSSARY
from dpcore.privacy.report.statement import delta_warning
from dpcore.privacy.sampling import SAMPLERS
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import DRAWN
from dpcore.training.slider_stops import show
from pages.parts.calibrate.carried import tell_other_data
from pages.parts.controls import mechanism as controls
from pages.parts.controls.data import follow_number, note_number
from pages.parts.controls.fields import Fields
from pages.parts.controls.setting_form import LAST, NOTHING, preset_choice, schedule_chart
from pages.parts.controls.url_state import look_again, page_fields, write
from pages.parts.controls.widgets import Drawing
from pages.parts.train.buttons import smaller_delta
from pages.parts.train.form import Form, clip_norm_of, form_of, learning_rate_of

MORE = "All settings"
MEANING = "failure chance"  # of delta, in the fewest words
GOOD = "form_good"  # the last form whose values went together
# Of all fields that were shown in this session: others come with other choices.
DEFAULTS = "form_defaults"
MAX_FACTOR = 1e9  # longest factor shown
POISSON_DRAWN = "A run of these settings draws Poisson batches, and is charged for these."
EITHER = (controls.SAMPLING, controls.LENGTH)
LONG, SHORT = 3, 0.1  # times the default rate * C, where accuracy has fallen


class Places(NamedTuple):
    """Places among the fields."""

    start: Any  # of the buttons
    status: Any  # of the runs, below them
    beside_sigma: Any
    keep: Any  # of what keeps and restores settings, among all of them
    end: Any


def settings_form(device: str) -> tuple[Form, Places]:
    """Draw the settings of a run on the device; return the form, and places among its fields.

    Values that do not go together are reported at their field, and all fields stay.
    """
    follow_number()
    fields = page_fields()
    form = form_of(fields, device)
    st.session_state[DEFAULTS] = st.session_state.get(DEFAULTS, {}) | fields.defaults
    read = partial(form_of, device=device)
    with st.container(key="form", gap="xsmall"):
        places = _draw(Drawing(fields, form.obstacle, read), fields, form)
        schedule_chart(form.mechanism, form.settings.schedule)
    return form, places


def form_on_screen(device: str) -> Form:
    """The form as the browser shows it; for a callback."""
    look_again()
    follow_number()
    return form_of(page_fields(), device)


def last_good(form: Form, place: Any) -> Form:
    """The form, or the last one whose values went together, with a note in the place."""
    if not form.problem:
        st.session_state[GOOD] = form
        return form
    good = st.session_state.get(GOOD)
    if good is None:
        return replace(form, unaccounted=NOTHING, obstacle=form.problem)
    place.caption(LAST)
    return replace(good, obstacle=form.problem, texts={})


def _draw(drawing: Drawing, fields: Fields, form: Form) -> Places:
    clip_norm = clip_norm_of(form.usual).key
    lr = learning_rate_of(form.usual).key
    with st.container(key="sigma_place"):
        drawing.draw("sigma")
        beside_sigma = st.container(key="beside_sigma")
    drawing.draw_given(controls.SAMPLING)
    drawing.draw_given(controls.LENGTH)
    drawing.draw(clip_norm)
    _rate_hint(form, lr)
    optimizer, delta = _halves("halves_below")
    with optimizer:
        drawing.draw("optimizer")
    with delta, st.container(gap=None):
        _delta_head(form)
        drawing.draw(controls.DELTA.key, label=False, slide=False)
    with st.container(key="start_place", gap="xsmall"):
        start = st.container(key="start", gap="xsmall")
        status = st.container()
    keep, end = _draw_all_settings(drawing, fields, form, lr)
    drawing.say_problem()
    return Places(start, status, beside_sigma, keep, end)


def _draw_all_settings(drawing: Drawing, fields: Fields, form: Form, lr: str) -> tuple[Any, Any]:
    """Draw the other settings in their expander, the learning rate by its key `lr`; return the
    places of what keeps and restores settings, and of what comes last.
    """
    opened = drawing.opened("schedule_open")
    every = st.container(key="all_settings").expander(MORE, expanded=opened)
    with every, st.container(gap="xsmall"):
        keep = st.container(horizontal=True, gap="small", key="keep")
        top = st.container()
        dataset, number = _halves("halves")
        with dataset:
            drawing.draw("dataset")
        with number:
            by = "source" if form.data.here else "n"
            drawing.draw(by)
        note_number(form.data)
        tell_other_data(form.data)
        note = DATASETS[form.data.dataset].note
        if note and form.data.here:
            st.caption(note)
        for column, either in zip(_halves("halves_given"), EITHER, strict=True):
            drawing.draw_which(column, either)
        drawing.draw("sampler")
        sampler = SAMPLERS[fields.rows[controls.SAMPLER.key].text]
        for parameter in sampler.parameters:
            if parameter.name in fields.rows:
                drawing.draw(parameter.name)
        if form.sampler not in DRAWN:
            st.caption(POISSON_DRAWN)
        drawing.draw_rest("model")
        drawing.draw(lr)
        drawing.draw_rest()
        end = st.container()
        with top:
            preset_choice()
    return keep, end


def _delta_head(form: Form) -> None:
    """Draw the label of delta, with its meaning, or with the way out where delta is too large."""
    row = st.container(
        horizontal=True, wrap=False, gap="xxsmall", key="delta_head", vertical_alignment="center"
    )
    row.markdown(controls.DELTA.label, width="content")
    if delta_warning(form.delta, form.n):
        with row:
            smaller_delta(form.n)
    else:
        row.html(f"<small title={quoteattr(GLOSSARY['delta'].meaning)}>{MEANING}</small>")


def _halves(key: str) -> Sequence[Any]:
    return st.container(key=key).columns(2, gap="small", wrap=False)


def _rate_hint(form: Form, key: str) -> None:
    """Warn of steps far longer or shorter than usual; one click corrects the rate.

    Steps are proportional to rate * C, except with an optimizer that divides by the size of its
    gradients, where C cancels.
    """
    usual = form.usual
    times = (form.settings.lr / usual.lr) * (form.clip_norm / usual.clip_norm)
    times = min(max(times, 1 / MAX_FACTOR), MAX_FACTOR)
    as_usual = SHORT <= times <= LONG
    if as_usual or not OPTIMIZERS[usual.optimizer].scales_with_c(usual.reading):
        return
    factor = show(float(f"{max(times, 1 / times):.2g}"))
    if times > 1:
        away = f"{factor} times as long"
        advice = "If you raise C, lower the rate."
    else:
        away = f"{factor} times as short"
        advice = "Training will be slow."
    st.caption(
        f":material/lightbulb: Steps grow with rate × C and are {away} as usual here. {advice}"
    )
    fitting = show(float(f"{usual.lr * usual.clip_norm / form.clip_norm:.3g}"))
    st.button(
        f"Set the rate to {fitting}",
        key="fitting_rate",
        on_click=write,
        args=({key: fitting},),
    )
