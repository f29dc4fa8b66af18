"""`python -m dpcore perturb`: one line for each method and epsilon, or one JSON object."""

from statistics import fmean, stdev

from dpcore.__main__ import main
from tests.commands.printed import printed

SMALL = [
    "perturb",
    "--dataset",
    "iris",
    "--classes",
    "setosa,rest",
    "--seeds",
    "2",
    "--epsilon",
    "1",
]


def test_one_object_holds_the_request_the_data_and_a_result_for_each_method_and_epsilon(
    capsys,
) -> None:
    object_ = printed(
        capsys, [*SMALL, "--epsilon", "4", "--method", "output", "--method", "input", "--seed", "3"]
    )
    assert object_["request"]["epsilons"] == [1.0, 4.0]
    assert object_["adjacency"] == "replace-one"
    assert object_["data"]["examples"] == 120
    assert [(each["method"], each["epsilon"]) for each in object_["results"]] == [
        ("output", 1.0),
        ("output", 4.0),
        ("input", 1.0),
        ("input", 4.0),
    ]
    assert all(len(each["accuracies"]) == 2 and each["noise"] > 0 for each in object_["results"])


def test_an_epsilon_that_nothing_keeps_is_not_shown(capsys) -> None:
    methods = [word for name in ("paper_input", "none", "output") for word in ("--method", name)]
    results = {
        each["method"]: each
        for each in printed(capsys, [*SMALL, *methods, "--model", "mlp"])["results"]
    }
    assert [results[name]["epsilon"] for name in ("paper_input", "none", "output")] == [
        None,
        None,
        None,
    ]
    assert "not convex" in results["output"]["obstacles"][0]
    assert main([*SMALL, "--method", "paper_input"]) == 0
    line = next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith("paper_input")
    )
    assert line.split()[1] == "none"
    assert "not private at the requested epsilon 1" in line


def test_a_line_says_epsilon_and_mean_and_spread_of_accuracy_and_gap_over_the_seeds(capsys) -> None:
    asked = [*SMALL, "--method", "objective", "--seed", "3"]
    (found,) = printed(capsys, asked)["results"]
    assert main(asked) == 0
    first, promise, seeded, head, line, last = capsys.readouterr().out.splitlines()
    assert first.startswith(
        "120 training rows, 30 test rows, 5 parameters; without noise: accuracy 100"
    )
    assert promise == "delta = 1e-5; neighbours differ in one replaced row."
    assert seeded.startswith("The seed is fixed")
    assert head.split() == ["method", "epsilon", "noise", "accuracy", "gap"]
    assert line.split()[:2] == ["objective", "1"]
    mean, spread = fmean(found["gaps"]), stdev(found["gaps"])
    assert spread > 0
    assert line.endswith(f" {mean:.3g} +- {spread:.3g}")
    assert line.count(" +- ") == 2
    assert "spends its epsilon" in last
