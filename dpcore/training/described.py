"""What a run trains, in a few words."""

from dpcore.data.catalogue import DATASETS
from dpcore.training.config import RunConfig
from dpcore.training.settings import SETTINGS

NAMES = sorted((name for name in SETTINGS if name != "private"), key=lambda name: SETTINGS[name].rank)
UNUSUAL = [name for name in NAMES if SETTINGS[name].unusual]
PLAIN = RunConfig()


def described(config: RunConfig) -> str:
    """A run in a few words.

    >>> described(RunConfig(clipping="per_layer", ema=0.99))
    'MNIST cnn, SGD, sigma 1.23, per layer, EMA 0.99'
    """
    unusual = [name for name in UNUSUAL if getattr(config, name) != getattr(PLAIN, name)]
    pieces = [f"{DATASETS[config.dataset].title} {config.model}", phrase("optimizer", config), noise_of(config)]
    return ", ".join([*pieces, *(phrase(name, config) for name in unusual)])


def phrase(name: str, config: RunConfig) -> str:
    """A setting of a run in a word or two.

    >>> phrase("sigma", RunConfig()), phrase("lr", RunConfig())
    ('sigma 1.23', 'lr 0.5')
    """
    short, value = SETTINGS[name].short, getattr(config, name)
    return short(value) if short else f"{name} {value}"


def noise_of(config: RunConfig) -> str:
    """The noise of a run in a word or two."""
    return phrase("sigma", config) if config.private else "no privacy"
