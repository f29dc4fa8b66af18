"""Better features, not better tricks: four recipes that spend the same epsilon, queued by one click, on one chart."""

from dataclasses import replace
from typing import Any

from dpcore.papers.better_features.findings import ID
from dpcore.papers.better_features.recipes import BEST, LINEAR, PAPERS_CNN, RECORD, TITLES, TUNED_CNN, run
from dpcore.papers.records import Recorded, recorded
from dpcore.papers.sa_dpsgd import PAPER as SA_DPSGD
from dpcore.papers.sa_dpsgd.runs import METHODS
from dpcore.papers.sa_dpsgd.runs import run as run_of_method
from dpcore.training.config import RunConfig
from pages.parts.explain.lesson import DATASET, SOURCE, Answer, Lesson, Question, Scene, Step

SCENE = Scene(batch=1024, sigma=2.21, epochs=20.0)
LONGER = replace(SCENE, epochs=4 * SCENE.epochs)
RATES: dict[str, dict[str, Any]] = {  # of each rung, on the sample
    PAPERS_CNN: {"model": "cnn", "lr": 0.5},
    TUNED_CNN: {"model": "cnn", "lr": 4.0, "pixel_scale": "centred"},
    LINEAR: {"features": "scatter", "model": "linear", "lr": 4.0},
    BEST: {"features": "scatter_upright", "model": "linear", "lr": 4.0, "views": 4},
}
SHARED = {"dataset": DATASET, "source": SOURCE, "batch": SCENE.batch, "sigma": SCENE.sigma, "epochs": SCENE.epochs}
RUNGS = tuple(RunConfig(**SHARED, clip_norm=SCENE.clip_norm, delta=SCENE.delta, **own) for own in RATES.values())


def _record(rung: str) -> Recorded | None:
    """What was recorded of a rung on the full data."""
    return recorded(ID, run(DATASET, rung, RECORD))


def _full(rung: str) -> str:
    record = _record(rung)
    return f"**{record.mean:.2f} %**" if record else "not recorded yet"


def _by_features() -> float:
    """Points that features bring on the full data, over the papers' network; none where those are not recorded."""
    network, features = _record(PAPERS_CNN), _record(LINEAR)
    return features.mean - network.mean if network and features else 0.0


def _by_tricks() -> float:
    """Points that the best method of SA-DPSGD's table brings on the same data, over DP-SGD with its activation."""
    place = TITLES[DATASET]
    plain, *others = [recorded(SA_DPSGD.id, run_of_method(place, name)) for name in METHODS if name != "DP-SGD"]
    known = [each.mean for each in others if each]
    return max(known) - plain.mean if plain and known else 0.0


def _points(gain: float) -> str:
    return f"{gain:.2f} points" if gain > 0 else "nothing"


BETTER_FEATURES = Lesson(
    "better_features",
    "Better features, not better tricks",
    (
        Step(
            SCENE,
            lambda scene: (
                f"Four recipes with the same batches and noise, so the same epsilon, {scene.cost()}. Train them: the "
                "curves below are accuracy as it happens. The first is the papers' network, which learns from pixels: "
                f"{_full(PAPERS_CNN)} on the full data."
            ),
            RUNGS,
        ),
        Step(
            SCENE,
            lambda scene: (
                f"The second is the same network, tuned: {_full(TUNED_CNN)} on the full data. Where the data "
                f"are private, tuning is not free: each trial on them spends its own {scene.cost()}."
            ),
            RUNGS,
        ),
        Step(
            SCENE,
            lambda scene: (
                "The third has no network: fixed filters that have seen no data, a linear model behind them. What is "
                f"to be learned is linear, so {scene.cost()} buys more: {_full(LINEAR)}. The fourth sets each digit "
                f"upright and has {RUNGS[-1].views} views of it, averaged before clipping: {_full(BEST)}."
            ),
            RUNGS,
        ),
    ),
    Question(
        SCENE,
        lambda: "A private model must become more accurate, and epsilon stay. What do you try first?",
        (
            Answer(
                "Features from public knowledge.",
                lambda: _by_features() > max(_by_tricks(), 0.0) and LONGER.epsilon() > SCENE.epsilon(),
                lambda: (
                    f"They brought {_points(_by_features())} on the full data, the best trick of a paper on SA-DPSGD "
                    f"{_points(_by_tricks())}."
                ),
            ),
            Answer(
                "A better optimizer.",
                lambda: _by_tricks() >= _by_features(),
                lambda: f"The best one there brought {_points(_by_tricks())}, features {_points(_by_features())}.",
            ),
            Answer(
                "More epochs with the same noise.",
                lambda: LONGER.epsilon() <= SCENE.epsilon(),
                lambda: f"They are not free: epsilon would be {LONGER.cost()} instead of {SCENE.cost()}.",
            ),
        ),
    ),
)
