"""A run that was exported is read back as it was, marked; what is no exported run is refused in a sentence."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpcore.runs.export import FORMS, TextForm, record_of
from dpcore.runs.export.imported import ORIGIN, read_run, take_in
from dpcore.runs.export.run_json import run_json
from dpcore.runs.record import IMPORTED, Status
from dpcore.runs.resume import ended_early, resume
from dpcore.runs.store import Store
from dpcore.training.events import Evaluated, Finished, Preparing, Started, Stepped, Unsaved
from dpcore.training.plan import plan
from tests.runs.export.recorded_runs import TINY, trained

CONFIG = replace(TINY, seed=None, ema=0.9)
STEPS = plan(CONFIG).steps
EPOCH = CONFIG.q
SAID = [
    Started(10_000, STEPS, CONFIG.q, "cpu", 23_860, "book-keeping", (("torch", "2.9"), ("data", "ab" * 32))),
    Stepped(5, 5 * EPOCH, 2.0, 0.5, (0.1, 0.2, 0.3, 0.4, 0.5), 100.0),
    Evaluated(5, 5 * EPOCH, 0.25, 2.1, (0.5,) * 10, 0.26),
    Stepped(STEPS, STEPS * EPOCH, 1.0, 0.5, (0.1, 0.2, 0.3, 0.4, 0.5), 100.0),
    Evaluated(STEPS, STEPS * EPOCH, 0.5, 1.1, (0.5,) * 10, 0.51),
    Finished(STEPS, 1.5, 0.5, 0.51),
]
Values = dict[str, Any]
PREPARING = {"event": "preparing", "done": 60, "total": 100, "step": 0}


def said(store: Store, status: Status = Status.FINISHED, error: str | None = None) -> str:
    """A run that has said so, in the store."""
    run = store.new_id()
    store.submit_as(run, CONFIG, "mine", "elsewhere:1")
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
    assert (after.config, after.plan, after.events) == (before.config, before.plan, before.events)
    for name in ("name", "status", "created", "started", "ended", "error", "tags", "note"):
        assert getattr(after.run, name) == getattr(before.run, name)
    assert before.run.origin
    assert after.run.origin == before.run.origin | {IMPORTED: f"run {before.run.id} of another store"}
    assert (after.run.owner, after.run.worker, after.run.position) == ("ada", None, None)


def test_every_form_says_of_an_imported_run_that_it_is_one(store: Store, other: Store, tmp_path: Path) -> None:
    before = said(store)
    run = take_in(other, read_run(run_json([record_of(store, before)]).encode()))
    record = record_of(other, run)
    for form in FORMS.values():
        if isinstance(form, TextForm):
            assert f"run {before} of another store" in form.write([record]), form.name
            assert "of another store" not in form.write([record_of(store, before)]), form.name
    FORMS["tensorboard"].write([record], tmp_path / "out")  # type: ignore[call-arg]
    assert [each.name for each in (tmp_path / "out").iterdir()] == [f"{run}-imported"]


def test_an_imported_run_that_is_exported_again_stays_an_imported_one(
    store: Store, other: Store, whole: Values
) -> None:
    first = take_in(store, read_run(json.dumps(whole).encode()))
    again = take_in(other, read_run(run_json([record_of(store, first)]).encode()))
    assert other.run(again).imported == f"run {first} of another store"


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.FAILED, Status.LOST])
def test_an_imported_run_cannot_be_resumed(store: Store, other: Store, status: Status) -> None:
    exported = run_json([record_of(store, said(store, status, "Traceback:\n /home/me/x.py\nKeyError: 'x'\n"))])
    assert "/home/me" not in exported
    run = take_in(other, read_run(exported.encode()))
    assert (other.run(run).status, other.run(run).error) == (status, "KeyError: 'x'")
    assert not ended_early(other.run(run))
    with pytest.raises(ValueError, match="it was imported: its checkpoint and its secret seed stayed where"):
        resume(other, run)
    assert [each.id for each in other.runs()] == [run]


def test_no_secret_is_made_for_a_run_whose_own_stayed_elsewhere(store: Store, other: Store, whole: Values) -> None:
    assert other.secret(take_in(other, read_run(json.dumps(whole).encode()))) is None
    assert whole["settings"]["seed"] is None


def test_a_run_may_have_said_how_far_its_features_were(whole: Values) -> None:
    whole["events"][:0] = [PREPARING, PREPARING | {"done": 90}]
    assert read_run(json.dumps(whole).encode()).events[:2] == (Preparing(60, 100), Preparing(90, 100))


def test_a_run_that_was_exported_while_it_ran_is_lost(store: Store, other: Store) -> None:
    run = store.new_id()
    store.submit_as(run, CONFIG, "", "elsewhere:1")
    store.append(run, SAID[0])
    found = other.run(take_in(other, read_run(run_json([record_of(store, run)]).encode())))
    assert (found.status, found.error) == (Status.LOST, "It was exported while it ran.")
    assert other.queue() == []


def test_what_nobody_measured_costs_what_its_settings_do(whole: Values) -> None:
    whole["plan"]["charged"][0][1] = 50.0  # less epsilon than the settings give
    with pytest.raises(ValueError, match=r"Expected the plan .* to follow from its settings"):
        read_run(json.dumps(whole).encode())


def test_what_was_spent_before_stays_spent(store: Store, other: Store) -> None:
    run = store.new_id()
    store.submit_as(run, CONFIG, "", "elsewhere:1", planned=plan(CONFIG).anew(7))
    store.append(run, SAID[0])
    store.append(run, SAID[1])
    store.end(run, Status.CANCELLED)
    record = record_of(store, run)
    found = record_of(other, take_in(other, read_run(run_json([record]).encode())))
    assert found.released == record.released
    assert found.released
    assert found.released.steps == 7 + 5
    for name, words in (("card", "7 of the sums were released by runs"), ("dp-accounting", "The first 7 releases are")):
        form = FORMS[name]
        assert isinstance(form, TextForm)
        assert words in form.write([found])


def changed(path: str, value: Any) -> Callable[[Values], None]:
    """What puts a value into a place of an exported run, as in "run.name" or "events.2.step"."""

    def change(whole: Values) -> None:
        *way, last = path.split(".")
        at: Any = whole
        for each in way:
            at = at[int(each) if isinstance(at, list) else each]
        at[int(last) if isinstance(at, list) else last] = value

    return change


WRONG: dict[str, tuple[Callable[[Values], Any], str]] = {
    "another format": (changed("format", "mlflow run"), "to be of the format 'dpcore run'"),
    "a later version": (changed("version", 2), "to be of version 1"),
    "an unknown part": (changed("code", "import os"), "no key 'code'"),
    "a missing part": (lambda whole: whole.pop("plan"), "have the key 'plan'"),
    "an unknown setting": (changed("settings.flavour", "lemon"), "no key 'flavour'"),
    "a setting of another type": (changed("settings.sigma", "1.0"), "sigma of the settings to be a finite number"),
    "a setting that is a list": (changed("settings.dataset", ["mnist"]), "dataset of the settings to be a text"),
    "a flag that is a number": (changed("settings.private", 1), "private of the settings to be true or false"),
    "a setting out of its range": (changed("settings.clip_norm", -1.0), "Expected clip_norm=-1.0 in"),
    "a number beyond the floats": (changed("settings.batch", 10**400), "batch of the settings to be a whole number"),
    "other settings than its plan's": (changed("settings.sigma", 9.0), "to follow from its settings"),
    "no plan": (changed("plan", None), "the plan to be an object"),
    "a plan of another shape": (changed("plan.charged", [[1, 2]]), "charged of the plan to have 3 items"),
    "more steps released before than there are": (changed("plan.told", STEPS + 1), "Expected told="),
    "steps released before that are no number": (changed("plan.told", 1.5), "told of the plan to be a whole number"),
    "a release of other settings": (changed("plan.spent", [[0.5, 1.0, 3]]), "spent before to be releases of the same"),
    "a million releases": (
        changed("plan.spent", [[0.0064, 1.0, 1_000_000]]),
        "spent before to be releases of the same",
    ),
    "a release that is none": (changed("plan.charged.0.0", 7.0), "Expected q=7.0 in"),
    "no events": (changed("events", []), "the events to be a list of 1 to"),
    "an unknown event": (changed("events.1.event", "exec"), "event 2 to be one of"),
    "an event that is a text": (changed("events.1", "stepped"), "event 2 to be an object"),
    "an unknown key": (changed("events.1.code", "x"), "event 2 to have no key 'code'"),
    "a loss that is null": (changed("events.1.loss", None), "loss of event 2 to be a finite number"),
    "a loss that is true": (changed("events.1.loss", True), "loss of event 2 to be a finite number"),
    "norms that are none": (changed("events.1.norms", [1, "x", 1, 1, 1]), "norms of event 2 to be a finite number"),
    "too few norms": (changed("events.1.norms", [1.0]), "event 2 .* clipped share or norms are none"),
    "a negative speed": (changed("events.1.steps_per_second", -1), "event 2 .* its speed or its decisions"),
    "a speed beyond all": (changed("events.1.steps_per_second", 1e300), "event 2 .* its speed or its decisions"),
    "decisions that are none": (changed("events.1.decisions", "<b>"), "event 2 .* its speed or its decisions"),
    "more than all right": (changed("events.2.accuracy", 1.5), "event 3 .* its accuracies are none"),
    "a class too many": (changed("events.2.per_class", [0.5] * 11), "event 3 .* its accuracies are none"),
    "another epoch": (changed("events.2.epoch", 99.0), "event 3 .* its epoch is not that of its step"),
    "a step beyond the last": (changed("events.3.step", STEPS + 1), f"event 4 .* it is of step {STEPS + 1}"),
    "a step back": (changed("events.2.step", 4), "event 3 .* its step does not come behind"),
    "a step twice": (lambda whole: whole["events"].insert(1, whole["events"][1]), "event 3 .* does not come behind"),
    "two starts": (lambda whole: whole["events"].insert(1, whole["events"][0]), "event 2 .* a run starts once"),
    "features behind the start": (
        lambda whole: whole["events"].insert(1, PREPARING),
        "event 2 .* features come before the start",
    ),
    "more features than images": (
        lambda whole: whole["events"].insert(0, PREPARING | {"done": 101}),
        "event 1 .* it is no part of its images",
    ),
    "features and no start": (lambda whole: whole["events"].__setitem__(0, PREPARING), "event 2 .* starts first"),
    "no start": (lambda whole: whole["events"].pop(0), "event 1 .* a run starts first"),
    "an event behind the end": (lambda whole: whole["events"].append(whole["events"][4]), "the run has finished"),
    "an end that it did not measure": (changed("events.5.accuracy", 0.99), "with the accuracy of its last test"),
    "an end too early": (changed("events.5.step", STEPS - 1), "event 6 .* its step does not come behind"),
    "accepted below 0": (changed("events.5.accepted", -5), "event 6 .* more steps, or fewer, than there were"),
    "accepted more than done": (changed("events.5.accepted", STEPS + 1), "event 6 .* more steps, or fewer, than there"),
    "accepted more than so far": (changed("events.1.accepted", 6), "event 2 .* more steps, or fewer, than there were"),
    "a table of mistakes with ragged rows": (changed("events.5.confusion", [[1, 2], [3]]), "event 6 .* its table of"),
    "a table of mistakes of other classes": (changed("events.5.confusion", [[1] * 9] * 9), "event 6 .* its table of"),
    "no table of mistakes": (changed("events.5.confusion", []), "event 6 .* its table of"),
    "mistakes below 0": (changed("events.5.confusion", [[-1] * 10] * 10), "event 6 .* its table of"),
    "half a mistake": (changed("events.5.confusion", [[0.5] * 10] * 10), "confusion of event 6 to be a whole number"),
    "a time beyond all": (changed("events.5.seconds", 1.7e308), "event 6 .* does not end .* in a time that can be"),
    "a time before all": (changed("events.5.seconds", -1.0), "event 6 .* does not end .* in a time that can be"),
    "other data": (changed("events.0.examples", 60_000), "event 1 .* are not those of the settings"),
    "an unknown status": (changed("run.status", "best"), "status='best'"),
    "a run that waits": (changed("run.status", "queued"), "status='queued'"),
    "a status that its events are not": (changed("run.status", "cancelled"), "that is cancelled to end with"),
    "a name that is too long": (changed("run.name", "x" * 10_000), "name of the run to be a text of at most 1,000"),
    "a name that is long": (changed("run.name", "x" * 200), "name of 200 characters to have at most 120"),
    "an id that is a path": (changed("run.id", "../../x"), "the id of the run to be letters and digits"),
    "a time to come": (changed("run.created", 9e12), "created=9000000000000.0 in"),
    "too many tags": (changed("run.tags", [str(i) for i in range(99)]), "at most 10 tags, but it has 99"),
    "a tag that is a number": (changed("run.tags", [1]), "tags of the run to be a text"),
    "a note that is a list": (changed("run.note", []), "the note of the run to be a text"),
    "a note that is too long": (changed("run.note", "x" * 9_000), "note of 9,000 characters"),
    "an origin of another shape": (changed("run.origin", {"torch": {"a": 1}}), "origin of the run to be a text"),
    "an origin of a thousand parts": (changed("run.origin", {str(i): "" for i in range(1000)}), "to have no key '0'"),
    "an origin with a name of something else": (changed("run.origin", {"Run": "x"}), "origin .* to have no key 'Run'"),
    "threads that are none": (changed("run.origin", {"threads": "two"}), "threads in the origin of the run to be as"),
    "no threads": (changed("run.origin", {"threads": "0"}), "threads in the origin of the run to be as"),
    "data that are no fingerprint": (changed("run.origin", {"data": "<b>"}), "data in the origin of the run to be as"),
    "a version that is markup": (changed("run.origin", {"torch": "![x](y)"}), "torch in the origin of the run to be"),
    "a secret": (changed("run.secret", "00" * 16), "the run to have no key 'secret'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_file_that_is_wrong_somewhere_is_refused_in_a_sentence(store: Store, whole: Values, wrong: str) -> None:
    change, words = WRONG[wrong]
    change(whole)
    with pytest.raises(ValueError, match=words) as caught:
        read_run(json.dumps(whole).encode())
    message = str(caught.value)
    assert message.startswith("Expected ")
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 400


def test_all_that_a_run_notes_of_where_it_was_trained_is_taken_in_and_no_other_name(store: Store) -> None:
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
        "device": "cpu\ud800", "engine": "\x1b]0;x\x07vmap\x1b[2J: why", "origin": [["torch\x00", "2.9\x1b[2J"]],
    }  # fmt: skip
    whole["events"].insert(2, {"event": "unsaved", "step": 5, "reason": "\x1b[2Jno\nroom\ud800"})
    run = take_in(other, read_run(json.dumps(whole).encode()))
    started, _, unsaved, *_ = [event for _, event in other.tail(run)]
    assert isinstance(started, Started)
    assert (started.device, started.engine, started.origin) == ("cpu", "]0;x vmap [2J: why", (("torch", "2.9 [2J"),))
    assert unsaved == Unsaved(5, "[2Jno room")


def test_a_table_of_mistakes_and_accepted_steps_come_back(whole: Values) -> None:
    whole["events"][5] |= {"confusion": [[100] * 10] * 10, "accepted": STEPS}
    last = read_run(json.dumps(whole).encode()).events[-1]
    assert isinstance(last, Finished)
    assert (last.confusion, last.accepted) == (((100,) * 10,) * 10, STEPS)


def test_a_file_of_before_a_setting_came_is_read_with_its_default(whole: Values) -> None:
    del whole["settings"]["noise_generator"], whole["events"][0]["origin"]
    assert read_run(json.dumps(whole).encode()).config == CONFIG


def test_a_plan_may_say_how_many_steps_were_released_before(whole: Values) -> None:
    whole["plan"]["told"] = STEPS
    assert read_run(json.dumps(whole).encode()).plan.already_released == STEPS


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
        assert (after.config, after.plan, after.events) == (before.config, before.plan, before.events)
