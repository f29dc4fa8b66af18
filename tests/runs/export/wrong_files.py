"""Exported runs that are wrong somewhere: what is changed in one that is right, and the words that
refuse it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dpcore.training.plan import plan
from tests.runs.export.recorded_runs import TINY

CONFIG = replace(TINY, seed=None, ema=0.9)
STEPS = plan(CONFIG).steps
PREPARING = {"event": "preparing", "done": 60, "total": 100, "step": 0}
Values = dict[str, Any]


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
    "a setting of another type": (
        changed("settings.sigma", "1.0"),
        "sigma of the settings to be a finite number",
    ),
    "a setting that is a list": (
        changed("settings.dataset", ["mnist"]),
        "dataset of the settings to be a text",
    ),
    "a flag that is a number": (
        changed("settings.private", 1),
        "private of the settings to be true or false",
    ),
    "a setting out of its range": (
        changed("settings.clip_norm", -1.0),
        "Expected clip_norm=-1.0 to be at least",
    ),
    "a number beyond the floats": (
        changed("settings.batch", 10**400),
        "batch of the settings to be a whole number",
    ),
    "other settings than its plan's": (
        changed("settings.sigma", 9.0),
        "to follow from its settings",
    ),
    "a plan that charges less": (
        changed("plan.charged.0.1", 50.0),
        "the plan .* to follow from its settings",
    ),
    "more steps than its epsilon allows": (
        changed("settings.stop_epsilon", 0.2),
        r"to keep stop_epsilon=0\.2, which allows \d+ steps by pld; it has \d+",
    ),
    "an epsilon that allows no step": (
        changed("settings.stop_epsilon", 1e-300),
        "to allow one step by pld",
    ),
    "no plan": (changed("plan", None), "the plan to be an object"),
    "a plan of another shape": (
        changed("plan.charged", [[1, 2]]),
        "charged of the plan to have 3 items",
    ),
    "more steps released before than there are": (
        changed("plan.told", STEPS + 1),
        "Expected told=",
    ),
    "steps released before that are no number": (
        changed("plan.told", 1.5),
        "told of the plan to be a whole number",
    ),
    "a release of other settings": (
        changed("plan.spent", [[0.5, 1.0, 3]]),
        "spent before to be releases of the same",
    ),
    "a million releases": (
        changed("plan.spent", [[0.0064, 1.0, 1_000_000]]),
        "spent before to be releases of the same",
    ),
    "a release that is none": (changed("plan.charged.0.0", 7.0), "Expected q=7.0 to be above 0"),
    "no events": (changed("events", []), "the events to be a list of 1 to"),
    "an unknown event": (changed("events.1.event", "exec"), "event 2 to be one of"),
    "an event that is a text": (changed("events.1", "stepped"), "event 2 to be an object"),
    "an unknown key": (changed("events.1.code", "x"), "event 2 to have no key 'code'"),
    "a loss that is null": (
        changed("events.1.loss", None),
        "loss of event 2 to be a finite number",
    ),
    "a loss that is true": (
        changed("events.1.loss", True),
        "loss of event 2 to be a finite number",
    ),
    "norms that are none": (
        changed("events.1.norms", [1, "x", 1, 1, 1]),
        "norms of event 2 to be a finite number",
    ),
    "too few norms": (
        changed("events.1.norms", [1.0]),
        "event 2 .* clipped share or norms are impossible",
    ),
    "a negative speed": (
        changed("events.1.steps_per_second", -1),
        "event 2 .* its speed or its decisions",
    ),
    "a speed beyond all": (
        changed("events.1.steps_per_second", 1e300),
        "event 2 .* its speed or its decisions",
    ),
    "decisions that are none": (
        changed("events.1.decisions", "<b>"),
        "event 2 .* its speed or its decisions",
    ),
    "more than all right": (
        changed("events.2.accuracy", 1.5),
        "event 3 .* its accuracies are impossible",
    ),
    "a class too many": (
        changed("events.2.per_class", [0.5] * 11),
        "event 3 .* its accuracies are impossible",
    ),
    "another epoch": (
        changed("events.2.epoch", 99.0),
        "event 3 .* its epoch does not match its step",
    ),
    "a step beyond the last": (
        changed("events.3.step", STEPS + 1),
        f"event 4 .* it is of step {STEPS + 1}",
    ),
    "a step back": (changed("events.2.step", 4), "event 3 .* its step does not follow"),
    "a step twice": (
        lambda whole: whole["events"].insert(1, whole["events"][1]),
        "event 3 .* does not follow",
    ),
    "two starts": (
        lambda whole: whole["events"].insert(1, whole["events"][0]),
        "event 2 .* a run starts once",
    ),
    "features behind the start": (
        lambda whole: whole["events"].insert(1, PREPARING),
        "event 2 .* features come before the start",
    ),
    "more features than images": (
        lambda whole: whole["events"].insert(0, PREPARING | {"done": 101}),
        "event 1 .* it is not a part of its images",
    ),
    "features and no start": (
        lambda whole: whole["events"].__setitem__(0, PREPARING),
        "event 2 .* starts first",
    ),
    "no start": (lambda whole: whole["events"].pop(0), "event 1 .* a run starts first"),
    "an event behind the end": (
        lambda whole: whole["events"].append(whole["events"][4]),
        "the run has finished",
    ),
    "an end that it did not measure": (
        changed("events.5.accuracy", 0.99),
        "with the accuracy of its last test",
    ),
    "an end too early": (
        changed("events.5.step", STEPS - 1),
        "event 6 .* its step does not follow",
    ),
    "accepted below 0": (changed("events.5.accepted", -5), "event 6 .* count of accepted steps"),
    "accepted more than done": (
        changed("events.5.accepted", STEPS + 1),
        "event 6 .* count of accepted steps",
    ),
    "accepted more than so far": (
        changed("events.1.accepted", 6),
        "event 2 .* count of accepted steps",
    ),
    "a table of mistakes with ragged rows": (
        changed("events.5.confusion", [[1, 2], [3]]),
        "event 6 .* its table of",
    ),
    "a table of mistakes of other classes": (
        changed("events.5.confusion", [[1] * 9] * 9),
        "event 6 .* its table of",
    ),
    "no table of mistakes": (changed("events.5.confusion", []), "event 6 .* its table of"),
    "mistakes below 0": (
        changed("events.5.confusion", [[-1] * 10] * 10),
        "event 6 .* its table of",
    ),
    "half a mistake": (
        changed("events.5.confusion", [[0.5] * 10] * 10),
        "confusion of event 6 to be a whole number",
    ),
    "a time beyond all": (
        changed("events.5.seconds", 1.7e308),
        "event 6 .* its last step, accuracy or time",
    ),
    "a time before all": (
        changed("events.5.seconds", -1.0),
        "event 6 .* its last step, accuracy or time",
    ),
    "other data": (changed("events.0.examples", 60_000), "event 1 .* differ from the settings"),
    "an unknown status": (changed("run.status", "best"), "status='best'"),
    "a run that waits": (changed("run.status", "queued"), "status='queued'"),
    "a status that its events are not": (
        changed("run.status", "cancelled"),
        "that is cancelled to end with",
    ),
    "a name that is too long": (
        changed("run.name", "x" * 10_000),
        "name of the run to be a text of at most 1,000",
    ),
    "a name that is long": (
        changed("run.name", "x" * 200),
        "a name of at most 120 characters, not 200",
    ),
    "an id that is a path": (
        changed("run.id", "../../x"),
        "the id of the run to be letters and digits",
    ),
    "a time to come": (changed("run.created", 9e12), "created=9000000000000.0 to be at least 0"),
    "an end before the start": (
        lambda whole: whole["run"].update(created=5e8, started=1.5e9, ended=1e9),
        "to start and to end in this order",
    ),
    "a start before it was submitted": (
        lambda whole: whole["run"].update(created=1.6e9, started=1.5e9, ended=1.7e9),
        "Expected the run to be created, to start",
    ),
    "too many tags": (
        changed("run.tags", [str(i) for i in range(99)]),
        "Expected at most 10 tags of a run, not 99",
    ),
    "a tag that is a number": (changed("run.tags", [1]), "tags of the run to be a text"),
    "a note that is a list": (changed("run.note", []), "the note of the run to be a text"),
    "a note that is too long": (
        changed("run.note", "x" * 9_000),
        "note of at most 5,000 characters, not 9,000",
    ),
    "an origin of another shape": (
        changed("run.origin", {"torch": {"a": 1}}),
        "origin of the run to be a text",
    ),
    "an origin of a thousand parts": (
        changed("run.origin", {str(i): "" for i in range(1000)}),
        "to have no key '0'",
    ),
    "an origin with a name of something else": (
        changed("run.origin", {"Run": "x"}),
        "origin .* to have no key 'Run'",
    ),
    "threads that are none": (
        changed("run.origin", {"threads": "two"}),
        "threads in the origin of the run to be as",
    ),
    "no threads": (
        changed("run.origin", {"threads": "0"}),
        "threads in the origin of the run to be as",
    ),
    "data that are no fingerprint": (
        changed("run.origin", {"data": "<b>"}),
        "data in the origin of the run to be as",
    ),
    "a version that is markup": (
        changed("run.origin", {"torch": "![x](y)"}),
        "torch in the origin of the run to be",
    ),
    "a secret": (changed("run.secret", "00" * 16), "the run to have no key 'secret'"),
}
