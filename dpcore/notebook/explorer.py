"""Sliders over the settings of a run, and below them what the run would cost by every accountant."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from typing import Any, final

import ipywidgets as widgets
import plotly.graph_objects as go

from dpcore import check
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.notebook.controls import control_of, place
from dpcore.notebook.redrawing import redraw
from dpcore.notebook.spending import curves_of, spent_figure, statement_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.report.numbers import marked, nearest, plain, raised
from dpcore.privacy.report.statement import Statement
from dpcore.privacy.report.verdict import verdict
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.plan import plan
from dpcore.training.settings import SETTINGS

CONTROLS = ("dataset", "source", "batch", "sigma", "epochs", "delta")
HEADS = "<tr><th>Accountant</th><th>Epsilon</th><th>What it is worth</th></tr>"
UNCHANGED = "The chart still shows the settings from before."


@final
class Explorer:
    """What `explore` draws. A cell that ends with it shows it; `config` is what its controls say."""

    def __init__(self, config: RunConfig, controls: Iterable[str], accountants: Sequence[str], *, log: bool) -> None:
        self.config = config
        self.curves: dict[str, Curve] = curves_of(config, accountants)
        self.controls = {name: control_of(name, config) for name in controls}
        self.figure = go.FigureWidget(spent_figure(config, self.curves, log=log))
        self.words = widgets.HTML()
        self.widget = widgets.VBox([*self.controls.values(), self.figure, self.words])
        self._accountants, self._log, self._placing = tuple(accountants), log, False
        for control in self.controls.values():
            control.observe(self._moved, "value")
        self._say()

    def set(self, **settings: Any) -> None:
        """Take these settings, of any name in docs/settings.md, also values between two stops of a slider.

        Errors: ValueError or RuntimeError as `explore`'s; then nothing has changed.
        """
        for name in settings:
            check.one_of(SETTINGS, setting=name)
        self._take(replace(self.config, **settings))
        self._placing = True  # the widgets only follow
        try:
            for name in settings.keys() & self.controls.keys():
                place(self.controls[name], name, getattr(self.config, name))
        finally:
            self._placing = False

    @property
    def statement(self) -> Statement:
        """The privacy statement of a run with these settings."""
        return statement_of(self.config)

    def _moved(self, _: object) -> None:
        """A reader has moved a control: the others keep what they say, also where it did not go together before."""
        if self._placing:
            return
        try:
            self._take(replace(self.config, **{name: control.value for name, control in self.controls.items()}))
        except (ValueError, RuntimeError) as error:
            self.words.value = f"<p><b>{escape(str(error))}</b> {UNCHANGED}</p>"

    def _take(self, config: RunConfig) -> None:
        self.curves = curves_of(config, self._accountants)
        self.config = config
        redraw(self.figure, spent_figure(config, self.curves, log=self._log))
        self._say()

    def _say(self) -> None:
        planned, delta = plan(self.config), plain(raised(self.config.delta))
        if planned.mechanism is None:
            self.words.value = f"<p>{escape(planned.unaccounted)}</p>"
            return
        band = self.curves[CERTIFIED]
        rows = "".join(_row(name, curve, band) for name, curve in self.curves.items())
        after = f"After {planned.steps:,} steps of q = {nearest(self.config.q)}, at delta = {delta}:"
        self.words.value = f"<p>{after}</p><table>{HEADS}{rows}</table>"

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self.widget)


def _row(name: str, curve: Curve, band: Curve) -> str:
    cells = (ACCOUNTANTS[name].title, marked(float(curve.epsilon[-1]), curve.kind), verdict(curve, band).text)
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def explore(
    config: RunConfig | None = None,
    controls: Iterable[str] = CONTROLS,
    accountants: Sequence[str] = DEFAULT_ACCOUNTANTS,
    *,
    log: bool = False,
) -> Explorer:
    """Sliders and menus of a run's settings over the figure of its epsilon, which follows them, and the verdicts.

    `config` is where they begin, `controls` which settings are to have one, by their names in docs/settings.md;
    `explore().set(sigma=1.234)` says a number exactly. The certified accountant is always shown.
    Errors: ValueError for settings that do not go together, and names that are not known.
    """
    return Explorer(config or defaults("mnist", "cnn", "sgd"), controls, accountants, log=log)
