"""Paper 000: perturbed iterative gradient descent (PIAdam and its kin), and its modified moments accountant."""

from dpcore.papers.paper import Paper

PAPER = Paper(
    id="000",
    short="PIGDO and MMA",
    title="Differentially private deep learning with iterative gradient descent optimization",
    authors="",
    published="ACM/IMS Transactions on Data Science 2 (4), November 2021",
    about="Adaptive steps before the noise, and MMA, a closed form that is to bound epsilon better than the moments.",
)
