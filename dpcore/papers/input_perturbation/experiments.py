"""The experiments of paper 003, as comparisons to make here: T, step size and delta, which it leaves out, are ours."""

from dpcore.data.tabular import TABLES
from dpcore.papers.paper import Experiment
from dpcore.training.perturbation.models import MODELS
from dpcore.training.perturbation.request import Request

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.25)  # the paper's range
LARGE, SMALL = ("kddcup99", "adult", "bank"), ("breast_cancer", "credit_card", "iris")
FIGURES = [
    *((f"Figures 2 and 3 ({letter})", table, "logistic") for letter, table in zip("abc", LARGE, strict=True)),
    *((f"Figures 2 and 3 ({letter})", table, "mlp") for letter, table in zip("def", LARGE, strict=True)),
    *((f"Figure 4 ({pair})", table, "logistic") for pair, table in zip(("a, d", "b, e", "c, f"), SMALL, strict=True)),
]
EXPERIMENTS = tuple(
    Experiment(
        place=place,
        title=f"{TABLES[table].title}, {MODELS[model].title.lower()}",
        request=Request(dataset=table, model=model, epsilons=EPSILONS),
    )
    for place, table, model in FIGURES
)
