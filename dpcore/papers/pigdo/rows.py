"""Rows of paper 000: epsilons, accuracies of its methods as runs, and improvements; its grids.

Its text and its code differ. "As coded" is the code's convolutional network with the optimizer on
the noisy mean gradient (PIAdam is then Adam); "as written" is the text's layer of 1,000 units with
each example's direction clipped, in the sound reading `scaled`. The code trains with Adam only;
other methods on its network are ours.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from dpcore.papers.entry import (
    FEWER_POINTS,
    Computed,
    PrintedClaim,
    PrintedSetting,
    Row,
    Trained,
    without_privacy,
)
from dpcore.papers.lines import epsilon_lines
from dpcore.papers.paper import SEEDS, Curve, Grid, Line, Lines
from dpcore.papers.pigdo.theorem_3 import DELTA, WORDS, claimed, closed_form
from dpcore.papers.words import Numbers, Values, computed, config_of, drawing, filled, grid
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import nearest, short
from dpcore.training.config import RunConfig

# Section 5.2: sigma, epochs, epsilon.
QUOTED = ((2.0, 260, "5.47"), (4.0, 100, "3.39"), (8.0, 30, "1.86"))
# Theorem 3: batch, sigma, steps of settings that it promises too much for.
PROMISED = ((6000, 1.0, 100), (3000, 1.0, 100), (600, 1.0, 100), (600, 2.0, 1))
ACCOUNTANTS_4 = ("zcdp", "rdp", "mma", "moments", CERTIFIED)  # of Figure 4
MNIST = PrintedSetting(
    n=60_000, batch=600, sigma=4.0, epochs=100, clip_norm=4.0, optimizer="adam", dataset="mnist"
)
FIGURE_4_SETTING = replace(MNIST, sigma=2.0, epochs=400)  # of Figure 4
STEPS = FIGURE_4_SETTING.mechanism.steps


def epsilon_at_the_end(accountant: str) -> float:
    """Return an accountant's epsilon after the 400 epochs of Figure 4."""
    return ACCOUNTANTS[accountant].spent(FIGURE_4_SETTING.mechanism, DELTA).value


def drawn_at_the_end() -> float:
    """Return the end of the curve that Figure 4 calls moments accountant."""
    return float(closed_form(3, 0.01, 2.0, STEPS))


def _figure_4() -> Lines:
    epochs = np.arange(5.0, 401.0, 5.0)
    steps = np.round(100 * epochs).astype(np.int64)
    drawn = closed_form(3, 0.01, 2.0, steps.astype(np.float64))
    lines = epsilon_lines(ACCOUNTANTS_4, FIGURE_4_SETTING.mechanism, epochs, steps, DELTA)
    return [Line("“Moments accountant”, as drawn", epochs, drawn), *lines]


FIGURE_4 = drawing(WORDS["figure_4"], _figure_4)


def _quoted() -> Iterator[Computed]:
    """Yield the epsilons of section 5.2, which are MMA's at sigma = 2."""
    for sigma, epochs, printed in QUOTED:
        setting = replace(MNIST, sigma=sigma, epochs=epochs)
        ours = partial(claimed, 0.01, sigma, setting.mechanism.steps)
        right = short(ours())
        texts = WORDS["entries"]["quoted"] | {"printed": printed}
        if right == printed:
            texts["because"] = ""
        yield computed(texts, ours, setting, setting.claim, vars(setting) | {"right": right})


def _promised() -> Iterator[Computed]:
    """Yield epsilons that Theorem 3 promises without printing them."""
    for batch, sigma, steps in PROMISED:
        setting = replace(MNIST, batch=batch, sigma=sigma, epochs=steps * batch / MNIST.n)
        claim = PrintedClaim(setting.after(steps), DELTA)
        ours = partial(claimed, setting.q, sigma, steps)
        by_one_step = steps == 1
        texts = WORDS["entries"]["promised"]
        if by_one_step:
            texts = texts | WORDS["entries"]["promised_by_one"]
        numbers = {"q": setting.q, "sigma": sigma, "steps": steps, "printed": short(ours())}
        yield computed(texts, ours, None if by_one_step else setting, claim, numbers)


def _over_drawn() -> float:
    return epsilon_at_the_end("rdp") / drawn_at_the_end()


def _over_moments() -> float:
    return epsilon_at_the_end("rdp") / epsilon_at_the_end("moments")


def _epsilons() -> Iterator[Computed]:
    setting = FIGURE_4_SETTING
    by_moments = partial(epsilon_at_the_end, "moments")
    by_mma = partial(epsilon_at_the_end, "mma")
    yield computed(WORDS["entries"]["closed_form"], drawn_at_the_end, setting, setting.claim)
    yield computed(WORDS["entries"]["moments"], by_moments, setting, setting.claim)
    yield computed(WORDS["entries"]["mma"], by_mma, setting, setting.claim)
    yield from _quoted()
    yield computed(WORDS["entries"]["rdp_over_closed_form"], _over_drawn, setting)
    yield computed(WORDS["entries"]["rdp_over_moments"], _over_moments, setting)
    yield from _promised()
    yield computed(WORDS["entries"]["factor"], lambda: 2 * math.log1p(0.1**2))


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
SIGMAS = tuple(EPOCHS)
LONG = 2500.0  # epochs, which epsilon ends early
AT_FIRST = 1.25  # factor of EXP's initial noise over that of the others
TEXTS = WORDS["runs"]
METHODS = WORDS["methods"]
REASONS = TEXTS | {"at_first": AT_FIRST}
BECAUSE = {method: each["because"].format_map(REASONS) for method, each in METHODS.items()}
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


# Data and sigma -> method -> accuracy in Figures 5 and 8, "" if it is not printed.
LEVELS: dict[tuple[str, float], dict[str, str]] = {}
for level in WORDS["levels"]:
    LEVELS[level["data"], level["sigma"]] = dict(zip(FIVE, level["printed"], strict=True))


def name_of(method: str, reading: str) -> str:
    """Return the name of a method of Figure 3, as coded or as written.

    >>> name_of("PIAdam", "as coded"), name_of("PIRMSprop", "as coded")
    ('PIAdam, as coded', "PIRMSprop, the code's network")
    """
    if reading == "as coded" and method != "PIAdam":  # the code trains with Adam only
        return f"{method}, the code's network"
    return f"{method}, {reading}"


def _accuracy(
    place: str, data: str, method: str, sigma: float, printed: str, note: str = ""
) -> Trained:
    """Return a printed accuracy of a method at a noise level."""
    because = BECAUSE[method]
    if data == "CIFAR-10":
        because = f"{because} {TEXTS['larger']}"
    if data != "MNIST":
        note = f"{note} {TEXTS['epochs_ours']}".strip()
    quantity = f"{data}, {method}, test accuracy, %, at sigma {sigma:g}"
    config = run(data, method, sigma)
    return Trained(place, quantity, printed, because, note, config=config)


def _plain() -> Iterator[Trained]:
    """Yield the accuracies without privacy."""
    for data, texts in WORDS["plain"].items():
        private = run(data, PIADAM, 4.0)
        if data != "CIFAR-10":
            private = replace(private, model="mlp")
        config = without_privacy(private, epochs=texts["epochs"])
        quantity = f"{data}, without privacy, test accuracy, %"
        yield Trained("Section 5.1", quantity, texts["printed"], TEXTS["plain"], config=config)


def _figure_3(data: str, reading: str) -> Iterator[Trained]:
    """Yield the accuracies of Figure 3; PIAdam's run is also one of Figure 5 or 8."""
    sigma = DEFAULT[data]
    for method, printed in zip(THREE, WORDS["figure_3"][data], strict=True):
        note = TEXTS["sigma_ours"].format(sigma=sigma)
        if method == "PIAdam" and (data, sigma) in LEVELS:
            elsewhere = TEXTS["stands"].format(printed=LEVELS[data, sigma][PIADAM])
            note = f"{note} {elsewhere}"
        yield _accuracy("Figure 3", data, name_of(method, reading), sigma, printed, note)


def _levels(place: str, data: str) -> Iterator[Trained]:
    """Yield the accuracies at each noise level, on the network of the code.

    The rivals' at sigma 2 are not printed: the text only bounds PIAdam's lead over them.
    """
    for sigma in SIGMAS:
        for method, printed in LEVELS[data, sigma].items():
            if not printed:
                continue
            row = _accuracy(place, data, method, sigma, printed)
            if method in CLOSE and sigma > 2:
                row = replace(row, seeds=SEEDS, within=FEWER_POINTS)
            yield row
    share = WITHIN[data]
    of_piadam = LEVELS[data, 2.0][PIADAM]
    least = float(of_piadam) / (1 + share / 100)
    note = TEXTS["within"].format(printed=of_piadam, share=share, least=least)
    printed = f"{of_piadam} (within {share} %)"
    for method in OVER:
        row = _accuracy(place, data, method, 2.0, printed, note)
        yield replace(row, within=float(of_piadam) - least)


def _on_levels_of(rivals: dict[str, str]) -> Iterator[Trained]:
    """Compare methods that Figure 5 lacks, each with the accuracies of a method that it has."""
    for sigma in SIGMAS:
        for method, rival in rivals.items():
            yield _accuracy("Figure 5", "MNIST", method, sigma, LEVELS["MNIST", sigma][rival])


def _at_epsilon(method: str, sigma: float, epsilon: float, printed: str) -> Trained:
    """Return an accuracy of Figure 6's text at an epsilon by MMA; the noise level is our choice."""
    epochs = 60.0 if epsilon < 1 else 600.0
    config = stopped(run("MNIST", method, sigma), epsilon, epochs)
    quantity = f"MNIST, {method}, test accuracy, %, at epsilon {epsilon:g} by MMA"
    because = f"{BECAUSE[method]} {TEXTS['at_epsilon'].format(sigma=sigma)} {TEXTS['by_mma']}"
    return Trained("Figure 6(a)", quantity, printed, because, config=config)


ROUNDED = 0.005  # error of printing an accuracy


def ahead(accuracy: float, other: float) -> float:
    """Return by how many percent of the other an accuracy is larger.

    >>> round(ahead(92.02, 91.25), 4)
    0.8438
    """
    return 100 * (accuracy / other - 1)


def _improvement(data: str, sigma: float, rival: str, printed: str) -> Computed:
    """Return PIAdam's printed lead over a rival; ours is that of their printed accuracies."""
    accuracies = LEVELS[data, sigma]
    own = float(accuracies[PIADAM])
    other = float(accuracies[rival])
    texts = WORDS["improvement"]
    numbers: Numbers = {
        "data": data,
        "sigma": sigma,
        "rival": rival,
        "printed": printed,
        "own": accuracies[PIADAM],
        "other": accuracies[rival],
        "lead": nearest(ahead(own, other), 3),
    }
    row = computed(texts["row"] | {"printed": printed}, partial(ahead, own, other), numbers=numbers)
    if abs(row.ours() - row.theirs) <= row.tolerance:
        return row
    least = ahead(own - ROUNDED, other + ROUNDED) - row.tolerance
    most = ahead(own + ROUNDED, other - ROUNDED) + row.tolerance
    numbers["who"] = texts["possible" if least <= row.theirs <= most else "impossible"]
    return replace(row, because=texts["because"].format_map(numbers))


def _improvements() -> Iterator[Computed]:
    for level in WORDS["levels"]:
        for rival, printed in zip(FIVE[1:], level["leads"], strict=True):
            if printed:
                yield _improvement(level["data"], level["sigma"], rival, printed)


IMPROVEMENTS = tuple(_improvements())
ROWS: tuple[Row, ...] = (
    *_epsilons(),
    *IMPROVEMENTS,
    *_plain(),
    *_figure_3("MNIST", "as coded"),
    *_figure_3("Fashion-MNIST", "as coded"),
    *_figure_3("CIFAR-10", "as coded"),
    *_figure_3("MNIST", "as written"),
    *_figure_3("Fashion-MNIST", "as written"),
    *_levels("Figure 5", "MNIST"),
    *_on_levels_of({"PIAdam, as written": PIADAM, "DP-SGD, 1,000 hidden units": "DP-SGD"}),
    *_on_levels_of({"DP-AdamBC": PIADAM}),
    _accuracy("Section 5.2", "MNIST", PIADAM, 8.0, "92.11"),
    _accuracy("Section 5.2", "MNIST", PIADAM, 2.0, "98.2"),
    _at_epsilon(PIADAM, 8.0, 0.5, "91"),
    _at_epsilon("ADADP", 8.0, 0.5, "90"),
    _at_epsilon("ADPPL", 8.0, 0.5, "89.7"),
    _at_epsilon("EXP", 8.0, 0.5, "89"),
    _at_epsilon("DP-SGD", 8.0, 0.5, "88.9"),
    _at_epsilon(PIADAM, 2.0, 8.0, "97.5"),
    *_levels("Figure 8", "CIFAR-10"),
)

SIGMA = 4.0  # the default of section 5
# Epsilon by MMA of Figure 7's 100 epochs at the default.
BUDGET = round(claimed(0.01, SIGMA, 10_000), 1)
EPSILONS = (0.5, 2.0)  # of Figure 6(b)


SHARED = {"sigma": SIGMA, "budget": BUDGET, "by_mma": TEXTS["by_mma"]}  # numbers in the texts


def _figure_6a(method: str) -> Grid:
    """Return accuracy against epsilon by MMA."""
    texts = WORDS["grids"]["epsilon"] | WORDS["grids"].get(method, {})
    longest = 1000.0 if method == "EXP" else LONG  # EXP's noise falls
    config = stopped(run("MNIST", method, SIGMA), texts["values"][0], longest)
    return grid(texts, config, SHARED | {"method": method})


def _figure_6b(epsilon: float) -> Grid:
    """Return accuracy against delta."""
    config = stopped(run("MNIST", PIADAM, SIGMA), epsilon, LONG)
    return grid(WORDS["grids"]["delta"], config, SHARED | {"epsilon": epsilon})


def _figure_7(setting: str) -> Iterator[Grid]:
    """Yield a panel for each of the three methods, as written; two panels spend one budget."""
    for method in THREE:
        config = run("MNIST", name_of(method, "as written"), SIGMA)
        if setting in ("batch", "sigma"):
            config = stopped(config, BUDGET, LONG)
        yield grid(WORDS["grids"][setting], config, SHARED | {"method": method})


def _figure_9(method: str) -> Grid:
    """Return accuracy against sigma on Fashion-MNIST."""
    texts = filled(WORDS["grids"]["fashion"], SHARED | {"method": method})
    configs = tuple(run("Fashion-MNIST", method, sigma) for sigma in (2.0, 4.0, 8.0))
    values = tuple(config.sigma for config in configs)
    along = ("epochs", "rate") if method == "EXP" else ("epochs",)
    return Grid(**texts, values=values, curves=(Curve(configs),), along=along)


FIGURE_6B = tuple(_figure_6b(epsilon) for epsilon in EPSILONS)
FIGURE_7A = tuple(_figure_7("width"))
GRIDS = (
    *(_figure_6a(method) for method in FIVE),
    *FIGURE_6B,
    *FIGURE_7A,
    *_figure_7("clip_norm"),
    *_figure_7("batch"),
    *_figure_7("sigma"),
    *(_figure_9(method) for method in FIVE),
)
