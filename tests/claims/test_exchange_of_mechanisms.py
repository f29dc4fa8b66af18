"""Opacus and dp-accounting: what they write is read, what is written they read, and whose number a
claim is.
"""

import json
import math
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import dp_accounting
import pytest
from dp_accounting import (
    ComposedDpEvent,
    GaussianDpEvent,
    NeighboringRelation,
    PoissonSampledDpEvent,
    SampledWithoutReplacementDpEvent,
    SelfComposedDpEvent,
)
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st
from opacus.accountants import GaussianAccountant, PRVAccountant, RDPAccountant

from dpcore.claims import Claim, Printed, Standing, judge
from dpcore.claims.accountant_variants import (
    NUMERICAL,
    OPACUS,
    OWN,
    TF_PRIVACY,
    Recount,
    giving,
    recounts,
)
from dpcore.claims.certificate import certificate_of, check_again
from dpcore.claims.dp_event import event_in, event_of, read_event
from dpcore.claims.reading import read
from dpcore.claims.setup import setup_of
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.beside import Laplace
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.selection.best_of import read_runs
from tests.golden import EXPERIMENTS

RELEASES = st.lists(
    st.builds(
        Release,
        st.sampled_from([0.01, 0.5, 1.0]),
        st.sampled_from([0.7, 1.1, 4.0]),
        st.integers(1, 50),
    ),
    min_size=1,
    max_size=5,
)
STEP = PoissonSampledDpEvent(0.01, GaussianDpEvent(1.1))


def named(event: dict[str, Any]) -> NamedTuple:
    """An event as the named tuple that dp-accounting reads."""
    values = {name: _inner(value) for name, value in event.items()}
    return NamedTuple("Event", [(name, Any) for name in values])(**values)  # type: ignore[operator,return-value]


def _inner(value: Any) -> Any:
    if isinstance(value, dict):
        return named(value)
    return [_inner(each) for each in value] if isinstance(value, list) else value


def objects(found: Any) -> Any:
    """A named tuple of dp-accounting as objects of its fields."""
    if hasattr(found, "_asdict"):
        return {name: objects(value) for name, value in found._asdict().items()}
    return [objects(each) for each in found] if isinstance(found, list) else found


def mechanism_of(claim: Claim) -> Mechanism:
    if claim.mechanism is not None:
        return claim.mechanism
    return Mechanism.constant(claim.q, claim.sigma, claim.steps)


def merged(releases: list[Release]) -> list[tuple[float, float, int]]:
    rows: list[tuple[float, float, int]] = []
    for each in releases:
        if rows and rows[-1][:2] == (each.q, each.sigma):
            rows[-1] = (each.q, each.sigma, rows[-1][2] + each.count)
        else:
            rows.append((each.q, each.sigma, each.count))
    return rows


@given(RELEASES)
def test_what_is_written_dp_accounting_reads_and_writes_back(releases: list[Release]) -> None:
    written = json.loads(json.dumps(event_of(Mechanism(tuple(releases)))))
    event = dp_accounting.DpEvent.from_named_tuple(named(written))
    expected = merged(releases)
    for text in (
        json.dumps(objects(event.to_named_tuple())),
        json.dumps(event.to_named_tuple()),
        repr(event),
    ):
        found = mechanism_of(read(text).claim)
        assert [(each.q, each.sigma, each.count) for each in found.releases] == expected


def test_the_written_event_costs_there_what_it_costs_here() -> None:
    event = dp_accounting.DpEvent.from_named_tuple(
        named(event_of(Mechanism.constant(0.01, 4.0, 10_000)))
    )
    theirs = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE).compose(event).get_epsilon(1e-5)
    verdict = judge(
        Claim(Printed(f"{theirs:.4f}"), 1e-5, q=0.01, sigma=4.0, steps=10_000, accountant="pld")
    )
    assert verdict.given_by
    assert verdict.certificate.bounds.lower <= theirs <= 1.01 * verdict.certificate.bounds.upper


def test_events_of_many_steps_are_read() -> None:
    builder = dp_accounting.DpEventBuilder()
    builder.compose(STEP, 90)
    builder.compose(STEP, 10)
    builder.compose(GaussianDpEvent(7.0))
    claim = read(repr(builder.build())).claim
    assert claim.mechanism == Mechanism((Release(0.01, 1.1, 100), Release(1.0, 7.0, 1)))
    assert claim.sampler == "poisson"
    event = SelfComposedDpEvent(SelfComposedDpEvent(STEP, 3), 5)
    assert read(repr(event)).claim.steps == 15
    for event, sampler, q in [
        (STEP, "poisson", 0.01),
        (SelfComposedDpEvent(ComposedDpEvent([STEP, STEP]), 3), "poisson", 0.01),
        (GaussianDpEvent(1.1), None, 1.0),
        (SampledWithoutReplacementDpEvent(1000, 20, GaussianDpEvent(1.1)), "fixed_size", 0.02),
    ]:
        claim = read_event(objects(event.to_named_tuple()))
        assert (claim.sampler, claim.q, claim.sigma) == (sampler, q, 1.1), (event, sampler, q)


def test_an_event_within_a_text_is_read_with_the_words_around_it() -> None:
    call = (
        "dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(512 / 60_000,"
        " GaussianDpEvent(1.2)), 11_700)"
    )
    found = read(f"event = {call}\nprint(PLDAccountant().compose(event).get_epsilon(delta=1e-5))")
    claim = found.claim
    assert (claim.q, claim.sigma, claim.steps, claim.delta) == (512 / 60_000, 1.2, 11_700, 1e-5)
    assert (claim.sampler, claim.accountant) == ("poisson", "pld")
    for other in (
        "PoissonSampledDpEvent(q, GaussianDpEvent(1.2))",
        "PoissonSampledDpEvent(1 / 0, GaussianDpEvent(1))",
    ):
        assert read(f"event = {other}").claim.mechanism is None, other
        assert (
            read(f"From {other} and GaussianDpEvent(sigma) we made {call}.").claim.mechanism
            == claim.mechanism
        )
    assert read("event = PoissonSampledDpEvent(0.01, GaussianDpEvent(1.2)").claim.mechanism is None
    noted = f"event = {call.replace('11_700', '# 1) of :( many' + chr(10) + '11_700')}"
    assert read(noted).claim.mechanism == claim.mechanism


@pytest.mark.parametrize(
    "text",
    [
        "The event is SelfComposedDpEvent(step, T), where step = {step}.",
        "step = {step}; event = SelfComposedDpEvent(step, T)",
        "One step is {step}; epsilon follows.",
        "accountant.compose({step}, 10000)",
        "accountant.compose(dp_event.SelfComposedDpEvent({step}, 100), 100)",
    ],
)
def test_a_part_of_the_training_is_not_taken_for_all_of_it(text: str) -> None:
    claim = read("epsilon = 0.5 at delta = 1e-5. " + text.format(step=repr(STEP))).claim
    assert (claim.steps, claim.mechanism, claim.accountant) in [
        (None, None, None),
        (10_000, None, None),
    ], text
    assert judge(claim).standing is not Standing.HOLDS


def test_steps_in_words_count_an_event_of_one_step() -> None:
    claim = read(f"event = {STEP}, for 10000 steps").claim
    assert (claim.q, claim.sigma, claim.steps, claim.sampler) == (0.01, 1.1, 10_000, "poisson")
    whole = f"{STEP} was composed: SelfComposedDpEvent({STEP}, 70)"
    assert read(f"We say that {whole}.").claim.steps == 70


def test_events_that_differ_or_are_composed_apart_are_not_chosen_from() -> None:
    whole, other = f"SelfComposedDpEvent({STEP}, 100)", "GaussianDpEvent(7.0)"
    for several in (
        f"{whole}, then SelfComposedDpEvent({STEP}, 200)",
        f"{STEP} and {other}",
        f"{other} for the mean, then {whole}",
        f"a.compose({whole}); a.compose({other}, 50)",
        f"a.compose({whole}); a.compose({whole})",
        f"a.compose({STEP}, 50); a.compose({whole})",
    ):
        with pytest.raises(ValueError, match="several events: paste the one"):
            read(f"First {several}.")
    assert (
        read(f"a.compose({whole}); a.compose(PoissonSampledDpEvent(q, {other}))").claim.mechanism
        is None
    )
    assert read(f"a.compose({whole}).get_epsilon(1e-5)").claim.steps == 100


def test_a_long_text_of_events_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="paste at most"):
        read("We: " + "GaussianDpEvent(1) " * 10_000)


GAUSSIAN = GaussianDpEvent(1.0)
COMPOSED = ComposedDpEvent([GAUSSIAN, SelfComposedDpEvent(GaussianDpEvent(2.0), 3)])


def test_a_sample_that_is_used_more_than_once_is_one_release() -> None:
    for (sampled, relation), (inner, sigma) in product(
        [
            (
                lambda inner: PoissonSampledDpEvent(0.01, inner),
                NeighboringRelation.ADD_OR_REMOVE_ONE,
            ),
            (
                lambda inner: SampledWithoutReplacementDpEvent(100, 1, inner),
                NeighboringRelation.REPLACE_ONE,
            ),
        ],
        [(SelfComposedDpEvent(GAUSSIAN, 100), 0.1), (COMPOSED, 1.75**-0.5)],
    ):
        event = sampled(inner)
        claim = read_event(event_in(repr(event)))
        assert (claim.q, claim.steps, claim.sigma) == (0.01, 1, pytest.approx(sigma, rel=1e-12))
        again = sampled(GaussianDpEvent(claim.sigma))
        theirs, ours = (
            RdpAccountant(neighboring_relation=relation).compose(each) for each in (event, again)
        )
        assert ours.get_epsilon(1e-5) == pytest.approx(theirs.get_epsilon(1e-5), rel=1e-9), (
            sampled,
            relation,
            inner,
        )
    event = PoissonSampledDpEvent(0.01, SelfComposedDpEvent(GAUSSIAN, 100))
    claim = replace(read(repr(event)).claim, epsilon=Printed("1"), delta=1e-5)
    assert judge(claim).standing is Standing.REFUTED
    twice = PoissonSampledDpEvent(0.01, SelfComposedDpEvent(GAUSSIAN, 2))
    claim = read(repr(SelfComposedDpEvent(twice, 7))).claim
    assert (claim.steps, claim.sigma) == (7, pytest.approx(0.5**0.5))


def test_an_event_that_is_no_such_training_is_named() -> None:
    for event, words in [
        (
            dp_accounting.NonPrivateDpEvent(),
            "NonPrivateDpEvent to be one of: GaussianDpEvent",
        ),
        (dp_accounting.LaplaceDpEvent(1.0), "Gaussian steps of one kind"),
        (PoissonSampledDpEvent(0.1, STEP), "no sample to be drawn from a sample"),
        (dp_accounting.NoOpDpEvent(), "steps of one kind"),
        (ComposedDpEvent([]), "steps of one kind"),
        (GaussianDpEvent(-1.0), "sigma=-1.0"),
        (PoissonSampledDpEvent(1.5, GaussianDpEvent(1.0)), "q=1.5"),
        (SelfComposedDpEvent(STEP, 0), "steps=0"),
        (
            ComposedDpEvent([STEP, SampledWithoutReplacementDpEvent(9, 3, GAUSSIAN)]),
            "one kind of sampling",
        ),
    ]:
        for text in (json.dumps(objects(event.to_named_tuple())), repr(event)):
            with pytest.raises(ValueError, match=words):
                read(text)


def test_json_that_is_nothing_of_the_kind_is_a_sentence_or_says_nothing() -> None:
    for text in [
        '{"class_name": "GaussianDpEvent"}',
        '{"class_name": 3}',
        '{"class_name": "ComposedDpEvent", "events": 3}',
        (
            '{"class_name": "SelfComposedDpEvent", "event": {"class_name": "ComposedDpEvent",'
            ' "events": []}, "count": "x"}'
        ),
        "GaussianDpEvent(__import__('os').getcwd())",
        "GaussianDpEvent(",
        "SelfComposedDpEvent(GaussianDpEvent(1.0), 10**9)",
        "[1, 2]",
        '{"history": []}',
        '{"history": 3, "mechanism": "rdp"}',
        '{"history": [[1.1, 0.01]]}',
        '{"history": [[1.1, "x", 3]]}',
        '{"history": [[0, 0.01, 3]]}',
        '{"history": [[1.1, 0.01, 2.5]]}',
        '{"class_name": "SelfComposedDpEvent", "count": 1, "event": ' * 60,
    ]:
        try:
            assert read(text).claim == Claim(), text
        except ValueError as error:
            assert str(error).startswith(("Expected ", "Paste ")), text  # noqa: PT017


@pytest.mark.filterwarnings("ignore")
def test_the_state_of_an_accountant_of_opacus_is_read() -> None:
    for accountant, name in [
        (RDPAccountant, "rdp"),
        (GaussianAccountant, "gdp"),
        (PRVAccountant, "pld"),
    ]:
        theirs = accountant()
        for _ in range(100):
            theirs.step(noise_multiplier=1.1, sample_rate=0.01)
        text = json.dumps(theirs.state_dict())
        claim = read(text).claim
        assert (claim.q, claim.sigma, claim.steps, claim.accountant) == (0.01, 1.1, 100, name), (
            accountant,
            name,
        )
        assert claim.sampler is None, (accountant, name)  # it does not say
        printed = Printed(f"{theirs.get_epsilon(1e-5):.3f}")
        verdict = judge(Claim(printed, 1e-5, q=0.01, sigma=1.1, steps=100, accountant=name))
        assert name in [each.accountant for each in verdict.given_by], (accountant, name)


def test_a_history_of_changing_noise_is_its_releases() -> None:
    theirs = RDPAccountant()
    for sigma in (1.1, 1.1, 0.9, 0.9, 0.9):
        theirs.step(noise_multiplier=sigma, sample_rate=0.01)
    claim = read(json.dumps(theirs.state_dict())).claim
    assert claim.mechanism == Mechanism((Release(0.01, 1.1, 2), Release(0.01, 0.9, 3)))


CLAIM = Claim(delta=1e-5, q=0.01, sigma=1.1, steps=1000, sampler="poisson")


def numbers(claim: Claim) -> dict[tuple[str, str], Recount]:
    return {(each.accountant, each.how): each for each in recounts(setup_of(claim))}


def test_opacus_and_dp_accounting_give_what_the_orders_of_their_names_give_here() -> None:
    accountant = RDPAccountant()
    accountant.history = [(1.1, 0.01, 1000)]
    assert pytest.approx(OPACUS.tolist()) == accountant.DEFAULT_ALPHAS
    found = numbers(CLAIM)["rdp", "at the orders of Opacus"]
    assert found.least == found.most == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-9)
    theirs = RdpAccountant(OPACUS.tolist(), NeighboringRelation.ADD_OR_REMOVE_ONE)
    theirs.compose(SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(1.1)), 1000))
    assert numbers(CLAIM)["rdp", "at the orders of Opacus"].most == pytest.approx(
        theirs.get_epsilon(1e-5), rel=1e-7
    )
    assert TF_PRIVACY.size == 99 + 240 + 40
    assert (TF_PRIVACY[0], TF_PRIVACY.max()) == (1.1, 99.0)
    assert (OPACUS[0], OPACUS.max()) == (1.1, 63.0)


def test_the_tables_of_gaussian_dp_are_given_by_whom_they_name() -> None:
    for row in EXPERIMENTS:
        setting = {
            "delta": row.delta,
            "q": row.batch / row.examples,
            "sigma": row.sigma,
            "epochs": float(row.epochs),
        }
        found = recounts(setup_of(Claim(**setting, sampler="poisson")))
        for printed, accountant in ((row.epsilon_moments, "moments"), (row.epsilon_clt, "gdp")):
            assert accountant in [
                each.accountant for each in giving(found, Printed(f"{printed:.2f}"))
            ], row
            assert accountant not in [
                each.accountant for each in giving(found, Printed(f"{printed + 0.3:.2f}"))
            ], row


def test_a_number_is_given_if_it_rounds_to_what_is_printed() -> None:
    for least, most, text, gives in [
        (2.994, 2.994, "3", True),
        (2.994, 2.994, "2.99", True),
        (2.994, 2.994, "3.0", True),
        (2.991, 2.991, "3.00", True),  # rounded up
        (3.006, 3.006, "3.00", False),
        (2.98, 2.98, "3.00", False),
        (2.9, 3.1, "3.00", True),  # between the fewest and the most steps
        (2.98, 2.985, "3.00", False),
        (float("inf"), float("inf"), "3.00", False),
    ]:
        assert Recount("rdp", "", least, most).gives(Printed(text)) is gives, (least, most, text)


def test_an_accountant_is_named_once_with_the_kind_of_its_curve_or_says_why_it_has_no_number() -> (
    None
):
    own = numbers(CLAIM)["rdp", "as in this program"].most
    verdict = judge(Claim(Printed(f"{own:.3f}"), delta=1e-5, q=0.01, sigma=1.1, steps=1000))
    names = [(each.accountant, each.how) for each in verdict.given_by]
    assert ("rdp", "as in this program") in names
    assert len({name for name, _ in names}) == len(names)
    claim = Claim(delta=1e-5, q=0.1, sigma=1.0, steps=100, sampler="poisson")
    mechanism = Mechanism.constant(0.1, 1.0, 100)
    for name, each in ACCOUNTANTS.items():
        variants = ((name, OWN), (name, NUMERICAL))
        (own,) = [found.kind for variant, found in numbers(claim).items() if variant in variants]
        assert own is each.curve(mechanism, 100, 1e-5).kind
    verdict = judge(Claim(Printed("3"), delta=1e-5, q=0.01, sigma=0.01, steps=10, accountant="gdp"))
    assert "has no number here" in verdict.sentence or verdict.standing.value == "refuted"


def test_the_noise_of_an_event_without_replacement_is_asked_back() -> None:
    event = SelfComposedDpEvent(SampledWithoutReplacementDpEvent(1000, 20, GAUSSIAN), 50)
    found = read(f"epsilon = 1.48 at delta = 1e-5: {event!r}")
    assert (found.claim.q, found.claim.sigma, found.claim.sampler) == (0.02, None, "fixed_size")
    assert any("twice as far" in each for each in found.left_out)
    assert judge(found.claim).standing is Standing.INSUFFICIENT


def with_laplace(*, scale: float = 3.0, count: int = 4) -> ComposedDpEvent:
    laplace = dp_accounting.LaplaceDpEvent(scale)
    return ComposedDpEvent([SelfComposedDpEvent(STEP, 1000), SelfComposedDpEvent(laplace, count)])


@pytest.mark.parametrize(("scale", "count"), [(1.0, 1), (3.0, 4), (20.0, 50)])
def test_laplace_beside_the_steps_is_counted_as_dp_accounting_counts_it(scale, count) -> None:
    event = with_laplace(scale=scale, count=count)
    claim = read(repr(event)).claim
    assert claim.mechanism == Mechanism.constant(0.01, 1.1, 1000)
    assert claim.beside == (Laplace(scale, count),)
    assert read_event(objects(event.to_named_tuple())) == claim
    theirs = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE).compose(event).get_epsilon(1e-5)
    verdict = judge(replace(claim, epsilon=Printed(f"{1.02 * theirs:.4f}"), delta=1e-5))
    bounds = verdict.certificate.bounds
    assert bounds.lower <= theirs * 1.001
    assert theirs <= 1.01 * bounds.upper
    assert verdict.standing is Standing.HOLDS
    assert f"beside {'a' if count == 1 else count} Laplace release" in verdict.review
    less = judge(replace(claim, epsilon=Printed(f"{0.97 * theirs:.4f}"), delta=1e-5))
    assert less.standing is Standing.REFUTED
    written = dp_accounting.DpEvent.from_named_tuple(named(event_of(claim.mechanism, claim.beside)))
    again = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE).compose(written)
    assert again.get_epsilon(1e-5) == pytest.approx(theirs, rel=1e-6)


def test_a_verdict_on_laplace_beside_the_steps_can_be_judged_again() -> None:
    claim = replace(read(repr(with_laplace())).claim, epsilon=Printed("2.7"), delta=1e-5)
    certificate = json.loads(json.dumps(certificate_of(judge(claim))))
    assert "its verdict stands: holds" in check_again(certificate)
    assert certificate["certificate"]["dp_event"]["events"][1]["count"] == 4
    assert certificate["counted"] == []


def test_where_no_bound_is_known_of_laplace_beside_the_steps_none_is_given() -> None:
    claim = replace(read(repr(with_laplace())).claim, epsilon=Printed("2.5"), delta=1e-5)
    for other in (
        replace(claim, sampler="shuffle"),
        replace(claim, runs=read_runs("10")),
        replace(claim, adjacency="replace_one"),
    ):
        assert judge(other).standing is not Standing.HOLDS
        assert judge(other).certificate.bounds.upper == math.inf


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("LaplaceDpEvent(2.0)", "Gaussian steps of one kind"),
        ("PoissonSampledDpEvent(0.1, LaplaceDpEvent(2.0))", "no LaplaceDpEvent on a sample"),
        (f"ComposedDpEvent([{STEP}, LaplaceDpEvent(-1.0)])", "scale=-1.0 to be above 0"),
        (f"ComposedDpEvent([{STEP}, LaplaceDpEvent('x')])", "as Python prints it"),
        (f"We: SelfComposedDpEvent({STEP}, 9), and LaplaceDpEvent(2.0).", "several events"),
        (f"a.compose(ComposedDpEvent([{STEP}, LaplaceDpEvent(2.0)]), 100)", "several events"),
    ],
)
def test_laplace_that_cannot_be_counted_is_not_passed_over(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(text)
