"""Whose run it is, is asked when something is changed: a button that was drawn for another changes
nothing.
"""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.runs.limits import NOBODY
from dpcore.runs.record import Run, Status
from dpcore.runs.store import Store
from tests.pages import perturbation_page
from tests.pages.people.conftest import Class, Visitor
from tests.pages.train_page import CONFIG, events_of, lab, press, progress, whole

NOT_YOURS = "This is somebody else's run. Only its owner or the teacher can {} it."


def labels(page: AppTest) -> set[str]:
    return {each.label for each in page.button}


def run_of(store: Store, somebody: Visitor, status: Status | None = None) -> str:
    run = store.submit(CONFIG, worker="test:1", owner=somebody.owner)
    for event in events_of(CONFIG, 20):
        store.append(run, event)
    if status:
        store.end(run, status)
    return run


def comparison_of(store: Store, somebody: Visitor) -> str:
    return store.submit(perturbation_page.REQUEST, worker="test:1", owner=somebody.owner)


def compared() -> AppTest:
    """The page of perturbation after a click on Compare."""
    return pressed(perturbation_page.opened(), "compare")


def pressed(page: AppTest, key: str) -> AppTest:
    page.button(key=key).click().run()
    assert not page.exception
    return page


def told(page: AppTest) -> list[str]:
    return [each.value for each in page.error]


def test_what_is_started_is_of_who_started_it(room: Class, store: Store):
    ann = room.visitor()
    room.turn_of(ann)
    pressed(lab(), "train")
    compared()
    assert [run.owner for run in store.runs(kind=None)] == [ann.owner] * 2


def test_who_is_not_known_starts_nothing(room: Class, store: Store):
    room.sends("forged")
    assert told(pressed(lab(), "train")) == [NOBODY]
    assert told(compared()) == [NOBODY]
    assert store.runs(kind=None) == []


def test_others_see_a_run_and_no_button_that_stops_it(room: Class, store: Store):
    ann, bob = room.visitor(), room.visitor()
    run, ended = run_of(store, ann), run_of(store, ann, Status.CANCELLED)
    room.turn_of(ann)
    assert "Cancel" in labels(whole(run))
    assert "Resume" in labels(whole(ended))
    room.turn_of(bob)
    assert len(progress(whole(run))) == 1
    assert not {"Cancel", "Resume"} & (labels(whole(run)) | labels(whole(ended)))
    room.turn_of(room.visitor(teacher=True))
    assert "Cancel" in labels(whole(run))
    assert "Resume" in labels(whole(ended))


def test_who_presses_a_button_that_was_drawn_for_its_owner_changes_nothing(
    room: Class, store: Store
):
    ann = room.visitor()
    run, ended = run_of(store, ann), run_of(store, ann, Status.CANCELLED)
    for somebody, refusal in ((room.visitor(), NOT_YOURS), (Visitor("", ""), NOBODY)):
        for verb, each in (("cancel", run), ("resume", ended)):
            room.turn_of(ann)
            page = whole(each)
            room.turn_of(somebody)
            assert told(press(page, verb.capitalize())) == [refusal.format(verb)]
        assert not store.run(run).cancelling, somebody
        assert {each.id for each in store.runs()} == {run, ended}, somebody


def test_saying_yes_to_the_question_is_asked_about_too(room: Class, store: Store):
    run = run_of(store, room.visitor())
    room.turn_of(room.visitor(teacher=True))
    page = press(whole(run), "Cancel")
    room.turn_of(room.visitor())
    press(page, "Cancel this run")
    assert not store.run(run).cancelling


@pytest.mark.parametrize(
    "resumer", [lambda room, ann: ann, lambda room, ann: room.visitor(teacher=True)]
)
def test_a_resumed_run_stays_its_owners(
    room: Class, store: Store, resumer: Callable[[Class, Visitor], Visitor]
):
    ann = room.visitor()
    ended = run_of(store, ann, Status.CANCELLED)
    room.turn_of(resumer(room, ann))
    press(whole(ended), "Resume")
    rest: Run = next(each for each in store.runs() if each.id != ended)
    assert rest.owner == ann.owner


def test_a_comparison_is_cancelled_by_who_began_it_alone(room: Class, store: Store):
    ann = room.visitor()
    run = comparison_of(store, ann)
    room.turn_of(room.visitor())
    assert "Cancel" not in labels(perturbation_page.opened(comparison=run))
    room.turn_of(ann)
    page = perturbation_page.opened(comparison=run)
    room.turn_of(room.visitor())
    assert told(press(page, "Cancel")) == [NOT_YOURS.format("cancel")]
    assert not store.run(run).cancelling
    room.turn_of(ann)
    press(perturbation_page.opened(comparison=run), "Cancel")
    assert store.run(run).cancelling
