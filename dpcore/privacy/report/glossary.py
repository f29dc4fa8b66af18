"""What the words mean that the pages use: one entry for each, shown wherever the word stands.

A word that is new on a page is an entry here and one call of `help_on`, or of `term` in pages/parts/explain/terms.py.
"""

import re

from dpcore.privacy.report.audit_terms import AUDIT
from dpcore.privacy.report.kinds import WORDS
from dpcore.privacy.report.perturbation_terms import PERTURBATION
from dpcore.privacy.report.term import THIS_APP, Term
from dpcore.privacy.types import Kind

ABADI = "Abadi et al. 2016, arXiv:1607.00133"
BU = "Bu et al. 2020, arXiv:1911.11607"
DONG = "Dong, Roth and Su 2019, arXiv:1905.02383"
KAIROUZ = "Kairouz, Oh and Viswanath 2015, arXiv:1311.0776"
DWORK = "Dwork and Roth 2014, The algorithmic foundations of differential privacy"
CARLINI = "Carlini et al. 2022, arXiv:2112.03570"
ARXIV = re.compile(r"arXiv[: ](\d{4}\.\d{4,5}(?:v\d+)?)")

GLOSSARY = {
    "epsilon": Term(
        "Epsilon",
        "How much the result may depend on any one example: whether it took part changes how probable a result is "
        "by at most a factor of e^epsilon, except with probability delta. Smaller is more private; 0 would "
        "reveal nothing.",
        DWORK,
        ("Epsilon", "Epsilon it counts"),
    ),
    "delta": Term(
        "Delta",
        "The probability that the promise of epsilon fails outright. Keep it below 1/n.",
        DWORK,
    ),
    "examples": Term(
        "Training examples n",
        "How many examples the training data hold. The more there are, the more rarely each of them is drawn for a "
        "batch of the same size.",
        ABADI,
    ),
    "q": Term(
        "Sampling rate q",
        "The probability with which an example joins a step. A fraction such as 256/60000 is fine.",
        ABADI,
        ("q",),
    ),
    "batch": Term(
        "Expected batch",
        "How many examples join a step on average, q times n. The true number varies from step to step, and noise and "
        "mean follow the expected one.",
        ABADI,
        ("batch",),
    ),
    "poisson": Term(
        "Poisson sampling",
        "For each step, each example is drawn or left out by a coin of its own, with probability q. Nobody can tell "
        "which steps an example was in, and that is worth privacy; shuffled batches cost more.",
        "Balle, Barthe and Gaboardi 2018, arXiv:1807.01647",
    ),
    "sampler": Term(
        "How batches are drawn",
        "What an epsilon is for: the same noise hides more or less as an attacker can guess which steps an example was "
        "in. Accountants count Poisson batches; any other way is accounted for beside them, by what is proven of it.",
        "Chua et al. 2024, arXiv:2403.17673",
    ),
    "sigma": Term(
        "Noise multiplier sigma",
        "Standard deviation of the noise on the summed gradient, in units of the clipping norm C.",
        ABADI,
        ("sigma", "Less noise"),
    ),
    "schedule": Term(
        "Noise schedule",
        "How sigma changes while the model trains. It is fixed before the first step, and each step is charged with "
        "the sigma that it draws.",
        "Yu et al. 2019, arXiv:1904.02200",
    ),
    "steps": Term(
        "Steps T",
        "How often a batch is drawn, clipped, summed, noised and used. Each step releases something, so each costs.",
        ABADI,
        ("steps",),
    ),
    "epoch": Term(
        "Epoch",
        "As many steps as it takes to draw each example once on average, 1/q of them.",
        ABADI,
    ),
    "clip_norm": Term(
        "Clipping norm C",
        "The most that one example may move the sum of gradients: a longer gradient is shortened to C. The noise is "
        "sigma times C, so C does not change epsilon.",
        ABADI,
    ),
    "optimizer": Term(
        "Optimizer",
        "What turns the noisy gradients into steps of the weights. It sees nothing but what is released already, so it "
        "does not change epsilon.",
        ABADI,
    ),
    "post_processing": Term(
        "Post-processing",
        "Whatever is computed from a private result, without looking at the data again, is as private as the result.",
        DWORK,
    ),
    "learning_rate": Term(
        "Learning rate",
        "How far a step goes along the noisy gradient. Clipping shortens gradients, so private training takes larger "
        "rates than usual; when C rises, the rate must fall.",
        ABADI,
    ),
    "weight_average": Term(
        "Moving average of the weights",
        "Evaluated beside the raw weights. Free: it only uses what is released already.",
        "De et al. 2022, arXiv:2204.13650",
    ),
    "runs": Term(
        "Runs",
        "The same settings with other starting weights, batches and noise: at the end mean and spread are told. One "
        "that is released has the epsilon shown; to release several, or the best of them, costs more.",
        THIS_APP,
    ),
    "public": Term(
        "Public examples held out",
        "The last training examples: neither trained nor tested on. Fewer are left, so q rises.",
        THIS_APP,
    ),
    "baseline": Term(
        "Non-private baseline",
        "The same model and data without clipping and noise, at an ordinary learning rate.",
        THIS_APP,
    ),
    "accountant": Term(
        "Accountant",
        "A way to add up what all steps of a training run cost. All of them count the same noise; what they know of "
        "it, and whether they prove what they say, differs.",
        ABADI,
        ("Accountant", "Counted by"),
    ),
    "band": Term(
        "Certified band",
        "Two proven curves, one below and one above the exact value, with every rounding charged. All other numbers "
        "are judged by it.",
        "after Doroshenko et al. 2022, arXiv:2207.04380",
        ("Certified", "Certified epsilon"),
    ),
    "kind": Term(
        "Kind",
        "How far a number can be trusted: whether it is proven never to be too small, an approximation, or a claim.",
        THIS_APP,
        ("Kind",),
    ),
    "verdict": Term(
        "Verdict",
        "What a number is worth, found by comparing it with the certified band: tight, loose, or claiming more privacy "
        "than there is.",
        THIS_APP,
        ("Verdict",),
    ),
    "outcome": Term(
        "Verdict on a paper's number",
        "Reproduced, if ours is what is printed, as far as it is printed. If it differs, why is said. A promise of "
        "privacy is refuted if epsilon is proven to be larger. Untrained are those of which no run is on record.",
        THIS_APP,
    ),
    "claim": Term(
        "Verdict on a claim",
        "It holds if the certified upper bound is at most what is claimed, and is refuted if the lower one exceeds all "
        "that rounds to it; between the two it is unproven. It is contradictory if its numbers do not fit one another, "
        "and insufficient if one is missing.",
        THIS_APP,
    ),
    "ours": Term(
        "Ours",
        "The printed number, computed or trained here: a proven bound is rounded up, an accuracy is the mean of the "
        "runs on record, with its spread over seeds.",
        THIS_APP,
        ("Ours",),
    ),
    "ratio": Term(
        "Ratio to certified",
        "The number divided by the certified upper bound: 2 is twice as large as proven to be enough, below 1 it may "
        "claim too much.",
        THIS_APP,
        ("÷\N{NO-BREAK SPACE}certified",),
    ),
    "adjacency": Term(
        "Adjacency",
        "Which data sets must be hard to tell apart: here, except on the page Perturbation, two that differ by one "
        "example, present or absent (add/remove; zero-out leaves its place empty). Under replace-one, as there, one "
        "becomes another, which may move a sum twice as far: the numbers cannot be compared.",
        DWORK,
    ),
    "tradeoff": Term(
        "Trade-off function",
        "For every rate of false accusations, the least share of true participants that any attack must miss. It says "
        "all that can be said about one run; epsilon is one number read off it.",
        DONG,
    ),
    "pair": Term(
        "Pair (epsilon, delta)",
        "One promise. A training run keeps a whole curve of them at once, an epsilon for each delta, and all of them "
        "together leave an attacker less than any one does.",
        KAIROUZ,
    ),
    "errors": Term(
        "Type I and type II error",
        "An attacker errs in two ways: type I accuses somebody who was not in the data (a false positive), type II "
        "misses somebody who was. Only an attacker who looks can make both rare.",
        KAIROUZ,
        ("Smallest type I + type II error",),
    ),
    "advantage": Term(
        "Advantage",
        "The best attacker's true-positive less false-positive rate: 0 is blind guessing, 1 is certainty.",
        "Yeom et al. 2018, arXiv:1709.01604",
        ("Largest advantage", "Advantage it counts"),
    ),
    "true_positives": Term(
        "True positives at few false positives",
        "Of those who took part, how many the best attack finds while it accuses hardly anybody wrongly: those are the "
        "attacks that harm.",
        CARLINI,
        ("True positives",),
    ),
    "prior": Term(
        "Attacker's prior",
        "How probable it is, for the attacker before they look, that your example took part.",
        KAIROUZ,
        ("Chance of a wrong guess",),
    ),
    "blind": Term(
        "Blind guessing",
        "An attacker who does not look at the result. Perfect privacy would leave every attacker here.",
        KAIROUZ,
        ("Blind guessing",),
    ),
    "mu": Term(
        "mu",
        "As hard to attack as telling a normal distribution from one shifted by mu. The central limit theorem gives an "
        "approximation of it.",
        f"{DONG}; {BU}",
        ("mu", "mu (CLT)", "Mu it counts"),
    ),
    "odds": Term(
        "Odds",
        "Somebody holds it for even odds, 50 of 100, that you are in the data. The number says how sure the released "
        "model can make them, whoever they are and whatever else they know.",
        "Nanayakkara et al. 2023, arXiv:2303.00738",
    ),
    **PERTURBATION,
    **AUDIT,
    Kind.UPPER: Term(
        WORDS[Kind.UPPER][:1].upper() + WORDS[Kind.UPPER][1:],
        "The exact value is not above this number: it may promise too little privacy, never too much. It carries ≤.",
        THIS_APP,
    ),
    Kind.CERTIFIED: Term(
        WORDS[Kind.CERTIFIED][:1].upper() + WORDS[Kind.CERTIFIED][1:],
        "The exact value is not above this number, and it is proven how little it can be below: the certified band.",
        THIS_APP,
    ),
    Kind.APPROXIMATE: Term(
        "Approximation",
        "Neither an upper nor a lower bound: it may err on either side, and can promise more privacy than there is.",
        BU,
    ),
    Kind.CLAIMED: Term(
        "Claim",
        "A formula from a paper whose proof does not cover this case, or has a gap. It may promise more privacy than "
        "there is.",
        THIS_APP,
    ),
}  # fmt: skip

OF_HEAD = {head: name for name, term in GLOSSARY.items() for head in term.heads}


def help_on(*names: str) -> str:
    """The entries as Markdown, for the help of a control; a source on arXiv is a link.

    >>> help_on("delta")[:64]
    '**Delta.** The probability that the promise of epsilon fails out'
    """
    return "\n\n".join(
        f"**{term.name}.** {term.meaning} *{linked(term.source)}*" for term in (GLOSSARY[name] for name in names)
    )


def linked(source: str) -> str:
    """A text as Markdown, its arXiv numbers as links.

    >>> linked("Abadi et al. 2016, arXiv:1607.00133")
    'Abadi et al. 2016, [arXiv:1607.00133](https://arxiv.org/abs/1607.00133)'
    """
    return ARXIV.sub(r"[\g<0>](https://arxiv.org/abs/\1)", source)
