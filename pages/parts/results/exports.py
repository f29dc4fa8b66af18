"""Pictures, tables and files for readers, each with its setting and link."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpcore.figures import epochs_at
from dpcore.figures.tradeoff import ALPHA, RATES
from dpcore.privacy.accountants import ACCOUNTANTS, Curve
from dpcore.privacy.accountants.base import Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.glossary import linked
from dpcore.privacy.report.numbers import nearest, plain
from dpcore.privacy.tradeoff import Tradeoff
from dpcore.runs.in_words import as_csv
from pages.parts.components.live_chart import live_chart
from pages.parts.controls.mechanism import ChosenSetting
from pages.parts.results import cache


class Origin(NamedTuple):
    """The settings of an export; None where rows differ in it, or it means nothing."""

    n: float
    q: float | None  # of the last release: a release before training has its own rate
    sigma: float | None  # the first one in training
    steps: int | None
    delta: float | None
    schedule: str
    link: str = ""

    @property
    def words(self) -> str:
        """The settings in one line.

        >>> Origin(10_000, 0.0256, 1.23, 196, 1e-5, "constant").words
        'n = 10,000, q = 0.0256, sigma = 1.23, T = 196, delta = 1e-5, schedule constant'
        """
        words = [f"{name} = {text}" for name, text in self._said(",").items()]
        return ", ".join([*words, f"schedule {self.schedule}"] if self.schedule else words)

    def file(self, name: str) -> str:
        """The name of a file, without its ending.

        >>> Origin(10_000, 0.0256, 1.23, 196, 1e-5, "constant").file("epsilon")
        'epsilon-n10000-q0.0256-sigma1.23-T196-delta1e-5'
        >>> Origin(10_000, 0.0256, None, None, 1e-5, "constant").file("map")
        'map-n10000-q0.0256-delta1e-5'
        """
        return "-".join([name, *(f"{each}{text}" for each, text in self._said("").items())])

    def _said(self, comma: str) -> dict[str, str]:
        """The numbers of the settings as texts, with this separator of thousands."""
        write = {"n": f"{{:{comma}.0f}}".format, "T": f"{{:{comma}}}".format, "delta": plain}
        said = {"n": self.n, "q": self.q, "sigma": self.sigma, "T": self.steps, "delta": self.delta}
        return {name: write.get(name, nearest)(value) for name, value in said.items() if value is not None}


def origin_of(mechanism: Mechanism, delta: float, n: float, link: str = "") -> Origin:
    """The settings of a mechanism, with its schedule in words.

    >>> from dpcore.privacy.schedule import Recipe
    >>> origin_of(Recipe("step", 0.5).mechanism(0.5, 4.0, 60), 1e-5, 100).schedule
    'from sigma 4 to 1 in 3 levels'
    """
    training = [each for each in mechanism.releases if each.q == mechanism.releases[-1].q]
    first, last = training[0], training[-1]
    levels = len({each.sigma for each in training})
    changing = f"from sigma {nearest(first.sigma)} to {nearest(last.sigma)} in {levels} levels"
    schedule = "constant" if levels == 1 else changing
    return Origin(n, first.q, first.sigma, mechanism.steps, delta, schedule, link)


def origin_of_any(setting: ChosenSetting, link: str = "") -> Origin:
    """The settings that all answers share, whatever their sigma and steps.

    >>> from dpcore.privacy.schedule import Recipe
    >>> mechanism = Recipe("step", 0.5).mechanism(0.5, 4.0, 60)
    >>> origin_of_any(ChosenSetting(mechanism, 100, 0.5, 4.0, 1e-5, "step", 0.5)).words
    'n = 100, q = 0.5, delta = 1e-5, schedule step, rate 0.5'
    """
    schedule = "constant" if setting.schedule == "constant" else f"{setting.schedule}, rate {nearest(setting.rate)}"
    return Origin(setting.n, setting.q, None, None, setting.delta, schedule, link)


def address() -> str:
    """The address of the page with its settings; "" where there is none."""
    if not st.context.url:
        return ""
    query = urlencode([(name, value) for name in st.query_params for value in st.query_params.get_all(name)])
    return f"{st.context.url}?{query}" if query else st.context.url


def chart(figure: go.Figure, key: str, alt: str, title: str, origin: Origin | None, **more: Any) -> None:
    """Draw a figure; a saved picture has the title, the settings and their link, if any, and is named after them.

    `more` goes to `live_chart`.
    """
    name = title.lower().replace(" ", "-")
    words, file = (f"{title}\n{origin.words}", origin.file(name)) if origin else (title, name)
    live_chart(figure, [], key=key, alt=alt, title=words, file=file, **more)


Columns = Mapping[str, Any]  # name -> values, as many in each; or one for all


def numbers_table(label: str, key: str, columns: Callable[[], Columns]) -> None:
    """Draw columns as a table in an expander, which costs nothing while it is closed."""
    table = st.expander(label, key=key, on_change="rerun")
    if table.open:
        table.dataframe(columns(), hide_index=True)


def csv_button(label: str, columns: Callable[[], Columns], file: str, key: str) -> None:
    """Draw a button that computes columns when it is pressed, and saves them."""
    st.download_button(label, lambda: csv_of(columns()), file, "text/csv", key=key, on_click="ignore")


def csv_of(columns: Columns) -> str:
    """Columns as CSV: NaN is empty, and no text is a formula.

    >>> csv_of({"q": [0.5, 1e-5], "lower": [float("nan"), float("inf")], "note": "a, b", "run": ["=1+1", "x"]})
    'q,lower,note,run\\n0.5,,"a, b",\\'=1+1\\n1e-05,inf,"a, b",x\\n'
    """
    length = max((len(values) for values in columns.values() if not _is_one(values)), default=0)
    lists = [
        [values] * length if _is_one(values) else np.asarray(values, object).tolist() for values in columns.values()
    ]
    return as_csv(columns, zip(*lists, strict=True))


def _is_one(values: Any) -> bool:
    return isinstance(values, str) or not hasattr(values, "__len__")


def accountants_sources() -> None:
    """Draw what each accountant is, and where it comes from, in an expander."""
    sources = st.expander("What each accountant is, and where it comes from", key="sources", on_change="rerun")
    if sources.open:
        for each in ACCOUNTANTS.values():
            sources.markdown(f"**{each.title}** (`{each.name}`). {each.caveat} *{linked(each.source)}.*")


def tradeoff_download(curves: Sequence[tuple[str, Kind, Tradeoff]], name: str, origin: Origin) -> None:
    """Draw a button for trade-off curves as tidy CSV with their settings."""
    columns = lambda: {**tradeoff_columns(curves), **origin._asdict()}  # noqa: E731
    csv_button("Download these curves (CSV)", columns, f"{origin.file(name)}.csv", "download_tradeoff")


def curves_download(mechanism: Mechanism, across: str, origin: Origin) -> None:
    """Draw a button for the curves (or profiles) of all accountants as tidy CSV with their settings."""

    def columns() -> Columns:
        if across == "epoch":
            found = {name: cache.curve(name, mechanism, origin.delta) for name in ACCOUNTANTS}
        else:
            found = {name: cache.profile(name, mechanism) for name in ACCOUNTANTS}
        settings = {name: value for name, value in origin._asdict().items() if name != "delta"}  # each row has its own
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
