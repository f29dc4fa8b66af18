"""Claims that papers and libraries print, as worked examples: one of each kind of verdict at least."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpcore.claims.claim import Claim
from dpcore.claims.printed import Printed


@dataclass(frozen=True)
class WorkedExample:
    """A claim that somebody printed, and where."""

    name: str  # in an address, and on the command line
    title: str  # on a button
    source: str
    place: str
    claim: Claim
    note: str = ""  # what a reader has to know to judge the example


FACTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("worked.toml").read_text(encoding="utf-8"))
EXAMPLES = tuple(
    WorkedExample(
        name=name,
        title=facts["title"],
        source=FACTS["sources"][facts["source"]],
        place=facts["place"],
        claim=Claim(**facts["claim"] | {"epsilon": Printed(facts["claim"]["epsilon"])}),
        note=" ".join(facts.get("note", "").split()),
    )
    for name, facts in FACTS["examples"].items()
)
