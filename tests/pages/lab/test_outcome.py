"""The headline of the lab: what privacy costs is said of a run and its own baseline alone."""

from dataclasses import replace

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts import lab
from pages.parts.controls.fields import Fields
from pages.parts.results.sampled import sampled_of
from pages.parts.train.form import baseline_of, form_of
from pages.parts.train.run_history import watched_runs
from tests.pages.train_page import FIRST, recorded

OWN = baseline_of(FIRST)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict]]:
    """The sentences and numbers of each headline."""
    found: list[tuple[list[str], dict]] = []
    monkeypatch.setattr(
        lab, "headline", lambda sentences, numbers: found.append((sentences, numbers))
    )
    return found


def say(store: Store, ids: list[str], **texts: str) -> None:
    lab.say_outcome(form_of(Fields(texts), "cpu"), {}, None, watched_runs(store, ids))


@pytest.mark.parametrize(
    ("baseline", "compared"),
    [(OWN, True), (replace(OWN, seed=7), True), (replace(OWN, epochs=9.0), False)],
)
def test_what_privacy_costs_is_said_beside_the_same_run_without_it_alone(
    store: Store, said: list, baseline, compared: bool
) -> None:
    say(store, [recorded(store, config, 40, Status.FINISHED) for config in (FIRST, baseline)])
    ((sentences, numbers),) = said
    assert ("baseline" in numbers) is compared
    assert any("costs {lost} points" in each for each in sentences) is compared
    # Else it is said of any run.
    assert all("{gained}" in each for each in sentences if "costs nothing" in each)
    assert numbers["epsilon"].value.startswith("≤ ")


@pytest.mark.parametrize(("status", "words"), [(None, "so far"), (Status.CANCELLED, "cut short")])
def test_a_private_run_that_has_not_ended_has_no_price_yet(
    store: Store, said: list, status, words: str
) -> None:
    say(store, [recorded(store, FIRST, 40, status), recorded(store, OWN, 40, Status.FINISHED)])
    ((sentences, _),) = said
    assert not any("costs" in each for each in sentences)
    assert words in sentences[-1]
    assert "Without privacy {baseline} %" in sentences[-1]


def test_a_run_of_other_settings_stands_behind_the_epsilon_of_these(
    store: Store, said: list
) -> None:
    say(store, [recorded(store, FIRST, 40, Status.FINISHED)], sigma="2", delta="1e-6")
    (((before, sentence), numbers),) = said
    assert "{" not in before  # until the run has an accuracy
    assert "The run in the chart: {accuracy} % right at epsilon {epsilon}, delta 1e-5." in sentence
    assert set(numbers) == {"accuracy", "epsilon"}


def test_an_epsilon_of_other_batches_names_the_steps_it_counts(store: Store, said: list) -> None:
    form = form_of(Fields({"batch": "514", "sampler": "shuffle"}), "cpu")
    assert form.mechanism
    otherwise = sampled_of("shuffle", form.mechanism, form.delta)
    assert otherwise
    lab.say_outcome(form, {}, otherwise, [])
    ((sentences, _),) = said
    assert form.steps == 98
    assert [each.split(" after ")[1] for each in sentences] == ["5 epochs (95 steps)."]


@pytest.mark.parametrize("changed", [{"sampler": "shuffle"}, {"sigma": 0.0}])
def test_a_run_without_an_epsilon_by_the_accountants_is_told_by_its_accuracy_alone(
    store: Store, said: list, changed: dict
) -> None:
    run = recorded(store, replace(FIRST, **changed), 40, Status.FINISHED)
    say(store, [run], **{name: str(value) for name, value in changed.items()})
    ((sentences, numbers),) = said
    assert sentences[-1] == "{accuracy} % right."
    assert not any("Press Train" in each for each in sentences) or "sampler" not in changed
    assert numbers["accuracy"].value == "66.0"
