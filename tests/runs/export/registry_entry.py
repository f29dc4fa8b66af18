"""Entries of the OpenDP Deployments Registry: their part of YAML, and what their schema asks for.

A reader of YAML takes all that `parsed` takes, and reads the same from it. `parsed` refuses the
rest of YAML. The schema is schemas/deployments-schema.yaml of opendp/deployments-registry-data at
commit 3e9c812.
"""

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

LINE = re.compile(r"(?P<blanks>(?:  )*)(?P<key>[a-z_]+):(?: (?P<value>.+))?")
ITEM = re.compile(r"(?P<blanks>(?:  )*)- (?P<value>.+)")
QUOTED = re.compile(r'(?P<text>"(?:[^"\\]|\\["\\])*")(?: # [A-Z ]+)?')
PLAIN = re.compile(r"(?P<text>[A-Za-z][\w ,.-]*?)(?: # [A-Z ]+)?")
WHOLE = re.compile(r"[0-9]+")
FLOAT = re.compile(r"[0-9]+\.[0-9]+(?:[eE][-+][0-9]+)?")
CONSTANTS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")  # of plain texts


def parsed(entry: str) -> dict[str, Any]:
    """The values of an entry. Errors: ValueError for a line in another part of YAML."""
    lines = [line for line in entry.split("\n") if line and not line.startswith("# ")]
    found, rest = _mapping(lines, 0)
    if rest:
        raise ValueError(rest[0])
    return found


def _mapping(lines: list[str], depth: int) -> tuple[dict[str, Any], list[str]]:
    found: dict[str, Any] = {}
    while lines and _depth(lines[0]) == depth:
        line = LINE.fullmatch(lines[0])
        if line is None or line["key"] in found:
            raise ValueError(lines[0])
        below = lines[1:]
        if line["value"] == "|":
            found[line["key"]], lines = _block(below, depth + 2)
        elif line["value"]:
            found[line["key"]], lines = _scalar(line["value"]), below
        elif ITEM.fullmatch(below[0]):
            found[line["key"]], lines = _items(below, depth + 2)
        else:
            found[line["key"]], lines = _mapping(below, depth + 2)
    return found, lines


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _block(lines: list[str], depth: int) -> tuple[str, list[str]]:
    count = next(place for place, line in enumerate([*lines, ""]) if _depth(line) < depth)
    return "\n".join(line[depth:] for line in lines[:count]), lines[count:]


def _items(lines: list[str], depth: int) -> tuple[list[Any], list[str]]:
    found = []
    while lines and _depth(lines[0]) == depth:
        item = ITEM.fullmatch(lines[0])
        if item is None:
            raise ValueError(lines[0])
        found.append(_scalar(item["value"]))
        lines = lines[1:]
    return found, lines


def _scalar(text: str) -> Any:
    if WHOLE.fullmatch(text):
        return int(text)
    if FLOAT.fullmatch(text):
        return float(text)
    quoted = QUOTED.fullmatch(text)
    if quoted and quoted["text"].isprintable():
        return json.loads(quoted["text"])
    plain = PLAIN.fullmatch(text)
    if plain and plain["text"].lower() not in CONSTANTS:
        return plain["text"]
    raise ValueError(text)


TEXTS = "texts"
FIELDS: dict[str, Any] = {  # a type, the values that it may have, or the fields within it
    "url_slug": str,
    "status": ("Draft", "Pending"),
    "tier": (3,),
    "deployment": {
        "basic": {
            "name": str,
            "data_curators": TEXTS,
            "description": str,
            "intended_use": str,
            "data_product_type": ("Machine learning model", "Summary statistics", "Dataset"),
            "data_product_region": str,
            "publication_date": date,
        },
        "dp_variant": {
            "variant_name": ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP"),
            "data_domain": str,
            "unprotected_quantities": str,
        },
        "privacy_loss": {
            "privacy_unit": str,
            "privacy_unit_details": str,
            "privacy_parameters": {"epsilon": float, "delta": float},
            "privacy_parameters_details": str,
        },
        "deployment_model": {
            "model_name": ("Local", "Central", "Shuffle", "Federated"),
            "model_name_details": str,
            "actors": str,
            "release_type": ("One release", "Many releases"),
            "release_type_details": str,
            "data_source_type": ("Static", "Dynamic"),
            "data_source_type_details": str,
            "access_type": ("Interactive", "Non-interactive"),
            "access_type_details": str,
        },
        "accounting": {"post_processing": str, "composition": str},
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": str,
            "mechanisms": str,
            "justification": str,
        },
        "administrative": {"sources": str, "notes": str, "registry_authors": TEXTS},
    },
}


def wrong(values: Any, fields: Any = FIELDS, name: str = "entry") -> Iterator[str]:
    """Yield what the schema does not allow, and each field of tier 3 that is missing."""
    if isinstance(fields, dict):
        if not isinstance(values, dict) or set(values) != set(fields):
            yield f"{name} has other fields: {values}"
            return
        for key, each in fields.items():
            yield from wrong(values[key], each, f"{name}.{key}")
    elif fields == TEXTS:
        if not (
            isinstance(values, list) and values and all(isinstance(each, str) for each in values)
        ):
            yield f"{name} is no list of texts: {values}"
    elif isinstance(fields, tuple):
        if values not in fields:
            yield f"{name} is {values!r}"
    elif fields is date:
        if not (isinstance(values, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", values)):
            yield f"{name} is no date: {values!r}"
    elif not isinstance(values, fields):
        yield f"{name} is {values!r}"
    if isinstance(values, str) and re.search(r"\\\\[^()]", values):
        yield f"{name} has two backslashes"
