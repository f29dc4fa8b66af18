"""The keys of a classroom: kept once, for their owner's eyes, and never guessed."""

import os
import stat
import threading

import pytest

from dpcore.runs.keys import CHOSEN, COOKIES, LONGEST, TEACHER, cookie_key, guessable, kept, same, teacher_key


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CHOSEN, raising=False)


def mode_of(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path):
    home = tmp_path / "not there yet"
    key = cookie_key(home)
    assert len(key) == 32
    assert cookie_key(home) == key
    assert mode_of(home / COOKIES) == 0o600
    assert os.listdir(home) == [COOKIES]  # no draft is left


def test_two_homes_have_two_keys(tmp_path):
    assert cookie_key(tmp_path / "a") != cookie_key(tmp_path / "b")


def test_a_key_that_others_can_read_is_taken_from_them(tmp_path):
    cookie_key(tmp_path)
    (tmp_path / COOKIES).chmod(0o644)
    cookie_key(tmp_path)
    assert mode_of(tmp_path / COOKIES) == 0o600


def test_who_makes_it_at_the_same_time_gets_the_same(tmp_path):
    together, found = threading.Barrier(8), []

    def ask(number: int) -> None:
        together.wait()
        found.append(kept(tmp_path / "key", lambda: f"made by {number}"))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len({text for text, _ in found}) == 1
    assert sum(made for _, made in found) == 1


@pytest.mark.parametrize("text", ["", "nonsense", "ab" * 31, "ab" * 33])
def test_a_broken_cookie_key_is_refused_with_the_way_out(tmp_path, text):
    (tmp_path / COOKIES).write_text(text)
    with pytest.raises(ValueError, match="remove it, and a new one is made"):
        cookie_key(tmp_path)


def test_the_teachers_key_is_said_to_be_new_once(tmp_path):
    key, made = teacher_key(tmp_path)
    assert made
    assert teacher_key(tmp_path) == (key, False)
    assert mode_of(tmp_path / TEACHER) == 0o600
    assert len(key.replace("-", "")) == 20


def test_a_chosen_teachers_key_goes_before_and_is_kept_nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv(CHOSEN, "  open sesame  ")
    assert teacher_key(tmp_path) == ("open sesame", False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("chosen", ["short", "x" * (LONGEST + 1)])
def test_a_teachers_key_that_is_too_short_or_too_long_is_refused(tmp_path, monkeypatch, chosen):
    monkeypatch.setenv(CHOSEN, chosen)
    with pytest.raises(ValueError, match=f"Expected {CHOSEN} to have 8 to 200 characters, but it has {len(chosen)}"):
        teacher_key(tmp_path)


@pytest.mark.parametrize("stored", ["password", "aaaaa-aaaaa-aaaaa", "AAAAA-aaaaa-aaaaa-aaaaa", "the key of our class"])
def test_any_key_but_one_that_was_made_here_may_be_guessed(tmp_path, monkeypatch, stored):
    assert not guessable(tmp_path)
    made, _ = teacher_key(tmp_path)
    (tmp_path / TEACHER).write_text(stored)
    assert guessable(tmp_path)
    monkeypatch.setenv(CHOSEN, made)  # nobody knows who made it
    assert guessable(tmp_path)


@pytest.mark.parametrize("given", ["", "x", "sesamE open", "open sesam", "open sesamee", "é" * 10_000, "\ud800"])
def test_nothing_but_the_key_is_the_key(given):
    assert same("open sesame", "open sesame")
    assert not same(given, "open sesame")
