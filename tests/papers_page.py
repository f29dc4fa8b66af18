"""docs/papers.md and the README's short table, made from the findings: python -m tests.papers_page writes them."""

from pathlib import Path

from dpcore.papers import PAPERS, Paper
from dpcore.papers.paper import Finding

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / "docs" / "papers.md", ROOT / "README.md"
HEAD = """# What the five papers claim, and what holds

Each answer is computed by the package; `python -m tests.papers_page` makes this page of them. Every number that the
papers print, recomputed: `python -m dpcore papers [--paper 004] [--json]`, or the page Papers, which also draws their
figures again and names the gaps in their proofs. "At least" and "at most" are proven bounds.
"""
HEADING = "## What the papers claim, and what holds\n"
SHORT = """
The first claim of each; the others are in [docs/papers.md](docs/papers.md), every printed number on the page Papers.

| paper | claims | holds? |
| --- | --- | --- |
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(section(paper) for paper in PAPERS.values() if paper.findings)


def section(paper: Paper) -> str:
    """A paper's claims."""
    origin = ". ".join(filter(None, (paper.authors, paper.published)))
    rows = "".join(f"| {' | '.join(cells(each))} |\n" for each in paper.findings)
    return f"\n## {paper.id}: {paper.title}\n\n{origin}.\n\n| it claims | what holds |\n| --- | --- |\n{rows}"


def cells(finding: Finding) -> tuple[str, str]:
    """A claim and its answer, as a table of Markdown holds them.

    >>> cells(Finding("a | b", lambda: "No."))
    ('a \\\\| b', 'No.')
    """
    claim, holds = (text.replace("|", "\\|") for text in (finding.claim, finding.holds()))
    return claim, holds


def short() -> str:
    """The README's section: the first claim of each paper."""
    first = {paper.short: paper.findings[0] for paper in PAPERS.values() if paper.findings}
    rows = "".join(f"| {name} | {' | '.join(cells(each))} |\n" for name, each in first.items())
    return f"{HEADING}{SHORT}{rows}\n"


def readme(text: str) -> str:
    """The README with that section as it should be."""
    before, _, rest = text.partition(HEADING)
    return f"{before}{short()}{rest[rest.index('## ') :]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
