"""Sliders for the settings of a run, above its epsilon by every accountant."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any, final

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from dpcore import check
from dpcore.figures import charted, curves_figure, epochs_at
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import risks_of
from dpcore.privacy.report.html_table import html_table
from dpcore.privacy.report.numbers import marked, nearest, plain, raised
from dpcore.privacy.report.statement import Statement, statement
from dpcore.privacy.report.verdict import verdict
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.plan import plan
from dpcore.training.settings import SETTINGS, Choice, Count, Number, Setting, Slider
from dpcore.training.slider_stops import grid, show

LABELS = {"description_width": "170px"}
WIDE = {"width": "560px"}


def control_of(name: str, config: RunConfig) -> Any:
    """Make the widget of a setting with its value: a slider for a number, a menu for a choice.

    Errors: ValueError for an unknown setting, or a number without a slider.
    """
    check.one_of(SETTINGS, setting=name)
    setting = SETTINGS[name]
    value = getattr(config, name)
    hint = setting.help
    if isinstance(setting, Choice):
        make = widgets.Dropdown
        options = _titled(setting.choices)
    elif isinstance(setting, Number | Count) and setting.slider is not None:
        make = widgets.SelectionSlider
        options = _stops(setting, setting.slider, value)
        hint = _hint(setting, setting.slider) or hint
    else:
        raise ValueError(f"Expected setting={name!r} to be a choice or a number with a slider.")
    return make(
        options=options,
        value=value,
        description=setting.label,
        tooltip=hint,
        style=LABELS,
        layout=WIDE,
    )


def place(control: Any, name: str, value: Any) -> None:
    """Show a value in the widget of a setting, with a stop of its own where a slider has none."""
    setting = SETTINGS[name]
    if isinstance(setting, Number | Count) and setting.slider:
        control.options = _stops(setting, setting.slider, value)
    control.value = value


def _stops(setting: Number | Count, slider: Slider, value: float) -> list[tuple[str, float]]:
    whole = isinstance(setting, Count)
    stops = slider.stops or grid(slider.low, slider.high, whole, slider.coarse)
    kind = int if whole else float
    return [(show(stop), kind(stop)) for stop in sorted({*stops, value})]


def _titled(choices: Any) -> list[tuple[str, Any]]:
    """Return titles, where the choices have them, with their ids."""
    titled = []
    for name in choices:
        title = str(name)
        if isinstance(choices, Mapping):
            title = getattr(choices[name], "title", title)
        titled.append((title, name))
    return titled


def _hint(setting: Setting, slider: Slider) -> str:
    """Explain a slider, its unit and its ends."""
    sentences = [slider.help, setting.unit_said]
    if slider.left:
        sentences.append(f"Left: {slider.left}.")
    if slider.right:
        sentences.append(f"Right: {slider.right}.")
    return " ".join(filter(None, sentences))


def redraw(shown: go.FigureWidget, figure: go.Figure) -> None:
    """Show the figure in the widget.

    Unchanged sets of lines move in place, by one message to the browser.
    """
    old: Any = shown.data  # plotly's own types do not say what is in it
    new: Any = figure.data
    with shown.batch_update():
        if _names(old) == _names(new):
            for line, moved in zip(old, new, strict=True):
                line.update(moved.to_plotly_json(), overwrite=True)
        else:
            shown.data = ()
            shown.add_traces(new)
        shown.layout = figure.layout


def _names(lines: Any) -> list[str]:
    return [line.name for line in lines]


def curves_of(config: RunConfig, accountants: Iterable[str]) -> dict[str, Curve]:
    """Compute epsilon over the steps of a run, by the accountants and the certified one.

    The result is empty for a run without an epsilon.
    Errors: ValueError for an unknown accountant, or settings without a plan; RuntimeError if the
    numerics give up.
    """
    names = {*accountants, CERTIFIED}
    for name in names:
        check.one_of(ACCOUNTANTS, accountant=name)
    mechanism = plan(config).mechanism
    if mechanism is None:
        return {}
    steps = charted(mechanism)
    curves = {}
    for name, accountant in ACCOUNTANTS.items():
        if name in names:
            curves[name] = accountant.curve(mechanism, steps, config.delta)
    return curves


def spent_figure(config: RunConfig, curves: Mapping[str, Curve], *, log: bool = False) -> go.Figure:
    """Draw the page's figure of epsilon against epoch."""
    mechanism = plan(config).mechanism
    epochs = np.empty(0) if mechanism is None else epochs_at(mechanism, charted(mechanism))
    return curves_figure(curves, epochs, log=log)


def statement_of(config: RunConfig) -> Statement:
    """Return the certified privacy statement of a whole run, as on the page.

    Errors: ValueError for a run without an epsilon.

    >>> print(statement_of(RunConfig(sigma=4.0)).text().splitlines()[0])
    Privacy statement
    """
    mechanism = plan(config).mechanism
    if mechanism is None:
        raise ValueError(f"Expected a run with an epsilon. {plan(config).unaccounted}")
    curve = ACCOUNTANTS[CERTIFIED].curve(mechanism, mechanism.steps, config.delta)
    found = risks_of(tradeoff_bounds(mechanism), config.delta)
    return statement(mechanism, curve, ACCOUNTANTS[CERTIFIED], found, config.examples, config.seed)


CONTROLS = ("dataset", "source", "batch", "sigma", "epochs", "delta")
HEADS = ("Accountant", "Epsilon", "Verdict")
UNCHANGED = "The chart still shows the last valid settings."


@final
class Explorer:
    """The widgets of `explore`, shown by a cell that ends with them.

    `config` has the settings of the controls.
    """

    def __init__(
        self, config: RunConfig, controls: Iterable[str], accountants: Sequence[str], *, log: bool
    ) -> None:
        self.config = config
        self.curves: dict[str, Curve] = curves_of(config, accountants)
        self.controls = {name: control_of(name, config) for name in controls}
        self.figure = go.FigureWidget(spent_figure(config, self.curves, log=log))
        self.words = widgets.HTML()
        self.widget = widgets.VBox([*self.controls.values(), self.figure, self.words])
        self._accountants = tuple(accountants)
        self._log = log
        self._placing = False
        for control in self.controls.values():
            control.observe(self._moved, "value")
        self._say()

    def set(self, **settings: Any) -> None:
        """Set any settings of docs/settings.md, also between two stops of a slider.

        Errors: ValueError or RuntimeError, as of `explore`; then nothing changes.
        """
        for name in settings:
            check.one_of(SETTINGS, setting=name)
        self._take(replace(self.config, **settings))
        self._placing = True  # `_moved` ignores these changes
        try:
            for name in settings.keys() & self.controls.keys():
                place(self.controls[name], name, getattr(self.config, name))
        finally:
            self._placing = False

    @property
    def mechanism(self) -> Mechanism | None:
        """The mechanism that a run with these settings is charged for; None without noise."""
        return plan(self.config).mechanism

    @property
    def statement(self) -> Statement:
        """The privacy statement of a run with these settings."""
        return statement_of(self.config)

    def _moved(self, _: object) -> None:
        """Follow a control that a reader moved, with the values of all others."""
        if self._placing:
            return
        values = {name: control.value for name, control in self.controls.items()}
        try:  # together they may contradict each other
            self._take(replace(self.config, **values))
        except (ValueError, RuntimeError) as error:
            self.words.value = f"<p><b>{escape(str(error))}</b> {UNCHANGED}</p>"

    def _take(self, config: RunConfig) -> None:
        self.curves = curves_of(config, self._accountants)
        self.config = config
        redraw(self.figure, spent_figure(config, self.curves, log=self._log))
        self._say()

    def _say(self) -> None:
        planned = plan(self.config)
        if planned.mechanism is None:
            self.words.value = f"<p>{escape(planned.unaccounted)}</p>"
            return
        band = self.curves[CERTIFIED]
        rows = [_row(name, curve, band) for name, curve in self.curves.items()]
        q = nearest(self.config.q)
        delta = plain(raised(self.config.delta))
        after = f"After {planned.steps:,} steps of q = {q}, at delta = {delta}:"
        self.words.value = f"<p>{after}</p>{html_table(HEADS, rows)}"

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self.widget)


def _row(name: str, curve: Curve, band: Curve) -> list[str]:
    number = marked(curve.last.value, curve.kind, curve.last.lower)
    return [escape(each) for each in (ACCOUNTANTS[name].title, number, verdict(curve, band).text)]


def explore(
    config: RunConfig | None = None,
    controls: Iterable[str] = CONTROLS,
    accountants: Sequence[str] = DEFAULT_ACCOUNTANTS,
    *,
    log: bool = False,
) -> Explorer:
    """Draw sliders and menus for the settings of a run, above its epsilon and the verdicts.

    They start from `config`; `controls` names settings of docs/settings.md.
    `explore().set(sigma=1.234)` sets an exact number. The certified accountant is always shown.
    Errors: ValueError for unknown names and contradictory settings.
    """
    return Explorer(config or defaults("mnist", "cnn", "sgd"), controls, accountants, log=log)
