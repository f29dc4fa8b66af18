"""`python -m dpcore papers`: its JSON and its table hold every comparison."""

import json

from dpcore.__main__ import main
from dpcore.papers.catalogue import PAPERS, comparisons
from tests.commands.printed import Output, strict


def test_each_number_is_one_object_with_ours_the_proven_bound_and_the_verdict(
    capsys: Output,
) -> None:
    assert main(["papers", "--json"]) == 0
    out, err = capsys.readouterr()
    assert (err, out.count("\n")) == ("", 1)
    expected = [each for paper in PAPERS.values() for each in comparisons(paper)]
    for found, each in zip(json.loads(out, parse_constant=strict), expected, strict=True):
        assert found == {
            "paper": each.paper,
            "place": each.entry.place,
            "quantity": each.entry.quantity,
            "theirs": each.entry.theirs,
            "ours": each.ours,
            "lower": each.lower,
            "verdict": each.outcome,
            "why": each.why,
        }


def test_the_table_of_a_paper_has_its_numbers_and_fits_a_terminal(capsys: Output) -> None:
    for paper in PAPERS.values():
        assert main(["papers", "--paper", paper.id]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert out.startswith(f"{paper.id}  ")
        assert max(map(len, out.splitlines())) <= 120
        for each in comparisons(paper):  # the first word, since a cell is wrapped
            assert all(
                text.split()[0] in out for text in (each.entry.printed, each.ours_text) if text
            ), each.entry
