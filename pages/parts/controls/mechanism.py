"""The controls that make a mechanism: sampling, noise, length, delta and schedule, all in the URL."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dpcore import check
from dpcore.figures import schedule_figure
from dpcore.figures.alt_texts import schedule_alt
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.glossary import help_on, linked
from dpcore.privacy.report.numbers import epochs_of, nearest
from dpcore.privacy.schedule import MAX_LEVELS, SCHEDULES, scheduled
from dpcore.training.defaults import defaults
from dpcore.training.optimizers import OPTIMIZERS
from pages.parts.controls import presets
from pages.parts.controls.choice import choice, choice_by_title, choice_of
from pages.parts.controls.faults import or_said
from pages.parts.controls.number import Quantity, epochs_text, number, read, show
from pages.parts.controls.run_setting import quantity_of
from pages.parts.shell.present import SMALL, chart_size
from pages.parts.shell.streamlit_internals import uninterrupted

DEFAULTS = defaults("mnist", "cnn", "sgd")

N = Quantity(
    "n", "Training examples n", str(DEFAULTS.examples), 100, 1e7,
    lambda n: check.whole(1, 10**12, n=n), "fewer people", "more people", whole=True,
    help=help_on("examples"),
)  # fmt: skip
BATCH = replace(quantity_of("batch", start=DEFAULTS.batch), accept=lambda batch: check.whole(1, 10**12, batch=batch))
Q = Quantity(
    "q", "Sampling rate q", f"{DEFAULTS.batch}/{DEFAULTS.examples}", 1e-5, 1,
    lambda q: check.in_range(0, 1, ends="(]", q=q), "more private", "faster, steadier",
    help=help_on("q", "poisson"),
)  # fmt: skip
SIGMA = replace(quantity_of("sigma", start=DEFAULTS.sigma), accept=lambda sigma: check.positive(sigma=sigma))
EPOCHS = quantity_of("epochs", start=DEFAULTS.epochs)
STEPS = Quantity(
    "steps", "Steps T", str(DEFAULTS.steps_of_epochs), 1, 1e6,
    lambda steps: check.whole(1, MAX_STEPS, steps=steps), "more private", "more accurate", whole=True,
    help=help_on("steps"),
)  # fmt: skip
DELTA = quantity_of("delta")
CLIP_NORM = quantity_of("clip_norm", start=DEFAULTS.clip_norm)
UNCHANGED = "Sigma does not change within so few epochs: train longer to see it fall."
NEUTRAL = (
    "Neither the clipping norm nor the optimizer changes epsilon. The noise is sigma times C, so C scales what is "
    "hidden and what hides it alike; and the optimizer only works on the noisy sum that is already released "
    "(post-processing). Both change how accurate the model gets."
)
AFTER = help_on("optimizer", "post_processing")
NOTHING = "Nothing is shown yet: some values do not go together, as the red sentence beside them says."
LAST = "Values do not go together: what is shown belongs to the last settings that did."
GOOD = "last_good_setting"
OPEN = "schedule_open"  # set once a value behind the expander was at fault


@dataclass(frozen=True)
class Setting:
    """What the controls say: a mechanism, and what is needed to speak about it."""

    mechanism: Mechanism
    n: int
    q: float
    sigma: float
    delta: float
    schedule: str
    rate: float

    @property
    def epochs(self) -> float:
        """Expected uses of each example over the whole mechanism."""
        return self.mechanism.steps * self.q

    @property
    def after(self) -> str:
        """The length in words."""
        return after_training(epochs_text(self.mechanism.steps, self.q), self.mechanism.steps)


def after_training(epochs: str, steps: int) -> str:
    """How a sentence about the end of training begins.

    >>> after_training("1", 40), after_training("5000", 200_000)
    ('After 1 epoch (40 steps)', 'After 5,000 epochs (200,000 steps)')
    """
    name = "epoch" if epochs == "1" else "epochs"
    return f"After {float(epochs):,.12g} {name} ({steps:,} {'step' if steps == 1 else 'steps'})"


def setting_in(column: Any, beside: Any) -> Setting:
    """The controls and the schedule's chart in a column.

    Values that do not go together are told at the control at fault, and the page stays with the last setting that did;
    without one it stops.
    """
    with column:
        try:
            setting = st.session_state[GOOD] = mechanism_controls()
        except ValueError as error:
            open_on("rate k=" in str(error), OPEN)
            setting = st.session_state.get(GOOD)
            beside.caption(NOTHING if setting is None else LAST)
            if setting is None:
                st.stop()
        if setting.schedule != "constant":
            figure = schedule_figure(setting.mechanism, size=chart_size())
            st.plotly_chart(figure, key="schedule_chart", config=SMALL, alt=schedule_alt(setting.mechanism))
            if len(setting.mechanism.releases) == 1:
                st.caption(UNCHANGED)
    return setting


def mechanism_controls() -> Setting:
    """Draw the controls; ValueError where values do not go together, which has been said."""
    with st.container(gap="xsmall"):
        return _controls()


def _controls() -> Setting:
    top = st.container(gap="xsmall")
    try:
        return _setting()
    finally:
        with top:  # drawn last: what the URL says is known once the fields are there
            preset_choice()


def _setting() -> Setting:
    n = int(number(N))
    q, wrong_rate = or_said(lambda: rate_control(n), 1.0)
    sigma = number(SIGMA)
    (steps, _), wrong_length = or_said(lambda: steps_control(q), (1, None))
    delta = number(DELTA)
    with st.expander("Schedule, clipping, optimizer", expanded=OPEN in st.session_state):
        schedule, rate = noise_schedule()
        number(CLIP_NORM)
        choice_by_title("Optimizer", tuple(OPTIMIZERS), "optimizer", lambda name: OPTIMIZERS[name].title, AFTER)
        st.caption(NEUTRAL)
    problem = wrong_rate or wrong_length
    if not problem:
        made = lambda: Setting(mechanism_of(schedule, q, sigma, steps, rate), n, q, sigma, delta, schedule, rate)  # noqa: E731
        setting, problem = or_said(made, None)
        if setting:
            return setting
    raise ValueError(problem)


def mechanism_of(schedule: str, q: float, sigma: float, steps: int, rate: float, level: int = 0) -> Mechanism:
    """The mechanism of so many steps; sigma stays for `level` of them (0: an epoch).

    Errors: ValueError says in a sentence which values do not go together.
    """
    check.in_range(0, 1, ends="(]", q=q)
    level = level or max(1, round(min(1 / q, steps)))
    if schedule != "constant" and steps > level * MAX_LEVELS:
        shown = f"epochs={steps * q:,.4g}"
        raise ValueError(f"Expected {shown} to be at most {MAX_LEVELS:,} where sigma changes with every epoch.")
    try:
        return scheduled(schedule, q, sigma, steps, rate, level)
    except ValueError as error:
        raise ValueError(on_schedule(str(error))) from None


@uninterrupted
def _apply_preset() -> None:
    presets.apply(st.session_state["preset"])


def preset_choice() -> None:
    """Draw the choice of settings to start from; after the fields, so that what the URL says is known."""
    texts = {quantity.key: st.session_state.get(quantity.key, quantity.default) for quantity in PRESET_FIELDS}
    custom = (st.session_state.get("sampling"), st.session_state.get("length")) != ("batch", "epochs")
    chosen = st.session_state.get("preset", presets.CUSTOM)
    matches = presets.CUSTOM if custom else presets.current(texts | _schedule_texts(), chosen)
    st.session_state["preset"] = matches
    options = [presets.CUSTOM, *presets.PRESETS]
    st.selectbox("Start from", options, key="preset", on_change=_apply_preset)
    if matches in presets.PRESETS:
        st.caption(f"Source: {linked(presets.PRESETS[matches].source)}.")


PRESET_FIELDS = (N, BATCH, SIGMA, EPOCHS, DELTA, CLIP_NORM)


def _schedule_texts() -> dict[str, str]:
    name = st.session_state.get("schedule", "constant")
    rate = st.session_state.get(f"rate_{name}", show(k.default)) if (k := SCHEDULES[name].rate) else ""
    return {"optimizer": st.session_state.get("optimizer", "sgd"), "schedule": name, "rate": rate}


def rate_control(n: int) -> float:
    """The sampling rate, given as itself or as an expected batch."""
    mode, beside = _mode("sampling", ("batch", "q"), lambda: _carry_rate(n))
    if mode == "q":
        q = number(Q, label=False)
        beside.caption(f"batch {q * n:,.4g} of {n:,}", help=Q.help)
        return q
    batch = number(BATCH, label=False)
    q = rate_of(batch, n)
    beside.caption(f"q = {batch:,.0f}/{n:,} = {nearest(q)}", help=help_on("batch", "q", "poisson"))
    return q


def rate_of(batch: float, n: int) -> float:
    """The sampling rate of an expected batch; ValueError where it is larger than the data."""
    if batch > n:
        raise ValueError(f"Expected batch={batch:.0f} to be at most n={n}; lower the batch or raise n.")
    return batch / n


def steps_control(q: float) -> tuple[int, float | None]:
    """The number of steps, and the epochs (rounded up to steps, as training does) where they are given instead."""
    mode, beside = _mode("length", ("epochs", "steps"), lambda: _carry_length(q))
    if mode == "steps":
        steps = int(number(STEPS, label=False))
        beside.caption(epochs_of(steps * q), help=STEPS.help)
        return steps, None
    epochs = number(EPOCHS, label=False)
    steps = steps_of(epochs, q)
    beside.caption(f"{steps:,} steps", help=f"{EPOCHS.help}\n\n{STEPS.help}")
    return steps, epochs


def steps_of(epochs: float, q: float) -> int:
    """The steps of so many epochs, rounded up; ValueError where they are too many."""
    if epochs > MAX_STEPS * q:
        raise ValueError(f"Expected epochs={epochs:g} to be at most {MAX_STEPS:,} steps; lower the epochs or raise q.")
    return math.ceil(epochs / q - 1e-9)


def _mode(key: str, options: tuple[str, str], carry: Callable[[], None]) -> tuple[str, Any]:
    """Which of two quantities is given, and a place beside the choice for the one that is derived.

    Changing it carries the value over.
    """
    row = st.container(horizontal=True, wrap=False, gap="small", vertical_alignment="center")
    label = f"{options[0]} or {options[1]}".capitalize()
    return choice_of(row, label, options, key, carry, show_label=False), row.empty()


def _carry_rate(n: int) -> None:
    texts = st.session_state
    if texts["sampling"] == "q":
        texts["q"] = f"{texts.get('batch', BATCH.default)}/{n}"
    else:
        q = _read_or(Q, DEFAULTS.q)
        texts["batch"] = show(max(1, round(q * n)))


def _carry_length(q: float) -> None:
    if st.session_state["length"] == "steps":
        st.session_state["steps"] = show(math.ceil(_read_or(EPOCHS, DEFAULTS.epochs) / q - 1e-9))
    else:
        st.session_state["epochs"] = show(_read_or(STEPS, DEFAULTS.steps_of_epochs) * q)


def _read_or(quantity: Quantity, otherwise: float) -> float:
    try:
        return read(quantity, st.session_state.get(quantity.key, quantity.default))
    except ValueError:
        return otherwise


def noise_schedule() -> tuple[str, float]:
    """Draw the noise schedule and its rate, 0 for the constant one."""
    name = choice("Noise schedule", tuple(SCHEDULES), "schedule", help_on("schedule"))
    schedule = SCHEDULES[name]
    if schedule.rate is None:
        return name, 0.0
    st.caption(f"{schedule.title}: {schedule.note}.")
    accept = lambda k: check.in_range(0, math.inf, ends="[)", rate=k)  # noqa: E731
    k = schedule.rate
    return name, number(Quantity(f"rate_{name}", "Rate k", show(k.default), k.low, k.high, accept, name="rate"))


def on_schedule(trouble: str) -> str:
    """What is wrong with a noise schedule, with the name of its control and the way out.

    >>> on_schedule("Expected rate=0.5 to keep sigma from 1e-06 to 1e+09; at step 78 it is -0.23.")
    'Expected rate k=0.5 to keep sigma from 1e-06 to 1e+09; at step 78 it is -0.23. Lower k or the epochs.'
    """
    return f"{trouble.replace('rate=', 'rate k=', 1)} Lower k or the epochs." if " rate=" in trouble else trouble


def open_on(trouble: bool, key: str) -> None:
    """Draw the page anew with its expander of this key open, once, where a value in it is at fault."""
    if trouble and not st.session_state.get(key):
        st.session_state[key] = True
        st.rerun()
