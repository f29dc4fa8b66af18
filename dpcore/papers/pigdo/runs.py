"""The accuracies of paper 000: MNIST and Fashion-MNIST at three noise levels, and CIFAR-10."""

from dataclasses import replace

from dpcore.papers.entry import Trained, accuracy, without_privacy
from dpcore.papers.pigdo.methods import BECAUSE, LARGER, Values, run
from dpcore.papers.pigdo.printed import AT_8, FIGURE_3, FIGURE_5, FIGURE_6, FIGURE_8, OVER, WITHIN

CLOSE = ("PIAdam, as coded", "ADADP", "ADPPL")  # these differ by less than a point on MNIST
SEEDS = 3  # of these
THREE = ("PIAdam", "PIRMSprop", "PIAdagrad")  # of Figure 3
DEFAULT = {"MNIST": 4.0, "Fashion-MNIST": 4.0, "CIFAR-10": 2.0}  # sigma, by section 5
LEVELS = {"MNIST": FIGURE_5, "CIFAR-10": FIGURE_8}
EPOCHS_OURS = "Section 5.2 says how long it trains for MNIST alone; as many epochs are our choice here."
SIGMA_OURS = "The text names no noise level for this figure: sigma {sigma:g}, its default, is our choice."
BY_MMA = "All methods are charged by MMA, which is our choice: the text charges each by its own accounting."


def name_of(method: str, reading: str) -> str:
    """One of the three methods of Figure 3 as it is coded, or as it is written.

    >>> name_of("PIAdam", "as coded"), name_of("PIRMSprop", "as coded")
    ('PIAdam, as coded', "PIRMSprop, the code's network")
    """
    ours = reading == "as coded" and method != "PIAdam"  # the code trains with Adam alone
    return f"{method}, the code's network" if ours else f"{method}, {reading}"


def _entry(place: str, data: str, method: str, sigma: float, printed: str, seeds: int = 1, note: str = "") -> Trained:
    because = BECAUSE[method] + (LARGER if data == "CIFAR-10" else "")
    quantity = f"{data}, {method}, test accuracy, %, at sigma {sigma:g}"
    made = accuracy(place, quantity, printed, run(data, method, sigma), because, seeds)
    return replace(made, note=f"{note} {'' if data == 'MNIST' else EPOCHS_OURS}".strip())


def _figure_3(data: str, reading: str) -> list[Trained]:
    """The same run stands for PIAdam's number here and for the one at the same noise level in Figure 5 or 8."""
    sigma, found = DEFAULT[data], []
    for method, printed in zip(THREE, FIGURE_3[data], strict=True):
        note = SIGMA_OURS.format(sigma=sigma)
        if method == "PIAdam" and data in LEVELS:
            note += f" The same run stands for {LEVELS[data][sigma]['PIAdam, as coded']} %, printed elsewhere."
        found.append(_entry("Figure 3", data, name_of(method, reading), sigma, printed, note=note))
    return found


def _levels(place: str, data: str) -> list[Trained]:
    """The methods at each noise level, on the network of the code."""
    return [
        _entry(place, data, method, sigma, printed, SEEDS if method in CLOSE and len(row) > 2 else 1)
        for sigma, row in LEVELS[data].items()
        for method, printed in row.items()
    ]


def _within(place: str, data: str) -> list[Trained]:
    """The rivals at sigma 2, of which the text says only by how much at most PIAdam is ahead."""
    levels, share = WITHIN[data]
    printed = levels[2.0]["PIAdam, as coded"]
    least = float(printed) / (1 + share / 100)
    note = f"The text prints that PIAdam's {printed} % improves within {share} % over it: at least {least:.2f} %."
    made = [_entry(place, data, method, 2.0, f"{printed} (within {share} %)", note=note) for method in OVER]
    return [replace(each, within=float(printed) - least) for each in made]


def _at_epsilon(method: str, sigma: float, epsilon: float, printed: str) -> Trained:
    """What Figure 6's text says at an epsilon: by MMA, at a noise level that is ours."""
    stop: Values = {"epochs": 60.0 if epsilon < 1 else 600.0, "stop_epsilon": epsilon, "stop_accountant": "mma"}
    quantity = f"MNIST, {method}, test accuracy, %, at epsilon {epsilon:g} by MMA"
    because = f"{BECAUSE[method]} The text does not say at which noise level: sigma {sigma:g} is ours. {BY_MMA}"
    return accuracy("Figure 6(a)", quantity, printed, run("MNIST", method, sigma, **stop), because)


def _plain(data: str, epochs: float, printed: str) -> Trained:
    network: Values = {} if data == "CIFAR-10" else {"model": "mlp"}
    config = without_privacy(run(data, "PIAdam, as coded", 4.0, **network), epochs=epochs)
    because = "The paper does not say how it trains without privacy: Adam at rate 0.001 is ours."
    return accuracy("Section 5.1", f"{data}, without privacy, test accuracy, %", printed, config, because)


def _as_written() -> list[Trained]:
    """The text's network at its noise levels, where the printed number is PIAdam's or DP-SGD's of Figure 5."""
    return [
        _entry("Figure 5", "MNIST", method, sigma, FIGURE_5[sigma][name])
        for sigma in FIGURE_5
        for name, method in (("PIAdam, as coded", "PIAdam, as written"), ("DP-SGD", "DP-SGD, 1,000 hidden units"))
    ]


def _corrected() -> list[Trained]:
    """The rival that corrects Adam's bias, beside PIAdam's printed numbers."""
    return [_entry("Figure 5", "MNIST", "DP-AdamBC", sigma, FIGURE_5[sigma]["PIAdam, as coded"]) for sigma in FIGURE_5]


RUNS = (
    _plain("MNIST", 100.0, "98.57"),
    _plain("Fashion-MNIST", 300.0, "88.85"),
    _plain("CIFAR-10", 500.0, "86"),
    *(each for data in FIGURE_3 for each in _figure_3(data, "as coded")),
    *(each for data in ("MNIST", "Fashion-MNIST") for each in _figure_3(data, "as written")),
    *_levels("Figure 5", "MNIST"),
    *_within("Figure 5", "MNIST"),
    *_as_written(),
    *_corrected(),
    _entry("Section 5.2", "MNIST", "PIAdam, as coded", 8.0, "92.11"),
    _entry("Section 5.2", "MNIST", "PIAdam, as coded", 2.0, "98.2"),
    *(_at_epsilon(method, 8.0, 0.5, printed) for method, printed in FIGURE_6.items()),
    _at_epsilon(AT_8[0], 2.0, 8.0, AT_8[1]),
    *_levels("Figure 8", "CIFAR-10"),
    *_within("Figure 8", "CIFAR-10"),
)
