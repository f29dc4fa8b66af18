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
from dpcore.training.config import RunConfig

ID = "004"
NETWORK: dict[str, Any] = {
    "dataset": "mnist",
    "source": "full",
    "model": "cnn",
    "activation": "relu",
}
NETWORK |= {"optimizer": "sgd", "momentum": 0.0}
TEXTS = WORDS["runs"]
MEAN_OF_TEN, ONE_RUN = (f"{TEXTS['differs']} {TEXTS[runs]}" for runs in ("of_ten", "of_one"))
LR = 0.15  # of Figure 4
# setting, epochs, and the accuracy reached by then
COUNTED = [
    (SETTINGS[each["setting"]], each["epochs"], each["printed"]) for each in WORDS["counted"]
]

EPOCHS = 20.0  # of Tables 2 to 4 without privacy
HUNDREDTH = 0.01  # of a star: tolerance for errors of ratings


def run(setting: PrintedSetting, lr: float, **more: Any) -> RunConfig:
    """Return a run of NoisySGD with the paper's network."""
    values: dict[str, Any] = {
        name: getattr(setting, name) for name in ("batch", "sigma", "clip_norm", "delta")
    }
    values |= {"lr": lr, "epochs": float(setting.epochs)}
    return RunConfig(**(NETWORK | values | more))


def counted_run(setting: PrintedSetting, epochs: int) -> RunConfig:
    """Return the run of Figure 4 after so many epochs."""
    return run(setting, LR, epochs=float(epochs))


def _counted(setting: PrintedSetting, epochs: int, printed: str) -> Trained:
    quantity = f"test accuracy, %, after {epochs} epochs at sigma {setting.sigma:g}"
    return accuracy("Figure 4, below", quantity, printed, counted_run(setting, epochs), ONE_RUN)


def _at_4(accountant: str, setting: str, printed: str, because: str = "") -> Trained:
    """Return the accuracy after the steps that the accountant allows for epsilon 4."""
    config = run(SETTINGS[setting], LR, stop_epsilon=4.0, stop_accountant=accountant)
    title = {"moments": "the moments accountant", "gdp": "the CLT"}[accountant]
    quantity = f"test accuracy, %, at epsilon 4 by {title}"
    return accuracy(
        "Figure 4, below", quantity, printed, config, f"{TEXTS.get(because, '')} {ONE_RUN}".strip()
    )


def _of_table(name: str, row: PrivateRow) -> tuple[Trained, Trained]:
    """Return the accuracies of Table 2, 3 or 4 with privacy and without."""
    more: dict[str, Any] = {"dataset": name, "model": name, "optimizer": row.setting.optimizer}
    if row.setting.optimizer != NETWORK["optimizer"]:
        more["momentum"] = RunConfig().momentum  # unused by this optimizer
    config = run(row.setting, row.lr, **more)
    quantity, within = (
        ("test RMSE", HUNDREDTH) if name == "movielens" else ("test accuracy, %", POINTS)
    )
    ours = (
        f"{row.differs}"
        f" {TEXTS['ours']}{'' if name == 'imdb' else ', and neither are the test rows'}."
    )
    bare = without_privacy(config, epochs=EPOCHS)
    return (
        accuracy(row.place, quantity, row.accuracy, config, ours, within=within, note=row.note),
        accuracy(
            row.place,
            f"{quantity}, without privacy",
            row.plain,
            bare,
            ours,
            within=within,
            note=row.note,
        ),
    )


RUNS = (
    *(
        accuracy(row.place, "test accuracy, %", row.accuracy, run(row.setting, row.lr), MEAN_OF_TEN)
        for row in ON_MNIST
    ),
    *(_counted(*each) for each in COUNTED),
    *(_at_4(**each) for each in WORDS["at_4"]),
    *(each for name, row in TABLES.items() for each in _of_table(name, row)),
)
SWEEPS = (Sweep(**WORDS["sweep"], configs=tuple(run(setting, LR) for setting in (TOP_LESS, TOP))),)
