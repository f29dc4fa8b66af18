"""Pictures, tables and files for readers, each with its setting and link."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
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
from dpcore.runs.plain_text import as_csv
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
        words = [f"{name} = {text}" for name, text in self._numbers(",").items()]
        if self.schedule:
            words.append(f"schedule {self.schedule}")
        return ", ".join(words)

    def file(self, name: str) -> str:
        """The name of a file, without its ending.

        >>> Origin(10_000, 0.0256, 1.23, 196, 1e-5, "constant").file("epsilon")
        'epsilon-n10000-q0.0256-sigma1.23-T196-delta1e-5'
        >>> Origin(10_000, 0.0256, None, None, 1e-5, "constant").file("map")
        'map-n10000-q0.0256-delta1e-5'
        """
        return "-".join([name, *(f"{each}{text}" for each, text in self._numbers("").items())])

    def _numbers(self, comma: str) -> dict[str, str]:
        """The known numbers of the settings as texts, with this separator of thousands."""
        texts = {"n": f"{self.n:{comma}.0f}"}
        if self.q is not None:
            texts["q"] = nearest(self.q)
        if self.sigma is not None:
            texts["sigma"] = nearest(self.sigma)
        if self.steps is not None:
            texts["T"] = f"{self.steps:{comma}}"
        if self.delta is not None:
            texts["delta"] = plain(self.delta)
        return texts


def origin_of(mechanism: Mechanism, delta: float, n: float, link: str = "") -> Origin:
    """The settings of a mechanism, with its schedule in words.

    >>> from dpcore.privacy.schedule import Recipe
    >>> origin_of(Recipe("step", 0.5).mechanism(0.5, 4.0, 60), 1e-5, 100).schedule
    'from sigma 4 to 1 in 3 levels'
    """
    training = [each for each in mechanism.releases if each.q == mechanism.releases[-1].q]
    first, last = training[0], training[-1]
    levels = len({each.sigma for each in training})
    schedule = "constant"
    if levels > 1:
        schedule = f"from sigma {nearest(first.sigma)} to {nearest(last.sigma)} in {levels} levels"
    return Origin(n, first.q, first.sigma, mechanism.steps, delta, schedule, link)


def origin_of_any(setting: ChosenSetting, link: str = "") -> Origin:
    """The settings that all answers share, whatever their sigma and steps.

    >>> from dpcore.privacy.schedule import Recipe
    >>> mechanism = Recipe("step", 0.5).mechanism(0.5, 4.0, 60)
    >>> origin_of_any(ChosenSetting(mechanism, 100, 0.5, 4.0, 1e-5, "step", 0.5)).words
    'n = 100, q = 0.5, delta = 1e-5, schedule step, rate 0.5'
    """
    schedule = setting.schedule
    if schedule != "constant":
        schedule += f", rate {nearest(setting.rate)}"
    return Origin(setting.n, setting.q, None, None, setting.delta, schedule, link)


def address() -> str:
    """The address of the page with its settings; "" where there is none."""
    if not st.context.url:
        return ""
    values = {name: st.query_params.get_all(name) for name in st.query_params}
    query = urlencode(values, doseq=True)
    return f"{st.context.url}?{query}" if query else st.context.url


def chart(
    figure: go.Figure, key: str, alt: str, title: str, origin: Origin | None, **more: Any
) -> None:
    """Draw a figure; a saved picture has the title and the settings, also in its file name.

    `more` goes to `live_chart`.
    """
    file = title.lower().replace(" ", "-")
    if origin:
        title = f"{title}\n{origin.words}"
        file = origin.file(file)
    live_chart(figure, [], key=key, alt=alt, title=title, file=file, **more)


Rows = list[dict[str, Any]]  # column -> value, the same columns in each


def numbers_table(label: str, key: str, numbers: Callable[[], Rows | dict[str, list[Any]]]) -> None:
    """Draw rows or columns as a table in an expander, which costs nothing while it is closed."""
    table = st.expander(label, key=key, on_change="rerun")
    if table.open:
        table.dataframe(numbers(), hide_index=True)


def csv_button(label: str, rows: Callable[[], Rows], file: str, key: str) -> None:
    """Draw a button that computes rows when it is pressed, and saves them."""
    st.download_button(label, lambda: csv_of(rows()), file, "text/csv", key=key, on_click="ignore")


def csv_of(rows: Rows) -> str:
    """Rows as CSV: NaN is empty, and no text is a formula.

    >>> first = {"q": 0.5, "lower": float("nan"), "run": "=1+1"}
    >>> csv_of([first, {"q": 1e-5, "lower": float("inf"), "run": "x, y"}])
    'q,lower,run\\n0.5,,\\'=1+1\\n1e-05,inf,"x, y"\\n'
    """
    return as_csv(rows[0] if rows else (), [row.values() for row in rows])


def accountants_sources() -> None:
    """Draw what each accountant is, and where it comes from, in an expander."""
    sources = st.expander(
        "What each accountant is, and where it comes from", key="sources", on_change="rerun"
    )
    if sources.open:
        for each in ACCOUNTANTS.values():
            sources.markdown(
                f"**{each.title}** (`{each.name}`). {each.caveat} *{linked(each.source)}.*"
            )


def tradeoff_download(
    curves: Sequence[tuple[str, Kind, Tradeoff]], name: str, origin: Origin
) -> None:
    """Draw a button for trade-off curves as tidy CSV with their settings."""

    def rows() -> Rows:
        return [row | origin._asdict() for row in tradeoff_rows(curves)]

    csv_button("Download these curves (CSV)", rows, f"{origin.file(name)}.csv", "download_tradeoff")


def curves_download(mechanism: Mechanism, across: str, origin: Origin) -> None:
    """Draw a button for the curves (or profiles) of all accountants as tidy CSV."""

    def rows() -> Rows:
        found = {}
        for name in ACCOUNTANTS:
            if across == "epoch":
                found[name] = cache.curve(name, mechanism, origin.delta)
            else:
                found[name] = cache.profile(name, mechanism)
        settings = origin._asdict()
        del settings["delta"]  # each row has its own
        return [row | settings for row in curves_rows(mechanism, found)]

    file = f"{origin.file(f'epsilon-against-{across}')}.csv"
    csv_button("Download all accountants (CSV)", rows, file, "download")


def tradeoff_rows(curves: Sequence[tuple[str, Kind, Tradeoff]]) -> Rows:
    """One row per curve and type I error alpha: curve, kind, alpha, beta, power (1 - beta)."""
    levels = np.unique(np.concatenate([ALPHA, RATES]))
    rows = []
    for name, kind, f in curves:
        for alpha, beta, power in zip(levels, f.beta(levels), f.power(levels), strict=True):
            row = {"curve": name, "kind": kind.value, "alpha": alpha, "beta": beta, "power": power}
            rows.append(row)
    return rows


def curves_rows(mechanism: Mechanism, curves: Mapping[str, Curve]) -> Rows:
    """One row per accountant and point of its curve; `lower` is empty if unproven."""
    rows = []
    for name, curve in curves.items():
        epochs = epochs_at(mechanism, curve.steps)
        points = zip(curve.delta, curve.steps, epochs, curve.epsilon, lowers(curve), strict=True)
        for delta, step, epoch, epsilon, lower in points:
            row = {
                "accountant": name,
                "kind": curve.kind.value,
                "delta": delta,
                "step": step,
                "epoch": epoch,
                "epsilon": epsilon,
                "lower": lower,
            }
            rows.append(row)
    return rows


def lowers(curve: Curve) -> Iterable[float | None]:
    """Return its proven lower bounds, None where there are none."""
    return repeat(None, curve.epsilon.size) if curve.lower is None else curve.lower
