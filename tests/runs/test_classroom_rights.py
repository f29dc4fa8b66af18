"""Who may do what with whose runs, the keys of a classroom, and being the teacher: by the key, and
for a while.
"""

import os
import time
from pathlib import Path

import pytest

from dpcore.runs.limits import NOBODY, User, may_change, may_rule, may_start, why_not
from dpcore.runs.store import Store
from dpcore.runs.teacher_key import (
    COOKIES,
    MARK_SECONDS,
    MARKS,
    TEACHER,
    cookie_key,
    is_teacher,
    sign_in,
    sign_out,
    teacher_key,
)  # fmt: skip
from dpcore.training.config import RunConfig

ANN, BOB = "a" * 32, "b" * 32
VISITORS = User(ANN, shared=True), User(BOB, shared=True), User(shared=True)
OF_TEACHER, ALONE = User("c" * 32, teacher=True, shared=True), User()


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_run_is_its_owners_and_the_teachers_and_who_is_alone_may_do_everything(
    store: Store,
) -> None:
    for owner, may in (
        (ANN, [True, False, False, True, True]),
        # As from the command line, or from before there were owners.
        ("", [False, False, False, True, True]),
    ):
        run = store.run(store.submit(RunConfig(epochs=1), owner=owner))
        assert [may_change(each, run) for each in (*VISITORS, OF_TEACHER, ALONE)] == may, owner
    assert [may_rule(each) for each in (*VISITORS, OF_TEACHER, ALONE)] == [False] * 3 + [True] * 2
    assert [may_start(each) for each in (*VISITORS, OF_TEACHER, ALONE)] == [
        True,
        True,
        False,
        True,
        True,
    ]
    assert why_not(VISITORS[2], "cancel") == NOBODY
    assert (
        why_not(VISITORS[1], "delete")
        == "This is somebody else's run. Only its owner or the teacher can delete it."
    )


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
    for text in ("", "nonsense", "ab" * 31, "ab" * 33, "0" * 64, f"{'0' * 64}\n{'0' * 64}"):
        (tmp_path / COOKIES).write_text(text)
        with pytest.raises(ValueError, match=r"and a new one is made\. Students then own none"):
            cookie_key(tmp_path)


def test_the_teachers_key_is_new_once_and_one_that_somebody_chose_is_refused(
    tmp_path: Path,
) -> None:
    key, made = teacher_key(tmp_path)
    assert made
    assert teacher_key(tmp_path) == (key, False)
    assert mode_of(tmp_path / TEACHER) == 0o600
    assert len(key.replace("-", "")) == 20
    whole = (tmp_path / TEACHER).read_text()
    teacher_key(tmp_path / "other")
    of_another_home = (tmp_path / "other" / TEACHER).read_text()
    liked = "ckass-ckass-ckass-ckass"
    for chosen in (
        "", "password", "aaaaa-aaaaa-aaaaa", "AAAAA-aaaaa-aaaaa-aaaaa", key + "e", "a key of ours",
        "aaaaa-aaaaa-aaaaa-aaaaa", liked, whole.replace(key, liked), key, whole[:-3], f"{key}\né",
        of_another_home,
    ):  # fmt: skip
        (tmp_path / TEACHER).write_text(chosen)
        with pytest.raises(ValueError, match="remove it, and a new one is made"):
            teacher_key(tmp_path)
        with pytest.raises(ValueError, match="remove it, and a new one is made"):
            sign_in(tmp_path, ANN, chosen.partition("\n")[0])
    (tmp_path / TEACHER).write_text(whole)
    assert teacher_key(tmp_path) == (key, False)


def test_a_key_does_not_outlive_the_key_of_cookies_that_sealed_it(tmp_path: Path) -> None:
    teacher_key(tmp_path)
    (tmp_path / COOKIES).unlink()
    with pytest.raises(ValueError, match=f"{TEACHER} to hold a key with its seal"):
        teacher_key(tmp_path)
    (tmp_path / TEACHER).unlink()
    assert teacher_key(tmp_path)[1]


def test_the_key_makes_a_teacher_of_who_gives_it_and_nothing_else_does(tmp_path: Path) -> None:
    key, _ = teacher_key(tmp_path)
    for given in ("", "x", key.upper(), key[:-1], key + "e", "é" * 10_000, "\ud800", "x" * 10_000):
        assert not sign_in(tmp_path, ANN, given), given
    for owner in ("", "..", "../runs.sqlite3", "A" * 32, "a" * 33, "a" * 31 + "\n", "a" * 31 + "/"):
        assert not sign_in(tmp_path, owner, key), owner
        assert not is_teacher(tmp_path, owner), owner
        sign_out(tmp_path, owner)
    assert {*os.listdir(tmp_path)} == {TEACHER, COOKIES}  # what is no owner becomes no file
    assert sign_in(tmp_path, ANN, f" {key}\n")
    assert [is_teacher(tmp_path, owner) for owner in (ANN, BOB)] == [True, False]
    sign_out(tmp_path, ANN)
    assert not is_teacher(tmp_path, ANN)


def test_being_the_teacher_ends_with_the_key_and_by_itself(tmp_path: Path) -> None:
    key = teacher_key(tmp_path)[0]
    whole = (tmp_path / TEACHER).read_text()
    sign_in(tmp_path, ANN, key)
    other = key[:-5] + ("aaaaa" if key[-5:] != "aaaaa" else "bbbbb")
    for text in (other, "short"):  # nobody is the teacher by a key that is refused
        (tmp_path / TEACHER).write_text(text)
        assert not is_teacher(tmp_path, ANN)
    (tmp_path / TEACHER).write_text(whole)
    assert is_teacher(tmp_path, ANN)
    assert mode_of(tmp_path / MARKS / ANN) == 0o600
    mark, before = tmp_path / MARKS / ANN, time.time() - MARK_SECONDS - 1
    (tmp_path / MARKS / BOB).write_text(mark.read_text())
    assert not is_teacher(tmp_path, BOB)  # a mark that was copied is none
    (tmp_path / MARKS / BOB).write_bytes(b"\xff")
    assert not is_teacher(tmp_path, BOB)
    os.utime(mark, (before, before))
    assert not is_teacher(tmp_path, ANN)
