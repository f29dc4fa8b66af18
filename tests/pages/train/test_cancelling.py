"""A run that was started elsewhere is cancelled only after the reader was asked."""

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.pages.train_page import CONFIG, opened, press, recorded


def asked(page) -> str:
    return " ".join(each.value for each in page.markdown if "was not started in this tab" in each.value)


def test_cancelling_a_run_that_was_started_elsewhere_names_it_and_asks_first(store: Store):
    run = recorded(store, CONFIG, 40)
    page = press(opened(run), "Cancel")
    assert "MNIST cnn, SGD, sigma 1.23" in asked(page)
    assert not store.run(run).cancelling
    press(page, "Cancel this run")
    assert store.run(run).cancelling


def test_a_run_that_was_started_or_resumed_here_is_cancelled_without_a_question(store: Store):
    other = recorded(store, CONFIG, 40, Status.CANCELLED)
    page = press(opened(other), "Resume")
    (new,) = store.runs(Status.QUEUED)
    press(page, "Cancel")
    assert store.run(new.id).status is Status.CANCELLED
    assert not asked(page)
