"""The glossary's words for the places where noise can go."""

from dpcore.privacy.report.term import THIS_APP, Term

KANG = "Kang et al. 2020, arXiv:2002.08570"

PERTURBATION = {
    "fits": Term(
        "Seeds",
        "How often each method learns at each epsilon, every time with noise of its own.",
        THIS_APP,
    ),
    "descent": Term(
        "Steps T of descent",
        "Full steps of gradient descent, over all rows: what output, gradient and input perturbation learn by.",
        KANG,
    ),
    "step_size": Term(
        "Step size",
        "Of gradient descent, fixed beforehand and the same in every step.",
        KANG,
    ),
    "regulariser": Term(
        "Regulariser",
        "Δ: the objective has (Δ / 2) |θ|² beside the loss, which makes it strongly convex whatever the rows are.",
        KANG,
    ),
    "row_norm": Term(
        "Clipping norm G",
        "The most that the gradient of one row may be long, where the loss itself does not bound it.",
        KANG,
    ),
    "protected": Term(
        "Every row is protected",
        "From whom a row is hidden: from whoever sees the model, or also from those who learn it, or from nobody.",
        KANG,
        ("Every row is protected",),
    ),
}
