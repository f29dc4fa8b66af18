"""Which accountant gives a claimed number, in which way; dp-accounting and Opacus are asked too."""

import pytest
from dp_accounting import GaussianDpEvent, NeighboringRelation, PoissonSampledDpEvent, SelfComposedDpEvent
from dp_accounting.rdp import RdpAccountant
from opacus.accountants import RDPAccountant

from dpcore.claims import Claim, Printed, checked
from dpcore.claims.recounts import NUMERICAL, OPACUS, OWN, TF_PRIVACY, Recount, giving, recounts
from dpcore.claims.setting import setting_of
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.mechanism import Mechanism
from tests.golden import EXPERIMENTS

CLAIM = Claim(delta=1e-5, q=0.01, sigma=1.1, steps=1000, sampler="poisson")


def numbers(claim: Claim) -> dict[tuple[str, str], Recount]:
    return {(each.accountant, each.how): each for each in recounts(setting_of(claim))}


def test_opacus_gives_what_its_orders_give_here() -> None:
    accountant = RDPAccountant()
    accountant.history = [(1.1, 0.01, 1000)]
    assert pytest.approx(OPACUS.tolist()) == accountant.DEFAULT_ALPHAS
    found = numbers(CLAIM)["rdp", "at the orders of Opacus"]
    assert found.least == found.most == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-9)


def test_dp_accounting_gives_the_same_at_the_same_orders() -> None:
    theirs = RdpAccountant(OPACUS.tolist(), NeighboringRelation.ADD_OR_REMOVE_ONE)
    theirs.compose(SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(1.1)), 1000))
    assert numbers(CLAIM)["rdp", "at the orders of Opacus"].most == pytest.approx(theirs.get_epsilon(1e-5), rel=1e-7)


@pytest.mark.parametrize("row", EXPERIMENTS, ids=lambda each: each.name)
def test_the_tables_of_gaussian_dp_are_given_by_whom_they_name(row) -> None:
    setting = {"delta": row.delta, "q": row.batch / row.examples, "sigma": row.sigma, "epochs": float(row.epochs)}
    found = recounts(setting_of(Claim(**setting, sampler="poisson")))
    for printed, accountant in ((row.epsilon_moments, "moments"), (row.epsilon_clt, "gdp")):
        assert accountant in [each.accountant for each in giving(found, Printed(f"{printed:.2f}"))]
        assert accountant not in [each.accountant for each in giving(found, Printed(f"{printed + 0.3:.2f}"))]


def test_the_orders_are_those_that_the_names_say() -> None:
    assert TF_PRIVACY.size == 99 + 240 + 40
    assert (TF_PRIVACY[0], TF_PRIVACY.max()) == (1.1, 99.0)
    assert (OPACUS[0], OPACUS.max()) == (1.1, 63.0)


@pytest.mark.parametrize(
    ("least", "most", "text", "given"),
    [
        (2.994, 2.994, "3", True),
        (2.994, 2.994, "2.99", True),
        (2.994, 2.994, "3.0", True),
        (2.991, 2.991, "3.00", True),  # rounded up
        (3.006, 3.006, "3.00", False),
        (2.98, 2.98, "3.00", False),
        (2.9, 3.1, "3.00", True),  # between the fewest and the most steps
        (2.98, 2.985, "3.00", False),
        (float("inf"), float("inf"), "3.00", False),
    ],
)
def test_a_number_is_given_if_it_rounds_to_what_is_printed(least: float, most: float, text: str, given: bool) -> None:
    assert Recount("rdp", "", least, most).gives(Printed(text)) is given


def test_an_accountant_is_named_once_and_as_it_is_here_if_that_gives_it() -> None:
    own = numbers(CLAIM)["rdp", "as it is here"].most
    verdict = checked(Claim(Printed(f"{own:.3f}"), delta=1e-5, q=0.01, sigma=1.1, steps=1000))
    names = [(each.accountant, each.how) for each in verdict.given_by]
    assert ("rdp", "as it is here") in names
    assert len({name for name, _ in names}) == len(names)


def test_a_number_is_of_the_kind_that_its_curve_says() -> None:
    claim = Claim(delta=1e-5, q=0.1, sigma=1.0, steps=100, sampler="poisson")
    mechanism = Mechanism.constant(0.1, 1.0, 100)
    for name, each in ACCOUNTANTS.items():
        (own,) = [found.kind for (accountant, how), found in numbers(claim).items() if (accountant, how) in
                  ((name, OWN), (name, NUMERICAL))]  # fmt: skip
        assert own is each.curve(mechanism, 100, 1e-5).kind


def test_an_accountant_without_a_number_says_why() -> None:
    verdict = checked(Claim(Printed("3"), delta=1e-5, q=0.01, sigma=0.01, steps=10, accountant="gdp"))
    assert "has no number here" in verdict.sentence or verdict.standing.value == "refuted"
