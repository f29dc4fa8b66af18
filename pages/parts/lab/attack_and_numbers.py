"""What stands beside the lab's chart and below it: what an attacker can do, every number, and what it is worth."""

from collections.abc import Mapping

import streamlit as st

from dpcore.figures import gaussian_line, tradeoff_figure
from dpcore.figures.alt_texts import tradeoff_alt
from dpcore.privacy.accountants import CERTIFIED, Curve
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.attack_risk import Risks
from pages.parts.results import attack, cache
from pages.parts.results.attack import band_and_clt
from pages.parts.results.exports import address, chart, curves_download, curves_table, origin_of, tradeoff_table
from pages.parts.results.odds import visitor_line
from pages.parts.results.tables import card, verdict_table, why_they_differ
from pages.parts.shell.menu import chart_size, link

HEIGHT = 200  # and its key, which stands below it in a column this narrow


def attack_beside(mechanism: Mechanism, delta: float, n: int) -> Risks:
    """Draw the trade-off picture and the odds; what is certain about any attacker."""
    mu, band, found = cache.mu(mechanism), cache.band(mechanism), cache.risks(mechanism, delta)
    lines, origin = [gaussian_line(mu)], origin_of(mechanism, delta, n, address())
    figure = tradeoff_figure(band, lines, log=True, height=HEIGHT, size=chart_size())
    chart(figure, "tradeoff_chart", tradeoff_alt(band, lines, log=True), "Trade-off function", origin)
    link("pages/tradeoff.py", "What can an attacker do?")
    st.caption(attack.TRADEOFF)
    visitor_line(found)
    return found


def numbers_below(mechanism: Mechanism, curves: Mapping[str, Curve], delta: float, n: int, against: str) -> None:
    """Draw the verdicts, why they differ, the tables, the download and the statement."""
    st.html(verdict_table(curves))
    st.markdown(why_they_differ())
    curves_table(mechanism, curves)
    tradeoff_table(band_and_clt(cache.band(mechanism), cache.mu(mechanism)), "The numbers in the trade-off chart")
    curves_download(mechanism, against, origin_of(mechanism, delta, n, address()))
    card(mechanism, curves[CERTIFIED], CERTIFIED, n, "statement_card")
