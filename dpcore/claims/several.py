"""Several runs of one text: one sentence on all, and a row for each."""

from collections.abc import Sequence

from dpcore.claims.reading import Run
from dpcore.claims.values import written
from dpcore.claims.verdict import ClaimVerdict, Standing
from dpcore.privacy.report.numbers import plain

MAX_LABEL = 40  # characters
NONE = "–"


def label_of(run: Run, place: int) -> str:
    """What a run is called: by its text, or by its place from 1 on."""
    return run.label[:MAX_LABEL] or f"run {place + 1}"


def headline(runs: Sequence[Run], verdicts: Sequence[ClaimVerdict]) -> str:
    """How many of several runs hold, and what is said of the others.

    >>> from dpcore.claims import judge, read
    >>> one = "Run A: sigma 9, epsilon 3, delta 1e-5, q = 0.1, 9 steps"
    >>> found = read(f"{one}\\nRun B: sigma 8, epsilon 1, q = 0.1, 9 steps")
    >>> headline(found.runs, [judge(each.claim) for each in found.runs])
    '1 of 2 runs holds; Run B is insufficient.'
    """
    holding = sum(each.standing is Standing.HOLDS for each in verdicts)
    verb = "holds" if holding == 1 else "hold"
    parts = [f"{holding} of {len(verdicts)} runs {verb}"]
    for standing in Standing:
        names = []
        for place, (run, verdict) in enumerate(zip(runs, verdicts, strict=True)):
            if verdict.standing is standing:
                names.append(label_of(run, place))
        if names and standing is not Standing.HOLDS:
            is_or_are = "is" if len(names) == 1 else "are"
            parts.append(f"{_joined(names)} {is_or_are} {standing.value}")
    return f"{'; '.join(parts)}."


def _joined(names: Sequence[str]) -> str:
    if len(names) > 3:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join(names)


def row_of(run: Run, verdict: ClaimVerdict) -> dict[str, str]:
    """A run's numbers, by the heads of their columns."""
    claim = verdict.claim
    length = NONE
    if claim.steps is not None:
        length = f"{claim.steps:,} steps"
    elif claim.epochs is not None:
        length = f"{claim.epochs:g} epochs"
    epsilon = NONE
    if claim.epsilon is not None:
        epsilon = written(claim.epsilon)
    rate = NONE
    if claim.q is not None:
        rate = f"q {plain(claim.q)}"
    elif claim.batch is not None:
        rate = f"{claim.batch:,}"
        if claim.examples is not None:
            rate = f"{rate} of {claim.examples:,}"
    return {
        "run": run.label[:MAX_LABEL] or NONE,
        "epsilon": epsilon,
        "delta": _plain_or_none(claim.delta),
        "sigma": _plain_or_none(claim.sigma),
        "batches": rate,
        "length": length,
        "verdict": verdict.standing.value,
    }


def _plain_or_none(value: float | None) -> str:
    if value is None:
        return NONE
    return plain(value)
