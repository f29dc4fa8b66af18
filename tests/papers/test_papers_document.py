"""docs/papers.md and the README's table say what the findings say."""

from dpcore.papers import PAPERS
from tests.papers_page import HEADING, PAGE, README, cells, page, readme

MAKE = "python -m tests.papers_page"


def test_the_document_is_the_one_that_is_made_from_the_findings():
    assert PAGE.read_text(encoding="utf-8") == page(), MAKE


def test_the_readmes_table_is_the_one_that_is_made_from_the_findings():
    text = README.read_text(encoding="utf-8")
    assert text.count(HEADING) == 1
    assert readme(text) == text, MAKE


def test_the_readme_answers_the_first_claim_of_each_paper():
    table = README.read_text(encoding="utf-8").split(HEADING)[1].split("\n## ")[0]
    for paper in PAPERS.values():
        if paper.findings:
            assert f"| {paper.short} | {' | '.join(cells(paper.findings[0]))} |" in table, MAKE
