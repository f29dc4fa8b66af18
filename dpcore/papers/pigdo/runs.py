"""Accuracies that paper 000 prints, and its methods, as runs; and sweeps of Figures 6, 7 and 9.

Its text and its code differ. "As coded" is the code's convolutional network with the optimizer on
the noisy mean gradient (PIAdam is then Adam); "as written" is the text's layer of 1,000 units with
each example's direction clipped, in the sound reading `scaled`. The code trains with Adam only;
other methods on its network are ours.
"""

from dataclasses import replace
from typing import Any

from dpcore.papers.entry import Trained, accuracy, without_privacy
from dpcore.papers.paper import SEEDS, Sweep
from dpcore.papers.pigdo.theorem_3 import WORDS, claimed
from dpcore.papers.words import Values, config_of, sweep, with_numbers
from dpcore.training.config import RunConfig

PIADAM = "PIAdam, as coded"  # as paper.toml names it, which has the printed accuracies
WITHIN = {"MNIST": 1, "CIFAR-10": 2}  # PIAdam "improves within" so many % at sigma 2 ...
OVER = ("ADADP", "ADPPL", "EXP")  # ... over these
FIVE = (PIADAM, *OVER, "DP-SGD")  # of Figures 6(a) and 9

COMMON: Values = {
    "source": "full",
    "activation": "relu",
    "batch": 600,
    "clip_norm": 4.0,
    "delta": 1e-5,
}
EPOCHS = {8.0: 30.0, 4.0: 100.0, 2.0: 260.0}  # sigma -> epochs in section 5.2
LONG = 2500.0  # epochs, which epsilon ends early
AT_FIRST = 1.25  # factor of EXP's initial noise over that of the others
TEXTS = WORDS["runs"]
METHODS = WORDS["methods"]
BECAUSE = {
    method: each["because"].format(**TEXTS, at_first=AT_FIRST) for method, each in METHODS.items()
}
# Sigma -> rate that gives EXP the same sum of 1 / sigma^2.
DECAY = {8.0: 0.01433, 4.0: 0.00421, 2.0: 0.00161}


def run(data: str, method: str, sigma: float) -> RunConfig:
    """Return a run of one of the paper's methods, on a data set of it, at a noise level of it."""
    noise = {"sigma": sigma, "epochs": EPOCHS[sigma]}
    if method == "EXP":
        noise["sigma"] = AT_FIRST * sigma
        noise["rate"] = DECAY[sigma]
    return config_of(COMMON, WORDS["data"][data], METHODS[method]["run"], noise)


def stopped(config: RunConfig, epsilon: float, epochs: float) -> RunConfig:
    """Return the run until MMA reaches epsilon, which is to be before its epochs end."""
    return replace(config, stop_epsilon=epsilon, stop_accountant="mma", epochs=epochs)


CLOSE = (PIADAM, "ADADP", "ADPPL")  # these differ by less than a point on MNIST
THREE = ("PIAdam", "PIRMSprop", "PIAdagrad")  # of Figure 3
DEFAULT = {"MNIST": 4.0, "Fashion-MNIST": 4.0, "CIFAR-10": 2.0}  # sigma, by section 5
LEVELS = {  # of Figures 5 and 8: data -> sigma -> method -> accuracy
    data: {float(sigma): row for sigma, row in rows.items()}
    for data, rows in WORDS["levels"].items()
}


def name_of(method: str, reading: str) -> str:
    """Return the name of a method of Figure 3, as coded or as written.

    >>> name_of("PIAdam", "as coded"), name_of("PIRMSprop", "as coded")
    ('PIAdam, as coded', "PIRMSprop, the code's network")
    """
    if reading == "as coded" and method != "PIAdam":  # the code trains with Adam only
        return f"{method}, the code's network"
    return f"{method}, {reading}"


def _entry(
    place: str,
    data: str,
    method: str,
    sigma: float,
    printed: str,
    *,
    seeds: int = 1,
    note: str = "",
    within: float | None = None,
) -> Trained:
    """Return a printed accuracy of a method at a noise level."""
    because = BECAUSE[method]
    if data == "CIFAR-10":
        because = f"{because} {TEXTS['larger']}"
    if data != "MNIST":
        note = f"{note} {TEXTS['epochs_ours']}".strip()
    return accuracy(
        place,
        f"{data}, {method}, test accuracy, %, at sigma {sigma:g}",
        printed,
        run(data, method, sigma),
        because,
        seeds,
        within=within,
        note=note,
    )


def _plain() -> list[Trained]:
    """Return the accuracies without privacy."""
    entries = []
    for data, texts in WORDS["plain"].items():
        private = run(data, PIADAM, 4.0)
        if data != "CIFAR-10":
            private = replace(private, model="mlp")
        config = without_privacy(private, epochs=texts["epochs"])
        quantity = f"{data}, without privacy, test accuracy, %"
        entries.append(accuracy("Section 5.1", quantity, texts["printed"], config, TEXTS["plain"]))
    return entries


def _figure_3(data: str, reading: str) -> list[Trained]:
    """Return the accuracies of Figure 3; PIAdam's run is also one of Figure 5 or 8."""
    sigma = DEFAULT[data]
    entries = []
    for method, printed in zip(THREE, WORDS["figure_3"][data], strict=True):
        note = TEXTS["sigma_ours"].format(sigma=sigma)
        if method == "PIAdam" and data in LEVELS:
            elsewhere = TEXTS["stands"].format(printed=LEVELS[data][sigma][PIADAM])
            note = f"{note} {elsewhere}"
        name = name_of(method, reading)
        entries.append(_entry("Figure 3", data, name, sigma, printed, note=note))
    return entries


def _levels(place: str, data: str) -> list[Trained]:
    """Return the accuracies at each noise level, on the network of the code."""
    entries = []
    for sigma, row in LEVELS[data].items():
        for method, printed in row.items():
            close = method in CLOSE and len(row) > 2
            seeds = SEEDS if close else 1
            entries.append(_entry(place, data, method, sigma, printed, seeds=seeds))
    return entries


def _within(place: str, data: str) -> list[Trained]:
    """Return the rivals' accuracies at sigma 2, for which the text only bounds PIAdam's lead."""
    share = WITHIN[data]
    of_piadam = LEVELS[data][2.0][PIADAM]
    least = float(of_piadam) / (1 + share / 100)
    note = TEXTS["within"].format(printed=of_piadam, share=share, least=least)
    printed = f"{of_piadam} (within {share} %)"
    within = float(of_piadam) - least
    return [_entry(place, data, method, 2.0, printed, note=note, within=within) for method in OVER]


def _on_levels_of(rivals: dict[str, str]) -> list[Trained]:
    """Compare methods that Figure 5 lacks, each with the accuracies of a method that it has."""
    entries = []
    for sigma, row in LEVELS["MNIST"].items():
        for method, rival in rivals.items():
            entries.append(_entry("Figure 5", "MNIST", method, sigma, row[rival]))
    return entries


def _at_epsilon(method: str, sigma: float, epsilon: float, printed: str) -> Trained:
    """Return an accuracy of Figure 6's text at an epsilon by MMA; the noise level is our choice."""
    epochs = 60.0 if epsilon < 1 else 600.0
    config = stopped(run("MNIST", method, sigma), epsilon, epochs)
    quantity = f"MNIST, {method}, test accuracy, %, at epsilon {epsilon:g} by MMA"
    because = f"{BECAUSE[method]} {TEXTS['at_epsilon'].format(sigma=sigma)} {TEXTS['by_mma']}"
    return accuracy("Figure 6(a)", quantity, printed, config, because)


RUNS = (
    *_plain(),
    *_figure_3("MNIST", "as coded"),
    *_figure_3("Fashion-MNIST", "as coded"),
    *_figure_3("CIFAR-10", "as coded"),
    *_figure_3("MNIST", "as written"),
    *_figure_3("Fashion-MNIST", "as written"),
    *_levels("Figure 5", "MNIST"),
    *_within("Figure 5", "MNIST"),
    *_on_levels_of({"PIAdam, as written": PIADAM, "DP-SGD, 1,000 hidden units": "DP-SGD"}),
    *_on_levels_of({"DP-AdamBC": PIADAM}),
    _entry("Section 5.2", "MNIST", PIADAM, 8.0, "92.11"),
    _entry("Section 5.2", "MNIST", PIADAM, 2.0, "98.2"),
    *(_at_epsilon(method, 8.0, 0.5, printed) for method, printed in WORDS["figure_6"].items()),
    _at_epsilon(PIADAM, 2.0, 8.0, "97.5"),
    *_levels("Figure 8", "CIFAR-10"),
    *_within("Figure 8", "CIFAR-10"),
)
SIGMA = 4.0  # the default of section 5
# Epsilon by MMA of Figure 7's 100 epochs at the default.
BUDGET = round(claimed(0.01, SIGMA, 10_000), 1)
EPSILONS = (0.5, 2.0)  # of Figure 6(b)


def _texts(name: str, **numbers: object) -> dict[str, Any]:
    """Return the texts of a sweep with these numbers, the default sigma and the budget."""
    texts = WORDS["sweeps"][name]
    return with_numbers(texts, sigma=SIGMA, budget=BUDGET, by_mma=TEXTS["by_mma"], **numbers)


def _figure_6a(method: str) -> Sweep:
    """Return accuracy against epsilon by MMA."""
    texts = _texts("adppl" if method == "ADPPL" else "epsilon", method=method)
    config = run("MNIST", method, SIGMA)
    first = texts["values"][0]
    longest = 1000.0 if method == "EXP" else LONG  # EXP's noise falls
    return sweep(stopped(config, first, longest), **texts)


def _figure_6b(epsilon: float) -> Sweep:
    """Return accuracy against delta."""
    config = run("MNIST", PIADAM, SIGMA)
    return sweep(stopped(config, epsilon, LONG), **_texts("delta", epsilon=epsilon))


def _figure_7(setting: str) -> list[Sweep]:
    """Return a panel for each of the three methods, as written; two panels spend one budget."""
    sweeps = []
    for method in THREE:
        config = run("MNIST", name_of(method, "as written"), SIGMA)
        if setting in ("batch", "sigma"):
            config = stopped(config, BUDGET, LONG)
        sweeps.append(sweep(config, **_texts(setting, method=method)))
    return sweeps


def _figure_9(method: str) -> Sweep:
    """Return accuracy against sigma on Fashion-MNIST."""
    configs = tuple(run("Fashion-MNIST", method, sigma) for sigma in (2.0, 4.0, 8.0))
    along = ("epochs", "rate") if method == "EXP" else ("epochs",)
    return Sweep(**_texts("fashion", method=method), configs=configs, along=along)


FIGURE_6B = tuple(_figure_6b(epsilon) for epsilon in EPSILONS)
FIGURE_7A = _figure_7("width")
SWEEPS = (
    *(_figure_6a(method) for method in FIVE),
    *FIGURE_6B,
    *FIGURE_7A,
    *_figure_7("clip_norm"),
    *_figure_7("batch"),
    *_figure_7("sigma"),
    *(_figure_9(method) for method in FIVE),
)
