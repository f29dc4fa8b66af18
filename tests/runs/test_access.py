"""Who may do what with whose runs, where several people share a server, and where one person has it alone."""

from dpcore.runs.access import NOBODY, User, may_change, may_rule, may_start, why_not
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig

ALONE = User()
ANN, BOB = User("a" * 32, shared=True), User("b" * 32, shared=True)
TEACHER = User("c" * 32, teacher=True, shared=True)
STRANGER = User(shared=True)


def run_of(store: Store, user: User) -> Run:
    return store.run(store.submit(RunConfig(epochs=1), owner=user.owner))


def test_a_run_is_its_owners_and_the_teachers(store):
    run = run_of(store, ANN)
    assert [may_change(each, run) for each in (ANN, BOB, STRANGER, TEACHER, ALONE)] == [True, False, False, True, True]


def test_a_run_of_nobody_in_particular_is_the_teachers_alone(store):
    run = run_of(store, ALONE)  # as from the command line, or from before there were owners
    assert [may_change(each, run) for each in (ANN, STRANGER, TEACHER)] == [False, False, True]


def test_who_is_alone_may_do_everything(store):
    assert may_start(ALONE)
    assert may_rule(ALONE)
    assert may_change(ALONE, run_of(store, ANN))


def test_a_visitor_of_whom_nothing_is_known_can_only_look(store):
    assert not may_start(STRANGER)
    assert not may_rule(STRANGER)
    assert why_not(STRANGER, "cancel") == NOBODY


def test_only_the_teacher_rules():
    assert [may_rule(each) for each in (ANN, TEACHER)] == [False, True]


def test_who_asks_for_what_is_anothers_is_told_whose_it_is():
    assert why_not(BOB, "delete") == "Somebody else's run: only who started it, or the teacher, may delete it."
