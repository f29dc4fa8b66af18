"""The panel of an audit: its form, its button, its progress and its results."""

from collections.abc import Mapping
from dataclasses import replace
from html import escape

import streamlit as st

from dpcore import check
from dpcore.audit.bounds.finding import TESTS
from dpcore.audit.broken_trainers import OWN, TRAINERS
from dpcore.audit.request import CANARIES, MAX_CANARIES, MAX_CONFIDENCE, AuditRequest
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.report.numbers import nearest
from dpcore.runs.expected import duration
from dpcore.runs.in_words import name_of
from dpcore.runs.kinds import AUDIT, TRAINING
from dpcore.runs.record import Run, Status, StoreError
from dpcore.runs.run_table import runs_of
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.models import MODELS, models_for
from pages.parts.audit import results
from pages.parts.audit.audit_charts import audit_charts, evidence_chart, number_line
from pages.parts.audit.outcome import counts, show_verdict
from pages.parts.audit.results import QUICK, REQUEST, WORDS, AuditResults, example
from pages.parts.controls.fields import Fields, Options, labelled, own_quantity, quantity_of
from pages.parts.controls.url_state import fields_on_screen, page_fields, page_text, write
from pages.parts.controls.widgets import Drawing
from pages.parts.shell.menu import press
from pages.parts.shown_job import Asked, ShownJob, line_end, request_of

# The recorded run whose settings are audited, in the session, and in the address.
AUDITED = "audited"
OWN_SETTINGS = "here"  # the settings of the controls
# Takes seconds; 4 of as many normal numbers would be beyond torch's largest.
TORCH_DRAWS = 500_000_000
RECENT = 20  # finished runs to choose from
TRAINER = Options(  # first that of the example, so that one audits what one looks at
    "trainer",
    "Trainer",
    tuple(TRAINERS),
    lambda name: TRAINERS[name].title,
    start=REQUEST.trainer,
)
QUICK_FIRST = dict.fromkeys((QUICK.model, *models_for(QUICK.dataset)))
MODEL = Options("audit_model", "Model", tuple(QUICK_FIRST))
BESIDE = Options(
    "torch_beside", "Count torch's normal numbers too", ("yes", "no"), help=help_on("reach")
)
SIGMA = replace(  # without noise nothing is promised
    quantity_of("sigma", start=QUICK.sigma, key="audit_sigma"),
    accept=lambda sigma: check.positive(sigma=sigma),
)
BATCH = quantity_of("batch", start=QUICK.batch, key="audit_batch")
EPOCHS = quantity_of("epochs", start=QUICK.epochs, key="audit_epochs")
CONFIDENCE = own_quantity("confidence", most=MAX_CONFIDENCE)
CANARY_COUNT = own_quantity("canaries", CANARIES, MAX_CANARIES)
EXPECTED = "an audit on this machine, or a finished training run to audit"
SHOWN = ShownJob(AUDIT.name, "audit", "Audit", ":material/policy:", "run", EXPECTED)


def request_form(store: Store | None) -> Asked:
    """Draw the controls below the button; values that do not fit give a sentence."""
    fields = page_fields()
    asked = asked_of(fields, _finished(store))
    drawing = Drawing(fields)
    drawing.draw(TRAINER.key)
    st.caption(TRAINERS[fields.choice(TRAINER)].story)
    drawing.draw(AUDITED)
    if MODEL.key in fields.rows:
        model = fields.choice(MODEL)
        drawing.draw_buttons(MODEL, wrap=True)
        st.caption(MODELS[model].note)
        for each in (SIGMA, BATCH, EPOCHS):
            drawing.draw(each.key)
    rarely = (CONFIDENCE.key, CANARY_COUNT.key)
    wrong = any(fields.rows[key].fault for key in rarely)
    with st.expander("Confidence, canaries, torch", expanded=wrong, key="rarely"):
        for key in rarely:
            drawing.draw(key)
        drawing.draw_buttons(BESIDE)
    return asked


def asked_on_screen(store: Store | None) -> Asked:
    """The request of the controls as the browser shows them; for a callback."""
    return asked_of(fields_on_screen(), _finished(store))


def asked_of(fields: Fields, runs: Mapping[str, Run]) -> Asked:
    """The audit that the fields ask for, of their own settings or those of one of the runs."""
    trainer = fields.choice(TRAINER)

    def titled(run: str) -> str:
        return name_of(runs[run]) if run in runs else "Chosen here"

    chosen = fields.choice(Options(AUDITED, "Settings", (OWN_SETTINGS, *runs), titled))
    config = _chosen_here(fields) if chosen == OWN_SETTINGS else runs[chosen].config
    confidence = fields.number(CONFIDENCE)
    canaries = int(fields.number(CANARY_COUNT))
    draws = 0
    if fields.choice(BESIDE) == "yes":
        draws = TORCH_DRAWS
    if isinstance(config, str):
        return Asked(None, config)
    try:
        return Asked(AuditRequest(config, trainer, confidence, canaries, draws))
    except ValueError as error:
        return Asked(None, str(error))


def _chosen_here(fields: Fields) -> RunConfig | str:
    """The settings of the fields, or a sentence if they do not fit."""
    model = fields.choice(MODEL)
    sigma = fields.number(SIGMA)
    batch = int(fields.number(BATCH))
    epochs = fields.number(EPOCHS)
    try:
        return RunConfig(model=model, sigma=sigma, batch=batch, epochs=epochs)
    except ValueError as error:
        return labelled(str(error), EPOCHS if " epochs=" in str(error) else BATCH)


def _finished(store: Store | None) -> Mapping[str, Run]:
    """The latest runs whose settings can be trained again, and the run that the address names."""
    if store is None:
        return {}
    named = page_text(AUDITED, OWN_SETTINGS)
    try:
        # The named one may be unknown: the choice says so.
        known = [*store.runs(limit=RECENT), *runs_of(store, [named])]
    except StoreError:
        return {}
    return {run.id: run for run in known if _can_be_trained(run)}


def _can_be_trained(run: Run) -> bool:
    return run.status is Status.FINISHED and isinstance(request_of(run), RunConfig)


def settings_taken(run: Run) -> bool:
    """Choose the settings of a finished training run in the form; False for any other run."""
    if run.kind != TRAINING.name or run.status is not Status.FINISHED:
        return False
    write({AUDITED: run.id, TRAINER.key: OWN.name})
    return True


def audit_line(run: Run) -> str:
    """A line on an audit for the choice."""
    return f"{run.request.title.removeprefix('Audit of ')} {line_end(run)}"


def invite(asked: AuditRequest | None) -> None:
    """Draw the recorded example before the first audit; `asked` is the request of the controls."""
    found = example()
    with st.container(key="answer"):
        st.html(f"<p class=legend>A recorded example: {found.request.by.title.lower()}</p>")
        _judged(found)
        if asked and replace(asked, config=replace(asked.config, seed=1)) != _seen_by(asked):
            st.caption(WORDS["other_settings"])
        st.markdown(WORDS["invitation"].format(press=press("Audit", "**"), tests=len(TESTS)))


def _seen_by(asked: AuditRequest) -> AuditRequest:
    """The request of the example; how many of torch's numbers are counted makes no difference."""
    return replace(REQUEST, torch_draws=asked.torch_draws)


def draw(store: Store, found: AuditResults) -> None:
    """Draw an audit as far as it is."""
    assert found.run, "the example, which has no run, is drawn by `invite`"
    with st.container(key="answer"):
        st.html(f"<p class=legend>{escape(found.request.title)}</p>")
        until = "It had no findings yet."
        if found.measured:
            until = "Its findings until then are shown."
        done = 0.0
        if found.watched:
            done = found.watched.step / found.watched.steps
        SHOWN.status(store, found.run, done, _progress(found), until)
        if found.stopped:
            st.warning(f"{found.stopped.reason} The steps before are judged.")
        if found.judged:
            _judged(found)
        else:
            results.lights(found)
    if found.judged:
        with st.expander(WORDS["curves"], key="curves"):
            evidence_chart(found)
            audit_charts(found)
    else:
        evidence_chart(found)
        with st.expander(WORDS["so_far"], key="tests_so_far"):
            results.findings(found)
            results.generators(found)


def _progress(found: AuditResults) -> str:
    if found.prepared is None:
        return "reading the data"
    watched = found.watched
    if watched is None:
        return "training begins"
    step = f"step {watched.step:,} of {watched.steps:,}"
    if watched.step == watched.steps:
        return f"{step}, {len(found.measured)} of {len(TESTS)} tests"
    if watched.sigma is None:
        return step
    return f"{step}, noise so far: sigma about {nearest(watched.sigma, 3)}"


def _judged(found: AuditResults) -> None:
    """Draw the verdict, the fault, and, folded, each test with its number."""
    show_verdict(found)
    if found.prepared and found.prepared.unaccounted:
        st.info(f"Nothing is claimed. {found.prepared.unaccounted}")
    if found.run:  # beside the example the form has it
        st.caption(found.request.by.story)
    with st.expander(WORDS["counts"].format(**counts(found)), key="tests"):
        number_line(found)
        st.caption(f"{_measured(found)} {WORDS['figures']}")
        results.findings(found)
        results.generators(found)


def _measured(found: AuditResults) -> str:
    prepared = found.prepared
    if prepared is None:
        return ""
    took = ""
    if found.finished:
        took = f"Trained and tested in {duration(found.finished.seconds)}: "
    canaries = "no canaries"
    if prepared.canaries:
        canaries = f"{prepared.canaries:,} canaries ({prepared.inside:,} in the data)"
    config = found.request.config
    noise = "no privacy"
    if config.private:
        noise = f"sigma {nearest(config.sigma)}"
    return (
        f"{took}{prepared.steps:,} steps on {prepared.examples:,} examples with {canaries},"
        f" {noise}."
    )
