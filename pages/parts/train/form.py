"""The settings of a mechanism and of its run, the same on every page that trains: what one plays with is in sight."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import streamlit as st

from dpcore import check
from dpcore.data.catalogue import absent_of, remedy
from dpcore.figures import schedule_figure
from dpcore.figures.alt_texts import schedule_alt
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.sampling.poisson import Poisson
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.models import models_for
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.plan import plan
from dpcore.training.seed_summary import with_seeds
from dpcore.training.settings import MOST_LR, SETTINGS
from pages.parts.calibrate.carried import tell_other_data
from pages.parts.controls import mechanism as controls
from pages.parts.controls.choice import choice, choice_by_title
from pages.parts.controls.data import Data, data_control
from pages.parts.controls.faults import noted_at_control, or_said, say
from pages.parts.controls.moved_fields import Values, given, moved
from pages.parts.controls.number import Quantity, epochs_text, number, show
from pages.parts.controls.run_setting import quantity_of
from pages.parts.controls.sampler import sampler_choice
from pages.parts.controls.url_state import keep, recall
from pages.parts.shell.layout import SMALL
from pages.parts.shell.present import chart_size
from pages.parts.train.inputs import activation_of, features_control, views_control
from pages.parts.train.method import batch_controls, method_controls, schedule_controls
from pages.parts.train.rate_hint import rate_hint
from pages.parts.train.run_picker import MOST

MORE = "Delta, schedule, method, model, presets"
NO_NOISE = replace(controls.SIGMA, accept=quantity_of("sigma").accept)  # 0 too

SEEDS = Quantity(
    "seeds", "Runs", "1", 1, MOST, lambda seeds: check.whole(1, MOST, seeds=seeds),
    help=f"{help_on('runs')}\n\nEach has a secret seed of its own; a fixed seed is the first of as many.",
    stops=tuple(range(1, MOST + 1)), whole=True,
)  # fmt: skip
GOOD = "form_good"  # the last form whose values went together


class Chosen(NamedTuple):
    """What stands behind the expander."""

    delta: float
    clip_norm: float
    names: dict[str, Any]  # settings of a run
    method: dict[str, Any]
    seeds: int
    problem: str


@dataclass(frozen=True)
class Form:
    """What the controls say: what is released, what is accounted for, and what would be trained."""

    data: Data
    q: float
    sigma: float
    steps: int
    delta: float
    clip_norm: float
    optimizer: str
    pinnable: controls.Setting | None = (
        None  # None where a run of these settings releases something else than a pin says
    )
    mechanism: Mechanism | None = None  # None where `unaccounted` or `problem` says why
    unaccounted: str = ""
    problem: str = ""  # which values do not go together; it stands beside its control already
    configs: tuple[RunConfig, ...] = ()  # what would be trained, one a seed; none where `obstacle` says why
    obstacle: str = ""
    sampler: str = Poisson.name  # what the same training is accounted for with beside Poisson batches
    values: Values | None = None  # what the fields say, and what stands behind the expander
    chosen: Chosen | None = None

    @property
    def n(self) -> int:
        """Training examples, without those held out."""
        return self.configs[0].examples if self.configs else self.data.n

    @property
    def after(self) -> str:
        """The length in words."""
        return controls.after_training(epochs_text(self.steps, self.q), self.steps)


def settings_form(device: str, sigma: Quantity = controls.SIGMA, *, samplers: bool = False) -> tuple[Form, Any]:
    """Draw the settings of a run on the device; what they say, and a place under the data for what starts it.

    What does not go together is said beside its control, and all of the controls stay. With `samplers` there is also
    the choice of what it is accounted for with.
    """
    with st.container(key="form", gap="xsmall"):
        data = data_control()
        start = st.container(key="start", gap="xsmall")
        tell_other_data(data)
        q, wrong_rate = or_said(lambda: controls.rate_control(data.n), 1.0)
        noise = number(sigma)
        (steps, epochs), wrong_length = or_said(lambda: controls.steps_control(q), (1, None))
        clipping = st.container(key="clip_norm_place")
        optimizer, sampler = _optimizer_and_sampler() if samplers else (_optimizer(), Poisson.name)
        chosen = _behind(data, optimizer, device, clipping, trains=not samplers)
        problem = wrong_rate or wrong_length or chosen.problem
        form = Form(data, q, noise, steps, chosen.delta, chosen.clip_norm, optimizer, problem=problem, sampler=sampler)
        if not problem:
            values = given(Values(data.n, q, noise, steps, chosen.delta), epochs)
            form = replace(_accounted_or_said(form, chosen, epochs), values=values, chosen=chosen)
            noted_at_control(form.obstacle)
        schedule_chart(form, chosen.method.get("schedule", "constant"))
    return form, start


def last_good(form: Form, place: Any) -> Form:
    """The form, or the last one whose values went together, which is said in a place."""
    if not form.problem:
        st.session_state[GOOD] = form
        return form
    good = st.session_state.get(GOOD)
    if good is None:
        return replace(form, unaccounted=controls.NOTHING, obstacle=form.problem)
    place.caption(controls.LAST)
    return replace(good, configs=(), obstacle=form.problem, values=None)


def moved_form(form: Form, key: str, text: str) -> Form | None:
    """The form where the field of this key says this text, without drawing it; None where that may take long.

    Errors: ValueError where the values do not go together.
    """
    if form.values is None or form.chosen is None or form.chosen.method.get("stop_epsilon"):
        return None
    now = moved(form.values, key, text)
    data = form.data if form.data.here else form.data._replace(n=now.n)
    fields = {"data": data, "q": now.q, "sigma": now.sigma, "steps": now.steps, "delta": now.delta}
    bare = Form(**fields, clip_norm=form.clip_norm, optimizer=form.optimizer, values=now, chosen=form.chosen)
    return accounted(bare, form.chosen, now.epochs)


def schedule_chart(form: Form, schedule: str) -> None:
    """Sigma over the epochs, where it changes."""
    if schedule == "constant" or form.mechanism is None:
        return
    st.plotly_chart(
        schedule_figure(form.mechanism, size=chart_size()),
        key="schedule_chart",
        config=SMALL,
        alt=schedule_alt(form.mechanism),
    )
    if len(form.mechanism.releases) == 1:
        st.caption(controls.UNCHANGED)


def baseline_of(config: RunConfig) -> RunConfig:
    """The same run without clipping and noise, at a learning rate that suits gradients of full length."""
    trained = (config.dataset, config.model, config.optimizer, config.source)
    plain = defaults(*trained, private=False, features=config.features)
    shrunk = min(config.lr_end * plain.lr / config.lr, MOST_LR)
    epochs = min(plan(config).steps * config.q, config.epochs)  # less where stop_epsilon would have ended it
    plainly = {"stop_epsilon": 0.0, "acceptance": "none", "reading": "scaled", "clipping": "flat"}
    plainly |= {"noise_generator": "auto"}
    return replace(config, private=False, lr=plain.lr, lr_end=shrunk, epochs=epochs, **plainly)


def _optimizer_and_sampler() -> tuple[str, str]:
    left, right = st.container(key="halves_below").columns(2, gap="small", wrap=False)
    with left:
        optimizer = _optimizer()
    with right:
        return optimizer, sampler_choice()


def _optimizer() -> str:
    titled = lambda name: OPTIMIZERS[name].title  # noqa: E731
    return choice_by_title(SETTINGS["optimizer"].label, tuple(OPTIMIZERS), "optimizer", titled, controls.AFTER)


def _behind(data: Data, optimizer: str, device: str, clipping: Any, *, trains: bool) -> Chosen:
    """Draw what is behind the expander, and the clipping norm in its place before it; `trains` on its own batches."""
    with st.expander(MORE, expanded=controls.OPEN in st.session_state), st.container(gap="xsmall"):
        top = st.container()
        delta = number(controls.DELTA)
        seen = features_control(data.dataset)
        features = seen.get("features", "pixels")
        model = choice(SETTINGS["model"].label, tuple(reversed(models_for(data.dataset, features))), "model")
        rate = st.container()
        activation = activation_of(model)
        method = seen | views_control(data.dataset) | method_controls(model, optimizer, features)
        method |= (batch_controls() if trains else {}) | schedule_controls(device)
        reading = method.get("reading", "scaled")
        usual = defaults(data.dataset, model, optimizer, data.source, reading=reading, features=features)
        with clipping:
            clip_norm = number(clip_norm_of(usual))
        with rate:
            lr = number(learning_rate_of(usual))
        with clipping:
            rate_hint(lr, clip_norm, usual, learning_rate_of(usual).key)
        st.caption(controls.NEUTRAL)
        seeds = int(number(SEEDS))
        seed, problem = or_said(fixed_seed, None)
        with top:  # drawn last: what the URL says is known once the fields are there
            controls.preset_choice()
    names = {"dataset": data.dataset, "source": data.source, "model": model, "activation": activation}
    names |= {"optimizer": optimizer, "lr": lr, "seed": seed}
    return Chosen(delta, clip_norm, names, method, seeds, problem)


def _accounted_or_said(form: Form, chosen: Chosen, epochs: float | None) -> Form:
    try:
        return accounted(form, chosen, epochs)
    except ValueError as error:
        controls.open_on("rate k=" in str(error), controls.OPEN)
        say(str(error))
        return replace(form, problem=str(error))


def accounted(form: Form, chosen: Chosen, epochs: float | None) -> Form:
    """The form with its mechanism, and with what would be trained or why that cannot be.

    Errors: ValueError says in a sentence which values make no mechanism.
    """
    method = chosen.method
    schedule, rate = method.get("schedule", "constant"), method.get("rate", 0.0)
    mechanism = None
    if form.sigma > 0:
        level = method.get("level_steps", 0)
        mechanism = controls.mechanism_of(schedule, form.q, form.sigma, form.steps, rate, level)
    if mechanism is not None and (schedule == "constant" or not method.get("level_steps")):  # a pin keeps no level
        shown = controls.Setting(mechanism, form.data.n, form.q, form.sigma, form.delta, schedule, rate)
        form = replace(form, pinnable=shown)
    try:
        config = _config(form, chosen, epochs)
        planned = plan(config)
    except (ValueError, RuntimeError) as error:  # RuntimeError: the accountant to stop by has no answer
        return replace(form, mechanism=mechanism, obstacle=controls.on_schedule(str(error)))
    configs = tuple(with_seeds(config, chosen.seeds))
    if mechanism != planned.mechanism:
        form = replace(form, pinnable=None)
    settled = {"q": config.q, "steps": planned.steps, "unaccounted": planned.unaccounted, "configs": configs}
    return replace(form, mechanism=planned.mechanism, **settled)


def _config(form: Form, chosen: Chosen, epochs: float | None) -> RunConfig:
    """What would be trained; ValueError says in a sentence why it cannot be."""
    n, batch = form.data.n, round(form.q * form.data.n)
    if not form.data.here:
        absent = "".join(f" {each.title} in full has so many: {remedy(each)}." for each in absent_of(n)[:1])
        raise ValueError(f"There are no data of {n:,} examples here to train on: choose a data set.{absent}")
    if batch < 1 or abs(batch - form.q * n) > 1e-6 * batch:
        raise ValueError(
            f"q = {form.q:.4g} of {n:,} examples is no whole batch: training takes one, so choose a batch."
        )
    epochs = epochs or float(epochs_text(form.steps, batch / n))
    numbers = {"sigma": form.sigma, "batch": batch, "epochs": epochs, "delta": form.delta, "clip_norm": form.clip_norm}
    return RunConfig(**numbers, **chosen.names, **chosen.method)


def fixed_seed() -> int | None:
    """Draw the field of a fixed seed; None where it is left empty, and each run draws a secret one."""
    recall("seed", "")
    text = st.text_input(
        SETTINGS["seed"].label,
        key="seed",
        max_chars=19,
        help="By default each run draws a secret seed. A fixed one makes a run repeatable, and epsilon then holds only "
        "for those who do not know it.",
        bind="query-params",
        persist_state="session",
    ).strip()
    keep("seed", text)
    if text and not text.isdecimal():
        raise ValueError(f"Expected seed={text!r} to be a whole number, or empty for a secret one.")
    return int(text) if text else None


def learning_rate_of(usual: RunConfig) -> Quantity:
    """The learning rate, one for each combination: what suits one of them fails with another."""
    reading = "" if usual.reading == "scaled" else "_literal"
    key = f"lr_{usual.dataset}_{usual.model}_{usual.optimizer}{reading}"
    return quantity_of("lr", start=usual.lr, key=key)


def clip_norm_of(usual: RunConfig) -> Quantity:
    """The clipping norm: a field of its own where the optimizer's default is not the usual one."""
    default = show(usual.clip_norm)
    if default == controls.CLIP_NORM.default:
        return controls.CLIP_NORM
    key = f"{controls.CLIP_NORM.key}_{usual.dataset}_{usual.model}_{usual.optimizer}"
    return replace(controls.CLIP_NORM, key=key, default=default)
