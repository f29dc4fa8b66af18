"""An answer of Calibrate in words."""

import math

from dpcore.privacy.accountants import ACCOUNTANTS, Kind
from dpcore.privacy.calibration.solve import Answer
from dpcore.privacy.calibration.targets import Target
from dpcore.privacy.report.numbers import WORDS, epochs_of, nearest, outward, plain, raised, spoken
from dpcore.training.slider_stops import show
from pages.parts.calibrate.question import spent
from pages.parts.controls.fields import epochs_text
from pages.parts.controls.mechanism import ChosenSetting

HOLDS_STEPS = ("batch", "q")  # what is solved for so many steps, whatever epochs these are
NOTE_DIGITS = 6  # of epochs in the note that they are not whole
ALL_DIGITS = 12  # of epochs in a field


def value_of(found: Answer) -> str:
    """The solved number, as a field takes it.

    >>> from dpcore.privacy.calibration.solve import solve
    >>> from dpcore.privacy.calibration.targets import EpsilonTarget
    >>> target = EpsilonTarget(1.0, 1e-5)
    >>> value_of(solve("steps", target, q=0.01, sigma=4.0, steps=0, accountant="rdp"))
    '9,375'
    """
    return _quantity_text(found.solved, found.value)


def _quantity_text(solved: str, value: float) -> str:
    return f"{value:,.0f}" if solved in ("steps", "batch") else show(value)


def spent_text(found: Answer) -> str:
    """The cost of the answer, rounded up to three digits, but never past the target."""
    text = outward(found.reading.value, math.ceil)
    return text if float(text) <= found.target.size else show(found.target.size)


def headline(found: Answer) -> str:
    """The solved number, with the epochs of steps and the q of a batch."""
    q = found.mechanism.releases[0].q
    text = f"{found.solved} = {value_of(found)}"
    if found.solved == "steps":
        return f"{text}, or {epochs_of(found.mechanism.steps * q, NOTE_DIGITS)}"
    if found.solved == "batch":
        return f"{text}, or q = {nearest(q)}"
    return text


def held(found: Answer, setting: ChosenSetting) -> str:
    """The steps for which a batch or a q was solved, and the epochs that they are with it.

    "" for other answers, which keep or give the epochs.
    """
    if found.solved not in HOLDS_STEPS:
        return ""
    steps = found.mechanism.steps
    before = _epochs(steps, setting.q)
    after = _epochs(steps, found.mechanism.releases[0].q)
    text = f"Held: {steps:,} steps. With this {found.solved} they are **{after}**"
    return f"{text}." if after == before else f"{text}, not {before}."


def _epochs(steps: int, q: float) -> str:
    """The epochs as their field has them."""
    return epochs_of(float(epochs_text(steps, q)), ALL_DIGITS)


def notes_of(found: Answer) -> list[str]:
    """The notes on an answer, but for that on its epochs where `held` says how many there are."""
    if found.solved not in HOLDS_STEPS:
        return list(found.notes)
    on_epochs = f"{found.mechanism.steps} steps are "
    return [note for note in found.notes if not note.startswith(on_epochs)]


def sentence(found: Answer, exact: float | None = None) -> str:
    """The cost of the answer and the kind of that number; `exact` is it before it was rounded."""
    target = found.target
    reading = found.reading
    where = "" if target.at is None else f" at delta = {plain(raised(target.at))}"
    cost = spent_text(found)
    text = (
        f"It gives **{spoken(target.word, cost, reading.kind)}**, within the target of"
        f" {target.size:g}{where}"
    )
    if reading.kind is Kind.CERTIFIED and reading.lower is not None:
        lower = outward(reading.lower, math.floor)
        text += f". The exact {target.word} lies between {lower} and {cost}."
    else:
        text += f" ({ACCOUNTANTS[found.accountant].title}: {WORDS[reading.kind]})."
    if exact is not None and exact != found.value:
        return f"{text} Exactly: {found.solved} = {show(exact)}."
    if found.beyond is None:
        return text
    beyond = _quantity_text(found.solved, found.beyond)
    return f"{text} At {found.solved} = {beyond}, {target.word} already exceeds the target."


def present_cost(setting: ChosenSetting, target: Target, by: str) -> str:
    """The cost of the present setting, and the side of the target on which it is."""
    now = spent(target, by, setting.mechanism)
    here = f"sigma = {setting.sigma:g}, q = {nearest(setting.q)}, {setting.mechanism.steps:,} steps"
    if math.isinf(now.value):
        return f"This accountant has no {target.word} for your present setting ({here})."
    side = "over the target" if now.value > target.size else "within the target"
    cost = spoken(target.word, outward(now.value, math.ceil), now.kind)
    return f"Your present setting ({here}) gives {cost}, {side}."
