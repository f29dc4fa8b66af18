"""Labels that tell overlaid runs apart in a few words, and the key of their lines."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from dpcore.figures.style import Style, run_styles
from dpcore.runs.history import RunRecord
from dpcore.training.config import RunConfig
from dpcore.training.defaults import NAMES, PLAIN, noise_of, phrase, usual_of
from dpcore.training.settings import SETTINGS
from pages.parts.results.tables import drawn_line

UNSAID = "linear"  # not named if the features are
MAX_PIECES = 4  # of a label, unless more are needed
MAX_RUNS = 6  # on the charts
BY_CHANCE = ", run "  # before the number of a run that differs from another by chance alone
SHARED = [name for name in NAMES if SETTINGS[name].shared]


def labels_of(configs: Sequence[RunConfig]) -> list[str]:
    """The differences of each run from the others; for a single run, its optimizer and noise.

    A learning rate or clipping norm that the optimizer brings along is no difference.

    >>> labels_of([RunConfig(), RunConfig(clipping="auto_s"), RunConfig(private=False)])
    ['flat', 'AUTO-S', 'no privacy']
    """
    if len(configs) == 1:
        return [_alone(configs[0])]
    across = [name for name in SHARED if _differ(name, configs)]
    telling = {}
    for private in (True, False):
        alike = [each for each in configs if each.private is private]
        telling[private] = _telling(alike, across)
    labels = [_label(each, telling[each.private]) for each in configs]
    return numbered(labels, configs)


def numbered(labels: Sequence[str], configs: Sequence[RunConfig]) -> list[str]:
    """The labels, with numbers for runs that differ only in their secret seeds.

    >>> flat, auto = RunConfig(), RunConfig(clipping="auto_s")
    >>> numbered(["flat", "AUTO-S", "flat"], [flat, auto, flat])
    ['flat, run 1', 'AUTO-S', 'flat, run 2']
    """
    drawn = Counter()  # labels of the runs with a secret seed
    for label, config in zip(labels, configs, strict=True):
        if config.seed is None:
            drawn[label] += 1
    met = Counter()
    found = []
    for label, config in zip(labels, configs, strict=True):
        if config.seed is None and label and drawn[label] > 1:
            met[label] += 1
            label += f"{BY_CHANCE}{met[label]}"
        found.append(label)
    return found


def named(labels: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names of runs, each with what its label adds, unless chance alone tells the runs apart.

    >>> named(["sigma 4, run 1", "sigma 4, run 2"], ["Run 14", "Run 10"])
    ['Run 14', 'Run 10']
    >>> named(["flat", "AUTO-S"], ["Run 14", "mine"])
    ['Run 14: flat', 'mine: AUTO-S']
    >>> named(["seed 0", "seed 1"], ["Run 1, seed 0", "mine"])
    ['Run 1, seed 0', 'mine: seed 1']
    """
    telling = [label.partition(BY_CHANCE)[0] for label in labels]
    if len(set(telling)) == 1:
        return list(names)
    found = []
    for name, words in zip(names, telling, strict=True):
        said = name.split(", ")
        added = ", ".join(piece for piece in words.split(", ") if piece not in said)
        found.append(f"{name}: {added}" if added else name)
    return found


class Shown(NamedTuple):
    """The run that some charts show alone: the style of its line, and its entry in the key."""

    style: Style
    entry: str  # as HTML; "" if there is no other run


def shown_alone(watched: Sequence[RunRecord], detail: RunRecord) -> Shown:
    """The style and entry of one of the watched runs."""
    place = [each.run.id for each in watched].index(detail.run.id)
    entry = key_entries(watched)[place] if len(watched) > 1 else ""
    return Shown(run_styles(each.private for each in watched)[place], entry)


def key_entries(watched: Sequence[RunRecord]) -> list[str]:
    """The entry of each run in the key as HTML: its number, a piece of its line and its label."""
    entries = []
    styles = run_styles(each.private for each in watched)
    for number, (each, style) in enumerate(zip(watched, styles, strict=True), 1):
        numbered = f"{number}: " if len(watched) > 1 else ""
        entries.append(f"<span>{numbered}{drawn_line(style)} {escape(each.label)}</span>")
    return entries


def _telling(configs: Sequence[RunConfig], across: Sequence[str]) -> list[str]:
    """The settings to name: the first few that tell the runs apart as well as all do."""
    names = [name for name in NAMES if name in across or _differ(name, configs)]
    apart = _kinds(configs, names)
    least = 0
    while _kinds(configs, names[:least]) < apart:
        least += 1
    return names[: max(MAX_PIECES, least)]


def _kinds(configs: Sequence[RunConfig], names: Sequence[str]) -> int:
    """The number of runs that differ in these settings."""
    kinds = set()
    for config in configs:
        kinds.add(tuple(getattr(config, name) for name in names))
    return len(kinds)


def _differ(name: str, configs: Sequence[RunConfig]) -> bool:
    """True if the runs differ in the setting beyond their optimizers' defaults."""
    all_private = all(config.private for config in configs)
    if SETTINGS[name].of_noise and not all_private:
        return False
    users = [config for config in configs if SETTINGS[name].is_used(config)]
    values = {getattr(config, name) for config in users or configs}
    if len(values) > 1 and name in ("lr", "clip_norm"):
        values = {_chosen(name, config) for config in users}
    return len(values) > 1


def _chosen(name: str, config: RunConfig) -> float | None:
    """The value, or None for the default of this training."""
    usual = usual_of(config, private=config.private)
    value = getattr(config, name)
    if value == getattr(usual, name):
        return None
    return value


def _label(config: RunConfig, names: Sequence[str]) -> str:
    """The unusual pieces, or all of them if none is unusual."""
    used = [name for name in names if SETTINGS[name].is_used(config)]
    has_features = "features" in used and config.features != PLAIN.features
    every = []
    unusual = []
    for name in used:
        if name == "model" and config.model == UNSAID and has_features:
            continue
        piece = phrase(name, config)
        every.append(piece)
        if not _plain(name, config):
            unusual.append(piece)
    if not config.private:
        return ", ".join(["no privacy", *unusual])
    return ", ".join(unusual or every) or _alone(config)


def _plain(name: str, config: RunConfig) -> bool:
    return SETTINGS[name].unusual and getattr(config, name) == getattr(PLAIN, name)


def _alone(config: RunConfig) -> str:
    if config.optimizer == "sgd":
        return noise_of(config)
    return f"{phrase('optimizer', config)}, {noise_of(config)}"
