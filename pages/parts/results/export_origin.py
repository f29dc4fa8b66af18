"""Where an export comes from: the settings behind its numbers, and a link that opens them."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import nearest, plain
from pages.parts.controls.mechanism import Setting


class Origin(NamedTuple):
    """The settings that an export carries; None where they differ from row to row, or say nothing."""

    n: float
    q: float | None  # of the last release: what comes before training has rates of its own
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
        steps = None if self.steps is None else f"{self.steps:,}"
        said = {"n": f"{self.n:,.0f}", **self._rates(), "T": steps, "delta": self.delta and plain(self.delta)}
        words = [f"{name} = {text}" for name, text in said.items() if text]
        return ", ".join([*words, f"schedule {self.schedule}"] if self.schedule else words)

    @property
    def columns(self) -> dict[str, Any]:
        """The settings as columns of a table, one value for all rows."""
        return self._asdict()

    def file(self, name: str) -> str:
        """The name of a file, without its ending.

        >>> Origin(10_000, 0.0256, 1.23, 196, 1e-5, "constant").file("epsilon")
        'epsilon-n10000-q0.0256-sigma1.23-T196-delta1e-5'
        >>> Origin(10_000, 0.0256, None, None, 1e-5, "constant").file("map")
        'map-n10000-q0.0256-delta1e-5'
        """
        said = {"n": f"{self.n:.0f}", **self._rates(), "T": self.steps, "delta": self.delta and plain(self.delta)}
        return "-".join([name, *(f"{each}{text}" for each, text in said.items() if text)])

    def _rates(self) -> dict[str, str | None]:
        rates = {"q": self.q, "sigma": self.sigma}
        return {name: None if value is None else nearest(value) for name, value in rates.items()}


def origin_of(mechanism: Mechanism, delta: float, n: float, link: str = "") -> Origin:
    """The settings of a mechanism; its schedule is what its noise does.

    >>> from dpcore.privacy.schedule import scheduled
    >>> origin_of(scheduled("step", 0.5, 4.0, 60, rate=0.5), 1e-5, 100).schedule
    'from sigma 4 to 1 in 3 levels'
    """
    training = [each for each in mechanism.releases if each.q == mechanism.releases[-1].q]
    first, last = training[0], training[-1]
    levels = len({each.sigma for each in training})
    changing = f"from sigma {nearest(first.sigma)} to {nearest(last.sigma)} in {levels} levels"
    schedule = "constant" if levels == 1 else changing
    return Origin(n, first.q, first.sigma, mechanism.steps, delta, schedule, link)


def origin_of_any(setting: Setting, link: str = "") -> Origin:
    """What all answers for a setting share, whatever their sigma and their steps.

    >>> from dpcore.privacy.schedule import scheduled
    >>> origin_of_any(Setting(scheduled("step", 0.5, 4.0, 60, 0.5), 100, 0.5, 4.0, 1e-5, "step", 0.5)).words
    'n = 100, q = 0.5, delta = 1e-5, schedule step, rate 0.5'
    """
    schedule = "constant" if setting.schedule == "constant" else f"{setting.schedule}, rate {nearest(setting.rate)}"
    return Origin(setting.n, setting.q, None, None, setting.delta, schedule, link)


def address() -> str:
    """The page with its settings, as a browser opens it; "" where there is none."""
    if not st.context.url:
        return ""
    query = urlencode([(name, value) for name in st.query_params for value in st.query_params.get_all(name)])
    return f"{st.context.url}?{query}" if query else st.context.url
