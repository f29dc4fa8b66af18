"""Default settings, and a run's settings in a few words; free of torch."""

from collections.abc import Mapping

from dpcore import check
from dpcore.data.catalogue import DATASETS, dataset_of
from dpcore.training.config import RunConfig
from dpcore.training.features.kinds import PIXELS, SCATTER, SCATTER_UPRIGHT, kinds_for
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import SETTINGS, Choice, Settings
from dpcore.training.slider_stops import show

UPRIGHT = ("mnist",)  # the data sets whose images have a meaningless slant
# What pages open with: at so much noise the price of privacy is seen (recorded.toml).
OPENING_SIGMA = 4.0
# Expected batch for each source, but at most a quarter of the examples.
BATCH = {"sample": 256, "full": 512}


def suited_features(dataset: str) -> tuple[str, ...]:
    """The features of a data set, the default first and pixels last.

    At the pages' defaults a linear model on features is more accurate than a network on pixels, and
    trains faster; `docs/methods.md` ends with the accuracies.

    >>> suited_features("mnist")[0], suited_features("fashion_mnist")[0], suited_features("adult")
    ('scatter_upright', 'scatter', ('pixels',))
    """
    first = SCATTER_UPRIGHT.name if dataset in UPRIGHT else SCATTER.name
    every = kinds_for(dataset_of(dataset))
    return tuple(sorted(every, key=lambda name: (name == PIXELS.name, name != first)))


def defaults(
    dataset: str,
    model: str,
    optimizer: str,
    source: str | None = None,
    *,
    private: bool = True,
    reading: str = "scaled",
    features: str = "pixels",
) -> RunConfig:
    """A configuration that learns well, on the samples within seconds on two cores.

    `docs/methods.md` has its test accuracies on the samples, with the commands. The literal and the
    raw reading release directions of at most C, whatever the gradients' length, so they have their
    own C and rate. All features begin at the rate for pixels.

    >>> defaults("mnist", "cnn", "sgd").lr, defaults("mnist", "cnn", "sgd", private=False).lr
    (1.0, 0.05)
    >>> defaults("mnist", "cnn", "pi_adam").lr
    0.02
    >>> defaults("mnist", "cnn", "pi_adam", reading="literal").lr
    5.0
    """
    check.one_of(OPTIMIZERS, optimizer=optimizer)
    source = dataset_of(dataset).sources[0] if source is None else source
    check.one_of(BATCH, source=source)
    chosen = OPTIMIZERS[optimizer]
    clip_norm = chosen.clip_norm
    lr = chosen.special_lr.get(f"{dataset} {model}", chosen.lr)
    if reading != "scaled" and chosen.directions:
        clip_norm, lr = chosen.directions
    if not private:
        lr = chosen.baseline_lr
    return RunConfig(
        dataset=dataset,
        source=source,
        model=model,
        optimizer=optimizer,
        private=private,
        reading=reading,
        features=features,
        batch=min(BATCH[source], -(-dataset_of(dataset).examples(source) // 4)),
        clip_norm=clip_norm,
        lr=lr,
    )


def usual_of(chosen: Settings, *, private: bool = True) -> RunConfig:
    """The defaults beside the data, the features, the model and the optimizer that are chosen."""
    return defaults(
        chosen.dataset,
        chosen.model,
        chosen.optimizer,
        chosen.source,
        private=private,
        reading=chosen.reading,
        features=chosen.features,
    )


NAMES = sorted(
    (name for name in SETTINGS if name != "private"), key=lambda name: SETTINGS[name].rank
)
UNUSUAL = [name for name in NAMES if SETTINGS[name].unusual]
PLAIN = RunConfig()


def described(config: RunConfig) -> str:
    """A run in a few words.

    >>> described(RunConfig(clipping="per_layer", ema=0.99))
    'MNIST cnn, SGD, sigma 1.23, per layer, EMA 0.99'
    """
    pieces = [
        f"{DATASETS[config.dataset].title} {config.model}",
        phrase("optimizer", config),
        noise_of(config),
    ]
    return ", ".join([*pieces, *(phrase(name, config) for name in unusual_of(config))])


def unusual_of(config: RunConfig) -> list[str]:
    """The settings that a run's description names because they are not the plain ones.

    >>> unusual_of(RunConfig(clipping="per_layer", ema=0.99))
    ['clipping', 'ema']
    """
    return [name for name in UNUSUAL if getattr(config, name) != getattr(PLAIN, name)]


def phrase(name: str, config: RunConfig) -> str:
    """A setting of a run in a word or two.

    >>> phrase("sigma", RunConfig()), phrase("lr", RunConfig())
    ('sigma 1.23', 'lr 0.5')
    """
    setting = SETTINGS[name]
    value = getattr(config, name)
    if setting.off and value == setting.default:
        return setting.off
    if not setting.short:
        return f"{name} {show(value) if isinstance(value, float) else value}"
    if isinstance(setting, Choice) and isinstance(setting.choices, Mapping):
        return setting.short.format(value, of=setting.choices.get(value))
    return setting.short.format(value)


def noise_of(config: RunConfig) -> str:
    """The noise of a run in a word or two."""
    if config.private:
        return phrase("sigma", config)
    return "no privacy"
