"""The numbers behind the charts: as a table on the page, and as a file."""

from collections.abc import Mapping, Sequence

import streamlit as st

from dpcore.figures import epochs_at
from dpcore.figures.epsilon import DELTAS
from dpcore.figures.tradeoff import ALPHA
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.accountants.base import Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.tradeoff import Tradeoff
from pages.parts.controls.choice import titled
from pages.parts.results import cache


def curves_table(mechanism: Mechanism, curves: Mapping[str, Curve]) -> None:
    """The chart's data and the accountants' sources, in expanders that cost nothing while they are shut."""
    table = st.expander("The numbers in the chart", key="table", on_change="rerun")
    if table.open:
        steps = curves[CERTIFIED].steps
        columns = {"epoch": epochs_at(mechanism, steps), "step": steps}
        columns |= {titled(name): curve.epsilon for name, curve in curves.items()}
        lower = {f"{titled(name)}, lower bound": each.lower for name, each in curves.items() if each.lower is not None}
        table.dataframe(columns | lower, hide_index=True)
    sources = st.expander("What each accountant is, and where it comes from", key="sources", on_change="rerun")
    if sources.open:
        for each in ACCOUNTANTS.values():
            sources.markdown(f"**{each.title}** (`{each.name}`). {each.caveat} *{each.source}.*")


def tradeoff_data(curves: Sequence[tuple[str, Kind, Tradeoff]], name: str, *, small: bool = False) -> None:
    """Trade-off curves, each a name, a kind and a function: a table in an expander, and unless `small` a file."""
    table = st.expander("The numbers in this chart" if small else "The numbers in the chart", key="tradeoff_table",
                        on_change="rerun")  # fmt: skip
    if table.open:
        columns = {"type I error": ALPHA} | {name: f.beta(ALPHA) for name, _, f in curves}
        table.dataframe(columns, hide_index=True)
    if not small:
        st.download_button(
            "Download these curves (CSV)",
            lambda: cache.tradeoff_csv(curves),
            f"{name}.csv",
            "text/csv",
            key="download_tradeoff",
            on_click="ignore",
        )


def profiles_table(profiles: Mapping[str, Curve]) -> None:
    """Epsilon at each delta, in an expander."""
    table = st.expander("The numbers in the chart", key="profiles_table", on_change="rerun")
    if table.open:
        columns = {"delta": DELTAS} | {titled(name): each.epsilon for name, each in profiles.items()}
        lower = {
            f"{titled(name)}, lower bound": each.lower for name, each in profiles.items() if each.lower is not None
        }
        table.dataframe(columns | lower, hide_index=True)


def download(mechanism: Mechanism, delta: float, across: str) -> None:
    """A button for all accountants' curves (or profiles) as tidy CSV, computed when it is pressed."""

    def text() -> str:
        if across == "epoch":
            curves = {name: cache.curve(name, mechanism, delta) for name in ACCOUNTANTS}
        else:
            curves = {name: cache.profile(name, mechanism) for name in ACCOUNTANTS}
        return cache.tidy_csv(mechanism, curves)

    name = f"epsilon_against_{across}.csv"
    st.download_button("Download all accountants (CSV)", text, name, "text/csv", key="download", on_click="ignore")
