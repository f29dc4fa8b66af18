"""A project of trackio, in the SQLite file that it writes (of trackio 0.43).

A row has the settings of a run (config....), and the last value of each metric (metrics....).
"""

from typing import Any

from dpcore.runs.foreign.database import Database, json_in
from dpcore.runs.foreign.row import Rows

TABLES = {"metrics", "configs"}


def rows_of(db: Database) -> Rows:
    """The runs of a project, in the order in which they began."""
    rows: dict[str, dict[str, Any]] = {}
    for prefix, column, table in (
        ("config", "config", "configs"),
        ("metrics", "metrics", "metrics"),
    ):
        for each in db.execute(f"SELECT * FROM {table} ORDER BY id"):
            key = each["run_id"] if "run_id" in each.keys() else each["run_name"]  # noqa: SIM118
            row = rows.setdefault(key, {"run_name": each["run_name"]})
            said = json_in(each[column])
            for name, value in said.items() if isinstance(said, dict) else ():
                row[f"{prefix}.{name}"] = value
    return tuple(rows.values())
