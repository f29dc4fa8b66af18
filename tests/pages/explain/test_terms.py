"""Words that explain themselves: what the glossary says of them stands in the page as text."""

import pytest

from dpcore.privacy.report.glossary import GLOSSARY
from pages.parts.results.odds import head, legend, term


def test_what_an_entry_says_is_escaped_and_its_arxiv_number_a_link(monkeypatch: pytest.MonkeyPatch):
    entry = GLOSSARY["mu"]
    monkeypatch.setitem(GLOSSARY, "mu", type(entry)("<b>mu</b>", "a < b", "arXiv:1905.02383"))
    html = term("mu", "here")
    assert "&lt;b&gt;mu" in html
    assert "a &lt; b" in html
    assert '<a href="https://arxiv.org/abs/1905.02383"' in html


def test_a_head_that_is_no_word_of_the_glossary_stands_as_it_is():
    assert head("R&D", "table") == "R&amp;D"
    assert "popovertarget" in head("Kind", "table")
    assert legend().count("popovertarget") == 3
