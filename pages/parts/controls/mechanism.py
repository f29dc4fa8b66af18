"""A mechanism and the fields that make it: sampling, noise, length, delta and schedule."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dpcore import check
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.report.numbers import epochs_of, nearest
from dpcore.privacy.sampling import NOT_PROVEN, SAMPLERS
from dpcore.privacy.schedule import MAX_LEVELS, SCHEDULES, Recipe
from dpcore.training.defaults import OPENING_SIGMA, defaults
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import SETTINGS, Slider
from dpcore.training.slider_stops import show
from pages.parts.controls.fields import (
    Fields,
    Options,
    Quantity,
    epochs_text,
    moved_texts,
    own_quantity,
    quantity_in_id,
    quantity_of,
)

DEFAULTS = defaults("mnist", "cnn", "sgd")

N = own_quantity("n", DEFAULTS.examples)
BATCH = replace(
    quantity_of("batch", start=DEFAULTS.batch),
    accept=lambda batch: check.whole(1, 10**12, batch=batch),
)
Q = own_quantity("q", f"{DEFAULTS.batch}/{DEFAULTS.examples}")
SIGMA = replace(
    quantity_of("sigma", start=OPENING_SIGMA), accept=lambda sigma: check.positive(sigma=sigma)
)
EPOCHS = quantity_of("epochs", start=DEFAULTS.epochs)
STEPS = own_quantity("steps", DEFAULTS.steps_of_epochs, MAX_STEPS)
DELTA = quantity_of("delta")
CLIP_NORM = quantity_of("clip_norm", start=DEFAULTS.clip_norm)
SAMPLING = Options("sampling", "Batch or q", ("batch", "q"))
LENGTH = Options("length", "Epochs or steps", ("epochs", "steps"))


def _schedule_note(name: str) -> str:
    schedule = SCHEDULES[name]
    return f"{schedule.title}: {schedule.note}." if schedule.rate else ""


SCHEDULE = Options(
    "schedule",
    "Noise schedule",
    tuple(SCHEDULES),
    help=help_on("schedule"),
    note=_schedule_note,
)
OPTIMIZER = Options(
    "optimizer",
    SETTINGS["optimizer"].label,
    tuple(OPTIMIZERS),
    title=lambda name: OPTIMIZERS[name].title,
    help=help_on("optimizer", "post_processing"),
)
SAMPLER = Options(
    "sampler",
    "How batches are drawn",
    tuple(SAMPLERS),
    title=lambda name: SAMPLERS[name].title,
    help=f"{help_on('sampler', 'adjacency')}\n\n{NOT_PROVEN}",
)
NEUTRAL = (
    "Neither the clipping norm nor the optimizer changes epsilon. The noise is sigma times C, so C"
    " scales what is hidden and what hides it alike; and the optimizer only works on the noisy sum"
    " that is already released (post-processing). Both change how accurate the model gets."
)


@dataclass(frozen=True)
class ChosenSetting:
    """A mechanism with the numbers that were chosen for it."""

    mechanism: Mechanism
    n: int
    q: float
    sigma: float
    delta: float
    schedule: str
    rate: float
    # Of its fields.
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def epochs(self) -> float:
        """Expected uses of each example over the whole mechanism."""
        return self.mechanism.steps * self.q

    @property
    def after(self) -> str:
        """The length in words."""
        return after_training(epochs_text(self.mechanism.steps, self.q), self.mechanism.steps)

    def moved(self, key: str, text: str) -> "ChosenSetting":
        """The setting with another text in one of its fields.

        Errors: ValueError if it has no such field, or the values do not go together.
        """
        return setting_of(Fields(moved_texts(self.texts, key, text)))


def band_first() -> tuple[str, ...]:
    """The certified band, then the accountants that are shown over it."""
    return (CERTIFIED, *(name for name in ACCOUNTANTS if name != CERTIFIED))


def setting_of(fields: Fields) -> ChosenSetting:
    """The setting in the fields; ValueError if the values do not go together."""
    n = int(fields.number(N))
    q = fields.together(lambda: rate(fields, n), 1.0)
    sigma = fields.number(SIGMA)
    steps, _ = fields.together(lambda: length(fields, q), (1, None))
    delta = fields.number(DELTA)
    schedule, k = noise_schedule(fields)
    fields.number(CLIP_NORM)
    fields.choice(OPTIMIZER)
    fields.note(NEUTRAL)
    mechanism = None
    if not fields.problem:
        mechanism = fields.together(lambda: mechanism_of(schedule, q, sigma, steps, k), None)
    if mechanism is None:
        raise ValueError(fields.problem)
    return ChosenSetting(mechanism, n, q, sigma, delta, schedule, k, fields.read_texts)


def sampler_in(fields: Fields, n: int) -> str:
    """The id of the chosen sampler, with its numbers."""
    parts = [fields.choice(SAMPLER)]
    for parameter in SAMPLERS[parts[0]].parameters:
        number = n
        if parameter.name != "examples":
            number = int(fields.number(quantity_in_id(parameter)))
        parts.append(str(number))
    return ":".join(parts)


def after_training(epochs: str, steps: int) -> str:
    """The begin of a sentence about the end of training.

    >>> after_training("1", 40), after_training("5000", 200_000)
    ('After 1 epoch (40 steps)', 'After 5,000 epochs (200,000 steps)')
    """
    name = "epoch" if epochs == "1" else "epochs"
    return f"After {float(epochs):,.12g} {name} ({_steps(steps)})"


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number:,} steps"


def mechanism_of(
    schedule: str, q: float, sigma: float, steps: int, rate: float, level: int = 0
) -> Mechanism:
    """The mechanism of so many steps; sigma stays for `level` of them (0: an epoch).

    Errors: ValueError says in a sentence which values do not go together.
    """
    check.in_range(0, 1, ends="(]", q=q)
    level = level or max(1, round(min(1 / q, steps)))
    if schedule != "constant" and steps > level * MAX_LEVELS:
        shown = f"epochs={steps * q:,.4g}"
        raise ValueError(
            f"Expected {shown} to be at most {MAX_LEVELS:,} where sigma changes with every epoch."
        )
    try:
        return Recipe(schedule, rate, level).mechanism(q, sigma, steps)
    except ValueError as error:
        raise ValueError(on_schedule(str(error))) from None


def rate(fields: Fields, n: int) -> float:
    """The sampling rate, given as itself or as a batch; ValueError if the batch is above n."""
    if fields.choice(SAMPLING) == "q":
        q = fields.number(Q)
        same = {"batch": show(max(1, round(q * n)))}
        fields.beside(SAMPLING, f"batch {q * n:,.4g} of {n:,}", Q.help, same)
        return q
    # Beyond n there is nothing to see.
    slider = replace(BATCH.slider, high=min(BATCH.slider.high, n))
    batch = fields.number(replace(BATCH, slider=slider))
    same = {"q": f"{fields.rows['batch'].text}/{n}"}
    if batch > n:
        fields.beside(SAMPLING, "", "", same)
        raise ValueError(
            f"Expected batch={batch:.0f} to be at most n={n}; lower the batch or raise n."
        )
    q = batch / n
    words = f"q = {batch:,.0f}/{n:,} = {nearest(q)}"
    fields.beside(SAMPLING, words, help_on("batch", "q", "poisson"), same)
    return q


def length(fields: Fields, q: float) -> tuple[int, float | None]:
    """The steps, and the epochs if these are given, which are rounded up as in training."""
    if fields.choice(LENGTH) == "steps":
        steps = int(fields.number(STEPS))
        fields.beside(LENGTH, epochs_of(steps * q), STEPS.help, {"epochs": show(steps * q)})
        return steps, None
    epochs = fields.number(EPOCHS)
    steps = math.ceil(epochs / q - 1e-9)
    same = {"steps": show(steps)}
    if epochs > MAX_STEPS * q:
        fields.beside(LENGTH, "", "", same)
        raise ValueError(
            f"Expected epochs={epochs:g} to be at most {MAX_STEPS:,} steps; lower the epochs or"
            " raise q."
        )
    fields.beside(LENGTH, _steps(steps), f"{EPOCHS.help}\n\n{STEPS.help}", same)
    return steps, epochs


def say_steps(fields: Fields, steps: int) -> None:
    """Note beside the epochs the steps of a run, whose sampler may count them otherwise."""
    row = fields.rows[LENGTH.key]
    if row.text == "epochs":
        fields.rows[LENGTH.key] = row._replace(beside=_steps(steps))


def noise_schedule(fields: Fields) -> tuple[str, float]:
    """The noise schedule and its rate, 0 for the constant one."""
    chosen = fields.choice(SCHEDULE)
    k = SCHEDULES[chosen].rate
    if k is None:
        return chosen, 0.0
    quantity = Quantity(
        key=f"rate_{chosen}",
        label="Rate k",
        default=show(k.default),
        slider=Slider(k.low, k.high),
        accept=lambda value: check.in_range(0, math.inf, ends="[)", rate=value),
        name="rate",
    )
    return chosen, fields.number(quantity)


def on_schedule(trouble: str) -> str:
    """Add the way out to an error of a noise schedule."""
    return f"{trouble} Lower k or the epochs." if " rate=" in trouble else trouble
