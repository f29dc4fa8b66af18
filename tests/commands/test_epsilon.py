"""`python -m dpcore epsilon`: its JSON, its table, and both ends of what is proven where batches
are not Poisson's.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dpcore.__main__ import main
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.sampling import SAMPLERS, sampler_of
from tests import golden
from tests.commands.printed import Output, printed

HEADLINE = ["epsilon", "--q", ".01", "--sigma", "4", "--steps", "10000", "--delta", "1e-5"]
SETTING = [
    "epsilon",
    "--q",
    ".1",
    "--sigma",
    "1",
    "--steps",
    "20",
    "--delta",
    "1e-5",
    "--accountant",
    "rdp",
]
ROOT = Path(__file__).parent.parent.parent


def test_the_headline_setting_prints_the_known_numbers(capsys: Output) -> None:
    found = printed(capsys, HEADLINE)
    assert (found["q"], found["sigma"], found["delta"]) == (0.01, 4.0, 1e-5)
    assert len(found["steps"]) == 100
    assert found["steps"][-1] == 10_000
    curves = found["accountants"]
    assert list(curves) == list(ACCOUNTANTS)
    for name, anchor in (
        ("moments", golden.ABADI_MOMENTS),
        ("rdp", golden.ABADI_RDP),
        ("gdp", golden.ABADI_GDP),
    ):
        assert curves[name]["epsilon"][-1] == pytest.approx(anchor.epsilon, abs=anchor.tolerance)
    assert curves["moments"]["kind"] == "upper"
    assert curves["pld"]["kind"] == "certified"
    assert curves["pld"]["lower"][-1] <= 0.9475
    assert curves["pld"]["epsilon"][-1] >= 0.9465
    assert all(len(curve["epsilon"]) == 100 for curve in curves.values())


def test_infinity_is_null_and_explained(capsys: Output) -> None:
    arguments = ["epsilon", "--q", ".9", "--sigma", "5", "--steps", "10", "--delta", "1e-5"]
    zcdp = printed(capsys, [*arguments, "--accountant", "zcdp", "--points", "2"])["accountants"][
        "zcdp"
    ]
    assert zcdp["epsilon"] == [None, None]
    assert "does not exist" in zcdp["note"]
    tiny = [
        "epsilon",
        "--q",
        ".9",
        "--sigma",
        "1e-3",
        "--steps",
        "10",
        "--delta",
        "1e-5",
        "--accountant",
        "gdp",
    ]
    assert printed(capsys, tiny)["accountants"]["gdp"]["note"]


def test_a_schedule_is_echoed_and_changes_the_numbers(capsys: Output) -> None:
    schedule = [
        "--accountant",
        "rdp",
        "--schedule",
        "exponential",
        "--rate",
        ".02",
        "--level-steps",
        "100",
    ]
    found = printed(capsys, HEADLINE + schedule)
    assert (found["schedule"], found["rate"], found["level_steps"]) == ("exponential", 0.02, 100)
    assert found["accountants"]["rdp"]["epsilon"][-1] > 2 * golden.ABADI_RDP.epsilon


def test_the_table_does_not_round_a_bound_down(capsys: Output) -> None:
    assert main(["epsilon", "--q", "1", "--sigma", "2", "--steps", "1", "--delta", "1e-5"]) == 0
    lines = {line.split()[0]: line.split()[1] for line in capsys.readouterr().out.splitlines()[1:]}
    mechanism = Mechanism.constant(1.0, 2.0, 1)
    for name, accountant in ACCOUNTANTS.items():
        if lines[name] != "infinite":
            assert float(lines[name]) >= accountant.curve(mechanism, 1, 1e-5).epsilon[0]


def test_commands_that_compute_and_look_run_without_torch_and_pages() -> None:
    """In one process; `train`, `audit` and `perturb` alone need torch."""
    computing = [HEADLINE, ["papers", "--paper", "002"], ["runs", "list"], ["data", "status"]]
    code = (
        "import sys; from dpcore.__main__ import main; print(sum(main(words) for words in"
        f" {computing}))\nprint(sorted({{'numpy', 'torch', 'streamlit'}} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-2:] == ["0", "['numpy']"]
    words = [
        sys.executable,
        "-m",
        "dpcore",
        *HEADLINE,
        "--points",
        "1",
        "--accountant",
        "rdp",
        "--json",
    ]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["accountants"]["rdp"]["epsilon"][0] == pytest.approx(
        1.0355, abs=2e-4
    )


def test_every_sampler_gives_both_ends_at_every_horizon(capsys: Output) -> None:
    assert "sampler" not in printed(capsys, SETTING)
    for each in SAMPLERS.values():
        name = ":".join([each.name, *(str(number.start) for number in each.parameters)])
        sampler, found = (
            sampler_of(name),
            printed(capsys, [*SETTING, "--sampler", name, "--points", "4"]),
        )
        assert found["steps"] == [5, 10, 15, 20]
        drawn = found["sampler"]
        assert (drawn["name"], drawn["adjacency"]) == (name, sampler.adjacency)
        expected = sampler.curve(0.1, 1.0, [5, 10, 15, 20], 1e-5)
        assert expected.lower is not None
        assert drawn["kind"] == str(expected.kind)
        assert (drawn["epsilon"], drawn["lower"]) == (
            expected.epsilon.tolist(),
            expected.lower.tolist(),
        ), name


def test_bands_are_accounted_for_as_fewer_steps_at_a_larger_rate(capsys: Output) -> None:
    found = printed(capsys, [*SETTING, "--bands", "4", "--points", "4"])
    plain = [
        "epsilon",
        "--q",
        ".4",
        "--sigma",
        "1",
        "--steps",
        "5",
        "--delta",
        "1e-5",
        "--accountant",
        "rdp",
    ]
    expected = printed(capsys, plain)
    assert (found["bands"], found["q"], found["steps"]) == (4, 0.1, [5, 10, 15, 20])
    curve = expected["accountants"]["rdp"]["epsilon"]
    assert found["accountants"]["rdp"]["epsilon"] == [curve[rounds - 1] for rounds in (2, 3, 4, 5)]
