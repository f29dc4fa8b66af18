"""The headline of the lab: what privacy costs is said of a run and its own baseline alone."""

from dataclasses import replace

import pytest

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts import outcome
from pages.parts.controls.fields import Fields
from pages.parts.train.form import baseline_of, form_of
from pages.parts.train.run_history import watched_runs
from tests.pages.train_page import FIRST, recorded

OWN = baseline_of(FIRST)


@pytest.mark.parametrize(
    ("baseline", "compared"), [(OWN, True), (replace(OWN, seed=7), True), (replace(OWN, epochs=9.0), False)]
)
def test_what_privacy_costs_is_said_beside_the_same_run_without_it_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch, baseline, compared: bool
) -> None:
    ids = [recorded(store, config, 40, Status.FINISHED) for config in (FIRST, baseline)]
    said: list[tuple[list[str], dict]] = []
    monkeypatch.setattr(outcome, "headline", lambda sentences, numbers: said.append((sentences, numbers)))
    outcome.say_outcome(form_of(Fields({}), "cpu", lab=True), {}, None, watched_runs(store, ids))
    ((sentences, numbers),) = said
    assert ("baseline" in numbers) is compared
    assert any("costs {lost} points" in each for each in sentences) is compared
    assert numbers["epsilon"].value.startswith("≤ ")
