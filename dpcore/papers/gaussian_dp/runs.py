"""Runs of paper 004: MNIST in Table 1 and Figure 4; Adult, IMDb and MovieLens in Tables 2 to 4."""

from typing import Any

from dpcore.papers.entry import POINTS, PrintedSetting, Trained, accuracy, without_privacy
from dpcore.papers.gaussian_dp.numbers import (
    ON_MNIST,
    SETTINGS,
    TABLES,
    TOP,
    TOP_LESS,
    WORDS,
    PrivateRow,
)
from dpcore.papers.paper import Sweep
from dpcore.papers.words import Values, config_of
from dpcore.training.config import RunConfig

ID = "004"
NETWORK: Values = {
    "dataset": "mnist",
    "source": "full",
    "model": "cnn",
    "activation": "relu",
    "optimizer": "sgd",
    "momentum": 0.0,
}
TEXTS = WORDS["runs"]
MEAN_OF_TEN = f"{TEXTS['differs']} {TEXTS['of_ten']}"
ONE_RUN = f"{TEXTS['differs']} {TEXTS['of_one']}"
LR = 0.15  # of Figure 4
# setting, epochs, and the accuracy reached by then
COUNTED = [
    (SETTINGS[each["setting"]], each["epochs"], each["printed"]) for each in WORDS["counted"]
]
BY_ACCOUNTANT = {"moments": "the moments accountant", "gdp": "the CLT"}
EPOCHS = 20.0  # of Tables 2 to 4 without privacy
HUNDREDTH = 0.01  # of a star: tolerance for errors of ratings


def run(setting: PrintedSetting, lr: float, changed: Values | None = None) -> RunConfig:
    """Return a run of NoisySGD with the paper's network, or with changed settings."""
    values = {
        "batch": setting.batch,
        "sigma": setting.sigma,
        "clip_norm": setting.clip_norm,
        "delta": setting.delta,
        "lr": lr,
        "epochs": float(setting.epochs),
    }
    return config_of(NETWORK, values, changed or {})


def counted_run(setting: PrintedSetting, epochs: int) -> RunConfig:
    """Return the run of Figure 4 after so many epochs."""
    return run(setting, LR, {"epochs": float(epochs)})


def _table_1() -> list[Trained]:
    entries = []
    for row in ON_MNIST:
        config = run(row.setting, row.lr)
        entries.append(accuracy(row.place, "test accuracy, %", row.accuracy, config, MEAN_OF_TEN))
    return entries


def _figure_4() -> list[Trained]:
    """Return accuracies after printed epochs, and after the steps that epsilon 4 allows."""
    place = "Figure 4, below"
    entries = []
    for setting, epochs, printed in COUNTED:
        quantity = f"test accuracy, %, after {epochs} epochs at sigma {setting.sigma:g}"
        config = counted_run(setting, epochs)
        entries.append(accuracy(place, quantity, printed, config, ONE_RUN))
    for each in WORDS["at_4"]:
        accountant = each["accountant"]
        quantity = f"test accuracy, %, at epsilon 4 by {BY_ACCOUNTANT[accountant]}"
        stop = {"stop_epsilon": 4.0, "stop_accountant": accountant}
        config = run(SETTINGS[each["setting"]], LR, stop)
        because = ONE_RUN
        if "because" in each:
            because = f"{TEXTS[each['because']]} {ONE_RUN}"
        entries.append(accuracy(place, quantity, each["printed"], config, because))
    return entries


def _of_table(name: str, row: PrivateRow) -> tuple[Trained, Trained]:
    """Return the accuracies of Table 2, 3 or 4 with privacy and without."""
    quantity = "test accuracy, %"
    within = POINTS
    if name == "movielens":
        quantity = "test RMSE"
        within = HUNDREDTH
    ours = f"{row.differs} {TEXTS['ours']}"
    if name != "imdb":
        ours += ", and neither are the test rows"
    config = _table_run(name, row)
    bare = without_privacy(config, epochs=EPOCHS)
    private = accuracy(
        row.place, quantity, row.accuracy, config, f"{ours}.", within=within, note=row.note
    )
    plain = accuracy(
        row.place,
        f"{quantity}, without privacy",
        row.plain,
        bare,
        f"{ours}.",
        within=within,
        note=row.note,
    )
    return private, plain


def _table_run(name: str, row: PrivateRow) -> RunConfig:
    optimizer = row.setting.optimizer
    changed: dict[str, Any] = {"dataset": name, "model": name, "optimizer": optimizer}
    if optimizer != NETWORK["optimizer"]:
        changed["momentum"] = RunConfig().momentum  # unused by this optimizer
    return run(row.setting, row.lr, changed)


def _other_tables() -> list[Trained]:
    entries = []
    for name, row in TABLES.items():
        entries += _of_table(name, row)
    return entries


RUNS = (*_table_1(), *_figure_4(), *_other_tables())
SWEEPS = (Sweep(**WORDS["sweep"], configs=(run(TOP_LESS, LR), run(TOP, LR))),)
