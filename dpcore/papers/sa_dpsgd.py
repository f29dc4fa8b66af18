"""Paper 001: SA-DPSGD, which keeps or drops each noisy step by simulated annealing."""

from dpcore.papers.entry import Setting
from dpcore.papers.paper import Paper
from dpcore.papers.sa_dpsgd_runs import RUNS

# Section 5 takes these over from Tramer and Boneh 2021, arXiv 2011.11660.
SETTINGS = {
    "SA-DPSGD, MNIST": Setting(n=60_000, batch=512, sigma=1.23, epochs=40, clip_norm=0.1, dataset="mnist"),
    "SA-DPSGD, Fashion-MNIST": Setting(
        n=60_000, batch=2048, sigma=2.15, epochs=40, clip_norm=0.1, dataset="fashion_mnist"
    ),
    "SA-DPSGD, CIFAR-10": Setting(n=50_000, batch=1024, sigma=1.54, epochs=30, clip_norm=0.1),
}

PAPER = Paper(
    id="001",
    short="SA-DPSGD",
    title="SA-DPSGD: differentially private stochastic gradient descent based on simulated annealing",
    authors="Fu, Chen and Ling",
    published="arXiv preprint",
    about="A noisy step is kept where it helps, else with a falling probability; dropped steps are said to be free.",
    settings=SETTINGS,
    entries=(*RUNS,),
)
