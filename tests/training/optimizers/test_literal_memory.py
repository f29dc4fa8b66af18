"""The literal reading forms every example's gradient, a few at a time."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys
from pathlib import Path

import torch

from dpcore.training.config import RunConfig
from dpcore.training.training_run import TrainingRun

def peak():  # in KiB, of this program alone: ru_maxrss would begin with what the parent had
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])


torch.set_num_threads(1)
config = RunConfig(model="mlp", optimizer="pi_adam", reading="literal", batch=600, device="cpu")
run = TrainingRun(config, lambda: 0.0)
x, y = run.train[0][: int(sys.argv[1])], run.train[1][: int(sys.argv[1])]
if len(sys.argv) > 2:
    run.engine.chunk = int(sys.argv[2])
before = peak()
run.descend(1, x, y)
print((peak() - before) / 1024)
"""


def mebibytes(*arguments: int) -> float:
    """What the peak of a step on so many examples adds to the process that takes it."""
    given = [str(argument) for argument in arguments]
    done = subprocess.run([sys.executable, "-c", SCRIPT, *given], capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is on Linux only")


@pytest.mark.long
def test_the_literal_step_of_the_large_network_stays_below_a_gigabyte():
    assert 64 < mebibytes(100) < 953  # 10^9 bytes; the gradients of 100 examples at once alone take 303 MiB


@pytest.mark.long
def test_the_measure_sees_what_all_examples_at_once_would_take():
    assert mebibytes(100, 100) > 953
