"""The numbers behind the charts: as a table on the page, and as a file."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from dpcore.figures import epochs_at
from dpcore.figures.style import BAND_ID
from dpcore.privacy.accountants import ACCOUNTANTS, Curve
from dpcore.privacy.mechanism import Mechanism
from pages.parts import compute

if TYPE_CHECKING:
    from pages.parts.live import Watched


def curves_table(mechanism: Mechanism, curves: Mapping[str, Curve]) -> None:
    """The chart's data and the accountants' sources, in expanders that cost nothing while they are shut."""
    table = st.expander("The numbers in the chart", key="table", on_change="rerun")
    if table.open:
        steps = curves[BAND_ID].steps
        columns = {"epoch": epochs_at(mechanism, steps), "step": steps}
        columns |= {name: curve.epsilon for name, curve in curves.items()}
        lower = {f"{name}, lower bound": curve.lower for name, curve in curves.items() if curve.lower is not None}
        table.dataframe(columns | lower, hide_index=True)
    sources = st.expander("What each accountant is, and where it comes from", key="sources", on_change="rerun")
    if sources.open:
        for each in ACCOUNTANTS.values():
            sources.markdown(f"**{each.title}** (`{each.name}`). {each.caveat} *{each.source}.*")


def evaluations_table(watched: "Sequence[Watched]", accountant: str) -> None:
    """Every test of the runs on the charts, with the epsilon spent until then, in an expander."""
    table = st.expander("The numbers in the charts", key="evaluations", on_change="rerun")
    if not table.open:
        return
    columns: dict[str, list[object]] = {
        name: [] for name in ("run", "sigma", "step", "epoch", "accuracy", "loss", f"epsilon, {accountant}")
    }
    for each in watched:
        tests = each.history.evaluated
        spent = each.epsilons(accountant, [test.step for test in tests]) or [None] * len(tests)
        sigma = each.config.sigma if each.config.private else None
        for test, epsilon in zip(tests, spent, strict=True):
            row = (each.run.id, sigma, test.step, test.epoch, test.accuracy, test.loss, epsilon)
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    averaged = [test.averaged_accuracy for each in watched for test in each.history.evaluated]
    if any(each is not None for each in averaged):
        columns["averaged accuracy"] = [*averaged]
    table.dataframe(columns, hide_index=True)


def download(mechanism: Mechanism, delta: float, across: str) -> None:
    """A button for all accountants' curves (or profiles) as tidy CSV, computed when it is pressed."""

    def text() -> str:
        if across == "epoch":
            curves = {name: compute.curve(name, mechanism, delta) for name in ACCOUNTANTS}
        else:
            curves = {name: compute.profile(name, mechanism) for name in ACCOUNTANTS}
        return compute.tidy_csv(mechanism, curves)

    name = f"epsilon_against_{across}.csv"
    st.download_button("Download all accountants (CSV)", text, name, "text/csv", key="download", on_click="ignore")
