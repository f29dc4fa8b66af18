"""What the picker says of each run, and the names that the table of tests uses."""

from dataclasses import replace

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.train.run_choices import choices
from tests.pages.train_page import CONFIG, opened, recorded


def lines(store: Store) -> dict[str, str]:
    runs = store.runs()
    return choices(runs, store.latest_tests([run.id for run in runs]))


def test_each_run_says_epochs_status_accuracy_and_certified_epsilon(store: Store):
    short, long = (recorded(store, replace(CONFIG, epochs=epochs), 70, Status.FINISHED) for epochs in (2.0, 30.0))
    cancelled = recorded(store, CONFIG, 40, Status.CANCELLED)
    plain = recorded(store, replace(CONFIG, private=False), 70, Status.FINISHED)
    said = lines(store)
    assert ", 2 epochs · finished, 78.0 %, epsilon ≤ " in said[short]
    assert ", 30 epochs · finished, 78.0 %, epsilon ≤ " in said[long]
    assert " · cancelled, 66.0 %, epsilon ≤ " in said[cancelled]
    assert said[plain].endswith("2 epochs · finished, 78.0 %")


def test_no_two_lines_are_the_same(store: Store):
    for _ in range(3):
        recorded(store, CONFIG, 40, Status.CANCELLED)
    said = lines(store)
    assert len(set(said.values())) == 3
    (first, *others) = store.runs()
    assert choices([first], {}, choices(others, {}).values())[first.id] not in choices(others, {}).values()


def test_a_run_that_has_ended_since_is_chosen_from_a_widget_that_says_so(store: Store):
    run = recorded(store, CONFIG, 40)
    page = opened(run)
    assert page.multiselect[0].options[0].endswith("running")
    store.end(run, Status.CANCELLED)
    page.run()
    assert "cancelled, 66.0 %" in page.multiselect[0].options[0]
    assert page.multiselect[0].value == [run]


def test_the_table_of_tests_names_runs_as_the_charts_do(store: Store):
    first, second = recorded(store, CONFIG, 40), recorded(store, replace(CONFIG, sigma=2.0), 40)
    page = opened(first, second)
    page.session_state["evaluations"] = True
    table = page.run().dataframe[0].value
    assert set(table["run"]) == {"1: sigma 1.23", "2: sigma 2"}
    assert set(table["id"]) == {first, second}
