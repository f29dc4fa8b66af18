"""The guided lessons in their order, and the numbers that only one lesson needs.

A lesson is a file beside this one and its name in `NAMES`. Its sentences take all numbers from
scenes, from ratios of scenes, or from here. The first one lies in `dpcore/lessons`, where files
that work without the pages find it, too.
"""

import math
from pathlib import Path
from types import SimpleNamespace

from dpcore.audit.bounds.binomial import epsilon_with_noise
from dpcore.audit.bounds.finding import TESTS
from dpcore.audit.bounds.noise import factor_below
from dpcore.audit.bounds.one_run import expected_of_one_run, most_of_one_run
from dpcore.audit.bounds.score_laws import score_laws
from dpcore.audit.broken_trainers import BROKEN
from dpcore.audit.request import CANARIES
from dpcore.lessons import SIXTY_SECONDS
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
from dpcore.training.plan import plan
from dpcore.training.recorded import recorded_at
from pages.parts.explain.lesson import read
from pages.parts.explain.scene import DATASET, SOURCE, Scene

# Papers.
SA_DPSGD = "001"
BETTER_FEATURES = "005"
REJECTIONS = 10  # in a row
# Of an audit.
PROJECTIONS = 10_000
CONFIDENCE = 0.95


def _smallest_proven(scenes: SimpleNamespace) -> str:
    """The accountant with the smallest proven number."""
    names = ("moments", "rdp", "gdp", CERTIFIED)
    proven = [name for name in names if ACCOUNTANTS[name].kind.is_bound]
    return min(proven, key=scenes.limit.epsilon_by)


def _refuted(scene: Scene) -> bool:
    """True if MMA's theorem promises less than the proven bound where its conditions are met."""
    return not scene.curve("mma").note and scene.epsilon_by("mma") < scene.lower


def picky(scenes: SimpleNamespace) -> Selection:
    """The rule that keeps extreme results only."""
    return Selection(scenes.accepted.sigma, 3.0, REJECTIONS)


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
    methods = [name for name in TABLE_1 if name != "DP-SGD"]
    tricks = [recorded(SA_DPSGD, run_of_method(TITLES[DATASET], name)) for name in methods]
    return {
        "tricks": _gain(*tricks),
        "features": _gain(_on_full_data(PAPERS_CNN), _on_full_data(LINEAR)),
    }


def _gain(plain: Recorded | None, *others: Recorded | None) -> float:
    """The gain of the best of the others over the plain one, in points."""
    known = [each.mean for each in others if each]
    if plain is None or not known:
        return 0.0
    return max(known) - plain.mean


def _points(gain: float) -> str:
    return f"{gain:.2f} points" if gain > 0 else "nothing"


def _sixty_seconds(scenes: SimpleNamespace) -> dict[str, object]:
    found = recorded_at(DATASET, SOURCE, scenes.much.epsilon)
    assert found, "much noise has an epsilon that was recorded"
    return {"right": f"{100 * found.accuracy:.1f}", "right_without": f"{100 * found.baseline:.1f}"}


def _disagreement(scenes: SimpleNamespace) -> dict[str, object]:
    return {
        "titles": {name: each.title for name, each in ACCOUNTANTS.items()},
        "smallest_proven": _smallest_proven(scenes),
    }


def _more_steps(scenes: SimpleNamespace) -> dict[str, object]:
    long = scenes.long.epsilon_by("naive")
    return {"dearer_by_basic_composition": long / scenes.brief.epsilon_by("naive")}


def _broken_proof(scenes: SimpleNamespace) -> dict[str, object]:
    q = scenes.often.batch / Scene.examples
    sigma = scenes.often.sigma
    order = 10  # allowed by the theorem's conditions
    louder = scenes.louder
    return {
        "theorem": MAP.place,
        "bounded_moment": bounded_moment(q, sigma, order),
        "omitted_moment": omitted_moment(q, sigma, order),
        "kept_here": louder.epsilon_by("mma") >= louder.epsilon,
        "refuted_here": _refuted(louder),
        "refuted_before": _refuted(scenes.below),
    }


def _free_rejections(scenes: SimpleNamespace) -> dict[str, object]:
    scene = scenes.accepted
    rule = picky(scenes)
    # The lower bound of epsilon if only good proposals are kept.
    proven = rule.epsilon_after(scene.steps, scene.delta)
    return {
        "good": percent(rule.good, 0),
        "tries": REJECTIONS,
        "proven": f"**{outward(proven, math.floor)}**",
        "kept_steps_over_proven": rule.accepted_only(scene.delta, scene.steps) / proven,
        "all_proposals_over_proven": rule.every_proposal(scene.delta, scene.steps) / proven,
    }


def _noise_places(scenes: SimpleNamespace) -> dict[str, object]:
    return {
        # Each row has noise of its own, over noise on a mean.
        "left_in_mean": math.sqrt(Scene.examples),
        "against_output": _against("output", scenes),
        "against_gradient": _against("gradient", scenes),
        "against_input": _against("input", scenes),
    }


def _better_features(scenes: SimpleNamespace) -> dict[str, object]:
    gains = _gains()
    recorded_run = run(DATASET, LINEAR, RECORD)
    mechanism = plan(recorded_run).mechanism
    assert mechanism, "the recorded runs are private"
    return {
        "full_examples": round(recorded_run.batch / mechanism.releases[0].q),
        "full": {
            "papers": _percent(PAPERS_CNN),
            "tuned": _percent(TUNED_CNN),
            "linear": _percent(LINEAR),
            "best": _percent(BEST),
        },
        "gain": {name: _points(gain) for name, gain in gains.items()},
        "winner": max(gains, key=gains.__getitem__),
    }


def _broken_trainer(scenes: SimpleNamespace) -> dict[str, object]:
    """Return the numbers of two audits: of the noise, from projections of its spread, and of one
    run, for the best canaries and at most.
    """
    claimed = scenes.claimed
    part = scenes.drawn.sigma / claimed.sigma
    noise_at_most = factor_below(PROJECTIONS * part**2, PROJECTIONS, CONFIDENCE)
    by_noise = epsilon_with_noise(claimed.mechanism, noise_at_most, claimed.delta)
    laws = score_laws(claimed.mechanism)
    best = expected_of_one_run(laws, CANARIES, claimed.delta, CONFIDENCE)
    most = most_of_one_run(CANARIES, claimed.delta, CONFIDENCE)
    return {
        "trainer": BROKEN["half_noise"].name,
        "projections": PROJECTIONS,
        "noise_at_most": outward(noise_at_most, math.ceil),
        "by_noise": f"**{outward(by_noise, math.floor)}**",
        "canaries": CANARIES,
        "by_one_run": {"best": short(best), "most": short(most)},
        "unclipped_fails": BROKEN["no_clipping"].fails,
        "noise_audit_leaves": TESTS["noise"]["untested"],
        "clipping_audit_tests": TESTS["clipping"]["tests"],
    }


# A lesson -> the function of its scenes that computes its own numbers.
NUMBERS = {
    "sixty_seconds": _sixty_seconds,
    "disagreement": _disagreement,
    "more_steps": _more_steps,
    "broken_proof": _broken_proof,
    "free_rejections": _free_rejections,
    "noise_places": _noise_places,
    "better_features": _better_features,
    "broken_trainer": _broken_trainer,
}
NAMES = (
    "sixty_seconds",
    "more_steps",
    "sampling",
    "clipping",
    "not_units",
    "disagreement",
    "better_features",
    "broken_trainer",
    "spot_the_fault",
    "shuffled",
    "noise_places",
    "broken_proof",
    "free_rejections",
)
LESSONS = {}
for _name in NAMES:
    _file = Path(__file__).with_name(f"{_name}.toml")
    if _name == SIXTY_SECONDS.stem:
        _file = SIXTY_SECONDS
    LESSONS[_name] = read(_file, NUMBERS.get(_name))
