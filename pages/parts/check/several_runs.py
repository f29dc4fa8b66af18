"""Several runs of a text: a sentence on all, and a table in which a click opens one."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from dpcore.claims import Claim, ClaimVerdict, Standing
from dpcore.claims.reading import Run
from dpcore.privacy.report.html_table import html_table
from dpcore.privacy.report.numbers import plain
from pages.parts.check.entered import Entered, open_run
from pages.parts.components.elements import mount, sent
from pages.parts.results.odds import sign

KEY = "claim_table"
HEADS = ("Run", "Epsilon", "Delta", "Sigma", "Rate", "Length", "Verdict")
NUMBERS = HEADS[1:-1]
NAMED = 3  # runs of a verdict that the sentence names
MAX_LABEL = 40  # characters
# Verdicts in the order of the sentence: of one run, and of several.
SAID = {
    Standing.REFUTED: ("is refuted", "are refuted"),
    Standing.CONTRADICTORY: ("is contradictory", "are contradictory"),
    Standing.UNPROVEN: ("is unproven", "are unproven"),
    Standing.INSUFFICIENT: ("says too little", "say too little"),
    None: ("has a wrong field", "have wrong fields"),
}


def show_runs(entered: Entered, verdicts: Sequence[ClaimVerdict | None]) -> None:
    """Draw the sentence on all runs, and the table."""
    standings = [each.standing if each else None for each in verdicts]
    st.html(f'<h2 class=part style="font-size:1.75rem">{sentence_on(standings)}</h2>')
    rows = []
    claims = entered.claims()
    for number, (run, claim) in enumerate(zip(entered.runs, claims, strict=True)):
        name = f"{number + 1} {'·' if run.label else ''} {escape(_short(run.label))}".strip()
        opened = str(number == entered.opened).lower()
        button = f"<button type=button data-run={number} aria-pressed={opened}>{name}</button>"
        rows.append([button, *map(escape, cells_of(claim)), _verdict(standings[number])])
    made = html_table(HEADS, rows, kind="verdicts claimed", numbers=NUMBERS)
    mount("claim_runs", KEY, {"table": made, "label": "Runs of the text"}, opened=_opened)


def heading(run: Run, number: int) -> str:
    """What tells a run from the others.

    >>> heading(Run(Claim(), (), "Model A"), 0)
    'Run 1: Model A'
    """
    return f"Run {number + 1}: {_short(run.label)}" if run.label else f"Run {number + 1}"


def _short(label: str) -> str:
    return label if len(label) <= MAX_LABEL else f"{label[:MAX_LABEL]}…"


def _opened() -> None:
    """Open the run whose row was pressed. As a callback; browsers can send any value."""
    number = sent(KEY, "opened")
    if isinstance(number, int):
        open_run(number)


def _verdict(standing: Standing | None) -> str:
    return f"{sign(standing, 'claim')} {standing.value.capitalize()}" if standing else "–"


def sentence_on(standings: Sequence[Standing | None]) -> str:
    """How many claims hold, and which do not.

    >>> sentence_on([Standing.HOLDS, Standing.REFUTED, Standing.HOLDS, Standing.REFUTED])
    '2 of 4 hold; runs 2 and 4 are refuted.'
    >>> sentence_on([Standing.HOLDS] * 3), sentence_on([Standing.INSUFFICIENT] * 2)
    ('All 3 hold.', 'None of 2 holds; runs 1 and 2 say too little.')
    """
    total = len(standings)
    hold = standings.count(Standing.HOLDS)
    if hold == total:
        return f"All {total} hold."
    parts = [
        f"{hold} of {total} hold{'s' if hold == 1 else ''}" if hold else f"None of {total} holds"
    ]
    for standing, (one, more) in SAID.items():
        numbers = [str(place) for place, each in enumerate(standings, 1) if each is standing]
        if len(numbers) == 1:
            parts.append(f"run {numbers[0]} {one}")
        elif len(numbers) > NAMED:
            parts.append(f"{len(numbers)} runs {more}")
        elif numbers:
            parts.append(f"runs {', '.join(numbers[:-1])} and {numbers[-1]} {more}")
    return f"{'; '.join(parts)}."


def cells_of(claim: Claim | None) -> list[str]:
    """The texts of epsilon, delta, sigma, rate and length of a claim; a dash for what is unsaid.

    >>> cells_of(Claim(sigma=1.1, batch=256, examples=60_000, epochs=15.0))
    ['–', '–', '1.1', '256 of 60,000', '15 epochs']
    """
    if claim is None:
        return ["–"] * len(NUMBERS)
    epsilon = claim.epsilon.shown if claim.epsilon else "–"
    sigma = _number(claim.sigma)
    if claim.mechanism and claim.sigma is None:
        sigmas = {each.sigma for each in claim.mechanism.releases}
        sigma = " to ".join(plain(each) for each in sorted({min(sigmas), max(sigmas)}))
    return [epsilon, _number(claim.delta), sigma, _rate(claim), _length(claim)]


def _rate(claim: Claim) -> str:
    if claim.q is not None:
        return plain(claim.q)
    if claim.batch and claim.examples:
        return f"{claim.batch:,} of {claim.examples:,}"
    if claim.mechanism:
        rates = {each.q for each in claim.mechanism.releases}
        return " to ".join(plain(each) for each in sorted({min(rates), max(rates)}))
    return f"batch {claim.batch:,}" if claim.batch else "–"


def _length(claim: Claim) -> str:
    steps = claim.steps
    if steps is None and claim.epochs is not None:
        return f"{claim.epochs:,g} epochs"
    if steps is None and claim.mechanism:
        steps = claim.mechanism.steps
    return "–" if steps is None else f"{steps:,} steps"


def _number(value: float | None) -> str:
    return "–" if value is None else plain(value)
