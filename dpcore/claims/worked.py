"""Claims that papers and libraries print, as worked examples: one of each kind of verdict at least."""

from dataclasses import dataclass, replace

from dpcore.claims.claim import Claim
from dpcore.claims.printed import Printed

ABADI = "Abadi et al. 2016, Deep learning with differential privacy, arXiv 1607.00133"
BU = "Bu, Dong, Long and Su 2020, Deep learning with Gaussian differential privacy, arXiv 1911.11607"
PIGDO = "Ding et al. 2022, Differentially private deep learning with iterative gradient descent optimization"
SA = "Fu, Chen and Ling 2022, SA-DPSGD, arXiv 2211.07218"
TRAMER = "Tramèr and Boneh 2021, Differentially private learning needs better features, arXiv 2011.11660"
VAULT = "Google 2025, VaultGemma 1B, its page in the documentation of Transformers"
OPACUS = "Opacus 1.6, opacus/tests/accountants_test.py"


@dataclass(frozen=True)
class WorkedExample:
    """A claim that somebody printed, and where."""

    name: str  # in an address, and on the command line
    title: str  # on a button
    source: str
    place: str
    claim: Claim
    note: str = ""  # what a reader has to know to judge the example


MNIST = Claim(delta=1e-5, examples=60_000, sampler="poisson")
ABADI_MNIST = replace(MNIST, q=0.01, batch=600, sigma=4.0, steps=10_000)
BU_MNIST = replace(MNIST, batch=256, sigma=1.3, epochs=15.0)
PIGDO_MNIST = replace(MNIST, q=0.01, batch=600, sigma=4.0, epochs=100.0)
TUTORIAL = replace(MNIST, batch=256, sigma=1.1, epochs=60.0)
TANH = replace(MNIST, batch=512, sigma=1.23)
TESTED = Claim(delta=1e-5, q=0.04, sigma=1.5, steps=2250, sampler="poisson")

EXAMPLES = tuple(
    WorkedExample(name, title, source, place, replace(claim, epsilon=Printed(epsilon), accountant=accountant), note)
    for name, title, source, place, claim, epsilon, accountant, note in (
        ("moments", "Moments accountant, 1.26", ABADI, "section 5.1", ABADI_MNIST, "1.26", "moments", ""),
        (
            "composition", "Strong composition, 9.34", ABADI, "section 5.1", ABADI_MNIST, "9.34", "strong",
            "It takes q times the epsilon of a step for that of a sampled one, which is a bound for small ones only: "
            "composition that is proven gives more. What is claimed holds all the same.",
        ),
        (
            "cifar", "CIFAR-10, 4", ABADI, "Figure 6 (2), as the slides have it",
            Claim(delta=1e-5, batch=4000, examples=50_000, sigma=6.0), "4", None,
            "The figure has epochs on its axis; the text names none.",
        ),
        (
            "tutorial", "TensorFlow Privacy's tutorial, 3.01", BU, "Table 1, row 2", TUTORIAL, "3.01", "moments",
            "The first three rows have the settings of the tutorial of TensorFlow Privacy, 2019.",
        ),
        ("clt", "Central limit theorem, 0.83", BU, "Table 1, row 1", BU_MNIST, "0.83", "gdp", ""),
        (
            "clt-high", "Central limit theorem, 31.12", BU, "Table 1, row 6",
            replace(BU_MNIST, sigma=0.5, epochs=100.0), "31.12", "gdp",
            "An approximation, no bound: with so little noise it errs high.",
        ),
        (
            "shuffled", "The same model, 1.19, as its script draws batches", BU, "Table 1, row 1",
            replace(BU_MNIST, sampler="shuffle"), "1.19", "moments",
            "The paper counts Poisson batches; the script that it publishes shuffles.",
        ),
        (
            "sa-dpsgd", "SA-DPSGD, 3", SA, "Table 2, MNIST", TANH, "3", "rdp",
            "How many steps were proposed the paper does not tell.",
        ),
        (
            "tanh", "Tanh network on MNIST, 3", TRAMER, "README of its code, Handcrafted-DP",
            replace(TANH, epochs=40.0), "3", "rdp", "",
        ),
        (
            "mma", "Modified moments accountant, 3.39", PIGDO, "section 5.2", PIGDO_MNIST, "3.39", "mma",
            "Its Theorem 3 gives half of that, and so little holds.",
        ),
        (
            "vaultgemma", "VaultGemma 1B, 2.0", VAULT, "Overview", Claim(delta=1.1e-10), "2.0", None,
            "As models are documented: epsilon, delta and the unit (a sequence of 1,024 tokens). Noise and steps "
            "stand in the technical report; from this page alone nobody can recount it.",
        ),
        ("opacus-rdp", "Opacus, 7.329", OPACUS, "test_rdp_accountant", TESTED, "7.32911117143", "rdp", ""),
        ("opacus-prv", "Opacus, 6.777", OPACUS, "test_prv_accountant", TESTED, "6.777395712150674", "pld", ""),
    )
)  # fmt: skip
