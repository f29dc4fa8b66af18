"""The glossary: one entry for each word, short, with a source, and no two that say the same."""

import re

import pytest

from dpcore.privacy.report.glossary import GLOSSARY, OF_HEAD, Term, help_on
from dpcore.privacy.report.kinds import IN_A_WORD, MARKS
from dpcore.privacy.types import Kind


@pytest.mark.parametrize("term", GLOSSARY.values(), ids=GLOSSARY)
def test_an_entry_is_a_few_whole_sentences_with_a_source(term: Term):
    assert 1 <= len(re.findall(r"[.:](?= |$)", term.meaning)) <= 4
    assert term.meaning.endswith(".")
    assert len(term.meaning) <= 300
    assert term.source


def test_every_kind_of_number_has_an_entry():
    assert {*Kind} <= GLOSSARY.keys()


def test_no_two_entries_have_a_name_a_meaning_or_a_head_in_common():
    assert len({term.name for term in GLOSSARY.values()}) == len(GLOSSARY)
    assert len({term.meaning for term in GLOSSARY.values()}) == len(GLOSSARY)
    assert len(OF_HEAD) == sum(len(term.heads) for term in GLOSSARY.values())


def test_arxiv_numbers_in_a_help_are_links():
    told = help_on("q", "poisson")
    numbers = re.findall(r"arXiv:([\d.]+)", told)
    assert numbers
    assert all(f"(https://arxiv.org/abs/{number})" in told for number in numbers)


def test_every_mark_has_a_word():
    assert {*MARKS.values()} == {MARKS[kind] for kind in IN_A_WORD}
