"""Paper 004: deep learning with Gaussian differential privacy, its central limit theorem and its experiments."""

from dataclasses import replace

from dpcore.papers.entry import Setting
from dpcore.papers.gaussian_dp_runs import RUNS
from dpcore.papers.paper import Paper

MNIST = Setting(n=60_000, batch=256, sigma=1.3, epochs=15, clip_norm=1.5, dataset="mnist")
TABLE_1 = (  # its rows
    MNIST,
    replace(MNIST, sigma=1.1, epochs=60, clip_norm=1.0),
    replace(MNIST, sigma=0.7, epochs=45),
    replace(MNIST, sigma=0.6, epochs=62),
    replace(MNIST, sigma=0.55, epochs=68),
    replace(MNIST, sigma=0.5, epochs=100),
)
ADULT = Setting(n=29_305, batch=256, sigma=0.55, epochs=18)
IMDB = Setting(n=25_000, batch=512, sigma=0.56, epochs=9, optimizer="adam")

PAPER = Paper(
    id="004",
    short="Gaussian DP",
    title="Deep learning with Gaussian differential privacy",
    authors="Bu, Dong, Long and Su",
    published="Harvard Data Science Review 2020, arXiv 1911.11607",
    about="Trade-off functions as the measure of privacy, and a central limit theorem that gives them in closed form.",
    settings={f"Gaussian DP, MNIST, sigma {each.sigma:g}": each for each in TABLE_1}
    | {"Gaussian DP, Adult": ADULT, "Gaussian DP, IMDb": IMDB},
    entries=(*RUNS,),
)
