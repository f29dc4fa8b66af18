"""Paper 000: perturbed iterative gradient descent (PIAdam and its kin), and its modified moments accountant."""

from dataclasses import replace

from dpcore.papers.entry import Setting
from dpcore.papers.paper import Paper
from dpcore.papers.pigdo_runs import RUNS, SWEEPS

MNIST = Setting(n=60_000, batch=600, sigma=4.0, epochs=100, clip_norm=4.0, optimizer="adam", dataset="mnist")
SETTINGS = {
    "PIGDO, MNIST, sigma 8": replace(MNIST, sigma=8.0, epochs=30),
    "PIGDO, MNIST, sigma 4": MNIST,
    "PIGDO, MNIST, sigma 2": replace(MNIST, sigma=2.0, epochs=260),
    "PIGDO, figure 4": replace(MNIST, sigma=2.0, epochs=400),
}

PAPER = Paper(
    id="000",
    short="PIGDO and MMA",
    title="Differentially private deep learning with iterative gradient descent optimization",
    authors="",
    published="ACM/IMS Transactions on Data Science 2 (4), November 2021",
    about="Adaptive steps before the noise, and MMA, a closed form that is to bound epsilon better than the moments.",
    settings=SETTINGS,
    entries=(*RUNS,),
    sweeps=SWEEPS,
)
