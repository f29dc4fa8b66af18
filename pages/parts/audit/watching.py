"""How far an audit is, and what it has found: drawn twice a second while it goes on, then once."""

import streamlit as st

from dpcore.audit.request import AuditRequest
from dpcore.check import verbatim
from dpcore.privacy.report.numbers import nearest, percent
from dpcore.runs.expected import duration, start_of
from dpcore.runs.in_words import status_of
from dpcore.runs.record import Run, Status, StoreError, UnknownRun
from dpcore.runs.store import Store
from pages.parts.audit.audit_charts import audit_charts
from pages.parts.audit.audit_results import AuditResults, audit_results
from pages.parts.audit.findings_table import findings
from pages.parts.audit.generators import generators
from pages.parts.audit.number_line import number_line
from pages.parts.audit.shown_audit import begun_here, cancel
from pages.parts.controls.faults import MAX_REASON
from pages.parts.train.cancel_button import cancel_button

EVERY = 0.5  # seconds between two looks while it goes on
OTHERS = "Another session began this audit."  # and may wait for it
FIGURES = "What is shown here are exact figures of the training data, which no epsilon covers."


def watch(store: Store, run: Run) -> None:
    """Draw the audit and keep it up to date."""
    st.fragment(_panel, run_every=EVERY if run.active else None)(store, run.id, run.active)


def _panel(store: Store, run_id: str, active: bool) -> None:
    try:
        found = audit_results(store, store.run(run_id))
    except (UnknownRun, StoreError) as error:
        st.error(str(error))
        return
    except (ValueError, TypeError, KeyError) as error:  # settings of another version
        st.error(f"This audit was made by another version of this program. {error}")
        return
    if active and not found.run.active:
        st.rerun()
    st.markdown(f"**{found.request.title}**")
    _status(store, found)
    if found.judged:
        _verdict(found)
        number_line(found)
    if found.measured:
        findings(found)
    generators(found)
    if found.judged:
        audit_charts(found)


def _status(store: Store, found: AuditResults) -> None:
    run = found.run
    if run.active:
        bar, button = st.container(key=f"progress_{run.id}").columns([5, 1], vertical_alignment="center")
        bar.progress(_part(found), text=_progress(store, found))
        cancel_button(button, store, run, cancel, "" if begun_here(run.id) else OTHERS)
    elif run.status is not Status.FINISHED:
        _ended_early(found)
    if found.stopped:
        st.warning(f"{found.stopped.reason} What had been seen until then is judged.")


def _part(found: AuditResults) -> float:
    return min(found.watched.step / found.watched.steps, 1.0) if found.watched else 0.0


def _progress(store: Store, found: AuditResults) -> str:
    run = found.run
    if run.status is Status.QUEUED:
        return ", ".join(filter(None, [status_of(run), start_of(store, run.id)]))
    if found.prepared is None:
        return "reading the data"
    if found.watched is None:
        return "training begins"
    step = f"step {found.watched.step:,} of {found.watched.steps:,}"
    if found.watched.step == found.watched.steps:
        return f"{step}, {len(found.measured)} audits judged"
    seen = "" if found.watched.sigma is None else f", noise so far: sigma about {nearest(found.watched.sigma, 3)}"
    return f"{step}{seen}"


def _ended_early(found: AuditResults) -> None:
    run = found.run
    until = "What it had found until then is shown." if found.measured else "It had found nothing until then."
    if run.status is Status.CANCELLED:
        st.info(f"The audit was cancelled. {until}")
    elif run.status is Status.LOST:
        why = f"{verbatim(run.error, MAX_REASON)} " if run.error else ""
        st.error(f"The audit was lost. {why}{until} Audit again.")
    else:
        lines = (run.error or "").strip().splitlines() or ["The worker gave no reason."]
        st.error(f"The audit failed: {verbatim(lines[-1].removeprefix('ValueError: '), MAX_REASON)}")
        if not lines[-1].startswith("ValueError: "):
            with st.expander("Traceback"):
                st.code("\n".join(lines), language=None)


def _verdict(found: AuditResults) -> None:
    """What all audits say together, and how it came about."""
    sure = f"at a confidence of {percent(found.request.confidence, 0)} for all audits together"
    names = [each.title for each in found.measured if each.audit in found.failed]
    if names:
        st.error(f"✕ What is claimed does not hold: {', '.join(names)} failed, {sure}.")
    else:
        st.success(f"✓ No audit found anything wrong, {sure}. That is no proof: the table says what is left untested.")
    if found.prepared and found.prepared.unaccounted:
        st.info(f"Nothing is claimed. {found.prepared.unaccounted}")
    st.caption(" ".join([_measured(found), found.request.by.story, FIGURES]))


def _measured(found: AuditResults) -> str:
    prepared, request = found.prepared, found.request
    if prepared is None:
        return ""
    took = f"Trained and audited here in {duration(found.seconds)}: " if found.seconds else ""
    canaries = f"{prepared.canaries:,} canaries, {prepared.inside:,} of them in" if prepared.canaries else "no canaries"
    return f"{took}{prepared.steps:,} steps on {prepared.examples:,} examples, {canaries}; {_noise(request)}."


def _noise(request: AuditRequest) -> str:
    return f"sigma {nearest(request.config.sigma)}" if request.config.private else "without privacy"
