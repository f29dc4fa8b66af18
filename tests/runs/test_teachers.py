"""Being the teacher: by the key, for a while, and until another key is chosen."""

import os
import time

import pytest

from dpcore.runs.keys import CHOSEN, LONGEST, TEACHER, teacher_key
from dpcore.runs.teachers import FOLDER, LASTS, is_teacher, sign_in, sign_out

ANN, BOB = "a" * 32, "b" * 32


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHOSEN, raising=False)


def test_the_key_makes_a_teacher_of_who_gives_it_and_of_nobody_else(tmp_path):
    key, _ = teacher_key(tmp_path)
    assert sign_in(tmp_path, ANN, f" {key}\n")
    assert is_teacher(tmp_path, ANN)
    assert not is_teacher(tmp_path, BOB)
    sign_out(tmp_path, ANN)
    assert not is_teacher(tmp_path, ANN)


@pytest.mark.parametrize("given", ["", "wrong", "x" * 10_000, "x" * (LONGEST + 1)])
def test_no_other_key_does(tmp_path, given):
    assert not sign_in(tmp_path, ANN, given)
    assert not is_teacher(tmp_path, ANN)
    assert not (tmp_path / FOLDER).exists()


@pytest.mark.parametrize("owner", ["", "..", "../runs.sqlite3", "A" * 32, "a" * 33, "a" * 31 + "\n", "a" * 31 + "/"])
def test_what_is_no_owner_becomes_no_file(tmp_path, owner):
    key, _ = teacher_key(tmp_path)
    assert not sign_in(tmp_path, owner, key)
    assert not is_teacher(tmp_path, owner)
    sign_out(tmp_path, owner)
    assert os.listdir(tmp_path) == [TEACHER]


def test_another_key_ends_it(tmp_path, monkeypatch):
    sign_in(tmp_path, ANN, teacher_key(tmp_path)[0])
    monkeypatch.setenv(CHOSEN, "another key")
    assert not is_teacher(tmp_path, ANN)
    monkeypatch.setenv(CHOSEN, "short")  # nobody is the teacher by a key that is refused
    assert not is_teacher(tmp_path, ANN)


def test_it_ends_by_itself(tmp_path):
    sign_in(tmp_path, ANN, teacher_key(tmp_path)[0])
    mark, before = tmp_path / FOLDER / ANN, time.time() - LASTS - 1
    os.utime(mark, (before, before))
    assert not is_teacher(tmp_path, ANN)


def test_a_mark_that_was_made_by_hand_or_copied_is_none(tmp_path):
    sign_in(tmp_path, ANN, teacher_key(tmp_path)[0])
    (tmp_path / FOLDER / BOB).write_text((tmp_path / FOLDER / ANN).read_text())
    assert not is_teacher(tmp_path, BOB)
    (tmp_path / FOLDER / BOB).write_bytes(b"\xff")
    assert not is_teacher(tmp_path, BOB)
