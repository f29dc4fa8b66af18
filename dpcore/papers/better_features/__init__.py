"""Paper 005: Tramer and Boneh, who trained linear models on fixed features; and the best accuracy found here."""

from dpcore.papers.better_features.findings import FINDINGS, ID, REMARKS
from dpcore.papers.better_features.recipes import LADDERS, LINEAR, PAPERS_CNN, RECORD, run
from dpcore.papers.entry import accuracy
from dpcore.papers.paper import SEEDS, Paper

PRINTED = (  # at epsilon 3: of a linear model on the features, of a network on the pixels
    ("mnist", LINEAR, "98.7"),
    ("fashion_mnist", LINEAR, "89.7"),
    ("mnist", PAPERS_CNN, "98.1"),
    ("fashion_mnist", PAPERS_CNN, "86.0"),
)
BECAUSE = "Batches are Poisson's and epsilon is certified; settings are ours, those of the CNN SA-DPSGD's paper's."

PAPER = Paper(
    id=ID,
    short="Better features",
    title="Differentially private learning needs better features (or much more data)",
    authors="Tramer and Boneh",
    published="ICLR 2021, arXiv 2011.11660",
    about="A linear model on features that look at no data beats networks that are trained from pixels.",
    entries=tuple(
        accuracy(
            "Accuracies at epsilon 3",
            f"{run(dataset, rung, RECORD).dataset}, {rung.lower()}, test accuracy, %",
            printed,
            run(dataset, rung, RECORD),
            BECAUSE,
            SEEDS,
        )
        for dataset, rung, printed in PRINTED
    ),
    ladders=LADDERS,
    findings=FINDINGS,
    remarks=REMARKS,
)
