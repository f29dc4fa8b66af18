"""An audit on its page: how it is begun and found again, how far it is, and what it has found."""

from collections.abc import Sequence

import streamlit as st

from dpcore.privacy.report.numbers import nearest, percent
from dpcore.runs.expected import duration
from dpcore.runs.kinds import AUDIT, TRAINING
from dpcore.runs.record import Run, Status
from dpcore.runs.store import Store
from pages.parts.audit.audit_charts import audit_charts, number_line
from pages.parts.audit.audit_results import AuditResults, audit_results, expected_seconds
from pages.parts.audit.findings_table import findings, generators
from pages.parts.audit.request_form import AUDITED
from pages.parts.jobs import Asked, ShownJob, line_end

EXPECTED = "an audit on this machine, or a finished training run to audit"
SHOWN = ShownJob(AUDIT.name, "audit", "Audit", ":material/policy:", "run", EXPECTED)
FIGURES = "What is shown here are exact figures of the training data, which no epsilon covers."


def settings_taken(run: Run) -> bool:
    """Have the form that comes next choose the settings of a training run that has finished, if it is one."""
    if run.kind != TRAINING.name or run.status is not Status.FINISHED:
        return False
    st.session_state[AUDITED] = run.id
    return True


def audit_button(asked: Asked, store: Store | None, past: Sequence[Run]) -> None:
    """Draw the button, with the time that pressing it takes where that is known, or why it cannot be pressed."""
    SHOWN.button(store, asked.request, expected_seconds(asked.request, past) if asked.request else None)
    if asked.problem:
        st.error(asked.problem)


def audit_line(run: Run) -> str:
    """What was audited, in a line that tells it from the others."""
    return f"{run.request.title.removeprefix('Audit of ')} {line_end(run)}"


def follow(store: Store, run: Run) -> None:
    """Draw the audit and keep it up to date."""
    SHOWN.follow(store, run, audit_results, lambda found: _draw(store, found))


def _draw(store: Store, found: AuditResults) -> None:
    st.markdown(f"**{found.request.title}**")
    until = "What it had found until then is shown." if found.measured else "It had found nothing until then."
    done = found.watched.step / found.watched.steps if found.watched else 0.0
    SHOWN.status(store, found.run, done, _progress(found), until)
    if found.stopped:
        st.warning(f"{found.stopped.reason} What had been seen until then is judged.")
    if found.judged:
        _verdict(found)
        number_line(found)
    if found.measured:
        findings(found)
    generators(found)
    if found.judged:
        audit_charts(found)


def _progress(found: AuditResults) -> str:
    if found.prepared is None:
        return "reading the data"
    if found.watched is None:
        return "training begins"
    step = f"step {found.watched.step:,} of {found.watched.steps:,}"
    if found.watched.step == found.watched.steps:
        return f"{step}, {len(found.measured)} audits judged"
    seen = "" if found.watched.sigma is None else f", noise so far: sigma about {nearest(found.watched.sigma, 3)}"
    return f"{step}{seen}"


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
    prepared, config = found.prepared, found.request.config
    if prepared is None:
        return ""
    took = f"Trained and audited here in {duration(found.seconds)}: " if found.seconds else ""
    canaries = f"{prepared.canaries:,} canaries, {prepared.inside:,} of them in" if prepared.canaries else "no canaries"
    noise = f"sigma {nearest(config.sigma)}" if config.private else "without privacy"
    return f"{took}{prepared.steps:,} steps on {prepared.examples:,} examples, {canaries}; {noise}."
