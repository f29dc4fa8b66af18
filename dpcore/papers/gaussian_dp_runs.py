"""What paper 004 trains on MNIST: the six rows of Table 1, and the epochs that Figure 4's text counts."""

from typing import Any

from dpcore.papers.entry import Setting, Trained, accuracy
from dpcore.papers.gaussian_dp_numbers import BOTTOM, BOTTOM_LESS, TABLE_1
from dpcore.training.config import RunConfig

NETWORK: dict[str, Any] = {"dataset": "mnist", "source": "full", "model": "cnn", "activation": "relu"}
NETWORK |= {"optimizer": "sgd", "momentum": 0.0}
DIFFERS = (
    "Ours draws Poisson batches, for which its epsilon holds, where the paper's script shuffles; "
    "its first weights are PyTorch's, not Keras's, and the paper's number is a mean of ten runs. "
    "The network is the script's, with two dense layers where the text names one."
)
ROWS = (
    (0.25, "95.0"),
    (0.15, "96.6"),
    (0.25, "97.0"),
    (0.25, "97.6"),
    (0.25, "97.8"),
    (0.25, "98.0"),
)  # rate, accuracy
LR = 0.15  # of Figure 4
COUNTED = (  # setting, epochs, and the accuracy that is reached by then
    (BOTTOM_LESS, 18, "95"),
    (BOTTOM_LESS, 26, "96"),
    (BOTTOM_LESS, 45, "97"),
    (BOTTOM, 23, "95"),
    (BOTTOM, 33, "96"),
    (BOTTOM, 64, "97"),
)
AT_4 = (("moments", BOTTOM, "92"), ("gdp", BOTTOM_LESS, "96"))  # accountant, accuracy where it says epsilon 4


def run(setting: Setting, lr: float, **more: Any) -> RunConfig:
    """NoisySGD with the paper's network."""
    values: dict[str, Any] = {name: getattr(setting, name) for name in ("batch", "sigma", "clip_norm", "delta")}
    values |= {"lr": lr, "epochs": float(setting.epochs)}
    return RunConfig(**(NETWORK | values | more))


def _counted(setting: Setting, epochs: int, printed: str) -> Trained:
    quantity = f"test accuracy, %, after {epochs} epochs at sigma {setting.sigma:g}"
    return accuracy("Figure 4, below", quantity, printed, run(setting, LR, epochs=float(epochs)), DIFFERS)


def _at_4(accountant: str, setting: Setting, printed: str) -> Trained:
    """After the steps that the accountant allows for epsilon 4."""
    config = run(setting, LR, stop_epsilon=4.0, stop_accountant=accountant)
    title = {"moments": "the moments accountant", "gdp": "the CLT"}[accountant]
    quantity = f"test accuracy, %, at epsilon 4 by {title}"
    return accuracy("Figure 4, below", quantity, printed, config, f"{DIFFERS} Which panel the sentence means is ours.")


RUNS = (
    *(
        accuracy(f"Table 1, row {row}", "test accuracy, %", printed, run(setting, lr), DIFFERS)
        for row, (setting, (lr, printed)) in enumerate(zip(TABLE_1, ROWS, strict=True), start=1)
    ),
    *(_counted(*each) for each in COUNTED),
    *(_at_4(*each) for each in AT_4),
)
