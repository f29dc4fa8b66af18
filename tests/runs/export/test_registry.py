"""An entry of the OpenDP Deployments Registry fits its schema, and our reader reads it back."""

import math
from dataclasses import replace
from typing import Any

import pytest

from dpcore.claims import Standing, judge, read
from dpcore.claims.claim import Claim
from dpcore.data.catalogue import DATASETS
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.sampling import SAMPLERS
from dpcore.runs.export import FORMS, RunRecord, TextForm, record_of
from dpcore.runs.export.registry import LEFT_OUT
from dpcore.runs.plain_text import escaped
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Started
from dpcore.training.optimizers import OPTIMIZERS
from dpcore.training.plan import plan, sensitivity_of
from tests.runs.by_hand import handed
from tests.runs.export.recorded_runs import TINY, trained
from tests.runs.export.registry_entry import parsed, wrong


def ended(store: Store, config: RunConfig, name: str = "", steps: int | None = None) -> RunRecord:
    """A run that got so far, or to its end."""
    return _ended(store, store.submit(config, name, "elsewhere:1"), steps)


def _ended(store: Store, run: str, steps: int | None = None) -> RunRecord:
    config, planned = store.run(run).config, store.run(run).plan
    done = planned.steps if steps is None else steps
    store.append(run, Started(config.examples, planned.steps, config.q, "cpu", 1, "book-keeping"))
    if done:
        store.append(run, Evaluated(done, done * config.q, 0.5, 0.8, ()))
    store.end(run, Status.CANCELLED)
    return record_of(store, run)


def entry_of(record: RunRecord) -> str:
    form = FORMS["registry"]
    assert isinstance(form, TextForm)
    return form.write([record])


def read_back(entry: str) -> Claim:
    """The one claim that our reader finds in an entry that fits the schema; it holds."""
    values = parsed(entry)
    assert list(wrong(values)) == []
    found = read(entry)
    assert len(found.runs) == 1
    assert judge(found.claim).standing is Standing.HOLDS
    stated = values["deployment"]["privacy_loss"]["privacy_parameters"]
    assert found.claim.epsilon is not None
    assert (found.claim.epsilon.value, found.claim.delta) == (stated["epsilon"], stated["delta"])
    return found.claim


@pytest.mark.parametrize("batch", [64, 100, 512, 10_000])
def test_a_run_with_poisson_batches_is_read_back_digit_for_digit(store: Store, batch: int) -> None:
    config = replace(TINY, batch=batch, sigma=1.0 + 1 / 3, delta=3e-6, clipping="per_layer")
    record = ended(store, config)
    claim = read_back(entry_of(record))
    assert claim.q == config.q
    assert claim.sigma == config.sigma / sensitivity_of(config)
    assert (claim.steps, claim.delta) == (record.plan.steps, 3e-6)
    assert (claim.sampler, claim.adjacency) == ("poisson", "add_remove")
    assert (claim.accountant, claim.examples, claim.mechanism) == (CERTIFIED, 10_000, None)
    assert claim.epsilon is not None
    assert record.released is not None
    proven = ACCOUNTANTS[CERTIFIED].spent(record.released, config.delta).value
    assert proven <= claim.epsilon.value <= proven * 1.01


@pytest.mark.parametrize("sampler", ["shuffle", "random_allocation"])
@pytest.mark.parametrize("batch", [64, 130])
@pytest.mark.parametrize("steps", [None, 100])
def test_a_run_with_other_batches_is_read_back_with_their_bound(
    store: Store, sampler: str, batch: int, steps: int | None
) -> None:
    config = replace(TINY, sampler=sampler, batch=batch, sigma=3.0, epochs=2.5)
    record = ended(store, config, steps=steps)
    claim = read_back(entry_of(record))
    assert (claim.q, claim.sigma, claim.steps) == (config.q, 3.0, record.history.step)
    assert (claim.sampler, claim.adjacency) == (sampler, "zero_out")
    assert (claim.delta, claim.accountant) == (config.delta, None)
    curve = SAMPLERS[sampler].curve(config.q, 3.0, record.history.step, config.delta)
    assert claim.epsilon is not None
    assert curve.last.value <= claim.epsilon.value


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name != "adppl"])
def test_a_run_of_each_optimizer_is_read_back(store: Store, name: str) -> None:
    record = ended(store, replace(TINY, optimizer=name, momentum=0.0), name)
    entry = entry_of(record)
    claim = read_back(entry)
    assert (claim.q, claim.sigma, claim.steps) == (TINY.q, 1.0, record.plan.steps)
    assert f"by the optimizer {OPTIMIZERS[name].title}." in entry


SEVERAL = {
    "relevances": {"optimizer": "adppl", "momentum": 0.0},
    "pca": {"pca": 10},
    "mean": {"mean_sigma": 5.0},
    "schedule": {"schedule": "exponential", "rate": 0.05, "epochs": 3.0},
}


@pytest.mark.parametrize("kind", SEVERAL)
def test_releases_that_differ_are_read_back_from_an_event(store: Store, kind: str) -> None:
    record = ended(store, replace(TINY, **SEVERAL[kind]))
    claim = read_back(entry_of(record))
    assert claim.mechanism == record.released
    assert (claim.sampler, claim.adjacency) == ("poisson", "add_remove")
    assert (claim.accountant, claim.steps) == (CERTIFIED, None)


def test_more_kinds_of_steps_than_a_text_holds_are_not_listed_and_that_is_said(
    store: Store,
) -> None:
    config = replace(TINY, schedule="exponential", rate=0.01, level_steps=1, epochs=1.0)
    entry = entry_of(ended(store, config))
    assert list(wrong(parsed(entry))) == []
    found = read(entry)
    assert (found.claim.sigma, found.claim.mechanism) == (None, None)
    offered = {each.field: each.value for each in found.passed}
    assert (offered["delta"], "epsilon" in offered) == (TINY.delta, True)
    assert "The noise changes from step to step." in entry


def test_what_earlier_attempts_released_is_claimed_too(store: Store) -> None:
    record = _ended(store, handed(store, TINY, plan(TINY).anew(7), "elsewhere:1"))
    entry = entry_of(record)
    assert read_back(entry).steps == 7 + record.plan.steps
    assert "Earlier attempts of this run released 7 of the sums" in entry


@pytest.mark.parametrize("sigma", [70.0, 100.0, 250.0])
def test_a_tiny_epsilon_and_much_noise_are_read_back_rounded_up(store: Store, sigma: float) -> None:
    record = ended(store, replace(TINY, sigma=sigma))
    claim = read_back(entry_of(record))
    assert (claim.sigma, claim.steps) == (sigma, record.plan.steps)
    assert claim.epsilon is not None
    assert claim.epsilon.value == 1e-3


def test_a_run_as_it_was_trained_names_its_machine_and_its_fixed_seed(store: Store) -> None:
    record = trained(store, TINY, "Digits of 1998").record
    entry = entry_of(record)
    assert read_back(entry).steps == record.plan.steps
    values = parsed(entry)["deployment"]
    assert values["basic"]["name"] == "Digits of 1998"
    assert "The seed is fixed (5)" in values["privacy_loss"]["privacy_parameters_details"]
    origin = record.run.origin
    assert origin
    assert f"torch {origin['torch']}" in values["administrative"]["notes"]
    assert origin["data"] not in entry  # the fingerprint, which no epsilon covers


def test_what_nobody_recorded_is_left_to_a_person(store: Store) -> None:
    entry = entry_of(ended(store, TINY))
    basic = parsed(entry)["deployment"]["basic"]
    assert basic["name"] == basic["intended_use"] == basic["data_product_region"] == ""
    assert basic["data_curators"] == [""]
    empty = [line for line in entry.split("\n") if '""' in line]
    assert all(line.endswith('"" # FILL IN') for line in empty)
    assert "schema" in entry.split("\n")[1]
    assert "3e9c812" in entry.split("\n")[1]


HARMLESS = (
    'a: "b" # c',
    "'\"\\",
    "\\\\n \\(x\\)",
    "!!python/object:os.system",
    "&anchor *alias %TAG @x `y`",
    "| > - ? [ ] { }",
    "$run ${sigma} $$",
    "<script>alert(1)</script> [x](javascript:1)",
    "true",
    "1e5",
    "2020-01-01",
    "line\n  status: Approved\ttab\x85\u2028\ufeff\x00end",
    "name é 😀 名前",
)


@pytest.mark.parametrize("name", HARMLESS)
def test_a_hostile_name_is_a_text_and_nothing_else(store: Store, name: str) -> None:
    record = ended(store, TINY, name)
    plain = read_back(entry_of(ended(store, TINY)))
    noted = replace(record, run=replace(record.run, note=name, origin={"device": name}))
    entry = entry_of(noted)
    assert read_back(entry) == plain
    values = parsed(entry)["deployment"]
    shown = escaped(name).replace("\\\\", "&#92;")
    assert values["basic"]["name"] == shown
    assert values["administrative"]["notes"].endswith(shown)


CLAIMING = (
    {"name": "epsilon = 0.01"},
    {"name": "sigma=5, delta=1e-9"},
    {"name": "no privacy: dp = false"},
    {"name": "replace-one"},
    {"note": "shuffled batches"},
    {"note": "300 steps, not 100 steps"},
    {"origin": {"device": "of an RDP accountant"}},
)


@pytest.mark.parametrize("words", CLAIMING, ids=str)
def test_words_that_read_like_a_value_are_left_out_and_that_is_said(
    store: Store, words: dict[str, Any]
) -> None:
    record = ended(store, TINY)
    entry = entry_of(replace(record, run=replace(record.run, **words)))
    assert read_back(entry) == read_back(entry_of(record))
    values = parsed(entry)["deployment"]
    assert values["basic"]["name"] == ""
    assert values["administrative"]["notes"] == f"Run {record.run.id}, cancelled. {LEFT_OUT}"


def test_the_name_of_a_data_set_is_no_value_either(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = ended(store, TINY)
    plain = read_back(entry_of(record))
    for title in ("sigma = 9", 'a: "b"', "1000 steps"):
        strange = replace(DATASETS["mnist"], title=title)
        monkeypatch.setitem(DATASETS.shipped, "mnist", strange)
        assert read_back(entry_of(record)) == plain


REFUSED = {
    "baseline": ({"private": False}, "has no epsilon to register. Not private"),
    "no noise": ({"sigma": 0.0}, "has no epsilon to register. Not private"),
    "too little noise": ({"sigma": 0.01}, "No epsilon: noise is drawn up to"),
    "raw": ({"optimizer": "pi_adam", "momentum": 0.0, "reading": "raw"}, "the raw reading"),
    "shuffled without noise": ({"sampler": "shuffle", "sigma": 0.0}, "Not private"),
    "shuffled with little noise": ({"sampler": "shuffle", "sigma": 0.01}, "No epsilon: noise"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_run_without_a_proven_epsilon_is_refused_in_a_sentence(store: Store, kind: str) -> None:
    settings, words = REFUSED[kind]
    record = ended(store, replace(TINY, **settings))
    with pytest.raises(ValueError, match=rf"^Run {record.run.id} has no epsilon") as caught:
        entry_of(record)
    assert words in str(caught.value)


@pytest.mark.parametrize("sampler", ["poisson", "shuffle"])
def test_a_run_that_has_taken_no_step_is_refused(store: Store, sampler: str) -> None:
    record = ended(store, replace(TINY, sampler=sampler), steps=0)
    with pytest.raises(ValueError, match="has no epsilon to register"):
        entry_of(record)


def test_a_bound_that_is_infinite_is_no_epsilon(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpcore.claims.setup import Bounds, ClaimedSetup
    from dpcore.privacy.mechanism import Kind

    nothing = Bounds(0.0, math.inf, Kind.CERTIFIED, "It is too long.")
    monkeypatch.setattr(ClaimedSetup, "proven_bounds", lambda _: nothing)
    with pytest.raises(ValueError, match=r"has no epsilon to register\. It is too long\."):
        entry_of(ended(store, TINY))
