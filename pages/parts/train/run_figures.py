"""The figures of a run as they stand now: accuracy, epsilon, loss, the fraction clipped, what was accepted."""

from dataclasses import replace

import streamlit as st

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import marked, percent, short
from pages.parts.components.elements import ByCount, Reading, live_figures
from pages.parts.controls.widgets import titled
from pages.parts.results import cache
from pages.parts.train.run_charts import spent_table
from pages.parts.train.run_history import Watched

NONE = "–"  # before there is anything to say
INVALID = "invalid: the paper's count of accepted steps"


def run_figures(watched: Watched, accountant: str) -> None:
    """Accuracy, epsilon, loss and the fraction clipped, as they stand now; while the run is active they keep up."""
    history = watched.history
    last, test = history.stepped[-1:], history.evaluated[-1:]
    readings = [_tested("Test accuracy", test[0].accuracy if test else None, "accuracy")]
    readings += [
        Reading(f"Epsilon, {titled(name)}", _spent(watched, name), texts=_spent_by_step(watched, name))
        for name in dict.fromkeys((CERTIFIED, accountant))
    ]
    readings.append(Reading("Training loss", f"{last[0].loss:.3f}" if last else NONE, y="loss", digits=3))
    if watched.config.private:
        clipped = percent(last[0].clipped, 0) if last else NONE
        readings.append(Reading("Gradients clipped", clipped, y="clipped", scale=100.0, digits=0, unit=" %"))
    if watched.averages:
        averaged = test[0].averaged_accuracy if test else None
        readings.append(_tested("Averaged accuracy", averaged, "averaged_accuracy"))
    if watched.run.active:
        readings = [replace(each, run=watched.run.id, after=history.sequence) for each in readings]
    live_figures(readings, "run_figures")


def _tested(label: str, value: float | None, field: str) -> Reading:
    shown = NONE if value is None else percent(value)
    return Reading(label, shown, event="evaluated", y=field, scale=100.0, unit=" %")


def accepted_figures(watched: Watched, accountant: str) -> None:
    """Under simulated annealing: how many proposals were accepted, and what the paper would charge for them."""
    last = watched.history.stepped[-1:]
    accepted = last[0].accepted if last else None
    counted = f"{accepted:,} / {last[0].step - accepted:,}" if accepted is not None else NONE
    if watched.run.active:
        since = {"run": watched.run.id, "after": watched.history.sequence}
        count = Reading("Accepted / rejected", counted, y="accepted", of="step", digits=0, **since)
        claim = Reading(INVALID.capitalize(), _claim(watched, accountant, accepted), **since)
        live_figures([count, replace(claim, texts=_claim_by_count(watched, accountant))], "accepted_figures")
        st.caption("All proposals are charged, the rejected ones too.")
    elif accepted is not None:
        st.metric("Accepted / rejected", counted, width="content")
        st.caption(_claimed(watched, accountant, last[0].step, accepted))


def _claim_by_count(watched: Watched, accountant: str) -> ByCount | None:
    """What the SA-DPSGD paper would charge after some numbers of accepted steps: what as many steps cost."""
    table = spent_table(watched, accountant)
    return ByCount(table.steps, tuple(map(short, table.values)), "accepted") if table else None


def _claim(watched: Watched, accountant: str, accepted: int | None) -> str:
    """The same for this number of them."""
    mechanism = watched.plan.claimed(accepted)
    if mechanism is None:
        return NONE
    claim = cache.epsilons(accountant, mechanism, watched.config.delta, (mechanism.steps,))[0]
    return short(claim) if claim < float("inf") else "n/a"


def _claimed(watched: Watched, accountant: str, step: int, accepted: int) -> str:
    """What the SA-DPSGD paper would charge, beside what is spent."""
    spent = watched.epsilons(accountant, [step])
    if not (accepted and spent):
        return f"{accepted:,} of {step:,} proposals accepted."
    return (
        f"All {step:,} proposals are charged: epsilon {_marked(watched, accountant, spent[0])} ({titled(accountant)}). "
        f"**{INVALID}**, {accepted:,}, would give {_claim(watched, accountant, accepted)}."
    )


def _spent(watched: Watched, accountant: str) -> str:
    """Epsilon of what the run has released until now."""
    if watched.plan.mechanism is None:
        return "none"
    released = watched.released
    spent = cache.final(accountant, released, watched.config.delta).last.value if released else 0.0
    return _marked(watched, accountant, spent)


def _spent_by_step(watched: Watched, accountant: str) -> ByCount | None:
    """Epsilon after some of the run's steps, as it is written; None where there is none to tell."""
    table = spent_table(watched, accountant)
    if table is None:
        return None
    return ByCount(table.steps, tuple(_marked(watched, accountant, each) for each in table.values))


def _marked(watched: Watched, accountant: str, epsilon: float) -> str:
    """An epsilon with the mark of what kind of number the accountant gives for this run."""
    mechanism = watched.plan.mechanism
    kind = cache.curve(accountant, mechanism, watched.config.delta).kind if mechanism else ACCOUNTANTS[accountant].kind
    return marked(epsilon, kind)
