"""python -m dpcore train: one event a line, recorded in the store; bad input is one line and status
2.
"""

import dataclasses
import json
import signal
import statistics
import subprocess
import sys
from dataclasses import replace

import pytest

from dpcore.__main__ import main
from dpcore.commands import train as command
from dpcore.commands.train import closing
from dpcore.privacy.report.statement import NOT_COVERED
from dpcore.runs.kinds import event_from_json
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training import loop
from dpcore.training.config import RunConfig
from dpcore.training.defaults import defaults
from dpcore.training.events import Finished, Started
from dpcore.training.plan import plan
from dpcore.training.seed_summary import with_seeds
from tests.commands.printed import interruptible

QUICK = [
    "train",
    "--model",
    "mlp",
    "--batch",
    "100",
    "--epochs",
    "0.05",
    "--source",
    "sample",
    "--device",
    "cpu",
]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A store and a data root of their own."""
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DPCORE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path / "home"


def config_of(*words: str) -> RunConfig:
    return command.config_of(command.parser().parse_args(words))


def test_json_prints_the_events_and_nothing_else_and_the_store_has_them_too(capsys):
    assert (
        main(
            [*QUICK, "--json", "--sigma", "0.5", "--clip-norm", "2", "--lr", "0.25", "--seed", "7"]
        )
        == 0
    )
    out, err = capsys.readouterr()
    events = [event_from_json("training", json.loads(line)) for line in out.splitlines()]
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert err.startswith("Recorded as run ")
    with Store() as store:
        (run,) = store.runs()
        assert run.id in err
        assert store.events(run.id) == events
    assert run.status is Status.FINISHED
    assert (run.config.sigma, run.config.clip_norm, run.config.lr, run.config.seed) == (
        0.5,
        2.0,
        0.25,
        7,
    )


def test_without_json_every_event_is_a_readable_line(capsys):
    assert main(QUICK) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "10000 examples, 5 steps of q = 0.01, 795010 parameters on cpu, book-keeping"
    )
    assert any("test accuracy" in line for line in lines[1:-1])
    assert lines[-3].startswith("done: 5 steps in ")
    assert lines[-2].startswith("epsilon <= 0.")
    assert lines[-2].endswith("at delta = 1e-5, certified (pld)")


def test_the_baseline_is_recorded_as_such(capsys):
    assert main([*QUICK, "--non-private", "--optimizer", "adam", "--activation", "relu"]) == 0
    assert (
        capsys.readouterr().out.splitlines()[-1].startswith("Not private: no gradient is clipped")
    )
    with Store() as store:
        config = store.runs()[0].config
    assert not config.private
    assert (config.optimizer, config.activation) == ("adam", "relu")


def test_every_setting_has_an_option_that_reaches_the_configuration():
    options = {option for action in command.parser()._actions for option in action.option_strings}
    settings = {field.name for field in dataclasses.fields(RunConfig)} - {"private"}
    assert {command.option(name) for name in settings} | {"--non-private", "--seeds"} <= options
    given = {
        "model": "abadi",
        "clipping": "per_layer",
        "optimizer": "adppl",
        "schedule": "exponential",
        "rate": 0.1,
    }
    given |= {
        "level_steps": 3,
        "lr_schedule": "linear",
        "lr_end": 0.01,
        "lr_epochs": 2.0,
        "ema": 0.5,
    }
    given |= {
        "acceptance": "sa",
        "sa_q0": 20.0,
        "sa_mu0": 4,
        "public": 100,
        "pca": 30,
        "pca_sigma": 9.0,
    }
    given |= {"relevance_sigma": 8.0, "stop_epsilon": 2.0, "stop_accountant": "rdp"}
    config = config_of(
        *(word for name, value in given.items() for word in (command.option(name), str(value)))
    )
    assert {name: getattr(config, name) for name in given} == given
    literal = config_of("--optimizer", "pi_adam", "--reading", "literal")
    assert (literal.reading, literal.lr) == ("literal", 5.0)


def test_settings_left_out_are_the_defaults_for_data_set_model_and_optimizer():
    assert config_of("--model", "mlp", "--optimizer", "adam") == defaults(
        "mnist", "mlp", "adam", "sample"
    )
    # The second takes no pixels.
    for model, asked in (("linear", []), ("map_cnn", ["--model", "map_cnn"])):
        config = config_of("--features", "scatter", *asked)
        assert config == defaults("mnist", model, "sgd", "sample", features="scatter")


def test_several_seeds_end_with_mean_and_spread_and_each_is_a_run(capsys):
    assert main([*QUICK, "--seeds", "3", "--seed", "5", "--json", "--ema", "0.5"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    finals = [line["accuracy"] for line in lines if line["event"] == "finished"]
    summary = lines[-1]
    assert (summary["event"], summary["seeds"]) == ("summary", [5, 6, 7])
    assert summary["accuracy"]["mean"] == pytest.approx(statistics.fmean(finals))
    assert summary["accuracy"]["spread"] == pytest.approx(statistics.stdev(finals))
    assert summary["averaged_accuracy"]["runs"] == 3
    with Store() as store:
        assert {run.config.seed for run in store.runs()} == {5, 6, 7}


def test_annealing_shows_the_papers_claim_labelled_invalid_and_the_raw_reading_no_epsilon_but_why(
    capsys,
):
    assert main([*QUICK, "--acceptance", "sa", "--public", "500"]) == 0
    epsilon, claim, _ = capsys.readouterr().out.splitlines()[-3:]
    assert epsilon.endswith("certified (pld)")
    assert "accepted of" in claim
    assert "invalid" in claim
    assert (
        main(
            [
                *QUICK,
                "--optimizer",
                "pi_adagrad",
                "--reading",
                "raw",
                "--batch",
                "20",
                "--epochs",
                "0.004",
            ]
        )
        == 0
    )
    assert capsys.readouterr().out.splitlines()[-1].startswith("No epsilon: the raw reading")


def test_a_store_that_cannot_be_written_is_named_before_anything_is_trained(
    home, capsys, monkeypatch
):
    home.write_text("in the way")
    assert main(QUICK) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert str(home) in err
    assert len(err.splitlines()) == 1


def test_any_error_fails_the_run_with_status_1_one_line_and_its_traceback(capsys, monkeypatch):
    def train(config, **_):
        yield Started(config.examples, plan(config).steps, config.q, "cpu", 1, "test double")
        raise IndexError("past the end")

    monkeypatch.setattr(loop, "train", train)
    assert main(QUICK) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "dpcore: IndexError: past the end"
    with Store() as store:
        (run,) = store.runs()
    assert run.status is Status.FAILED
    assert "IndexError: past the end" in (run.error or "")


def test_a_run_cancelled_from_elsewhere_ends_cancelled(monkeypatch, capsys):
    append = Store.append

    def cancelling(store, run, event):
        stop = append(store, run, event)
        store.cancel(run)
        return stop

    monkeypatch.setattr(Store, "append", cancelling)
    assert main([*QUICK, "--epochs", "50"]) == 130
    with Store() as store:
        (run,) = store.runs()
    assert run.status is Status.CANCELLED
    # Whichever sees it first, what looks between events or the next event's append.
    assert run.sequence in (1, 2)


@pytest.mark.long
def test_ctrl_c_ends_with_status_130_and_a_cancelled_run():
    interruptible()
    arguments = [sys.executable, "-m", "dpcore", *QUICK, "--epochs", "500", "--json"]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in err
    events = [event_from_json("training", json.loads(line)) for line in [*lines, *out.splitlines()]]
    with Store() as store:
        (run,) = store.runs()
        assert store.events(run.id)[: len(events)] == events
    assert run.status is Status.CANCELLED


SA = RunConfig(acceptance="sa", public=500, batch=100, epochs=0.1)


def final(accepted: int | None = None) -> Finished:
    return Finished(10, 1.0, 0.5, accepted=accepted)


def test_the_epsilon_of_several_runs_is_that_of_each_alone_and_together_they_cost_more():
    alone, note = closing([RunConfig()], [final()])
    each, same = closing(with_seeds(RunConfig(), 3), [final()] * 3)
    assert alone.startswith("epsilon <= ")
    assert each.startswith(
        f"each run alone: {alone}; releasing several of the 3, or the best, costs more: "
    )
    assert each.endswith("each used the data")
    assert note == same == NOT_COVERED


def test_fixed_seeds_are_said_to_take_epsilon_from_those_who_know_them():
    assert not [line for line in closing([SA], [final()]) if "seed" in line]
    (line,) = [line for line in closing([replace(SA, seed=7)], [final()]) if "seed" in line]
    assert line.startswith("The seed is fixed (7): epsilon holds only for those who do not know it")
    (line,) = [
        line
        for line in closing(with_seeds(replace(SA, seed=7), 2), [final()] * 2)
        if "seed" in line
    ]
    assert line.startswith(
        "The seeds are fixed (7, 8): epsilon holds only for those who do not know them"
    )


def test_where_there_is_no_epsilon_nothing_is_said_of_what_it_covers():
    for config in (RunConfig(sigma=0), RunConfig(private=False)):
        (line,) = closing(with_seeds(config, 2), [final()] * 2)
        assert line.startswith("Not private")


def test_a_noise_generator_that_is_used_anyway_is_refused_or_said_once_the_device_is_known(capsys):
    arguments = command.parser().parse_args(["--noise-generator", "secure", "--device", "cpu"])
    with pytest.raises(
        ValueError, match="no --noise-generator without privacy and a device that is not the CPU"
    ):
        command.config_of(arguments)
    config = RunConfig(noise_generator="secure")
    command.note_idle(config, Started(1, 1, 0.5, "cuda", 1, ""))
    assert capsys.readouterr().err == ""
    command.note_idle(config, Started(1, 1, 0.5, "cpu", 1, ""))
    assert "--noise-generator secure changes nothing" in capsys.readouterr().err
