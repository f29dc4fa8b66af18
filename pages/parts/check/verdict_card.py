"""The verdict on a claim: its headline, number line, details, and the sentence for a review."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

import streamlit as st

from dpcore.claims import ClaimVerdict, judge
from dpcore.claims.accountant_variants import Recount
from dpcore.claims.verdict import event_for
from dpcore.figures.number_line import Stretch, claim_alt, claim_figure
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import marked
from dpcore.privacy.sampling.base import Poisson
from pages.parts.check.claim_fields import said_by_hand
from pages.parts.components.live_chart import still_chart
from pages.parts.results.odds import sign, term
from pages.parts.results.tables import table

COUNTED = "Epsilon by each accountant, for Poisson batches"
HEADS = ("Accountant", "Variant", "Epsilon", "Gives the claimed number")


verdict_on = lru_cache(maxsize=256)(judge)  # of a claim, computed once for all sessions


def show_review(verdict: ClaimVerdict, certificate: Mapping[str, Any]) -> None:
    """Draw the sentence for a review, the files, and all recounts."""
    st.html("<h2 class=part>For a review</h2>")
    st.code(verdict.review, language=None, wrap_lines=True)
    st.caption("The button in the upper right corner of the box copies the text.")
    row = st.container(horizontal=True, gap="small")
    _download(row, "Download the certificate (JSON)", certificate, "claim-certificate")
    if verdict.certificate is None:
        return
    event = event_for(verdict.certificate)
    if event is not None:
        title = "Download the mechanism as a DpEvent of dp-accounting (JSON)"
        _download(row, title, event, "dp-event")
    with st.expander(COUNTED):
        st.html(counts_table(verdict))


def _download(place: Any, title: str, content: Mapping[str, Any], name: str) -> None:
    place.download_button(
        title,
        json.dumps(content, indent=1),
        f"{name}.json",
        "application/json",
        key=name.replace("-", "_"),
        on_click="ignore",
    )


def show_card(verdict: ClaimVerdict, by_hand: Sequence[str] = (), run: str = "") -> None:
    """Draw the headline, the reason, the number line, the details, and what the claim states.

    Of several runs, `run` names this one.
    """
    with st.container(border=True, key="claim_verdict"):
        st.html(headline(verdict, run))
        _number_line(verdict)
        details = details_of(verdict)
        if by_hand:
            details.append(said_by_hand(by_hand))
        for each in (" ".join(details), verdict.complete):
            if each:
                st.caption(each)
        if verdict.notes:
            count = len(verdict.notes)
            title = "1 remark" if count == 1 else f"{count} remarks"
            with st.expander(title, key="remarks"):
                st.caption("\n".join(f"- {each}" for each in verdict.notes))


def _number_line(verdict: ClaimVerdict) -> None:
    """Draw the claimed epsilon and the proven bounds, where both are there."""
    printed = verdict.claim.epsilon
    certificate = verdict.certificate
    if printed is None or certificate is None:
        return
    proven = Stretch(certificate.bounds.lower, certificate.bounds.upper)
    if proven.low <= 0 and math.isinf(proven.high):
        return
    claimed = Stretch(printed.low, printed.high)
    figure = claim_figure(printed.shown, claimed, proven)
    alt = claim_alt(printed.shown, proven)
    still_chart(figure, key="claim_line", alt=alt)


def headline(verdict: ClaimVerdict, run: str = "") -> str:
    """The sign and the name of the verdict, below the name of the run, and the reason, as HTML."""
    name = term("claim", "verdict", verdict.standing.value.capitalize())
    head = f"{sign(verdict.standing, 'claim')} {name}"
    reason = f"<p>{escape(verdict.sentence)}</p>"
    if run:
        return f"<p class=legend>{escape(run)}</p><h3 class=part>{head}</h3>{reason}"
    return f'<h2 class=part style="font-size:1.75rem">{head}</h2>{reason}'


def details_of(verdict: ClaimVerdict) -> list[str]:
    """Sentences on the setup that was assumed, and on the source of the claimed number."""
    certificate = verdict.certificate
    claimed = verdict.claim.epsilon
    if certificate is None:
        return []
    details = [f"We assumed: {certificate.setup}."]
    if verdict.given_by and claimed:
        named = [f"{ACCOUNTANTS[each.accountant].title}, {each.how}" for each in verdict.given_by]
        comes = "comes" if len(named) == 1 else "may come"
        as_counted = certificate.setup.sampler == Poisson.name and verdict.claim.runs is None
        where = "" if as_counted else ", for one run on Poisson batches"
        details.append(f"The {claimed.shown} {comes} from {'; or '.join(named)}{where}.")
    return details


def counts_table(verdict: ClaimVerdict) -> str:
    """An HTML table with a row for each variant of an accountant."""
    rows = (_row(each, verdict) for each in verdict.counted if each.accountant != CERTIFIED)
    return table("Accountants", "verdicts", HEADS, rows)


def _row(each: Recount, verdict: ClaimVerdict) -> list[str]:
    printed = verdict.claim.epsilon
    given = "–"
    if printed is not None:
        given = "yes" if each.gives(printed) else "no"
    title = ACCOUNTANTS[each.accountant].title
    return [*map(escape, (title, each.how, marked(each.most, each.kind), given))]
