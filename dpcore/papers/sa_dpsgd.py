"""Paper 001: SA-DPSGD, which keeps or drops each noisy step by simulated annealing."""

from dpcore.papers.paper import Paper

PAPER = Paper(
    id="001",
    short="SA-DPSGD",
    title="SA-DPSGD: differentially private stochastic gradient descent based on simulated annealing",
    authors="Fu, Chen and Ling",
    published="arXiv preprint",
    about="A noisy step is kept where it helps, else with a falling probability; dropped steps are said to be free.",
)
