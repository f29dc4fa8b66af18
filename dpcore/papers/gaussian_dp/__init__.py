"""Paper 004: deep learning with Gaussian differential privacy, its central limit theorem and its experiments."""

from dpcore.papers.gaussian_dp.figures import DRAWINGS
from dpcore.papers.gaussian_dp.findings import FINDINGS, REMARKS
from dpcore.papers.gaussian_dp.numbers import ADULT, IMDB, TABLE_1, of_figure_4, of_tables, of_text
from dpcore.papers.gaussian_dp.runs import RUNS, SWEEPS
from dpcore.papers.paper import Paper

PAPER = Paper(
    id="004",
    short="Gaussian DP",
    title="Deep learning with Gaussian differential privacy",
    authors="Bu, Dong, Long and Su",
    published="Harvard Data Science Review 2020, arXiv 1911.11607",
    about="Trade-off functions as the measure of privacy, and a central limit theorem that gives them in closed form.",
    settings={f"Gaussian DP, MNIST, sigma {each.sigma:g}": each for each in TABLE_1}
    | {"Gaussian DP, Adult": ADULT, "Gaussian DP, IMDb": IMDB},
    entries=(*of_tables(), *of_text(), *of_figure_4(), *RUNS),
    drawings=DRAWINGS,
    sweeps=SWEEPS,
    findings=FINDINGS,
    remarks=REMARKS,
)
