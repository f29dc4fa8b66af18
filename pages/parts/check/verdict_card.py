"""The verdict on a claim: what it is worth, on the number line, who gives the number, and the sentence for a review."""

import json
from functools import lru_cache
from html import escape

import streamlit as st

from dpcore.claims import Claim, ClaimVerdict, Standing, judge
from dpcore.claims.accountant_variants import Recount
from dpcore.claims.reading import Read
from dpcore.claims.verdict import event_for
from dpcore.figures.number_line import Stretch, claim_alt, claim_figure
from dpcore.figures.style import DOUBTFUL, GREY, HOLDS, REFUTED
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.numbers import marked
from pages.parts.results.odds import term
from pages.parts.results.tables import head_cells, row_cells, table
from pages.parts.shell.menu import SMALL, chart_size

SIGNS = {  # of a verdict, with its colour: neither speaks alone
    Standing.HOLDS: ("✓", HOLDS),
    Standing.UNPROVEN: ("?", GREY),
    Standing.REFUTED: ("✕", REFUTED),
    Standing.CONTRADICTORY: ("≠", DOUBTFUL),
    Standing.INSUFFICIENT: ("–", GREY),
}
READ = "What was read, marked in the text"
COUNTED = "What each accountant gives for Poisson batches"
HEADS = ("Accountant", "Run how", "Epsilon", "Gives it")


verdict_on = lru_cache(maxsize=256)(judge)  # of a claim, computed once for all sessions


def show_verdict(claim: Claim, read: Read | None = None, text: str = "") -> None:
    """Draw the verdict and what backs it; of a text that was pasted, what was read."""
    verdict = verdict_on(claim)
    with st.container(border=True, key="claim_verdict"):
        st.html(verdict_html(verdict))
        if verdict.certificate and (printed := claim.epsilon):
            proven = Stretch(verdict.certificate.bounds.lower, verdict.certificate.bounds.upper)
            figure = claim_figure(printed.shown, Stretch(printed.low, printed.high), proven, size=chart_size())
            st.plotly_chart(figure, key="claim_line", config=SMALL, alt=claim_alt(printed.shown, proven))
        for each in verdict.notes:
            st.caption(each)
        for each in read.unsure if read else ():
            st.caption(each)
    st.markdown("**For a review**")
    st.code(verdict.review, language=None, wrap_lines=True)
    st.caption("The button in the upper right corner of the box copies it.")
    if read and read.found:
        st.markdown(f"**{READ}**")
        st.html(f"<p class=read>{marked_text(text, read)}</p>")
    if verdict.certificate:
        with st.expander(COUNTED):
            st.html(counts_table(verdict))
        if (event := event_for(verdict.certificate)) is not None:
            label, data = "Download the mechanism as a DpEvent of dp-accounting (JSON)", json.dumps(event, indent=1)
            st.download_button(label, data, "dp-event.json", "application/json", key="dp_event", on_click="ignore")


def verdict_html(verdict: ClaimVerdict) -> str:
    """The verdict in words: its sign, its name, why, of which setting, and whose number it is."""
    mark, color = SIGNS[verdict.standing]
    name = term("claim", "verdict", verdict.standing.value.capitalize())
    lines = [f'<h2 class=part><b class=sign style="color:{color}">{mark}</b> {name}</h2>']
    lines.append(f"<p>{escape(verdict.sentence)}</p>")
    if verdict.certificate:
        lines.append(f"<p>Judged: {escape(str(verdict.certificate.setup))}.</p>")
    if verdict.given_by:
        named = "; ".join(f"{ACCOUNTANTS[each.accountant].title}, {each.how}" for each in verdict.given_by)
        lines.append(f"<p>These accountants give the claimed number for Poisson batches: {escape(named)}.</p>")
    return "".join(lines)


def marked_text(text: str, read: Read) -> str:
    """The text as HTML, with what was read from it marked and named."""
    parts, at = [], 0
    for each in read.found:
        if each.start >= at:
            parts.append(escape(text[at : each.start]))
            parts.append(f"<mark>{escape(text[each.start : each.end])}</mark><sub>{each.field}</sub>")
            at = each.end
    return "".join([*parts, escape(text[at:])])


def counts_table(verdict: ClaimVerdict) -> str:
    """An HTML table with a row for each way to run an accountant."""
    rows = (_row(each, verdict) for each in verdict.counted if each.accountant != CERTIFIED)
    return table("Accountants", "verdicts", head_cells(HEADS, "counted"), rows)


def _row(each: Recount, verdict: ClaimVerdict) -> str:
    accountant, printed = ACCOUNTANTS[each.accountant], verdict.claim.epsilon
    given = "–" if printed is None else "yes" if each.gives(printed) else "no"
    cells = row_cells(HEADS[1:], (each.how, marked(each.most, each.kind), given))
    return f"<tr><th scope=row>{escape(accountant.title)}</th>{cells}</tr>"
