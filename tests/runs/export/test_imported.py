"""A run that was exported is read back as it was; what is no exported run is refused in a sentence,
soon.
"""

import copy
import gzip
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpcore.runs.export import FORMS, TextForm, record_of
from dpcore.runs.export.data_forms import run_json
from dpcore.runs.export.imported import ORIGIN, read_run, take_in
from dpcore.runs.export.imported_events import MAX_BYTES
from dpcore.runs.record import IMPORTED, Status
from dpcore.runs.resume import ended_early
from dpcore.runs.store import Store
from dpcore.runs.within_limits import submit_rest
from dpcore.training.events import Evaluated, Finished, Started, Stepped, Unsaved
from dpcore.training.plan import plan
from tests.runs.by_hand import handed
from tests.runs.export.recorded_runs import trained
from tests.runs.export.wrong_files import CONFIG, STEPS, WRONG, Values, changed

EPOCH = CONFIG.q
SAID = [
    Started(
        10_000,
        STEPS,
        CONFIG.q,
        "cpu",
        23_860,
        "book-keeping",
        (("torch", "2.9"), ("data", "ab" * 32)),
    ),
    Stepped(5, 5 * EPOCH, 2.0, 0.5, (0.1, 0.2, 0.3, 0.4, 0.5), 100.0),
    Evaluated(5, 5 * EPOCH, 0.25, 2.1, (0.5,) * 10, 0.26),
    Stepped(STEPS, STEPS * EPOCH, 1.0, 0.5, (0.1, 0.2, 0.3, 0.4, 0.5), 100.0),
    Evaluated(STEPS, STEPS * EPOCH, 0.5, 1.1, (0.5,) * 10, 0.51),
    Finished(STEPS, 1.5, 0.5, 0.51),
]


def said(store: Store, status: Status = Status.FINISHED, error: str | None = None) -> str:
    """A run that has said so, in the store."""
    run = store.submit(CONFIG, "mine", "elsewhere:1")
    for event in SAID[: len(SAID) if status is Status.FINISHED else 3]:
        store.append(run, event)
    store.end(run, status, error)
    return run


@pytest.fixture
def other(tmp_path: Path) -> Any:
    """The store of somebody else."""
    with Store(tmp_path / "other") as store:
        yield store


@pytest.fixture
def whole(store: Store) -> Values:
    """What an exported run says, as JSON."""
    return json.loads(run_json([record_of(store, said(store))]))


def test_a_trained_run_comes_back_as_it_was(store: Store, other: Store) -> None:
    before = trained(store, CONFIG, "my run").record
    run = take_in(other, read_run(run_json([before]).encode()), owner="ada")
    after = record_of(other, run)
    assert run != before.run.id
    assert (after.config, after.plan, after.history) == (before.config, before.plan, before.history)
    for name in ("name", "status", "created", "started", "ended", "error", "tags", "note"):
        assert getattr(after.run, name) == getattr(before.run, name)
    assert before.run.origin
    assert after.run.origin == before.run.origin | {
        IMPORTED: f"run {before.run.id} of another store"
    }
    assert (after.run.owner, after.run.worker, after.run.position) == ("ada", None, None)


def test_every_form_says_of_an_imported_run_that_it_is_one(
    store: Store, other: Store, tmp_path: Path
) -> None:
    before = said(store)
    run = take_in(other, read_run(run_json([record_of(store, before)]).encode()))
    record = record_of(other, run)
    for form in FORMS.values():
        if isinstance(form, TextForm):
            assert f"run {before} of another store" in form.write([record]), form.name
            assert "of another store" not in form.write([record_of(store, before)]), form.name
    FORMS["tensorboard"].write([record], tmp_path / "out")  # type: ignore[call-arg]
    assert [each.name for each in (tmp_path / "out").iterdir()] == [f"{run}-imported"]


def test_an_imported_run_cannot_be_resumed(store: Store, other: Store) -> None:
    for status in (Status.CANCELLED, Status.FAILED, Status.LOST):
        exported = run_json(
            [record_of(store, said(store, status, "Traceback:\n /home/me/x.py\nKeyError: 'x'\n"))]
        )
        assert "/home/me" not in exported
        run = take_in(other, read_run(exported.encode()))
        assert (other.run(run).status, other.run(run).error) == (status, "KeyError: 'x'")
        assert not ended_early(other.run(run))
        with pytest.raises(
            ValueError, match="was imported, without its checkpoint and its secret seed"
        ):
            submit_rest(other, run)
    assert len(other.runs()) == 3


def test_no_secret_is_made_for_a_run_whose_own_stayed_elsewhere(
    store: Store, other: Store, whole: Values
) -> None:
    assert other.secret(take_in(other, read_run(json.dumps(whole).encode()))) is None
    assert whole["settings"]["seed"] is None


def test_a_run_that_was_exported_while_it_ran_is_lost(store: Store, other: Store) -> None:
    run = store.submit(CONFIG, "", "elsewhere:1")
    store.append(run, SAID[0])
    found = other.run(take_in(other, read_run(run_json([record_of(store, run)]).encode())))
    assert (found.status, found.error) == (Status.LOST, "It was exported while it was running.")
    assert other.queue() == []


def test_what_was_spent_before_stays_spent(store: Store, other: Store) -> None:
    run = handed(store, CONFIG, plan(CONFIG).anew(7), "elsewhere:1")
    store.append(run, SAID[0])
    store.append(run, SAID[1])
    store.end(run, Status.CANCELLED)
    record = record_of(store, run)
    found = record_of(other, take_in(other, read_run(run_json([record]).encode())))
    assert found.released == record.released
    assert found.released
    assert found.released.steps == 7 + 5
    for name, words in (
        ("card", "released 7 of the sums"),
        ("dp-accounting", "The first 7 releases are"),
    ):
        form = FORMS[name]
        assert isinstance(form, TextForm)
        assert words in form.write([found])


def test_a_file_that_is_wrong_somewhere_is_refused_in_a_sentence(whole: Values) -> None:
    for wrong, (change, words) in WRONG.items():
        other = copy.deepcopy(whole)
        change(other)
        with pytest.raises(ValueError, match=words) as caught:
            read_run(json.dumps(other).encode())
        message = str(caught.value)
        assert re.fullmatch("Expected [^\n]{1,390}[.]", message), wrong


def test_all_that_a_run_notes_of_where_it_was_trained_is_taken_in_and_no_other_name(
    store: Store,
) -> None:
    assert set(trained(store, CONFIG).record.run.origin or {}) == set(ORIGIN)


def test_words_are_kept_as_words(store: Store, other: Store, whole: Values) -> None:
    changed("run.name", "<img src=x onerror=alert(1)>\x00\x1b[2J\ud800 é")(whole)
    changed("run.tags", ["<b>", "<b>", " "])(whole)
    changed("run.note", "one\ntwo\x07")(whole)
    found = other.run(take_in(other, read_run(json.dumps(whole).encode())))
    assert found.name == "<img src=x onerror=alert(1)> [2J é"
    assert (found.tags, found.note) == (("<b>",), "one\ntwo")


def test_what_events_say_is_kept_as_words(store: Store, other: Store, whole: Values) -> None:
    whole["events"][0] |= {
        "device": "cpu\ud800", "engine": "\x1b]0;x\x07vmap\x1b[2J: why",
        "origin": [["torch\x00", "2.9\x1b[2J"]],
    }  # fmt: skip
    whole["events"].insert(2, {"event": "unsaved", "step": 5, "reason": "\x1b[2Jno\nroom\ud800"})
    run = take_in(other, read_run(json.dumps(whole).encode()))
    started, _, unsaved, *_ = other.events(run)
    assert isinstance(started, Started)
    assert (started.device, started.engine, started.origin) == (
        "cpu",
        "]0;x vmap [2J: why",
        (("torch", "2.9 [2J"),),
    )
    assert unsaved == Unsaved(5, "[2Jno room")


def test_a_file_of_before_a_setting_came_is_read_with_its_default(whole: Values) -> None:
    del whole["settings"]["noise_generator"], whole["events"][0]["origin"]
    assert read_run(json.dumps(whole).encode()).config == CONFIG


def test_a_run_of_every_kind_of_settings_comes_back(store: Store, other: Store) -> None:
    for changes in (
        {"private": False},
        {"sigma": 0.0},
        {"acceptance": "sa", "public": 100},
        {"pca": 20, "model": "abadi"},
        {"schedule": "exponential", "rate": 0.1, "clipping": "per_layer"},
        {"stop_epsilon": 0.2},
        {"optimizer": "adppl"},
        {"sigma": 2, "epochs": 1},
    ):
        before = trained(store, replace(CONFIG, **changes)).record  # type: ignore[arg-type]
        after = record_of(other, take_in(other, read_run(run_json([before]).encode())))
        assert (after.config, after.plan, after.history) == (
            before.config,
            before.plan,
            before.history,
        )


HOSTILE = {
    "empty": b"",
    "no text": b"\xff\xfe\x00",
    "cut off": b'{"format": "dpcore run", "ver',
    "a list": b"[]",
    "a number": b"1e999",
    "a number of a million digits": b'{"version": ' + b"9" * 1_000_000 + b"}",
    "not a number": b'{"version": NaN}',
    "infinity": b'{"version": -Infinity}',
    "nested a million deep": b"[" * 1_000_000,
    "objects nested a million deep": b'{"a":' * 1_000_000,
    "a key twice": b'{"format": 1, "format": "dpcore run"}',
    "a pickle": b"\x80\x04\x95.",
    "compressed": gzip.compress(b"x" * 10_000_000),
    "too large": b" " * (MAX_BYTES + 1),
}


def test_what_is_no_exported_run_is_refused_in_a_sentence() -> None:
    for name, content in HOSTILE.items():
        with pytest.raises(ValueError, match=r"^Expected the file to .*\.$") as caught:
            read_run(content)
        assert len(str(caught.value)) < 400, name


VALUES = (
    None,
    True,
    0,
    -1,
    10**400,
    1e308,
    1e-320,
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    [[0.0064, 1.0, 10**30]],
    "full",
    0.5,
)


@pytest.mark.long
def test_whatever_stands_in_one_place_of_a_file_the_answer_is_a_run_or_a_sentence(
    store: Store,
) -> None:
    whole = json.loads(run_json([trained(store).record]))
    chance, refused = random.Random(0), []
    places = [(holder, key) for holder, key in _places(whole)]
    assert len(places) > 100
    for holder, key in places:
        kept = holder[key]
        for value in chance.sample(VALUES, 4):
            holder[key] = value
            try:
                read_run(json.dumps(whole).encode())
            except ValueError as error:
                refused.append(str(error))
        holder[key] = kept
    assert len(refused) > 200
    assert [
        words for words in refused if not re.fullmatch("(Expected|No|Leave) [^\n]{1,500}", words)
    ] == []


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Everything in a JSON value that can be replaced: (what holds it, its key)."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)
