"""The glossary's words for audits."""

from dpcore.privacy.report.term import THIS_APP, Term

STEINKE = "Steinke, Nasr and Jagielski 2023, arXiv:2305.08846"

AUDIT = {
    "canary": Term(
        "Canaries",
        "Examples that are in the training data, or not, by the flip of a coin. How well the releases tell which "
        "bounds epsilon from below. They take the places of real examples, and are charged like them.",
        STEINKE,
    ),
    "audit_confidence": Term(
        "Confidence",
        "How sure what an audit finds is: at 95 %, a trainer that keeps its claim fails in at most 5 of 100 audits.",
        THIS_APP,
    ),
    "evidence": Term(
        "Epsilon at least",
        "A bound holds at the confidence whatever the trainer does. A conditional number holds if what the audit "
        "leaves untested is as it is charged. An estimate is no bound: what it assumes holds at most roughly.",
        THIS_APP,
        ("Epsilon at least",),
    ),
    "reach": Term(
        "Reach of a generator",
        "The largest number that it can return. A release beyond it proves that an example took part, so accountants, "
        "who charge for normal noise, do not speak of it. Torch's float32 numbers on a CPU end at 5.768.",
        "README.md of dpcore.training.randomness",
    ),
    "p_value": Term(
        "p-value",
        "If what is claimed is true, an audit looks as bad as this, or worse, with this probability at most. It is "
        "corrected for the number of audits (Holm 1979), so that all of them together err no more often than one.",
        THIS_APP,
        ("p-value",),
    ),
}
