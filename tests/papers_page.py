"""docs/papers.md and short tables elsewhere, from findings and records: python -m tests.papers_page
writes them.
"""

import re
from pathlib import Path

from dpcore.papers.catalogue import PAPERS
from dpcore.papers.paper import SEEDS, CheckedClaim, Grid, Paper
from dpcore.papers.records import recorded
from dpcore.training.config import RunConfig

ROOT = Path(__file__).parents[1]
PAGE, BENCHMARKS, README = (
    ROOT / "docs" / "papers.md",
    ROOT / "docs" / "benchmarks.md",
    ROOT / "README.md",
)
HEAD = """# What the papers claim, and what holds

The package computes each answer, and `python -m tests.papers_page` writes this page. `python -m dpcore papers`
recomputes every number that the papers print. So does the page Papers, which also draws their figures again and names
the gaps in their proofs. "At least" and "at most" are proven bounds.
"""
HEADING = "## What the papers claim, and what holds\n"
SHORT = """
The first claim of each paper; [docs/papers.md](docs/papers.md) has the others, the page Papers every printed number.

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
    found = (
        f"\n## {paper.id}: {paper.title}\n\n{origin}.\n\n| it claims | what holds |\n| --- | ---"
        f" |\n{rows}"
    )
    of_recipes = [grid for grid in paper.grids if grid.of_recipes]
    return found + "".join(recipes_table(paper, grid) for grid in of_recipes)


def recipes_table(paper: Paper, grid: Grid) -> str:
    """The accuracies of a grid's recipes: mean and standard deviation of the seeds recorded, in
    percent.
    """
    columns = [*(f"{epsilon:g}" for epsilon in grid.values), "no privacy"]
    head = (
        f"| {grid.place}, at epsilon | {' | '.join(columns)} |\n|{' --- |' * (len(columns) + 1)}\n"
    )
    rows = ""
    for curve in grid.curves:
        assert curve.plain
        runs = [*curve.configs, curve.plain]
        rows += f"| {curve.recipe} | {' | '.join(_score(paper, run) for run in runs)} |\n"
    return f"\n{head}{rows}\n{grid.note} A dash: not recorded yet.\n"


def _score(paper: Paper, config: RunConfig) -> str:
    record = recorded(paper.id, config)
    if record is None:
        return "–"
    told = "" if len(record.runs) == SEEDS or not config.private else f" ({record.seeds})"
    return f"{record.mean:.2f}{'' if record.spread is None else f' ± {record.spread:.2f}'}{told}"


def cells(finding: CheckedClaim) -> tuple[str, str]:
    """A claim and its answer, as a table of Markdown holds them.

    >>> cells(CheckedClaim("a | b", lambda: "No."))
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


def benchmarks(text: str) -> str:
    """docs/benchmarks.md with the accuracies of the best recipes as they are recorded."""
    paper = PAPERS["005"]
    for grid in paper.grids:
        best = grid.curves[-1]
        assert best.plain
        runs = [best.configs[grid.values.index(epsilon)] for epsilon in (1, 2, 3, 8)]
        runs.append(best.plain)
        row = f"| {grid.place} | {' | '.join(_score(paper, run) for run in runs)} |"
        text = re.sub(rf"^\| {grid.place} \|.*$", row, text, flags=re.M)
    return text


if __name__ == "__main__":
    BENCHMARKS.write_text(benchmarks(BENCHMARKS.read_text(encoding="utf-8")), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
