"""The form of a run: its fields, and the run that they describe; without Streamlit.

The method and the input show only the fields that matter for the present choice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dpcore.data.catalogue import absent_of, dataset_of, remedy
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.glossary import help_on
from dpcore.privacy.sampling.base import Poisson
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults, suited_features
from dpcore.training.features.kinds import KINDS, PIXELS
from dpcore.training.gradients.clipping import CLIPPINGS
from dpcore.training.models import ACTIVATIONS, MODELS, models_for
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.optimizers.pi import READINGS
from dpcore.training.plan import PROJECTION_NOTE, plan, steps_of
from dpcore.training.schedules import ACCEPTANCES, LR_SCHEDULES
from dpcore.training.seed_summary import with_seeds
from dpcore.training.settings import DRAWN, MAX_LR, NOISE_GENERATORS, SCALES, SETTINGS, Choice
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
)
from pages.parts.controls.mechanism import ChosenSetting, noise_schedule
from pages.parts.train.run_labels import MAX_RUNS

PUBLIC_EXAMPLES = 1000  # held out by default, if any
LEFT_OUT = ("acceptance", "stop_epsilon")  # also absent from the plain method
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
        if not setting.unusual and name not in LEFT_OUT:
            continue
        if isinstance(setting, Choice):
            plain[name] = str(setting.default)
        else:
            plain[name] = show(setting.default or 0)
    return plain | {"seed": "", "public": show(PUBLIC_EXAMPLES)}


def features_of_input(fields: Fields, dataset: str) -> dict[str, Any]:
    """Read the features of the input, if there is a choice."""
    suited = suited_features(dataset)
    if len(suited) == 1:
        return {}
    notes = {name: KINDS[name].note for name in suited} | {PIXELS.name: ""}
    features = fields.choice(_options("features", suited, lambda name: KINDS[name].title), notes)
    if features != PIXELS.name:
        return {"features": features}
    if dataset_of(dataset).grey:
        return {"pixel_scale": fields.choice(_options("pixel_scale", SCALES))}
    return {}


def method_of(fields: Fields, model: str, optimizer: str, features: str) -> dict[str, Any]:
    """Read the settings of the optimizer, of clipping and of the other parts of the method."""
    fields.note("**Method**")
    fields.note(OPTIMIZERS[optimizer].note)
    chosen = _of_optimizer(fields, optimizer)
    clippings = {name: each.note for name, each in CLIPPINGS.items()}
    chosen["clipping"] = fields.choice(_options("clipping", tuple(CLIPPINGS)), clippings)
    chosen |= _acceptance(fields)
    if MODELS[model].dense and features == PIXELS.name:  # DP-PCA projects pixels
        chosen |= _projection(fields)
    if MODELS[model].wide:
        chosen |= _numbers(fields, "width")
    return chosen | _numbers(fields, "ema")


def schedules(fields: Fields, device: str) -> dict[str, Any]:
    """Read the noise schedule and generator, the learning-rate schedule, and the stopping rule."""
    fields.note("**Noise and learning-rate schedule, stopping**")
    return _noise(fields) | _generator(fields, device) | _learning_rate(fields) | _stopping(fields)


def _options(
    name: str, names: tuple[str, ...], title: Callable[[str], str] | None = None
) -> Options:
    return Options(name, SETTINGS[name].label, tuple(names), title)


def _numbers(fields: Fields, *names: str) -> dict[str, Any]:
    """Read some numbers among the settings of a run."""
    numbers = {}
    for name in names:
        quantity = quantity_of(name)
        value = fields.number(quantity)
        numbers[name] = int(value) if quantity.whole else float(value)
    return numbers


def _of_optimizer(fields: Fields, optimizer: str) -> dict[str, Any]:
    kind = OPTIMIZERS[optimizer]
    chosen = _numbers(fields, "momentum") if kind.momentum else {}
    if kind.by_relevance:
        chosen |= _numbers(fields, "relevance_sigma")
    if len(kind.readings) > 1:
        chosen["reading"] = fields.choice(_options("reading", kind.readings), READINGS)
    return chosen


def _acceptance(fields: Fields) -> dict[str, Any]:
    notes = {**ACCEPTANCES, "none": ""}
    acceptance = fields.choice(_options("acceptance", tuple(ACCEPTANCES)), notes)
    if acceptance == "none":
        return {}
    public = int(fields.number(quantity_of("public", start=PUBLIC_EXAMPLES)))
    return {"acceptance": acceptance, "public": public} | _numbers(fields, "sa_q0", "sa_mu0")


def _projection(fields: Fields) -> dict[str, Any]:
    dimensions = _numbers(fields, "pca")
    if not dimensions["pca"]:
        return {}
    fields.note(PROJECTION_NOTE)
    return dimensions | _numbers(fields, "pca_sigma")


def _noise(fields: Fields) -> dict[str, Any]:
    name, rate = noise_schedule(fields)
    if name == "constant":
        return {}
    return {"schedule": name, "rate": rate} | _numbers(fields, "level_steps")


def _generator(fields: Fields, device: str) -> dict[str, Any]:
    if device != "cuda":  # elsewhere both are AES
        return {}
    options = _options("noise_generator", tuple(NOISE_GENERATORS))
    return {"noise_generator": fields.choice(options, NOISE_GENERATORS)}


def _learning_rate(fields: Fields) -> dict[str, Any]:
    name = fields.choice(_options("lr_schedule", tuple(LR_SCHEDULES)))
    if name == "constant":
        return {}
    return {"lr_schedule": name} | _numbers(fields, "lr_end", "lr_epochs")


def _stopping(fields: Fields) -> dict[str, Any]:
    chosen = _numbers(fields, "stop_epsilon")
    if not chosen["stop_epsilon"]:
        return {}
    options = Options(
        "stop_accountant",
        SETTINGS["stop_accountant"].label,
        (CERTIFIED, *(name for name in ACCOUNTANTS if name != CERTIFIED)),
        title=lambda name: ACCOUNTANTS[name].title,
        help=help_on("accountant"),
    )
    return chosen | {"stop_accountant": fields.choice(options)}


@dataclass(frozen=True)
class Form:
    """The content of the form: the releases, their accounting, and the runs."""

    data: Data
    q: float
    sigma: float
    steps: int
    delta: float
    clip_norm: float
    lr: float
    optimizer: str
    usual: RunConfig  # the defaults of the chosen combination
    method: Mapping[str, Any]  # settings of the method
    device: str
    pinnable: ChosenSetting | None = None  # None if a run of these settings releases something else
    mechanism: Mechanism | None = None  # None if `unaccounted` or `problem` says why
    unaccounted: str = ""
    problem: str = ""  # values that do not go together
    configs: tuple[RunConfig, ...] = ()  # the runs, one for each seed; none if `obstacle` says why
    obstacle: str = ""
    # Accounted for beside Poisson; a run draws its batches where training can, else Poisson's.
    sampler: str = Poisson.name
    # Of the fields; none if they clash.
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def n(self) -> int:
        """The training examples that are not held out."""
        return self.configs[0].examples if self.configs else self.data.n

    @property
    def after(self) -> str:
        return controls.after_training(epochs_text(self.steps, self.q), self.steps)

    def moved(self, key: str, text: str) -> "Form | None":
        """The form with another text in a field; None if that may take long, or the fields clash.

        Errors: ValueError if there is no such field, or the values do not go together.
        """
        if not self.texts or self.method.get("stop_epsilon"):
            return None
        fields = Fields(moved_texts(self.texts, key, text))
        return form_of(fields, self.device)


def form_of(fields: Fields, device: str) -> Form:
    """Read the form for a run on the device.

    Errors: ValueError if the values do not go together and the fields have no earlier good texts.
    """
    data = data_in(fields)
    q = fields.together(lambda: controls.rate(fields, data.n), 1.0)
    sigma = fields.number(NO_NOISE)
    steps, epochs = fields.together(lambda: controls.length(fields, q), (1, None))
    optimizer = fields.choice(controls.OPTIMIZER)
    sampler = controls.sampler_in(fields, data.n)
    delta = fields.number(controls.DELTA)
    method = features_of_input(fields, data.dataset)
    features = method.get("features", PIXELS.name)
    models = tuple(reversed(models_for(data.dataset, features)))
    model = fields.choice(_options("model", models))
    activation = SETTINGS["activation"].default
    if MODELS[model].hidden:
        activation = fields.choice(_options("activation", ACTIVATIONS))
    if dataset_of(data.dataset).images:
        method |= _numbers(fields, "views", "mean_sigma")
    method |= method_of(fields, model, optimizer, features)
    method |= schedules(fields, device)
    usual = defaults(
        data.dataset,
        model,
        optimizer,
        data.source,
        reading=method.get("reading", "scaled"),
        features=features,
    )
    clip_norm = fields.number(clip_norm_of(usual))
    lr = fields.number(learning_rate_of(usual))
    fields.note(controls.NEUTRAL)
    seeds = int(fields.number(SEEDS))
    seed = fields.together(lambda: seed_of(fields.line(SEED)), None)
    form = Form(
        data=data,
        q=q,
        sigma=sigma,
        steps=steps,
        delta=delta,
        clip_norm=clip_norm,
        lr=lr,
        optimizer=optimizer,
        usual=usual,
        method=method | {"model": model, "activation": activation, "seed": seed},
        device=device,
        sampler=sampler,
    )
    if not fields.problem:
        form = fields.together(lambda: _accounted(form, epochs, seeds), form)
    if fields.problem:
        return replace(form, problem=fields.problem)
    return replace(form, texts=fields.read_texts, obstacle=fields.in_words(form.obstacle))


def seed_of(text: str) -> int | None:
    """Read a fixed seed; None for an empty text, which stands for secret seeds."""
    if text and not (text.isdecimal() and len(text) < 20):
        raise ValueError(
            f"Expected seed={text!r} to be a whole number of up to 19 digits, or empty for a secret"
            " one."
        )
    return int(text) if text else None


def baseline_of(config: RunConfig) -> RunConfig:
    """A run without clipping and noise, at a learning rate for gradients of full length."""
    plain = defaults(
        config.dataset,
        config.model,
        config.optimizer,
        config.source,
        private=False,
        features=config.features,
    )
    return replace(
        config,
        private=False,
        lr=plain.lr,
        lr_end=min(config.lr_end * plain.lr / config.lr, MAX_LR),
        epochs=min(plan(config).steps * config.q, config.epochs),  # fewer if stop_epsilon ends it
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


def _accounted(form: Form, epochs: float | None, seeds: int) -> Form:
    """The form with its mechanism, and with its runs or the obstacle to them."""
    mechanism = None
    pinnable = None
    schedule = form.method.get("schedule", "constant")
    rate = form.method.get("rate", 0.0)
    level = form.method.get("level_steps", 0)
    if form.sigma > 0:
        mechanism = controls.mechanism_of(schedule, form.q, form.sigma, form.steps, rate, level)
        if schedule == "constant" or not level:  # pins have no levels
            pinnable = ChosenSetting(
                mechanism, form.data.n, form.q, form.sigma, form.delta, schedule, rate
            )
    try:
        config = _config(form, epochs)
        planned = plan(config)
    # RuntimeError: the stopping accountant has no answer.
    except (ValueError, RuntimeError) as error:
        obstacle = controls.on_schedule(str(error))
        return replace(form, mechanism=mechanism, pinnable=pinnable, obstacle=obstacle)
    form = replace(
        form,
        q=config.q,
        steps=planned.steps,
        mechanism=planned.mechanism,
        pinnable=pinnable if mechanism == planned.mechanism else None,
        unaccounted=planned.unaccounted,
    )
    try:
        config = _drawing(form.sampler, config)
    except ValueError as error:
        return replace(form, obstacle=str(error))
    return replace(form, configs=tuple(with_seeds(config, seeds)))


def _drawing(sampler: str, config: RunConfig) -> RunConfig:
    """The run with batches of the sampler if training draws them, else with Poisson batches.

    Errors: ValueError if the other settings do not go with these batches.
    """
    if sampler not in DRAWN:
        return config
    config = replace(config, sampler=sampler)
    steps_of(config)  # refuses a stop at an epsilon
    return config


def _config(form: Form, epochs: float | None) -> RunConfig:
    """The configuration of the run with Poisson batches; ValueError says why there is none."""
    n = form.data.n
    if not form.data.here:
        words = f"No installed data set has {n:,} examples. Choose another."
        for absent in absent_of(n)[:1]:
            words += f" Full {absent.title} has that many: {remedy(absent)}."
        raise ValueError(words)
    batch = round(form.q * n)
    if batch < 1 or abs(batch - form.q * n) > 1e-6 * batch:
        raise ValueError(
            f"q = {form.q:.4g} of {n:,} examples is not a whole number of examples. Choose a batch"
            " to train."
        )
    return RunConfig(
        dataset=form.data.dataset,
        source=form.data.source,
        optimizer=form.optimizer,
        sigma=form.sigma,
        batch=batch,
        epochs=epochs or float(epochs_text(form.steps, batch / n)),
        delta=form.delta,
        clip_norm=form.clip_norm,
        lr=form.lr,
        **form.method,
    )
