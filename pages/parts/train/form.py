"""The form of a run: its fields, and the run that they describe; without Streamlit.

A setting is asked for where it changes anything beside the settings that were chosen before it, as
its row in `Settings` of `dpcore/training/settings.py` says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from dpcore.data.catalogue import absent_of, remedy
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.glossary import help_on
from dpcore.training.config import RunConfig
from dpcore.training.defaults import suited_features, usual_of
from dpcore.training.features.kinds import PIXELS
from dpcore.training.models import MODELS, models_for
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.plan import PROJECTION_NOTE, Plan, plan, steps_of
from dpcore.training.seed_summary import with_seeds
from dpcore.training.settings import DRAWN, MAX_LR, SETTINGS, Choice, Settings
from dpcore.training.slider_stops import show
from pages.parts.controls import mechanism as controls
from pages.parts.controls.data import Data, data_in
from pages.parts.controls.fields import (
    Fields,
    Line,
    Options,
    Quantity,
    epochs_text,
    moved_texts,
    own_quantity,
    quantity_of,
    text_of,
)
from pages.parts.controls.mechanism import ChosenSetting, noise_schedule
from pages.parts.train.run_labels import MAX_RUNS

STARTS = {"public": 1000}  # numbers to start from that are not the defaults
TITLED = ("features", "stop_accountant")  # choices that are shown by their titles
# Choices with a sentence on the chosen option, but for the options in UNREMARKABLE.
NOTED = ("features", "reading", "clipping", "acceptance", "noise_generator")
UNREMARKABLE = (PIXELS.name, "none")
NO_NOISE = replace(controls.SIGMA, accept=quantity_of("sigma").accept)  # 0 too
SEEDS = own_quantity("seeds", most=MAX_RUNS)
SEED = Line(
    "seed",
    SETTINGS["seed"].label,
    "Each run draws a secret seed by default. A fixed seed makes a run repeatable. Epsilon then"
    " holds only against people who do not know it.",
    max_chars=19,
)


def plain_method() -> dict[str, str]:
    """The texts of the method's fields without any unusual choice.

    >>> [plain_method()[name] for name in ("clipping", "ema", "seed", "public")]
    ['flat', '0', '', '1000']
    """
    plain = {}
    for name, setting in SETTINGS.items():
        if setting.unusual or name == "stop_epsilon":
            plain[name] = text_of(STARTS.get(name, setting.default))
    return plain


@dataclass(frozen=True)
class Form:
    """The content of the form, and the run that it describes."""

    data: Data
    settings: Settings  # of the run, unchecked; batch and epochs follow from `run`
    usual: RunConfig  # the defaults of the chosen combination
    asked_q: float
    asked_steps: int
    asked_mechanism: Mechanism | None  # the steps alone; None without noise, or for a `problem`
    seeds: int
    device: str
    # Accounted for beside Poisson; a run draws its batches where training can, else Poisson's.
    sampler: str
    problem: str = ""  # values that do not go together
    run: RunConfig | None = None  # None if `obstacle` says why
    plan: Plan | None = None  # of the run with Poisson batches
    unaccounted: str = ""  # why there is no mechanism, unless `problem` says so
    obstacle: str = ""
    # Of the fields; none if they clash.
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def sigma(self) -> float:
        return self.settings.sigma

    @property
    def delta(self) -> float:
        return self.settings.delta

    @property
    def clip_norm(self) -> float:
        return self.settings.clip_norm

    @property
    def q(self) -> float:
        return self.run.q if self.run else self.asked_q

    @property
    def n(self) -> int:
        """The training examples that are not held out."""
        return self.run.examples if self.run else self.data.n

    @property
    def steps(self) -> int:
        return self.plan.steps if self.plan else self.asked_steps

    @property
    def after(self) -> str:
        return controls.after_training(epochs_text(self.steps, self.q), self.steps)

    @property
    def mechanism(self) -> Mechanism | None:
        """What the run releases; what its steps would release if there is an obstacle to it."""
        return self.plan.mechanism if self.plan else self.asked_mechanism

    @property
    def pinnable(self) -> ChosenSetting | None:
        """The setting of the steps; None if the run releases something else, or has levels."""
        alone = self.asked_mechanism
        chosen = self.settings
        if alone is None or alone != self.mechanism or chosen.level_steps:
            return None
        return ChosenSetting(
            alone,
            self.data.n,
            self.asked_q,
            chosen.sigma,
            chosen.delta,
            chosen.schedule,
            chosen.rate,
        )

    @property
    def configs(self) -> tuple[RunConfig, ...]:
        """The runs, one for each seed; none if there is an obstacle."""
        if self.run is None or self.obstacle:
            return ()
        return tuple(with_seeds(self.run, self.seeds))

    def moved(self, key: str, text: str) -> "Form | None":
        """The form with another text in a field; None if that may take long, or the fields clash.

        Errors: ValueError if there is no such field, or the values do not go together.
        """
        if not self.texts or self.settings.stop_epsilon:
            return None
        fields = Fields(moved_texts(self.texts, key, text))
        return form_of(fields, self.device)


def form_of(fields: Fields, device: str) -> Form:
    """Read the form for a run on the device.

    Errors: ValueError if the values do not go together and the fields have no earlier good texts.
    """
    data = data_in(fields)
    chosen: Any = SimpleNamespace(**vars(Settings(dataset=data.dataset, source=data.source)))
    q = fields.together(lambda: controls.rate(fields, data.n), 1.0)
    chosen.sigma = fields.number(NO_NOISE)
    steps, epochs = fields.together(lambda: controls.length(fields, q), (1, None))
    # A note among all settings says what it is.
    chosen.optimizer = fields.choice(replace(controls.OPTIMIZER, help=None))
    sampler = controls.sampler_in(fields, data.n)
    chosen.delta = fields.number(controls.DELTA)
    _read_method(fields, chosen)
    _read_schedules(fields, chosen, device)
    usual = usual_of(chosen)
    chosen.clip_norm = fields.number(clip_norm_of(usual))
    chosen.lr = fields.number(learning_rate_of(usual))
    fields.note(controls.NEUTRAL)
    seeds = int(fields.number(SEEDS))
    chosen.seed = fields.together(lambda: seed_of(fields.line(SEED)), None)
    mechanism = None
    if chosen.sigma > 0 and not fields.problem:
        mechanism = fields.together(lambda: _steps_alone(chosen, q, steps), None)
    form = Form(
        data=data,
        settings=Settings(**vars(chosen)),
        usual=usual,
        asked_q=q,
        asked_steps=steps,
        asked_mechanism=mechanism,
        seeds=seeds,
        device=device,
        sampler=sampler,
        problem=fields.problem,
    )
    if form.problem:
        return form
    return _planned(form, epochs, fields)


def _read_method(fields: Fields, chosen: Any) -> None:
    """Read the settings of the input, the model, the optimizer, and the parts of a step."""
    _read(fields, chosen, "features", "pixel_scale", "model", "activation", "views", "mean_sigma")
    fields.note("**Method**")
    fields.note(OPTIMIZERS[chosen.optimizer].note)
    _read(fields, chosen, "momentum", "relevance_sigma", "reading", "clipping")
    _read(fields, chosen, "acceptance", "public", "sa_q0", "sa_mu0")
    if MODELS[chosen.model].dense and chosen.features == PIXELS.name:  # DP-PCA projects pixels
        _read(fields, chosen, "pca")
    if chosen.pca:
        fields.note(PROJECTION_NOTE)
    _read(fields, chosen, "pca_sigma", "width", "ema")


def _read_schedules(fields: Fields, chosen: Any, device: str) -> None:
    """Read the noise schedule and generator, the learning-rate schedule, and the stopping rule."""
    fields.note("**Noise and learning-rate schedule, stopping**")
    chosen.schedule, chosen.rate = noise_schedule(fields)
    _read(fields, chosen, "level_steps")
    if device == "cuda":  # elsewhere both are AES
        _read(fields, chosen, "noise_generator")
    _read(fields, chosen, "lr_schedule", "lr_end", "lr_epochs", "stop_epsilon", "stop_accountant")


def _read(fields: Fields, chosen: Any, *names: str) -> None:
    """Read each of these settings that changes anything beside those that are chosen."""
    for name in names:
        setting = SETTINGS[name]
        if not setting.is_used(chosen):
            continue
        if isinstance(setting, Choice):
            options = _options(name, chosen)
            if options.names == (setting.default,):
                continue
            value = fields.choice(options)
        else:
            quantity = quantity_of(name, start=STARTS.get(name))
            value = fields.number(quantity)
            if quantity.whole:
                value = int(value)
        setattr(chosen, name, value)


def _options(name: str, chosen: Any) -> Options:
    """The options of a choice beside the settings that are chosen."""
    setting: Any = SETTINGS[name]
    names = tuple(setting.choices)
    help = None
    if name == "features":
        names = suited_features(chosen.dataset)
    elif name == "model":
        names = tuple(reversed(models_for(chosen.dataset, chosen.features)))
    elif name == "reading":
        names = OPTIMIZERS[chosen.optimizer].readings
    elif name == "stop_accountant":
        names = controls.band_first()
        help = help_on("accountant")
    title = note = None
    if name in TITLED:
        title = partial(_title, setting.choices)
    if name in NOTED:
        note = partial(_note, setting.choices)
    return Options(name, setting.label, names, title, help, note)


def _title(registry: Mapping[str, Any], option: str) -> str:
    return registry[option].title


def _note(registry: Mapping[str, Any], option: str) -> str:
    about = registry[option]
    if option in UNREMARKABLE:
        return ""
    if isinstance(about, str):
        return about
    return about.note


def _steps_alone(chosen: Any, q: float, steps: int) -> Mechanism:
    return controls.mechanism_of(
        chosen.schedule, q, chosen.sigma, steps, chosen.rate, chosen.level_steps
    )


def _planned(form: Form, epochs: float | None, fields: Fields) -> Form:
    """The form with its run and plan, or with the obstacle to them."""
    try:
        run = _run_of(form, epochs)
        planned = plan(run)
    # RuntimeError: the stopping accountant has no answer.
    except (ValueError, RuntimeError) as error:
        obstacle = fields.in_words(controls.on_schedule(str(error)))
        return replace(form, obstacle=obstacle, texts=fields.read_texts)
    form = replace(
        form, run=run, plan=planned, unaccounted=planned.unaccounted, texts=fields.read_texts
    )
    try:
        run = _drawing(form.sampler, run)
    except ValueError as error:
        return replace(form, obstacle=fields.in_words(str(error)))
    controls.say_steps(fields, run.steps_of_epochs)
    return replace(form, run=run)


def _drawing(sampler: str, run: RunConfig) -> RunConfig:
    """The run with batches of the sampler if training draws them, else with Poisson batches.

    Errors: ValueError if the other settings do not go with these batches.
    """
    if sampler not in DRAWN:
        return run
    run = replace(run, sampler=sampler)
    steps_of(run)  # refuses a stop at an epsilon
    return run


def _run_of(form: Form, epochs: float | None) -> RunConfig:
    """The run of the form with Poisson batches; ValueError says why there is none."""
    n = form.data.n
    if not form.data.here:
        words = f"Calculating only: no data of {n:,} examples are here."
        for absent in absent_of(n)[:1]:
            words += f" Full {absent.title} has that many: {remedy(absent)}."
        raise ValueError(words)
    batch = round(form.asked_q * n)
    is_whole = abs(batch - form.asked_q * n) <= 1e-6 * batch
    if batch < 1 or not is_whole:
        raise ValueError(
            f"q = {form.asked_q:.4g} of {n:,} examples is not a whole number of examples. Choose a"
            " batch to train."
        )
    epochs = epochs or float(epochs_text(form.asked_steps, batch / n))
    values = vars(form.settings) | {"batch": batch, "epochs": epochs}
    return RunConfig(**values)


def seed_of(text: str) -> int | None:
    """Read a fixed seed; None for an empty text, which stands for secret seeds."""
    if not text:
        return None
    if not text.isdecimal() or len(text) >= 20:
        raise ValueError(
            f"Expected seed={text!r} to be a whole number of up to 19 digits, or empty for a secret"
            " one."
        )
    return int(text)


def baseline_of(config: RunConfig) -> RunConfig:
    """A run without clipping and noise, at a learning rate for gradients of full length."""
    plain = usual_of(config, private=False)
    lr_end = min(config.lr_end * plain.lr / config.lr, MAX_LR)
    epochs = config.epochs
    if config.stop_epsilon:  # may end the private run earlier
        epochs = min(plan(config).steps * config.q, epochs)
    return replace(
        config,
        private=False,
        lr=plain.lr,
        lr_end=lr_end,
        epochs=epochs,
        stop_epsilon=0.0,
        acceptance="none",
        reading="scaled",
        clipping="flat",
        noise_generator="auto",
    )


def learning_rate_of(usual: RunConfig) -> Quantity:
    """The field of the learning rate, one for each combination, since their good rates differ."""
    reading = "" if usual.reading == "scaled" else "_literal"
    key = f"lr_{usual.dataset}_{usual.model}_{usual.optimizer}{reading}"
    return quantity_of("lr", start=usual.lr, key=key)


def clip_norm_of(usual: RunConfig) -> Quantity:
    """The field of the clipping norm, with its own key if the optimizer has another default."""
    default = show(usual.clip_norm)
    if default == controls.CLIP_NORM.default:
        return controls.CLIP_NORM
    key = f"{controls.CLIP_NORM.key}_{usual.dataset}_{usual.model}_{usual.optimizer}"
    return replace(controls.CLIP_NORM, key=key, default=default)
