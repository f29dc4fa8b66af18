"""A study of Optuna, in the SQLite file of its storage (schema 12, of Optuna 5.0).

Columns have the names of its `trials_dataframe`: params_..., user_attrs_..., value, number, state.
"""

from typing import Any

from dpcore.runs.foreign.database import Database, json_in
from dpcore.runs.foreign.row import Rows

TABLES = {"studies", "trials", "trial_params", "trial_values", "trial_user_attributes"}


def rows_of(db: Database, study: str) -> Rows:
    """The trials of a study. Errors: ValueError if the file has several, or none of that name."""
    studies = {row["study_name"]: row["study_id"] for row in db.execute("SELECT * FROM studies")}
    if not study and len(studies) == 1:
        (study,) = studies
    if study not in studies:
        names = ", ".join(str(name) for name in studies)[:200]
        raise ValueError(f"Expected --study to be one of the studies in the file: {names}.")
    trials = "SELECT * FROM trials WHERE study_id = ? ORDER BY number"
    rows: dict[int, dict[str, Any]] = {}
    for trial in db.execute(trials, (studies[study],)):
        rows[trial["trial_id"]] = {"number": trial["number"], "state": trial["state"]}
    for each in db.execute("SELECT * FROM trial_params"):
        if each["trial_id"] in rows:
            value = _value(each["param_value"], each["distribution_json"])
            rows[each["trial_id"]][f"params_{each['param_name']}"] = value
    for each in db.execute("SELECT * FROM trial_user_attributes"):
        if each["trial_id"] in rows:
            rows[each["trial_id"]][f"user_attrs_{each['key']}"] = json_in(each["value_json"])
    for each in db.execute("SELECT * FROM trial_values"):
        if each["trial_id"] in rows:
            place = each["objective"]
            rows[each["trial_id"]][f"values_{place}" if place else "value"] = each["value"]
    return tuple(rows.values())


def _value(stored: Any, distribution: str) -> Any:
    """The value of a parameter: of a choice the place is stored, and of a whole number a float."""
    said = json_in(distribution)
    name = str(said.get("name", "")) if isinstance(said, dict) else ""
    if name.startswith("Categorical"):
        return said["attributes"]["choices"][int(stored)]
    return int(stored) if name.startswith("Int") else stored
