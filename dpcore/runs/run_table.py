"""The runs of a store, filtered and in order, a page at a time.

A store may hold tens of thousands.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dpcore import check
from dpcore.runs.lifecycle import CHARGED_STEPS, ENDED, Status, among
from dpcore.runs.record import IMPORTED, Run
from dpcore.runs.store import Store
from dpcore.runs.store_file import LAST, TESTED
from dpcore.training.events import Finished

ORDERS = {  # name of an order -> SQL
    "started": "runs.number",
    "name": "LOWER(runs.name)",
    "status": "runs.status",
    "dataset": "json_extract(runs.settings, '$.dataset')",
    "model": "json_extract(runs.settings, '$.model')",
    "optimizer": "json_extract(runs.settings, '$.optimizer')",
    "sigma": "json_extract(runs.settings, '$.sigma')",
    "batch": "json_extract(runs.settings, '$.batch')",
    "epochs": "json_extract(runs.settings, '$.epochs')",
    "accuracy": (
        f"COALESCE(json_extract({LAST}, '$.accuracy'), json_extract({TESTED}, '$.accuracy'))"
    ),
    # A finished job has said how long it took, without its wait for the features of images.
    "duration": (
        f"COALESCE(CASE WHEN runs.status = '{Status.FINISHED}' THEN json_extract({LAST},"
        " '$.seconds') END, COALESCE(runs.ended, (julianday('now') - 2440587.5) * 86400)"
        " - runs.started)"
    ),
    "owner": "runs.owner",
}
FINISHED = (f"status = '{Status.FINISHED}'", "kind = 'training'", "plan IS NOT NULL")
ELSEWHERE = f"(origin IS NOT NULL AND json_extract(origin, '$.{IMPORTED}') IS NOT NULL)"
MAX_WORDS = 10  # of a search
SEARCHED = ("runs.name", "runs.id", "runs.note", "runs.tags", "runs.settings")


@dataclass(frozen=True)
class Wanted:
    """A filter: a run passes if all of this holds."""

    text: str = ""  # every word is in the name, id, note, a tag or a setting; case does not matter
    statuses: tuple[str, ...] = ()  # one of these, if any is named
    tag: str = ""
    sweep: str = ""
    owner: str = ""


class RunPage(NamedTuple):
    """A page of the wanted runs, and the number of all of them."""

    runs: list[Run]
    total: int


class Priced(NamedTuple):
    """The facts from which a run's epsilon follows, if it has one."""

    id: str
    plan: str  # as JSON; "" of a job that does not train
    delta: float
    done: int | None  # steps; None before it has begun
    over: bool  # it has ended


def found(
    store: Store,
    wanted: Wanted,
    order: str = "started",
    *,
    descending: bool = True,
    limit: int | None = 50,
    offset: int = 0,
) -> RunPage:
    """Find runs of every kind from place `offset` on, at most `limit`.

    Runs without a value to sort by come last.
    """
    check.one_of(ORDERS, order=order)
    check.whole(0, limit=limit or 0, offset=offset)
    where, values = _condition(wanted)
    key = ORDERS[order]
    way = "DESC" if descending else "ASC"
    most = -1 if limit is None else limit
    query = f"""SELECT id FROM runs {where} ORDER BY {key} IS NULL, {key} {way}, number {way}
        LIMIT ? OFFSET ?"""
    total = store.rows(f"SELECT COUNT(*) FROM runs {where}", values)[0][0]
    ids = [row["id"] for row in store.rows(query, (*values, most, offset))]
    return RunPage(runs_of(store, ids), total)


def runs_of(store: Store, ids: Sequence[str]) -> list[Run]:
    """The runs with these ids, in this order, without those that the store does not have."""
    listed = json.dumps(list(ids))  # one value, however many ids
    found = store.select("WHERE runs.id IN (SELECT value FROM json_each(?))", (listed,))
    known = {run.id: run for run in found}
    return [known[each] for each in ids if each in known]


def numbers_of(store: Store, ids: Sequence[str]) -> dict[str, int]:
    """The numbers of these runs in the order of submission, which no two runs share."""
    query = "SELECT id, number FROM runs WHERE id IN (SELECT value FROM json_each(?))"
    return {row["id"]: row["number"] for row in store.rows(query, (json.dumps(list(ids)),))}


def priced(store: Store, wanted: Wanted) -> list[Priced]:
    """The facts from which the wanted runs' epsilons follow, newest run first."""
    where, values = _condition(wanted)
    query = f"""SELECT id, COALESCE(CASE WHEN kind IN ('training', 'followed') THEN plan END, ''),
        json_extract(settings, '$.delta'), {CHARGED_STEPS}, {among(ENDED)}
        FROM runs {where} ORDER BY number DESC"""
    return [Priced(*facts, over=bool(over)) for *facts, over in store.rows(query, values)]


def ended(store: Store, wanted: Wanted, limit: int) -> list[Run]:
    """The latest wanted training runs that finished here, at most `limit`, newest first.

    Imported runs are left out.
    """
    where, values = _condition(wanted, *FINISHED, f"NOT {ELSEWHERE}")
    runs = store.select(f"{where} ORDER BY number DESC LIMIT ?", (*values, limit))
    return [run for run in runs if isinstance(run.last, Finished)]


def imported(store: Store, wanted: Wanted) -> int:
    """The number of runs that `ended` leaves out because they were imported."""
    where, values = _condition(wanted, *FINISHED, ELSEWHERE)
    return store.rows(f"SELECT COUNT(*) FROM runs {where}", values)[0][0]


def tags_of(store: Store) -> list[str]:
    """Every tag in use, in alphabetical order."""
    query = (
        "SELECT DISTINCT value FROM runs, json_each(runs.tags) WHERE tags != '[]' ORDER BY value"
    )
    return [row["value"] for row in store.rows(query)]


def owners_of(store: Store) -> list[str]:
    """Every owner of a run; the owner of the newest run comes first."""
    query = "SELECT owner FROM runs WHERE owner != '' GROUP BY owner ORDER BY MAX(number) DESC"
    return [row["owner"] for row in store.rows(query)]


def sweeps_of(store: Store) -> dict[str, str]:
    """The latest sweeps, newest first: id -> their name and their number of runs."""
    query = """SELECT sweep, COUNT(*) AS runs, MIN(number) AS first,
            (SELECT name FROM runs AS one WHERE one.sweep = runs.sweep ORDER BY number LIMIT 1)
            AS name
        FROM runs WHERE sweep IS NOT NULL GROUP BY sweep ORDER BY first DESC LIMIT 50"""
    sweeps = {}
    for row in store.rows(query):
        name = row["name"].partition(": ")[0]
        plural = "s" if row["runs"] > 1 else ""
        sweeps[row["sweep"]] = f"{name}, {row['runs']} run{plural}"
    return sweeps


def counted(store: Store, column: str, wanted: Wanted = Wanted()) -> dict[str, int]:
    """The number of wanted runs for each value of the column "status" or "kind"."""
    where, values = _condition(wanted)
    rows = store.rows(f"SELECT {column}, COUNT(*) FROM runs {where} GROUP BY {column}", values)
    return {row[0]: row[1] for row in rows}


def _condition(wanted: Wanted, *more: str) -> tuple[str, tuple[str, ...]]:
    """The filter in SQL, with the values of its question marks."""
    parts = [*more]
    values = []
    anywhere = " OR ".join(f"{column} LIKE ? ESCAPE '\\'" for column in SEARCHED)
    for word in wanted.text.split()[:MAX_WORDS]:
        text = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        parts.append(f"({anywhere})")
        values += [f"%{text}%"] * len(SEARCHED)
    if wanted.statuses:
        parts.append(f"status IN ({', '.join('?' * len(wanted.statuses))})")
        values += wanted.statuses
    if wanted.tag:
        parts.append("EXISTS (SELECT 1 FROM json_each(runs.tags) WHERE value = ?)")
        values.append(wanted.tag)
    if wanted.sweep:
        parts.append("sweep = ?")
        values.append(wanted.sweep)
    if wanted.owner:
        parts.append("owner = ?")
        values.append(wanted.owner)
    where = f"WHERE {' AND '.join(parts)}" if parts else ""
    return where, tuple(values)
