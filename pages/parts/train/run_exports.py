"""What a reader keeps of runs: pictures that say which runs they show, and every test as CSV with its settings."""

from collections.abc import Sequence
from typing import TypedDict

from dpcore.privacy.report.numbers import nearest
from dpcore.runs.in_words import with_origin
from dpcore.training.defaults import described, phrase
from pages.parts.results import cache
from pages.parts.results.exports import Columns, Origin
from pages.parts.train.run_history import Watched

NAMED = ("clip_norm", "lr")  # told beside the few words for a run


class Picture(TypedDict):
    """What `live_chart` writes over a picture, and the name of its file."""

    title: str
    file: str


def picture(what: str, watched: Sequence[Watched]) -> Picture:
    """A picture of what the runs did: what it shows, and of each run its settings."""
    lines = [what]
    for place, each in enumerate(watched):
        number = f"{place + 1}: " if len(watched) > 1 else ""
        named = [name for name in NAMED if each.config.private or name != "clip_norm"]
        said = [described(each.config), *(phrase(name, each.config) for name in named)]
        lines += [with_origin(f"{number}{', '.join(said)}", each.run), origin_of_run(each).words]
    return Picture(title="\n".join(lines), file=file_of(what.lower().replace(" ", "-"), watched))


def file_of(name: str, watched: Sequence[Watched]) -> str:
    """The name of a file about runs, without its ending: with the settings of a run alone, and the ids of all."""
    runs = "-".join(["run", *(each.run.id for each in watched)])
    return f"{origin_of_run(watched[0]).file(name) if len(watched) == 1 else name}-{runs}"


def origin_of_run(watched: Watched, link: str = "") -> Origin:
    """The settings of a run; of one without privacy those that it has."""
    config, steps = watched.config, watched.plan.steps
    if not config.private:
        return Origin(config.examples, config.q, None, steps, None, "", link)
    changing = f"{config.schedule}, rate {nearest(config.rate)}"
    schedule = "constant" if config.schedule == "constant" else changing
    return Origin(config.examples, config.q, config.sigma, steps, config.delta, schedule, link)


def evaluations_columns(watched: Sequence[Watched], accountant: str, link: str) -> Columns:
    """One row for each test of each run: what was measured, the epsilon spent until then, and the run's settings.

    A secret seed is empty; so is an epsilon where there is none.
    """
    rows = [row for each in watched for row in _rows(each, accountant, link)]
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _rows(watched: Watched, accountant: str, link: str) -> list[dict[str, object]]:
    tests, mechanism, config = watched.history.evaluated, watched.plan.mechanism, watched.config
    spent = watched.epsilons(accountant, [each.step for each in tests]) or [None] * len(tests)
    kind = cache.curve(accountant, mechanism, config.delta).kind.value if mechanism else ""
    counted = {"accountant": accountant if mechanism else "", "kind": kind}
    origin = origin_of_run(watched, link)
    settings = origin._asdict() | config.to_json() | {"sigma": origin.sigma, "delta": origin.delta}
    return [
        {"run": watched.run.id, "status": watched.run.status.value, "imported": watched.run.imported, "step": test.step,
         "epoch": test.epoch, "accuracy": test.accuracy, "averaged_accuracy": test.averaged_accuracy,
         "loss": test.loss, "epsilon": epsilon, **counted, **settings}
        for test, epsilon in zip(tests, spent, strict=True)
    ]  # fmt: skip
