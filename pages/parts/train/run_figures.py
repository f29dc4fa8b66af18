"""The figures of a run as they stand now: accuracy, epsilon, loss, the fraction clipped, what was accepted."""

import streamlit as st

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.kinds import marked
from dpcore.privacy.report.numbers import percent, short
from pages.parts.controls.choice import titled
from pages.parts.results import cache
from pages.parts.train.run_history import Watched

INVALID = "invalid: the paper's count of accepted steps"


def run_figures(watched: Watched, accountant: str) -> None:
    """Accuracy, epsilon, loss and the fraction clipped, as they stand now."""
    history, private = watched.history, watched.config.private
    last = history.stepped[-1] if history.stepped else None
    figures = {
        "Test accuracy": percent(history.evaluated[-1].accuracy) if history.evaluated else "–",
        **{f"Epsilon, {titled(name)}": _spent(watched, name) for name in dict.fromkeys((CERTIFIED, accountant))},
        "Training loss": f"{last.loss:.3f}" if last else "–",
        "Gradients clipped": percent(last.clipped, 0) if last and private else "–",
    }
    if history.evaluated and (averaged := history.evaluated[-1].averaged_accuracy) is not None:
        figures["Averaged accuracy"] = percent(averaged)
    accepted = last.accepted if last else None
    if last and accepted is not None:
        figures["Accepted / rejected"] = f"{accepted:,} / {last.step - accepted:,}"
    row = st.container(horizontal=True, gap="large")
    for name, value in figures.items():
        row.metric(name, value, width="content")
    if last and accepted is not None:
        st.caption(_claimed(watched, accountant, last.step, accepted))


def _claimed(watched: Watched, accountant: str, step: int, accepted: int) -> str:
    """What the SA-DPSGD paper would charge, beside what is spent."""
    mechanism = watched.plan.claimed(accepted)
    spent = watched.epsilons(accountant, [step])
    if not (mechanism and spent):
        return f"{accepted:,} of {step:,} proposals accepted."
    claim = cache.epsilons(accountant, mechanism, watched.config.delta, (mechanism.steps,))[0]
    return (
        f"All {step:,} proposals are charged: epsilon {_marked(watched, accountant, spent[0])} ({titled(accountant)}). "
        f"**{INVALID}**, {accepted:,}, would give {short(claim) if claim < float('inf') else 'n/a'}."
    )


def _spent(watched: Watched, accountant: str) -> str:
    spent = watched.epsilons(accountant, [watched.history.step])
    return _marked(watched, accountant, spent[0]) if spent else "none"


def _marked(watched: Watched, accountant: str, epsilon: float) -> str:
    """An epsilon with the mark of what kind of number the accountant gives for this run."""
    mechanism = watched.plan.mechanism
    kind = cache.curve(accountant, mechanism, watched.config.delta).kind if mechanism else ACCOUNTANTS[accountant].kind
    return marked(epsilon, kind)
