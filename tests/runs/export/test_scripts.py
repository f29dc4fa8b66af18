"""Each exported script runs as it stands, in a process of its own, and agrees with the run."""

import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.runs.export import FORMS, RunRecord, TextForm
from dpcore.runs.export.scripts import obstacle
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Started, Stepped
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.settings import Number, row
from tests.runs.export.recorded_runs import TINY, trained

ROOT = Path(__file__).parents[3]


def text_of(form: str, record: RunRecord) -> str:
    found = FORMS[form]
    assert isinstance(found, TextForm)
    return found.write([record])


def ran(folder: Path, text: str, name: str = "script.py") -> subprocess.CompletedProcess[str]:
    """A script, run in a process of its own with warnings as errors."""
    (folder / name).write_text(text, encoding="utf-8")
    words, env = [sys.executable, "-W", "error", name], {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=200, check=False
    )


def printed(folder: Path, text: str, name: str = "script.py") -> str:
    """What a script prints whose exit status is 0."""
    done = ran(folder, text, name)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_run_with_a_chosen_seed_is_repeated_bit_for_bit(store: Store, tmp_path: Path) -> None:
    record, parameters = trained(store, replace(TINY, schedule="exponential", rate=0.05, ema=0.9))
    out = printed(tmp_path, text_of("script", record))
    assert " was " not in out  # all of its origin is as it was
    assert f"parameters {parameters}\n" in out
    accuracy = record.history.finished.accuracy if record.history.finished else None
    assert out.endswith(f"accuracy {accuracy} recorded {accuracy}\n")


@pytest.mark.long
def test_a_run_with_a_secret_seed_is_repeated_with_fresh_noise(
    store: Store, tmp_path: Path
) -> None:
    record, parameters = trained(store, replace(TINY, seed=None))
    text = text_of("script", record)
    assert "draws fresh noise" in text
    out = printed(tmp_path, text)
    (other,) = re.findall(r"^parameters (\w{64})$", out, flags=re.MULTILINE)
    assert other != parameters


# Every example in every batch, and noise too weak to see: both programs take the same steps.
SURE = replace(TINY, public=9_900, batch=100, epochs=12, sigma=1e-5, lr=2.0)


@pytest.mark.long
@pytest.mark.parametrize(
    "config",
    [
        SURE,
        replace(SURE, optimizer="rmsprop", lr=3.0, lr_schedule="linear", activation="relu"),
        replace(SURE, optimizer="adam", lr=0.01, model="cnn", width=1000),
        replace(SURE, optimizer="adagrad", lr=0.5, model="abadi"),
    ],
    ids=lambda config: config.optimizer,
)
def test_opacus_comes_to_the_same_accuracy_where_noise_is_too_weak_to_see(
    store: Store, tmp_path: Path, config: RunConfig
) -> None:
    record, _ = trained(store, config)
    # A name that hides the package's.
    out = printed(tmp_path, text_of("opacus", record), "opacus.py")
    found = re.search(r"^accuracy ([\d.]+) recorded ([\d.]+)$", out, flags=re.MULTILINE)
    assert found
    theirs, ours = map(float, found.groups())
    assert record.history.finished
    assert ours == record.history.finished.accuracy > 0.3
    assert theirs == pytest.approx(ours, abs=5 / 2000)  # five test images


@pytest.mark.long
def test_opacus_trains_a_run_with_noise_and_poisson_batches(store: Store, tmp_path: Path) -> None:
    record, _ = trained(
        store, replace(TINY, batch=4, epochs=0.01, schedule="exponential", rate=0.1)
    )
    # Of 4 expected examples: some batches are empty.
    out = printed(tmp_path, text_of("opacus", record))
    found = re.search(
        r"^steps 25 epsilon ([\d.]+) by Opacus at delta 1e-05$", out, flags=re.MULTILINE
    )
    assert found
    assert record.released
    certified = ACCOUNTANTS[CERTIFIED].curve(record.released, [25], 1e-5)
    assert certified.lower is not None
    assert float(found[1]) > certified.lower[-1]  # its Renyi bound


def test_what_opacus_does_not_have_is_a_sentence(store: Store) -> None:
    for changes, why in (
        ({"private": False}, "the run has no noise"),
        ({"sigma": 0.0}, "the run has no noise"),
        ({"optimizer": "pi_adam"}, "it has no optimizer pi_adam"),
        ({"clipping": "per_layer"}, "it has no clipping per_layer"),
        ({"pca": 60}, "it has no DP-PCA"),
        ({"acceptance": "sa", "public": 100}, "it accepts every step"),
        (
            {"device": "auto", "noise_generator": "secure"},
            "the script does not use noise_generator",
        ),
        (
            {"dataset": "imdb", "model": "imdb", "source": "full"},
            "its gradients of ids were never compared",
        ),
    ):
        config = replace(TINY, **changes)  # type: ignore[arg-type]
        assert obstacle(config).startswith(why)
        with pytest.raises(ValueError, match=f"Opacus cannot repeat run .*: {why}"):
            text_of("opacus", begun(store, config))


@dataclass(frozen=True)
class Grown(RunConfig):
    """A run with a setting more, of which the script has not heard."""

    lr_floor: float = row(
        Number(default=0.0, low=0, label="Least learning rate", help="no step has a smaller one")
    )


def test_a_setting_that_the_script_does_not_know_is_an_obstacle_unless_it_is_at_its_default() -> (
    None
):
    assert obstacle(Grown()) == ""
    assert (
        obstacle(Grown(lr_floor=0.25)) == "the script does not use lr_floor (Least learning rate)"
    )
    assert obstacle(Grown(lr_floor=0.25, clipping="auto_s")).startswith("it has no clipping auto_s")


def test_an_optimizer_that_torch_has_is_one_that_opacus_has() -> None:
    can = {name for name in OPTIMIZERS if not obstacle(replace(TINY, optimizer=name))}
    assert (
        can
        == {name for name, optimizer in OPTIMIZERS.items() if optimizer.in_torch}
        >= {"sgd", "adam"}
    )


def begun(store: Store, config: RunConfig, steps: int = 7) -> RunRecord:
    """A run that was cancelled after some steps, of which only is recorded what a test needs."""
    from dpcore.runs.export import record_of

    run = store.submit(config, "", "elsewhere:1")
    store.append(run, Started(config.examples, 32, config.q, "cpu", 1, "book-keeping"))
    store.append(run, Stepped(steps, 0.1, 2.0, 0.5, (1.0,) * 5, 10.0))
    store.end(run, Status.CANCELLED)
    return record_of(store, run)


@pytest.mark.parametrize(
    ("changes", "steps"),
    [
        ({}, 7),
        ({"clipping": "per_layer", "schedule": "step", "rate": 0.9, "level_steps": 3}, 7),
        pytest.param({"pca": 20, "pca_sigma": 4.0, "model": "mlp"}, 7, marks=pytest.mark.long),
        pytest.param({"batch": 10_000, "epochs": 9.0, "sigma": 3.0}, 7, marks=pytest.mark.long),
    ],
    ids=["constant", "per layer, falling", "projected", "all examples"],
)
def test_dp_accounting_agrees_with_the_certified_band(
    store: Store, tmp_path: Path, changes: dict[str, object], steps: int
) -> None:
    record = begun(store, replace(TINY, **changes), steps)  # type: ignore[arg-type]
    out = printed(tmp_path, text_of("dp-accounting", record), "dp_accounting.py")
    found = re.fullmatch(r"epsilon ([\d.]+) at delta 1e-05\n", out)
    assert found
    assert record.released
    certified = ACCOUNTANTS[CERTIFIED].curve(record.released, [record.released.steps], 1e-5)
    assert certified.lower is not None
    assert certified.lower[-1] <= float(found[1]) <= 1.01 * certified.epsilon[-1]


def test_a_run_without_an_epsilon_has_none_to_recompute(store: Store) -> None:
    with pytest.raises(
        ValueError, match=r"has no epsilon to recompute\. Not private: without noise"
    ):
        text_of("dp-accounting", begun(store, replace(TINY, sigma=0.0)))
