"""Runs of paper 004: MNIST in Table 1 and Figure 4; Adult, IMDb and MovieLens in Tables 2 to 4."""

from typing import Any

from dpcore.papers.entry import POINTS, PrintedSetting, Trained, accuracy, without_privacy
from dpcore.papers.gaussian_dp.numbers import ADULT, BOTTOM, BOTTOM_LESS, IMDB, MOVIELENS, TABLE_1, TOP, TOP_LESS, WORDS
from dpcore.papers.paper import Sweep
from dpcore.training.config import RunConfig

ID = "004"
NETWORK: dict[str, Any] = {"dataset": "mnist", "source": "full", "model": "cnn", "activation": "relu"}
NETWORK |= {"optimizer": "sgd", "momentum": 0.0}
TEXTS = WORDS["runs"]
MEAN_OF_TEN, ONE_RUN = (f"{TEXTS['differs']} {TEXTS[runs]}" for runs in ("of_ten", "of_one"))
RATES = (0.25, 0.15, 0.25, 0.25, 0.25, 0.25)  # of the rows of Table 1
ACCURACIES = ("95.0", "96.6", "97.0", "97.6", "97.8", "98.0")
LR = 0.15  # of Figure 4
COUNTED = (  # setting, epochs, and the accuracy reached by then
    (BOTTOM_LESS, 18, "95"),
    (BOTTOM_LESS, 26, "96"),
    (BOTTOM_LESS, 45, "97"),
    (BOTTOM, 23, "95"),
    (BOTTOM, 33, "96"),
    (BOTTOM, 64, "97"),
)
AT_4 = (  # accountant, setting, accuracy at its epsilon 4, and why ours differs
    ("moments", BOTTOM, "92", ""),
    ("gdp", BOTTOM_LESS, "96", TEXTS["too_early"]),
)

EPOCHS = 20.0  # of Tables 2 to 4 without privacy
HUNDREDTH = 0.01  # of a star: tolerance for errors of ratings
SETTINGS = {"adult": ADULT, "imdb": IMDB, "movielens": MOVIELENS}  # of Tables 2 to 4


def run(setting: PrintedSetting, lr: float, **more: Any) -> RunConfig:
    """Return a run of NoisySGD with the paper's network."""
    values: dict[str, Any] = {name: getattr(setting, name) for name in ("batch", "sigma", "clip_norm", "delta")}
    values |= {"lr": lr, "epochs": float(setting.epochs)}
    return RunConfig(**(NETWORK | values | more))


def counted_run(setting: PrintedSetting, epochs: int) -> RunConfig:
    """Return the run of Figure 4 after so many epochs."""
    return run(setting, LR, epochs=float(epochs))


def _counted(setting: PrintedSetting, epochs: int, printed: str) -> Trained:
    quantity = f"test accuracy, %, after {epochs} epochs at sigma {setting.sigma:g}"
    return accuracy("Figure 4, below", quantity, printed, counted_run(setting, epochs), ONE_RUN)


def _at_4(accountant: str, setting: PrintedSetting, printed: str, because: str) -> Trained:
    """Return the accuracy after the steps that the accountant allows for epsilon 4."""
    config = run(setting, LR, stop_epsilon=4.0, stop_accountant=accountant)
    title = {"moments": "the moments accountant", "gdp": "the CLT"}[accountant]
    quantity = f"test accuracy, %, at epsilon 4 by {title}"
    return accuracy("Figure 4, below", quantity, printed, config, f"{because} {ONE_RUN}".strip())


def _of_table(name: str) -> tuple[Trained, Trained]:
    """Return the accuracies of Table 2, 3 or 4 with privacy and without."""
    setting, texts = SETTINGS[name], WORDS["tables"][name]
    more: dict[str, Any] = {"dataset": name, "model": name, "optimizer": setting.optimizer}
    if setting.optimizer != NETWORK["optimizer"]:
        more["momentum"] = RunConfig().momentum  # unused by this optimizer
    config = run(setting, texts["rate"], **more)
    quantity, within = ("test RMSE", HUNDREDTH) if name == "movielens" else ("test accuracy, %", POINTS)
    ours = f"{texts['differs']} {TEXTS['ours']}{'' if name == 'imdb' else ', and neither are the test rows'}."
    bare = without_privacy(config, epochs=EPOCHS)
    return (
        accuracy(texts["place"], quantity, texts["private"], config, ours, within=within),
        accuracy(texts["place"], f"{quantity}, without privacy", texts["plain"], bare, ours, within=within),
    )


RUNS = (
    *(
        accuracy(f"Table 1, row {row}", "test accuracy, %", printed, run(setting, lr), MEAN_OF_TEN)
        for row, (setting, lr, printed) in enumerate(zip(TABLE_1, RATES, ACCURACIES, strict=True), start=1)
    ),
    *(_counted(*each) for each in COUNTED),
    *(_at_4(*each) for each in AT_4),
    *(each for name in SETTINGS for each in _of_table(name)),
)
SWEEPS = (
    Sweep(
        "Figure 4, above",
        "accuracy with the noise of either count, 20 epochs",
        "sigma",
        tuple(run(setting, LR) for setting in (TOP_LESS, TOP)),
        TEXTS["sweep"],
    ),
)
