"""Published claims to try: what each of them is, in a few words."""

from pathlib import Path

from dpcore.claims.worked import WorkedExample
from dpcore.privacy import words_in

CLAIMED = words_in(Path(__file__).with_name("examples.toml"))["claimed"]


def name_of(example: WorkedExample) -> str:
    """Who claims what: on a button, and above the example that the page opens with."""
    return CLAIMED[example.name]
