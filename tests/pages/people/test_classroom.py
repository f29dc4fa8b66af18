"""Above every page of a classroom: signing in as the teacher, and what the teacher does for
everybody.
"""

from dataclasses import replace
from pathlib import Path

from streamlit.testing.v1 import AppTest

from dpcore.runs.lesson_answers import answers
from dpcore.runs.limits import NOBODY, NOT_TEACHER, limits_of
from dpcore.runs.record import Status
from dpcore.runs.store import PAUSED, Store
from dpcore.runs.teacher_key import TEACHER, teacher_key
from pages.parts import classroom
from pages.parts.classroom import PROJECTED
from tests.pages.people.conftest import Class, Visitor
from tests.pages.train_page import CONFIG, opened_at, progress, recorded

LAB = Path(__file__).parents[3] / "pages" / "lab.py"


def alone() -> None:
    from pages.parts.classroom import classroom

    classroom()


def page_of(room: Class, somebody: Visitor) -> AppTest:
    """What this browser sees above a page."""
    room.turn_of(somebody)
    app = AppTest.from_function(alone, default_timeout=60).run()
    assert not app.exception
    return app


def key_given(app: AppTest, key: str) -> AppTest:
    app.text_input(key=classroom.GIVEN).input(key)
    return pressed(app, "Sign in as the teacher")


def pressed(app: AppTest, label: str) -> AppTest:
    next(each for each in app.button if each.label == label).click().run()
    assert not app.exception
    return app


def labels(app: AppTest) -> set[str]:
    return {each.label for each in app.button}


def told(app: AppTest) -> list[str]:
    return [each.value for each in app.warning]


def test_who_is_not_known_is_told_how_to_be(room: Class):
    app = page_of(room, Visitor("forged", ""))
    assert NOBODY in [each.value for each in app.markdown]
    assert told(key_given(app, teacher_key(room.home)[0])) == [NOBODY]


def test_a_key_that_is_none_is_a_sentence(room: Class):
    for key, sentence in (
        ("", classroom.EMPTY),
        ("   ", classroom.EMPTY),
        ("wrong", classroom.WRONG),
        ("x" * 10_000, classroom.EMPTY),
        ("<script>alert(1)</script>", classroom.WRONG),
        ("\x00", classroom.WRONG),
    ):
        app = key_given(page_of(room, room.visitor()), key)
        assert told(app) == [sentence], (key, sentence)
        assert "Pause the queue" not in labels(app), (key, sentence)
        assert app.text_input(key=classroom.GIVEN).value == "", (key, sentence)


def test_where_the_key_of_the_home_is_none_nobody_signs_in(room: Class):
    (room.home / TEACHER).write_text("a chosen key")
    assert told(key_given(page_of(room, room.visitor()), "a chosen key")) == [classroom.NO_KEY]


def test_the_key_makes_a_teacher_of_this_browser_until_it_signs_out(room: Class):
    teacher, key = room.visitor(), teacher_key(room.home)[0]
    app = key_given(page_of(room, teacher), f" {key} ")
    assert told(app) == []
    assert "Pause the queue" in labels(app)
    assert "Pause the queue" in labels(page_of(room, teacher))  # loaded again
    assert "Pause the queue" not in labels(page_of(room, room.visitor()))
    room.turn_of(teacher)
    assert "Pause the queue" not in labels(pressed(app.run(), "Sign out"))


def test_the_teacher_pauses_the_queue_and_lets_it_go_on(room: Class, store: Store):
    app = pressed(page_of(room, room.visitor(teacher=True)), "Pause the queue")
    assert store.board(PAUSED)
    assert any("paused the queue" in each.value for each in page_of(room, room.visitor()).caption)
    room.turn_of(room.visitor(teacher=True))
    pressed(app, "Continue the queue")
    assert not store.board(PAUSED)


def test_the_teacher_shows_a_run_to_everybody_by_its_name(room: Class, store: Store):
    run = recorded(store, CONFIG, 40, Status.FINISHED)
    app = pressed(page_of(room, room.visitor(teacher=True)), "Show it to everybody")
    assert store.board(PROJECTED) == run
    student = page_of(room, room.visitor())
    assert classroom.TITLE in [each.label for each in student.expander]
    assert any(each["state"]["words"] == "finished" for each in progress(student))
    room.turn_of(room.visitor(teacher=True))
    pressed(app, "Stop showing it")
    assert classroom.TITLE not in [each.label for each in page_of(room, room.visitor()).expander]


def test_the_store_is_cleared_only_after_the_word(room: Class, store: Store):
    recorded(store, CONFIG, 40, Status.FINISHED)
    queued = store.submit(CONFIG, owner=room.visitor().owner)
    app = page_of(room, room.visitor(teacher=True))
    for typed in ("", "claer", "clear it"):
        app.text_input(key="word_to_clear").input(typed)
        assert "Nothing was deleted" in told(pressed(app, "Clear the store"))[0]
        assert len(store.runs()) == 2
    store.post(PROJECTED, queued)
    app.text_input(key="word_to_clear").input("clear")
    assert told(pressed(app, "Clear the store")) == ["2 runs were deleted."]
    assert store.runs() == []
    assert store.board(PROJECTED) is None


def test_who_is_no_teacher_any_more_at_the_click_changes_nothing(room: Class, store: Store):
    run = recorded(store, CONFIG, 40, Status.FINISHED)
    recorded(store, CONFIG, 20, Status.FINISHED)
    store.post(PROJECTED, run)
    for label in ("Pause the queue", "Show it to everybody", "Stop showing it", "Clear the store"):
        app = page_of(room, room.visitor(teacher=True))
        app.text_input(key="word_to_clear").input("clear")
        room.turn_of(room.visitor())
        assert told(pressed(app, label)) == [NOT_TEACHER], label
        assert (store.board(PAUSED), store.board(PROJECTED), len(store.runs())) == (
            None,
            run,
            2,
        ), label


def test_the_teacher_sets_the_limits(room: Class, store: Store):
    app = page_of(room, room.visitor(teacher=True))
    before = limits_of(store.home)
    app.number_input(key=f"limit_steps_{before.steps}").set_value(77)
    assert "limits are set" in told(pressed(app, "Set the limits"))[0]
    assert limits_of(store.home) == replace(before, steps=77)
    assert app.number_input(key="limit_steps_77").value == 77
    app.number_input(key="limit_steps_77").set_value(78)
    room.turn_of(room.visitor())
    assert told(pressed(app, "Set the limits")) == [NOT_TEACHER]
    assert limits_of(store.home).steps == 77


def test_the_teacher_gets_what_the_class_answered_as_numbers_and_may_forget_it(
    room: Class, store: Store
):
    students = [room.visitor() for _ in range(2)]
    for student in students:
        room.turn_of(student)
        lab = opened_at(LAB, lesson="spot_the_fault")
        lab.radio(key="fault_no_noise").set_value(3).run()
        lab.radio(key="fault_no_noise").set_value(4).run()  # the first one counts
        assert not lab.exception
    app = page_of(room, room.visitor(teacher=True))
    offered = app.get("download_button")
    assert [each.proto.label for each in offered] == ["2 answers to “Spot the fault” as CSV"]
    assert [(each.visitor, each.line) for each in answers(store)] == [
        (student.owner, 3) for student in students
    ]
    assert page_of(room, students[0]).get("download_button") == []
    room.turn_of(students[0])
    pressed(app, "Forget these answers")
    assert len(answers(store)) == 2, "no teacher presses it"
    pressed(page_of(room, room.visitor(teacher=True)), "Forget these answers")
    assert answers(store) == []
