"""Claims of papers and libraries as worked examples, at least one for each verdict."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpcore.claims.claim import Claim
from dpcore.claims.printed import Printed


@dataclass(frozen=True)
class WorkedExample:
    """A printed claim and its source."""

    name: str  # in an address, and on the command line
    title: str  # on a button
    source: str
    place: str
    claim: Claim
    note: str = ""  # for the reader of the example


FACTS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("worked.toml").read_text(encoding="utf-8")
)


def _example(name: str, facts: dict[str, Any]) -> WorkedExample:
    values = {**facts["claim"], "epsilon": Printed(facts["claim"]["epsilon"])}
    return WorkedExample(
        name=name,
        title=facts["title"],
        source=FACTS["sources"][facts["source"]],
        place=facts["place"],
        claim=Claim(**values),
        note=" ".join(facts.get("note", "").split()),
    )


EXAMPLES = tuple(_example(name, facts) for name, facts in FACTS["examples"].items())
