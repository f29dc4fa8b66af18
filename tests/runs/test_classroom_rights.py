"""Who may do what with whose runs, the keys of a classroom, and being the teacher: by the key, and for a while."""

import os
import time
from pathlib import Path

import pytest

from dpcore.runs.access import NOBODY, User, may_change, may_rule, may_start, why_not
from dpcore.runs.keys import CHOSEN, COOKIES, LONGEST, TEACHER, cookie_key, guessable, same, teacher_key
from dpcore.runs.store import Store
from dpcore.runs.teachers import FOLDER, LASTS, is_teacher, sign_in, sign_out
from dpcore.training.config import RunConfig

ANN, BOB = "a" * 32, "b" * 32
VISITORS = User(ANN, shared=True), User(BOB, shared=True), User(shared=True)
OF_TEACHER, ALONE = User("c" * 32, teacher=True, shared=True), User()


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHOSEN, raising=False)


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_run_is_its_owners_and_the_teachers_and_who_is_alone_may_do_everything(store: Store) -> None:
    for owner, may in (
        (ANN, [True, False, False, True, True]),
        ("", [False, False, False, True, True]),  # as from the command line, or from before there were owners
    ):
        run = store.run(store.submit(RunConfig(epochs=1), owner=owner))
        assert [may_change(each, run) for each in (*VISITORS, OF_TEACHER, ALONE)] == may, owner
    assert [may_rule(each) for each in (*VISITORS, OF_TEACHER, ALONE)] == [False] * 3 + [True] * 2
    assert [may_start(each) for each in (*VISITORS, OF_TEACHER, ALONE)] == [True, True, False, True, True]
    assert why_not(VISITORS[2], "cancel") == NOBODY
    assert why_not(VISITORS[1], "delete") == "Somebody else's run: only who started it, or the teacher, may delete it."


def test_a_key_is_made_once_for_each_home_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    home = tmp_path / "not there yet"
    key = cookie_key(home)
    assert len(key) == 32
    assert key != cookie_key(tmp_path / "other")
    (home / COOKIES).chmod(0o644)
    assert cookie_key(home) == key
    assert mode_of(home / COOKIES) == 0o600
    assert os.listdir(home) == [COOKIES]  # no draft is left


def test_a_broken_cookie_key_is_refused_with_the_way_out(tmp_path: Path) -> None:
    for text in ("", "nonsense", "ab" * 31, "ab" * 33):
        (tmp_path / COOKIES).write_text(text)
        with pytest.raises(ValueError, match="remove it, and a new one is made"):
            cookie_key(tmp_path)


def test_the_teachers_key_is_said_to_be_new_once_and_a_chosen_one_goes_before_it_and_is_kept_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, made = teacher_key(tmp_path)
    assert made
    assert teacher_key(tmp_path) == (key, False)
    assert mode_of(tmp_path / TEACHER) == 0o600
    assert len(key.replace("-", "")) == 20
    monkeypatch.setenv(CHOSEN, "  open sesame  ")
    assert teacher_key(tmp_path / "other") == ("open sesame", False)
    assert not (tmp_path / "other").exists()
    for chosen in ("short", "x" * (LONGEST + 1)):
        monkeypatch.setenv(CHOSEN, chosen)
        said = f"Expected {CHOSEN} to have 8 to 200 characters, but it has {len(chosen)}"
        with pytest.raises(ValueError, match=said):
            teacher_key(tmp_path)


def test_any_key_but_one_that_was_made_here_may_be_guessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not guessable(tmp_path)
    made, _ = teacher_key(tmp_path)
    assert not guessable(tmp_path)
    for stored in ("password", "aaaaa-aaaaa-aaaaa", "AAAAA-aaaaa-aaaaa-aaaaa", "the key of our class"):
        (tmp_path / TEACHER).write_text(stored)
        assert guessable(tmp_path), stored
    monkeypatch.setenv(CHOSEN, made)  # nobody knows who made it
    assert guessable(tmp_path)


def test_the_key_makes_a_teacher_of_who_gives_it_and_nothing_else_does(tmp_path: Path) -> None:
    key, _ = teacher_key(tmp_path)
    for given in ("", "x", key.upper(), key[:-1], key + "e", "é" * 10_000, "\ud800", "x" * (LONGEST + 1)):
        assert not same(given, key), given
        assert not sign_in(tmp_path, ANN, given), given
    for owner in ("", "..", "../runs.sqlite3", "A" * 32, "a" * 33, "a" * 31 + "\n", "a" * 31 + "/"):
        assert not sign_in(tmp_path, owner, key), owner
        assert not is_teacher(tmp_path, owner), owner
        sign_out(tmp_path, owner)
    assert os.listdir(tmp_path) == [TEACHER]  # what is no owner becomes no file
    assert sign_in(tmp_path, ANN, f" {key}\n")
    assert [is_teacher(tmp_path, owner) for owner in (ANN, BOB)] == [True, False]
    sign_out(tmp_path, ANN)
    assert not is_teacher(tmp_path, ANN)


def test_being_the_teacher_ends_with_the_key_and_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_in(tmp_path, ANN, teacher_key(tmp_path)[0])
    for chosen in ("another key", "short"):  # nobody is the teacher by a key that is refused
        with monkeypatch.context() as patch:
            patch.setenv(CHOSEN, chosen)
            assert not is_teacher(tmp_path, ANN)
    assert is_teacher(tmp_path, ANN)
    mark, before = tmp_path / FOLDER / ANN, time.time() - LASTS - 1
    (tmp_path / FOLDER / BOB).write_text(mark.read_text())
    assert not is_teacher(tmp_path, BOB)  # a mark that was copied is none
    (tmp_path / FOLDER / BOB).write_bytes(b"\xff")
    assert not is_teacher(tmp_path, BOB)
    os.utime(mark, (before, before))
    assert not is_teacher(tmp_path, ANN)
