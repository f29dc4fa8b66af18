"""The guided lessons in their order, and the numbers that only one lesson needs.

A lesson is a file beside this one and its name in `LESSONS`. Its sentences take all numbers from
scenes, from ratios of scenes, or from here.
"""

import math
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from dpcore.audit.bounds.binomial import epsilon_with_noise
from dpcore.audit.bounds.finding import TESTS
from dpcore.audit.bounds.noise import factor_below
from dpcore.audit.bounds.one_run import expected_of_one_run, most_of_one_run
from dpcore.audit.bounds.score_laws import score_laws
from dpcore.audit.broken_trainers import BROKEN
from dpcore.audit.request import CANARIES
from dpcore.papers.better_features.recipes import (
    BEST,
    LINEAR,
    PAPERS_CNN,
    RECORD,
    TITLES,
    TUNED_CNN,
    run,
)
from dpcore.papers.pigdo.theorem_3 import MAP, bounded_moment, omitted_moment
from dpcore.papers.records import Recorded, recorded
from dpcore.papers.sa_dpsgd.free_rejections import Selection
from dpcore.papers.sa_dpsgd.rows import METHODS as TABLE_1
from dpcore.papers.sa_dpsgd.rows import run as run_of_method
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import outward, percent, short
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.task import Task
from pages.parts.explain.lesson import DATASET, Scene, read

# Papers.
SA_DPSGD = "001"
BETTER_FEATURES = "005"
REJECTIONS = 10  # in a row
# Of an audit.
PROJECTIONS = 10_000
CONFIDENCE = 0.95


def _smallest_proven(scenes: SimpleNamespace) -> str:
    """The accountant with the smallest proven number."""
    proven = [
        name for name in ("moments", "rdp", "gdp", CERTIFIED) if ACCOUNTANTS[name].kind.is_bound
    ]
    return min(proven, key=scenes.limit.epsilon_by)


def _refuted(scene: Scene) -> bool:
    """True if MMA's theorem promises less than the proven bound where its conditions are met."""
    return not scene.curve("mma").note and scene.epsilon_by("mma") < scene.lower


def _of_proof(scenes: SimpleNamespace) -> tuple[float, float, int]:
    # An order that the theorem's conditions allow.
    return scenes.often.batch / Scene.examples, scenes.often.sigma, 10


def picky(scenes: SimpleNamespace) -> Selection:
    """The rule that keeps extreme results only."""
    return Selection(scenes.accepted.sigma, 3.0, REJECTIONS)


def _proven(scenes: SimpleNamespace) -> float:
    """The lower bound of epsilon if only good proposals are kept."""
    return picky(scenes).epsilon_after(scenes.accepted.steps, scenes.accepted.delta)


def _against(method: str, scenes: SimpleNamespace) -> str:
    """The reasons why a method is not private for a network; "" if it is."""
    task = Task(
        "mlp", Scene.examples, 20, scenes.result.delta, scenes.gradient.steps, None, 0.01, 1.0
    )
    return " ".join(METHODS[method].obstacles(task, scenes.result.epsilon))


def _on_full_data(rung: str) -> Recorded | None:
    return recorded(BETTER_FEATURES, run(DATASET, rung, RECORD))


def _percent(rung: str) -> str:
    record = _on_full_data(rung)
    return f"**{record.mean:.2f} %**" if record else "not recorded yet"


def _gains() -> dict[str, float]:
    """The gain in points on the full data, by the best method of SA-DPSGD's table and by features;
    0 if not recorded.

    The method is compared with DP-SGD with the same activation, features with the papers' network.
    """
    methods = [
        recorded(SA_DPSGD, run_of_method(TITLES[DATASET], name))
        for name in TABLE_1
        if name != "DP-SGD"
    ]
    return {
        "tricks": _gain(*methods),
        "features": _gain(_on_full_data(PAPERS_CNN), _on_full_data(LINEAR)),
    }


def _gain(plain: Recorded | None, *others: Recorded | None) -> float:
    """The gain of the best of the others over the plain one, in points."""
    known = [each.mean for each in others if each]
    return max(known) - plain.mean if plain and known else 0.0


def _points(gain: float) -> str:
    return f"{gain:.2f} points" if gain > 0 else "nothing"


def _noise_at_most(scenes: SimpleNamespace) -> float:
    """An upper bound on the drawn noise over the charged noise, from projections of its spread."""
    part = scenes.drawn.sigma / scenes.claimed.sigma
    return factor_below(PROJECTIONS * part**2, PROJECTIONS, CONFIDENCE)


@cache
def _by_noise(claimed: Scene, factor: float) -> str:
    """The epsilon that the noise audit proves."""
    return (
        f"**{outward(epsilon_with_noise(claimed.mechanism, factor, claimed.delta), math.floor)}**"
    )


@cache
def _by_one_run(claimed: Scene) -> dict[str, str]:
    """The epsilon that the best canaries show in one run, and the one that no guesses exceed."""
    best = expected_of_one_run(score_laws(claimed.mechanism), CANARIES, claimed.delta, CONFIDENCE)
    return {
        "best": short(best),
        "most": short(most_of_one_run(CANARIES, claimed.delta, CONFIDENCE)),
    }


NUMBERS = {
    "disagreement": {
        "titles": {name: each.title for name, each in ACCOUNTANTS.items()},
        "smallest_proven": _smallest_proven,
    },
    "more_steps": {
        "dearer_by_basic_composition": lambda scenes: (
            scenes.long.epsilon_by("naive") / scenes.brief.epsilon_by("naive")
        )
    },
    "broken_proof": {
        "theorem": MAP.place,
        "bounded_moment": lambda scenes: bounded_moment(*_of_proof(scenes)),
        "omitted_moment": lambda scenes: omitted_moment(*_of_proof(scenes)),
        "kept_here": lambda scenes: scenes.louder.epsilon_by("mma") >= scenes.louder.epsilon,
        "refuted_here": lambda scenes: _refuted(scenes.louder),
        "refuted_before": lambda scenes: _refuted(scenes.below),
    },
    "free_rejections": {
        "good": lambda scenes: percent(picky(scenes).good, 0),
        "tries": REJECTIONS,
        "proven": lambda scenes: f"**{outward(_proven(scenes), math.floor)}**",
        "kept_steps_over_proven": lambda scenes: (
            picky(scenes).accepted_only(scenes.accepted.delta, scenes.accepted.steps)
            / _proven(scenes)
        ),
        "all_proposals_over_proven": lambda scenes: (
            picky(scenes).every_proposal(scenes.accepted.delta, scenes.accepted.steps)
            / _proven(scenes)
        ),
    },
    "noise_places": {
        # Each row has noise of its own, over noise on a mean.
        "left_in_mean": math.sqrt(Scene.examples),
        "against_output": lambda scenes: _against("output", scenes),
        "against_gradient": lambda scenes: _against("gradient", scenes),
        "against_input": lambda scenes: _against("input", scenes),
    },
    "better_features": {
        "full": lambda scenes: {
            "papers": _percent(PAPERS_CNN),
            "tuned": _percent(TUNED_CNN),
            "linear": _percent(LINEAR),
            "best": _percent(BEST),
        },
        "gain": lambda scenes: {name: _points(gain) for name, gain in _gains().items()},
        "winner": lambda scenes: max(_gains(), key=_gains().__getitem__),
    },
    "broken_trainer": {
        "trainer": BROKEN["half_noise"].name,
        "projections": PROJECTIONS,
        "noise_at_most": lambda scenes: outward(_noise_at_most(scenes), math.ceil),
        "by_noise": lambda scenes: _by_noise(scenes.claimed, _noise_at_most(scenes)),
        "canaries": CANARIES,
        "by_one_run": lambda scenes: _by_one_run(scenes.claimed),
        "unclipped_fails": BROKEN["no_clipping"].fails,
        "noise_audit_leaves": TESTS["noise"]["untested"],
        "clipping_audit_tests": TESTS["clipping"]["tests"],
    },
}
LESSONS = {
    name: read(Path(__file__).with_name(f"{name}.toml"), NUMBERS.get(name, {}))
    for name in (
        "sampling",
        "shuffled",
        "disagreement",
        "clipping",
        "not_units",
        "more_steps",
        "broken_proof",
        "free_rejections",
        "noise_places",
        "better_features",
        "broken_trainer",
    )
}
