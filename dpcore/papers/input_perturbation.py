"""Paper 003: input perturbation, and the other places of learning at which noise may be added."""

from dpcore.papers.paper import Paper

PAPER = Paper(
    id="003",
    short="Input perturbation",
    title="Input perturbation: a new paradigm between central and local differential privacy",
    authors="Kang, Liu, Niu, Tong, Zhang and Wang",
    published="arXiv preprint",
    about="Noise on the training data instead of on the gradient, the objective or the result.",
)
