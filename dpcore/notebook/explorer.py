"""Sliders over the settings of a run, and below them the cost of the run by every accountant."""

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
from dpcore.privacy.report.attack_risk import risks_of
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
    """The widget of a setting, which shows its value: a slider of a number, a menu of a choice.

    Errors: ValueError for a setting that is not in the table, or a number without a slider.
    """
    check.one_of(SETTINGS, setting=name)
    setting, value = SETTINGS[name], getattr(config, name)
    if isinstance(setting, Choice):
        return widgets.Dropdown(options=_titled(setting.choices), value=value, **_words(setting, setting.help))
    if not isinstance(setting, Number | Count) or setting.slider is None:
        raise ValueError(f"Expected setting={name!r} to be a choice or a number with a slider.")
    words = _words(setting, _hint(setting, setting.slider) or setting.help)
    return widgets.SelectionSlider(options=_stops(setting, setting.slider, value), value=value, **words)


def place(control: Any, name: str, value: Any) -> None:
    """Make the widget of a setting show a value; between two stops of a slider it gets its own."""
    setting = SETTINGS[name]
    if isinstance(setting, Number | Count) and setting.slider:
        control.options = _stops(setting, setting.slider, value)
    control.value = value


def _stops(setting: Number | Count, slider: Slider, value: float) -> list[tuple[str, float]]:
    whole = isinstance(setting, Count)
    stops = sorted({*(slider.stops or grid(slider.low, slider.high, whole, slider.coarse)), value})
    return [(show(stop), int(stop) if whole else float(stop)) for stop in stops]


def _titled(choices: Any) -> list[tuple[str, Any]]:
    """Ids behind their titles, where what they choose among has titles."""
    if not isinstance(choices, Mapping):
        return [(str(each), each) for each in choices]
    return [(getattr(each, "title", str(name)), name) for name, each in choices.items()]


def _hint(setting: Setting, slider: Slider) -> str:
    """What a slider is for, what it counts, and what its ends mean."""
    ends = (("Left", slider.left), ("Right", slider.right))
    return " ".join(
        each for each in (slider.help, setting.unit_said, *(f"{side}: {end}." for side, end in ends if end)) if each
    )


def _words(setting: Setting, hint: str) -> dict[str, Any]:
    return {"description": setting.label, "tooltip": hint, "style": LABELS, "layout": WIDE}


def redraw(shown: go.FigureWidget, figure: go.Figure) -> None:
    """Make the widget show the figure: lines that stay are moved in place, in one message to the browser."""
    old, new = lines_of(shown), lines_of(figure)
    with shown.batch_update():
        if [line.name for line in old] == [line.name for line in new]:
            for line, moved in zip(old, new, strict=True):
                line.update(moved.to_plotly_json(), overwrite=True)
        else:
            shown.data = ()
            shown.add_traces(new)
        shown.layout = figure.layout


def lines_of(figure: go.Figure | go.FigureWidget) -> list[Any]:
    """The traces of a figure."""
    return list(figure.data)


def curves_of(config: RunConfig, accountants: Iterable[str]) -> dict[str, Curve]:
    """Epsilon over the steps of a run, by the accountants and the certified one; empty where nothing is accounted for.

    Errors: ValueError for an accountant that is not registered, or settings without a plan; RuntimeError where the
    numerics of an accountant give up.
    """
    names = {*accountants, CERTIFIED}
    for name in names:
        check.one_of(ACCOUNTANTS, accountant=name)
    mechanism = plan(config).mechanism
    if mechanism is None:
        return {}
    steps = charted(mechanism)
    return {name: ACCOUNTANTS[name].curve(mechanism, steps, config.delta) for name in ACCOUNTANTS if name in names}


def spent_figure(config: RunConfig, curves: Mapping[str, Curve], *, log: bool = False) -> go.Figure:
    """The page's figure of epsilon against epoch."""
    mechanism = plan(config).mechanism
    if mechanism is None or not curves:
        return curves_figure({}, np.empty(0))
    return curves_figure(curves, epochs_at(mechanism, charted(mechanism)), log=log)


def statement_of(config: RunConfig) -> Statement:
    """The privacy statement of a whole run, certified: the same as the page's.

    Errors: ValueError for a run without privacy, which has none.

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
