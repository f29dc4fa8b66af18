"""The numbers behind the charts: as a table on the page, and as a file."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from dpcore.figures import epochs_at
from dpcore.figures.epsilon import DELTAS
from dpcore.figures.tradeoff import ALPHA, RATES
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.accountants.base import Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.glossary import linked
from dpcore.privacy.tradeoff import Tradeoff
from dpcore.runs.printable import as_csv
from pages.parts.controls.choice import titled
from pages.parts.results import cache
from pages.parts.results.export_origin import Origin

Columns = Mapping[str, Any]  # name -> values, as many in each; or one for all
NUMBERS = "The numbers in the chart"


def numbers_table(label: str, key: str, columns: Callable[[], Columns]) -> None:
    """Columns as a table in an expander, which costs nothing while it is shut."""
    table = st.expander(label, key=key, on_change="rerun")
    if table.open:
        table.dataframe(columns(), hide_index=True)


def csv_button(label: str, columns: Callable[[], Columns], file: str, key: str) -> None:
    """A button that saves columns as a file, computed when it is pressed."""
    st.download_button(label, lambda: csv_of(columns()), file, "text/csv", key=key, on_click="ignore")


def csv_of(columns: Columns) -> str:
    """Columns as CSV; what is not a number is empty, and no text is a formula.

    >>> csv_of({"q": [0.5, 1e-5], "lower": [float("nan"), float("inf")], "note": "a, b", "run": ["=1+1", "x"]})
    'q,lower,note,run\\n0.5,,"a, b",\\'=1+1\\n1e-05,inf,"a, b",x\\n'
    """
    length = max(len(values) for values in columns.values() if not _is_one(values))
    lists = [
        [values] * length if _is_one(values) else np.asarray(values, object).tolist() for values in columns.values()
    ]
    return as_csv(columns, zip(*lists, strict=True))


def _is_one(values: Any) -> bool:
    return isinstance(values, str) or not hasattr(values, "__len__")


def curves_table(mechanism: Mechanism, curves: Mapping[str, Curve]) -> None:
    """The chart's data and the accountants' sources."""
    steps = curves[CERTIFIED].steps
    at = {"epoch": epochs_at(mechanism, steps), "step": steps}
    numbers_table(NUMBERS, "curve_numbers", lambda: at | _by_title(curves))
    sources = st.expander("What each accountant is, and where it comes from", key="sources", on_change="rerun")
    if sources.open:
        for each in ACCOUNTANTS.values():
            sources.markdown(f"**{each.title}** (`{each.name}`). {each.caveat} *{linked(each.source)}.*")


def profiles_table(profiles: Mapping[str, Curve]) -> None:
    """Epsilon at each delta."""
    numbers_table(NUMBERS, "profiles_table", lambda: {"delta": DELTAS} | _by_title(profiles))


def tradeoff_table(curves: Sequence[tuple[str, Kind, Tradeoff]], label: str = NUMBERS) -> None:
    """Trade-off curves, each a name, a kind and a function."""
    named = lambda: {name: f.beta(ALPHA) for name, _, f in curves}  # noqa: E731
    numbers_table(label, "tradeoff_table", lambda: {"type I error": ALPHA} | named())


def tradeoff_download(curves: Sequence[tuple[str, Kind, Tradeoff]], name: str, origin: Origin) -> None:
    """A button for trade-off curves as tidy CSV, with the settings that they come from."""
    columns = lambda: {**tradeoff_columns(curves), **origin.columns}  # noqa: E731
    csv_button("Download these curves (CSV)", columns, f"{origin.file(name)}.csv", "download_tradeoff")


def curves_download(mechanism: Mechanism, across: str, origin: Origin) -> None:
    """A button for all accountants' curves (or profiles) as tidy CSV, with the settings that they come from."""

    def columns() -> Columns:
        if across == "epoch":
            found = {name: cache.curve(name, mechanism, origin.delta) for name in ACCOUNTANTS}
        else:
            found = {name: cache.profile(name, mechanism) for name in ACCOUNTANTS}
        settings = {name: value for name, value in origin.columns.items() if name != "delta"}  # each row has its own
        return {**curves_columns(mechanism, found), **settings}

    file = f"{origin.file(f'epsilon-against-{across}')}.csv"
    csv_button("Download all accountants (CSV)", columns, file, "download")


def tradeoff_columns(curves: Sequence[tuple[str, Kind, Tradeoff]]) -> Columns:
    """One row per (name, kind, curve) and type I error alpha: curve, kind, alpha, beta, power (1 - beta)."""
    alpha = np.unique(np.concatenate([ALPHA, RATES]))
    parts = [
        {"curve": [name] * alpha.size, "kind": [kind.value] * alpha.size, "alpha": alpha, "beta": f.beta(alpha),
         "power": f.power(alpha)}
        for name, kind, f in curves
    ]  # fmt: skip
    return _below_each_other(parts)


def curves_columns(mechanism: Mechanism, curves: Mapping[str, Curve]) -> Columns:
    """One row per accountant and horizon: accountant, kind, delta, step, epoch, epsilon, lower (empty if unproven)."""
    parts = [
        {"accountant": [name] * each.steps.size, "kind": [each.kind.value] * each.steps.size, "delta": each.delta,
         "step": each.steps, "epoch": epochs_at(mechanism, each.steps), "epsilon": each.epsilon,
         "lower": np.full(each.steps.shape, np.nan) if each.lower is None else each.lower}
        for name, each in curves.items()
    ]  # fmt: skip
    return _below_each_other(parts)


def _below_each_other(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([each[name] for each in parts]) for name in parts[0]}


def _by_title(curves: Mapping[str, Curve]) -> dict[str, Any]:
    """Epsilon by each accountant, then the lower bounds of those that have them."""
    columns = {titled(name): each.epsilon for name, each in curves.items()}
    return columns | {
        f"{titled(name)}, lower bound": each.lower for name, each in curves.items() if each.lower is not None
    }
