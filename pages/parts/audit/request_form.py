"""What is to be audited: who trains, by which settings, and how sure the audit is to be."""

from collections.abc import Mapping

import streamlit as st

from dpcore import check
from dpcore.audit.broken_trainers import TRAINERS
from dpcore.audit.request import CANARIES, MAX_CANARIES, MAX_CONFIDENCE, AuditRequest
from dpcore.privacy.report.glossary import help_on
from dpcore.runs.in_words import name_of
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.models import MODELS, models_for
from pages.parts.controls.fields import Quantity, quantity_of
from pages.parts.controls.widgets import choice_by_title, choice_of, number
from pages.parts.jobs import Asked

AUDITED = "audited"  # the recorded run whose settings are audited, in the session, and in the address
OWN_SETTINGS = "here"  # the settings of the controls
BESIDE = "Count torch's normal numbers too"
TORCH_DRAWS = 500_000_000  # some seconds; of as many normal numbers 4 would be beyond torch's largest
RECENT = 20  # finished runs to choose from
QUICK = RunConfig(model="mlp", sigma=1.0, batch=512, epochs=2.0)  # an audit of it takes seconds
SIGMA = quantity_of("sigma", start=QUICK.sigma, key="audit_sigma")
BATCH = quantity_of("batch", start=QUICK.batch, key="audit_batch")
EPOCHS = quantity_of("epochs", start=QUICK.epochs, key="audit_epochs")
CONFIDENCE = Quantity(
    "confidence", "Confidence", "0.95", 0.5, 0.999,
    lambda value: check.in_range(0, MAX_CONFIDENCE, ends="(]", confidence=value), "shows more", "errs less often",
    help=help_on("audit_confidence"), stops=(0.5, 0.8, 0.9, 0.95, 0.99, 0.999),
)  # fmt: skip
CANARY_COUNT = Quantity(
    "canaries", "Canaries", str(CANARIES), 0, MAX_CANARIES,
    lambda value: check.whole(0, MAX_CANARIES, canaries=value), "more of the data is real", "shows more",
    help=help_on("canary"), whole=True, stops=(0, 10, 30, 100, 300, 1000, 2000, 5000),
)  # fmt: skip


def request_form(store: Store | None) -> Asked:
    """Draw the controls below the button; values that do not go together are a sentence."""
    trainer = choice_by_title("Trainer", tuple(TRAINERS), "trainer", lambda name: TRAINERS[name].title)
    st.caption(TRAINERS[trainer].story)
    runs = _finished(store)
    chosen = choice_by_title(
        "Settings", (OWN_SETTINGS, *runs), AUDITED, lambda run: name_of(runs[run]) if run in runs else "Chosen here"
    )
    config = _chosen_here() if chosen == OWN_SETTINGS else runs[chosen].config
    confidence, canaries = number(CONFIDENCE), int(number(CANARY_COUNT))
    draws = TORCH_DRAWS if choice_of(st, BESIDE, ("yes", "no"), "torch_beside", help=help_on("reach")) == "yes" else 0
    if isinstance(config, str):
        return Asked(None, config)
    try:
        return Asked(AuditRequest(config, trainer, confidence, canaries, draws))
    except ValueError as error:
        return Asked(None, str(error))


def _chosen_here() -> RunConfig | str:
    """The settings of the controls, or why they do not go together."""
    models = tuple(dict.fromkeys((QUICK.model, *models_for(QUICK.dataset))))
    model = choice_of(st, "Model", models, "audit_model", wrap=True)
    st.caption(MODELS[model].note)
    sigma, batch, epochs = number(SIGMA), int(number(BATCH)), number(EPOCHS)
    try:
        return RunConfig(model=model, sigma=sigma, batch=batch, epochs=epochs)
    except ValueError as error:
        return str(error)


def _finished(store: Store | None) -> Mapping[str, Run]:
    """The latest runs whose settings can be trained again, and the one that the reader has come with."""
    if store is None:
        return {}
    try:
        latest = {run.id: run for run in store.runs(limit=RECENT)}
        wanted = st.session_state.get(AUDITED, st.query_params.get(AUDITED, OWN_SETTINGS))
        if wanted not in (OWN_SETTINGS, *latest):
            latest[wanted] = store.run(wanted)
    except UnknownRun:
        pass  # said beside the choice, as of any unknown option
    except StoreError:
        return {}
    return {name: run for name, run in latest.items() if run.status is Status.FINISHED and _can_be_trained(run)}


def _can_be_trained(run: Run) -> bool:
    try:
        return isinstance(run.request, RunConfig)
    except (ValueError, TypeError):  # settings of another version
        return False
