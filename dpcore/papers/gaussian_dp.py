"""Paper 004: deep learning with Gaussian differential privacy, its central limit theorem and its experiments."""

from dpcore.papers.paper import Paper

PAPER = Paper(
    id="004",
    short="Gaussian DP",
    title="Deep learning with Gaussian differential privacy",
    authors="Bu, Dong, Long and Su",
    published="Harvard Data Science Review 2020, arXiv 1911.11607",
    about="Trade-off functions as the measure of privacy, and a central limit theorem that gives them in closed form.",
)
