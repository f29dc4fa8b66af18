"""The verdict on a claim: its headline, number line, details, and the sentence for a review."""

import json
import math
from functools import lru_cache
from html import escape

import streamlit as st

from dpcore.claims import ClaimVerdict, judge
from dpcore.claims.accountant_variants import Recount
from dpcore.claims.reading import NONE_PASSED, Read
from dpcore.claims.verdict import event_for
from dpcore.figures.number_line import Stretch, claim_alt, claim_figure
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import marked
from dpcore.privacy.sampling.base import Poisson
from dpcore.runs.plain_text import escaped
from pages.parts.components.live_chart import still_chart
from pages.parts.results.odds import sign, term
from pages.parts.results.tables import table

READ = "Read from the text"
MAX_UNMARKED = 1000  # characters of a part without a value
MAX_AROUND = 300  # characters of each end of a longer one, and of any other part
COUNTED = "Epsilon by each accountant, for Poisson batches"
HEADS = ("Accountant", "Variant", "Epsilon", "Gives the claimed number")


verdict_on = lru_cache(maxsize=256)(judge)  # of a claim, computed once for all sessions


def show_read(read: Read, text: str) -> None:
    """Draw a text with the values read from it, and what was passed over."""
    st.html(f"<h2 class=part>{READ}</h2><p class=read>{marked_text(text, read)}</p>")
    st.caption("\n".join(f"- {escaped(each)}" for each in read.left_out or (NONE_PASSED,)))


def show_review(verdict: ClaimVerdict) -> None:
    """Draw the sentence for a review, and all recounts."""
    st.html("<h2 class=part>For a review</h2>")
    st.code(verdict.review, language=None, wrap_lines=True)
    st.caption("The button in the upper right corner of the box copies the text.")
    if verdict.certificate is None:
        return
    with st.expander(COUNTED):
        st.html(counts_table(verdict))
    event = event_for(verdict.certificate)
    if event is not None:
        st.download_button(
            "Download the mechanism as a DpEvent of dp-accounting (JSON)",
            json.dumps(event, indent=1),
            "dp-event.json",
            "application/json",
            key="dp_event",
            on_click="ignore",
        )


def show_card(verdict: ClaimVerdict) -> None:
    """Draw the headline, the reason, the number line and the details."""
    with st.container(border=True, key="claim_verdict"):
        st.html(headline(verdict))
        _number_line(verdict)
        st.caption(" ".join(details_of(verdict)))
        if verdict.notes:
            count = len(verdict.notes)
            with st.expander("1 remark" if count == 1 else f"{count} remarks", key="remarks"):
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


def headline(verdict: ClaimVerdict) -> str:
    """The sign and the name of the verdict, and the reason, as HTML."""
    name = term("claim", "verdict", verdict.standing.value.capitalize())
    head = f"{sign(verdict.standing, 'claim')} {name}"
    return f'<h2 class=part style="font-size:1.75rem">{head}</h2><p>{escape(verdict.sentence)}</p>'


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


def marked_text(text: str, read: Read) -> str:
    """The text as HTML, with each value that was taken or passed over marked and named.

    Long parts without any value are cut.
    """
    parts = []
    for part, each in read.parts(text):
        if each is None:
            if len(part) > MAX_UNMARKED:
                part = f"{part[:MAX_AROUND]} … {part[-MAX_AROUND:]}"
            parts.append(escape(part))
        elif each.why:
            parts.append(f'<s title="{escape(each.why)}">{escape(part[:MAX_AROUND])}</s>')
        else:
            parts.append(f"<mark>{escape(part[:MAX_AROUND])}</mark><sub>{each.field}</sub>")
    return "".join(parts)


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
