"""The controls of a run's settings, as the table of settings describes them."""

from dpcore.training.setting_kinds import Count, Number
from dpcore.training.settings import SETTINGS
from pages.parts.controls.number import Quantity, show


def quantity_of(name: str, *, start: float | None = None, key: str | None = None) -> Quantity:
    """The control of a number among the settings; it starts from the default, or from `start`."""
    setting = SETTINGS[name]
    if not isinstance(setting, Number | Count) or setting.slider is None:
        raise ValueError(f"Expected setting={name!r} to be a number with a slider.")
    slider = setting.slider
    return Quantity(
        key or name,
        setting.label,
        show(setting.default if start is None else start),
        slider.low,
        slider.high,
        lambda value: setting.check(name, value),
        slider.left,
        slider.right,
        "\n\n".join(each for each in (slider.help, setting.unit_said) if each),
        whole=isinstance(setting, Count),
        coarse=slider.coarse,
        stops=slider.stops,
        name=name,
    )
