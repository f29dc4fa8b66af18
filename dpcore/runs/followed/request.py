"""What is told of a followed training before its first step."""

from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from dpcore import check
from dpcore.privacy.accountants.base import MAX_STEPS
from dpcore.privacy.mechanism import Release

MARK = "followed: sampler as told, not observed"  # stands wherever such a run is shown
IMPORTED_MARK = "imported: values as told, not observed"  # of one that another program recorded
MAX_UNIT_CHARS = 60
MAX_EXAMPLES = 10**12


@dataclass(frozen=True)
class Followed:
    """The settings of a followed run. Errors: ValueError names what is wrong, and the way out.

    >>> Followed(delta=1e-5, examples=60_000, q=1.7, sigma=1.1)
    Traceback (most recent call last):
    ...
    ValueError: Expected q=1.7 to be above 0 and at most 1.
    """

    delta: float
    examples: int  # n
    q: float  # the rate of the first steps, at which each example joins a batch by itself
    sigma: float  # the noise multiplier of the first steps
    unit: str = "example"  # what epsilon protects: one of these
    target_epsilon: float = 0.0  # to stop at; 0 without one
    steps: int = 0  # planned; 0 if nobody said
    seed: ClassVar[int] = 0  # it draws nothing here
    kind: ClassVar[str] = "followed"  # of job in the store

    def __post_init__(self) -> None:
        check.delta(delta=self.delta)
        check.whole(1, MAX_EXAMPLES, examples=self.examples)
        Release(self.q, self.sigma)
        check.in_range(0, float("inf"), ends="[)", target_epsilon=self.target_epsilon)
        check.whole(0, MAX_STEPS, steps=self.steps)
        named = isinstance(self.unit, str) and self.unit.strip()
        if not named or len(self.unit) > MAX_UNIT_CHARS:
            raise ValueError(
                f"Expected unit={str(self.unit)[:80]!r} to name what is protected in at most"
                f" {MAX_UNIT_CHARS} characters, such as 'image' or 'person'."
            )

    @property
    def batch(self) -> float:
        """The expected batch of the first steps."""
        return self.q * self.examples

    def to_json(self) -> dict[str, Any]:
        """The settings as a flat JSON object."""
        return asdict(self) | {"batch": self.batch}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Followed":
        """The settings that `to_json` wrote. Errors: ValueError for an unknown key."""
        known = [field.name for field in fields(cls)]
        given = {key: value for key, value in values.items() if key != "batch"}
        check.one_of(known, **{f"key {key}": key for key in given})
        return cls(**given)
