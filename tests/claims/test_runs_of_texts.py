"""Which statements of a text are of one training: parts with other names, commands, parts of a
training, and values that change are never joined into a training that nobody made.
"""

import tomllib
from pathlib import Path

import pytest

from dpcore.claims import judge, read
from dpcore.claims.verdict import Standing

PROSE = tomllib.loads(Path(__file__).with_name("prose_of_two.toml").read_text(encoding="utf-8"))
SETTINGS = "sigma = 1.0, q = 0.01, 1000 steps, delta = 1e-5"
COMMAND = "python train.py --sigma {} --sample-rate 0.01 --steps 1000 --delta 1e-5"
YAML = "sigma: 1\n  sample_rate: 0.01\n  steps: 1000\n"
TOML = "sigma = 1\nsample_rate = 0.01\nsteps = 1000\ndelta = 1e-5\n"
APART = (
    f"## MNIST\n{SETTINGS}.\n\n## CIFAR-10\nepsilon = 0.5.",
    f"mnist:\n  {YAML}  delta: 1e-5\ncifar:\n  epsilon: 0.5\n",
    f"[mnist]\n{TOML}\n[cifar]\nepsilon = 0.5\n",
    '{"mnist": {"sigma": 1.0, "sample_rate": 0.01, "steps": 1000}, "cifar": {"epsilon": 0.5}}',
    f"runs:\n- name: A\n  {YAML}  delta: 1e-5\n- name: B\n  epsilon: 0.5\n",
    f"# one\nstep 5 eps 3.0\nstep 9 eps 4.0\n# two\nstep 5 eps 0.4\nstep 9 eps 0.5\n{TOML}",
    f"- MNIST: {SETTINGS}\n- CIFAR-10: epsilon 0.5",
    "Run A: 1000 steps, batch size 600, n = 60000, delta = 1e-5\nRun B: sigma = 1.0, eps = 0.5",
    f"run_1: {SETTINGS}\nrun_2: eps=0.5",
    f"DP-SGD: {SETTINGS}\nPATE: epsilon = 0.5",
    f"{COMMAND.format(1.0)}\n{COMMAND.format(0.5)}\nfinal epsilon: 9.0",
    f"{COMMAND.format(1.0)}\neps = 1.9\n{COMMAND.format(2.0)}\n(killed)",
    f"Each step is (0.01, 1e-7)-DP. {SETTINGS}",
    f"{SETTINGS}. A single step costs epsilon = 0.5.",
    f"We used the Laplace mechanism with epsilon = 1.0. {SETTINGS}",
    f"{SETTINGS}. Doubling the noise gives epsilon = 0.5.",
    "sigma = 1.0 for the first 500 steps and 2.0 afterwards; q = 0.01, delta=1e-5, eps=1, T = 1000",
    "We use batch size 256 per GPU on 8 GPUs, n=60000, sigma=1, 10 epochs, delta=1e-5, eps=1.0",
    (
        "The training was scheduled for 100 epochs but stopped early after 40. sigma=1.0, q=0.01,"
        " delta=1e-5, epsilon=1.0"
    ),
    "Trained for 10 epochs and then for another 20 epochs: sigma=1.0, q=0.01, delta=1e-5, eps=1",
    "ε = 1, 2 and 4 with σ = 4.0, 2.1 and 1.2 respectively; q = 0.01, 1000 steps, delta = 1e-5",
)
TOGETHER = (
    f"## Training\n{SETTINGS}.\n\n## Privacy\nepsilon = 9.5.",
    f"privacy:\n  epsilon: 9.5\n  delta: 1e-5\ntraining:\n  {YAML}",
    f"- Noise: {SETTINGS}\n- Budget: epsilon 9.5",
    f"{COMMAND.format(1.0)}\nprints epsilon = 9.5",
)


@pytest.mark.parametrize("text", [*APART, *PROSE["several"]])
def test_no_verdict_is_on_a_training_that_nobody_made(text: str) -> None:
    for run in read(text).runs:
        verdict = judge(run.claim)
        assert verdict.standing is Standing.INSUFFICIENT, run.claim


@pytest.mark.parametrize("text", TOGETHER)
def test_parts_of_one_training_are_joined(text: str) -> None:
    (run,) = read(text).runs
    assert judge(run.claim).standing is Standing.HOLDS, run.claim


@pytest.mark.parametrize("text", PROSE["one"])
def test_sentences_of_one_training_are_joined(text: str) -> None:
    standings = [judge(run.claim).standing for run in read(text).runs]
    assert Standing.HOLDS in standings
    assert Standing.REFUTED not in standings


def test_values_of_sentences_about_two_are_offered_under_their_names() -> None:
    found = read(PROSE["several"][0])
    assert {each.field for each in found.passed} == {"sigma", "q", "steps", "epsilon", "delta"}
    assert any("the text speaks of several trainings" in each for each in found.left_out)


def test_a_target_is_not_taken_where_the_outcome_is_one_of_several() -> None:
    text = "target_epsilon = 3\n\nOn MNIST we reach epsilon = 2. On CIFAR-10 we reach epsilon = 5."
    assert read(text).claim.epsilon is None


def test_a_label_holds_no_code_for_a_terminal() -> None:
    text = "| run | σ | ε |\n|---|---|---|\n| \x1b]0;A\x07 | 1.0 | 2.0 |\n| B\u202e | 2.0 | 1.0 |\n"
    assert [each.label for each in read(text).runs] == ["]0;A", "B"]


@pytest.mark.parametrize(
    "text",
    [
        "1" * 12_000,
        "1, " * 3000,
        "- sigma: 1\n  eps: 2\n" * 400,
        "eps = 3, " * 900,
        "Note: " + "aa " * 33_000,
    ],
)
def test_odd_texts_are_read_at_once(text: str) -> None:
    assert read(text).runs
