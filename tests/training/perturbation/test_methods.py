"""Models and methods: their fits, their obstacles to privacy, and the names in their README."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import dpcore
from dpcore.training.perturbation.methods import METHODS, Protection
from dpcore.training.perturbation.methods.base import Fits
from dpcore.training.perturbation.methods.objective import ObjectivePerturbation
from dpcore.training.perturbation.minimisers import best, minimiser
from dpcore.training.perturbation.models import MODELS
from tests.training.perturbation.problems import random_problem, streams, task_for

PROBLEM = random_problem(examples=200)
ROOM = Path(dpcore.__file__).parent / "training" / "perturbation"


def solved(problem, regulariser: float, linear: np.ndarray | float = 0.0) -> np.ndarray:
    """The minimiser by SciPy's quasi-Newton method, which shares no code with ours."""

    def loss(theta: np.ndarray) -> float:
        mean = np.logaddexp(0, -problem.labels * (problem.rows @ theta)).mean()
        return mean + regulariser / 2 * theta @ theta + np.sum(linear * theta)

    start = np.zeros(problem.features)
    return minimize(loss, start, method="BFGS", options={"gtol": 1e-9}).x


def test_without_noise_the_minimiser_is_scikit_learns() -> None:
    from sklearn.linear_model import LogisticRegression

    peer = LogisticRegression(C=1 / (200 * 0.01), fit_intercept=False, tol=1e-12, max_iter=10_000)
    peer.fit(PROBLEM.rows, PROBLEM.labels)
    assert best(task_for(PROBLEM), PROBLEM)[0] == pytest.approx(peer.coef_[0], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "gap"), [("output", 1e-6), ("objective", 1e-6), ("gradient", 1e-6), ("input", 1e-4)]
)
def test_the_little_noise_of_epsilon_1e6_leaves_the_minimiser(name: str, gap: float) -> None:
    task = task_for(PROBLEM, steps=1000)
    theta = METHODS[name].fit(Fits(task, PROBLEM, [1e6], streams(1)))
    exact = solved(PROBLEM, task.regulariser)[None]
    losses = [
        float(task.model.losses(each, PROBLEM.rows, PROBLEM.labels, 0.01)[0])
        for each in (theta, exact)
    ]
    assert 0 <= losses[0] - losses[1] + 1e-12 < gap


def test_the_little_noise_of_epsilon_1e6_leaves_stochastic_descent_near_the_minimiser() -> None:
    problem = random_problem(examples=100)
    task = task_for(problem, regulariser=0.1)
    theta = METHODS["bassily"].fit(Fits(task, problem, [1e6], streams(1)))
    exact = solved(problem, 0.1)
    assert np.linalg.norm(theta[0] - exact) < 0.05 * np.linalg.norm(exact)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0])
def test_the_perturbed_objective_is_minimal_where_a_second_solver_finds_it(epsilon: float) -> None:
    task, method = task_for(PROBLEM), ObjectivePerturbation()
    linear = method.noise(task, epsilon) * np.stack([each.normals(4) for each in streams(3)]) / 200
    ours = method.minima(Fits(task, PROBLEM, [epsilon] * 3, streams(3)), linear)
    for theta, each in zip(ours, linear, strict=True):
        assert theta == pytest.approx(
            solved(PROBLEM, method.curvature(task, epsilon), each), rel=1e-4, abs=1e-5
        )


def test_a_method_is_private_where_its_proof_holds_and_never_without_noise_or_as_printed() -> None:
    for model in ["logistic", "mlp"]:
        said = {
            name: METHODS[name].obstacles(task_for(PROBLEM, model_name=model), 1.0)
            for name in METHODS
        }
        assert said["gradient"] == said["bassily"] == said["input"] == (), model
        for name in ["output", "objective"]:
            assert said[name] == () if model == "logistic" else "not convex" in said[name][0], name
        assert "No guarantee" in said["paper_input"][0], model
        assert said["none"], model
    assert METHODS["paper_input"].kind is Protection.NONE


def test_an_epsilon_beyond_the_theorem_of_single_rows_is_kept_where_two_other_bounds_prove_it() -> (
    None
):
    for epsilon in [7.0, 8.0, 12.0]:
        method, task = METHODS["bassily"], task_for(PROBLEM, examples=456)
        assert method.proven(task, epsilon) < epsilon, epsilon  # type: ignore[attr-defined]
        assert method.obstacles(task, epsilon) == (), epsilon


def test_an_epsilon_that_neither_the_theorem_nor_another_bound_covers_is_an_obstacle() -> None:
    method, task = METHODS["bassily"], task_for(PROBLEM, examples=456)
    assert method.proven(task, 1000.0) > 1000  # type: ignore[attr-defined]
    (said,) = method.obstacles(task, 1000.0)
    assert "covers epsilon up to 2 sqrt(ln(1/delta)) = 6.79. We can only confirm epsilon =" in said


def test_noise_that_no_generator_returns_is_an_obstacle_where_it_is_not_paid_for() -> None:
    for name in ["output", "objective", "gradient", "input"]:
        assert (
            "standard deviations" in METHODS[name].obstacles(task_for(PROBLEM, steps=1), 5000.0)[0]
        ), name


def test_the_noise_of_single_rows_keeps_its_epsilon_by_a_proof_of_our_own() -> None:
    for examples in [10, 500, 50_000]:
        for epsilon in [1e-3, 0.1, 1.0, 6.7]:
            task = task_for(PROBLEM, examples=examples)
            assert METHODS["bassily"].proven(task, epsilon) < epsilon, (examples, epsilon)  # type: ignore[attr-defined]


def test_a_third_of_the_noise_of_single_rows_is_found_not_to_be_confirmed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    method, task = METHODS["bassily"], task_for(PROBLEM)
    noise = method.noise(task, 0.25)
    monkeypatch.setattr(type(method), "noise", lambda method, task, epsilon: noise / 3)
    assert "only confirm" in method.obstacles(task, 0.25)[0]


def test_every_method_learns_every_model_to_finite_parameters() -> None:
    for model in ["logistic", "mlp"]:
        for name in METHODS:
            problem = random_problem(examples=30)
            task = task_for(problem, model_name=model, regulariser=0.1)
            thetas = METHODS[name].fit(Fits(task, problem, [0.5, 0.5, 4.0], streams(3)))
            assert thetas.shape == (3, task.parameters), (model, name)
            assert np.isfinite(thetas).all(), (model, name)


def test_the_solver_stops_only_where_its_gradient_is_short_enough() -> None:
    for curvature in [1e-6, 0.01, 10.0]:
        for problem in (PROBLEM, random_problem(examples=20, features=30)):
            theta = minimiser(problem.rows, problem.labels, curvature, 1e-9, 0.3)
            chance = np.exp(-np.logaddexp(0, problem.labels * (problem.rows @ theta)))
            slope = (
                curvature * theta
                + 0.3
                - (problem.labels * chance) @ problem.rows / problem.examples
            )
            assert np.linalg.norm(slope) <= 1e-9, curvature


def test_every_file_of_a_method_has_its_line_in_the_registry() -> None:
    files = {path.stem for path in (ROOM / "methods").glob("*.py")} - {"__init__", "base"}
    assert {type(method).__module__.rpartition(".")[2] for method in METHODS.values()} == files


FEW = random_problem(examples=40, features=3)
STEP = 1e-6


def thetas_of(name: str, count: int) -> np.ndarray:
    """Parameters (count, p) away from where learning starts."""
    return 2 * np.random.default_rng(7).normal(size=(count, MODELS[name].parameters(FEW.features)))


def differences(name: str, theta: np.ndarray) -> np.ndarray:
    """The slope (p,) of the mean loss by central differences."""
    steps = STEP * np.eye(len(theta))
    after, before = (
        MODELS[name].losses(theta + sign * steps, FEW.rows, FEW.labels, 0.0) for sign in (1, -1)
    )
    return (after - before) / (2 * STEP)


def test_gradients_are_those_of_the_losses() -> None:
    for name in MODELS:
        thetas = thetas_of(name, 3)
        found = MODELS[name].gradients(thetas, FEW.rows, FEW.labels)
        assert found == pytest.approx(
            np.stack([differences(name, theta) for theta in thetas]), abs=1e-8
        ), name


def test_the_mean_of_single_rows_clipped_gradients_is_that_of_all_rows() -> None:
    for clip_norm in [None, 0.02, 0.3, 1e3]:
        for name in MODELS:
            model, count = MODELS[name], FEW.examples
            (theta,) = thetas_of(name, 1)
            alone = model.row_gradients(
                np.repeat(theta[None], count, axis=0), FEW.rows, FEW.labels, clip_norm
            )
            (mean,) = model.gradients(theta[None], FEW.rows, FEW.labels, clip_norm)
            assert alone.mean(axis=0) == pytest.approx(mean, rel=1e-12, abs=1e-15), (
                clip_norm,
                name,
            )
            free = model.row_gradients(np.repeat(theta[None], count, axis=0), FEW.rows, FEW.labels)
            lengths = np.linalg.norm(free, axis=1, keepdims=True)
            short = free if clip_norm is None else free / np.maximum(1, lengths / clip_norm)
            assert alone == pytest.approx(short, rel=1e-12, abs=1e-15), (clip_norm, name)


@pytest.mark.parametrize("name", MODELS)
def test_only_a_linear_score_leaves_every_row_a_hessian_of_rank_one_and_no_more_than_the_smoothness(
    name: str,
) -> None:
    model = MODELS[name]
    (theta,) = thetas_of(name, 1)
    steps = STEP * np.eye(len(theta))
    row = FEW.rows[:1]
    after, before = (model.gradients(theta + sign * steps, row, np.ones(1)) for sign in (1, -1))
    sizes = np.sort(np.abs(np.linalg.eigvalsh((after - before) / (2 * STEP))))[::-1]
    assert (sizes[1] < 1e-8) == model.linear
    assert model.smoothness is None or sizes[0] <= model.smoothness


HOMES = [ROOM, ROOM / "methods", ROOM.parent.parent / "privacy"]


def test_nothing_the_readme_names_is_missing_and_theorems_name_their_function_and_tests() -> None:
    text = " ".join((ROOM / "README.md").read_text(encoding="utf-8").split())
    theorems = re.split(r"(?=\*\*Theorem \d|\*\*No theorem)", text)[1:]
    named = [
        name.split(".")
        for name in re.findall(r"`([a-z_]+\.[a-z_]+)`", text)
        if not name.endswith(".py")
    ]
    tests = re.findall(r"`(test_\w+\.py)::(test_\w+)`", text)
    assert len(theorems) > 5
    assert min(len(named), len(tests)) > 10
    missing = [
        each[:60]
        for each in theorems
        if "**Is** `" not in each or "**Attacked by** `test_" not in each
    ]
    for module, function in named:
        paths = [home / f"{module}.py" for home in HOMES if (home / f"{module}.py").exists()]
        missing += (
            []
            if any(f"def {function}(" in path.read_text(encoding="utf-8") for path in paths)
            else [function]
        )
    for file, test in tests:
        missing += (
            []
            if f"def {test}(" in (Path(__file__).parent / file).read_text(encoding="utf-8")
            else [test]
        )
    assert missing == []
