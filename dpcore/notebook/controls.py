"""The widget of a run's setting, as the table of settings describes it."""

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets

from dpcore import check
from dpcore.training.config import RunConfig
from dpcore.training.setting_kinds import Choice, Count, Number, Setting, Slider
from dpcore.training.settings import SETTINGS
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
