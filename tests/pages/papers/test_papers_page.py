"""The papers' page: whatever a paper declares is shown, and every number has its verdict."""

import json
import re
from html import unescape

from dpcore.papers.catalogue import PAPERS, comparisons
from dpcore.papers.comparison import Outcome
from dpcore.papers.paper import Paper
from dpcore.papers.records import recorded
from dpcore.runs.store import Store
from pages.parts.papers.figures import drawing_rows, map_rows
from pages.parts.papers.tables import details_table, line_of, numbers_rows, values_table
from tests.pages.papers import dummy as given
from tests.pages.papers.dummy import PAPER, dummy, opened, rows, written
from tests.pages.train_page import handed

__all__ = ["dummy"]
OPENED = {"paper": PAPER.id}


def name_of(entry) -> str:
    return f"{entry.place}: {entry.quantity}"


def test_every_number_of_every_paper_has_its_row_with_theirs_ours_and_the_verdict(store: Store):
    for paper in PAPERS.values():
        page = opened(paper=paper.id)
        assert not page.error, paper
        shown = rows(page)
        found = {name_of(each.entry): each for each in comparisons(paper)}
        assert sorted(unescape(each) for each in shown) == sorted(found), paper
        for name, row in shown.items():
            each = found[unescape(name)]
            cells = re.findall(
                r"<td class=number data-label=\"\w+\">(?:<span.*?<button.*?>)?(.*?)<", row
            )
            ours = each.ours_text or "–"
            if each.outcome is Outcome.REFUTED:
                said = unescape(row)
                assert f"Recomputed as printed: {ours}." in said or "does give this number" in said
                ours = f"≥ {each.lower_text}"
            assert [unescape(cell) for cell in cells] == [each.entry.printed, ours], paper
            assert f"<b>{each.outcome.value}</b>" in row, paper


def test_a_number_tells_theirs_ours_and_why(store: Store, dummy: Paper):
    shown = rows(opened(**OPENED))
    assert "It is &lt;so&gt;." in shown[name_of(given.REPRODUCED)]
    assert "A factor is missing." in shown[name_of(given.DIFFERS)]
    refuted = shown[name_of(given.REFUTED)]
    assert "<b>refuted</b>" in refuted
    assert re.search(r"the true epsilon is at least 0\.\d+", refuted)
    assert line_of(given.SETTING) in refuted


def test_a_recorded_accuracy_tells_date_device_seeds_spread_and_epsilon_rounded_up(
    store: Store, dummy: Paper
):
    shown = rows(opened(**OPENED))
    row = shown[name_of(given.TRAINED)]
    assert ">95.4 ± 0.36</button>" in row
    assert (
        "<b>3 seeds.</b> Recorded on 2026-11-22 on cpu, torch 2.9. Epsilon ≤ 1.24 (certified)."
        in row
    )
    assert "<b>untrained</b>" in shown[name_of(given.UNTRAINED)]


def test_only_numbers_with_the_chosen_verdicts_are_shown_and_the_address_says_so(
    store: Store, dummy: Paper
):
    page = opened(**OPENED, verdict="refuted")
    assert [*rows(page)] == [name_of(given.REFUTED)]
    page.pills(key="verdict").set_value(["differs", "refuted"]).run()
    assert len(rows(page)) == 2
    assert page.query_params["verdict"] == ["differs", "refuted"]
    page.pills(key="verdict").set_value([]).run()
    assert len(rows(page)) == len(PAPER.entries)
    assert "verdict" not in page.query_params


def test_claims_have_their_answers_and_verdicts_their_counts(store: Store, dummy: Paper):
    for _ in range(2):  # the second time from memory
        page = written(opened(**OPENED))
        assert "It is proven to be at least 0.5." in page
        assert "Being computed" not in page
    pills = opened(**OPENED).pills(key="verdict").options
    assert pills == ["✕ refuted 1", "≠ differs 1", "✓ reproduced 2", "– untrained 1"]


def test_three_numbers_are_open_the_refuted_ones_first_and_the_rest_is_folded(
    store: Store, dummy: Paper
):
    page = opened(**OPENED)
    (first,) = [
        each.proto.body for each in page.get("html") if 'aria-label="Numbers"' in each.proto.body
    ]
    names = re.findall("<details open><summary>(.*?)</summary>", first)
    assert names[:2] == [name_of(given.REFUTED), name_of(given.DIFFERS)]
    assert len(names) == first.count("<details") == 3
    assert [each.label for each in page.expander][:2] == ["1 more reproduced", "1 not trained yet"]


def test_a_long_paper_is_folded_by_its_verdicts_and_a_chosen_verdict_is_seen_whole(store: Store):
    every = opened(paper="000")
    assert every.selectbox(key="paper").options[0] == "PIGDO and MMA", (
        "an id tells a reader nothing"
    )
    labels = [each.label for each in every.expander]
    assert labels[:5] == [
        "8 more claims",
        "1 more refuted",
        "39 different, with reasons",
        "31 reproduced",
        "20 not trained yet",
    ]
    assert not any(each.proto.expanded for each in every.expander)
    filtered = [each.label for each in opened(paper="000", verdict="refuted").expander]
    assert "1 more refuted" not in filtered  # all of them stand in the table


def test_an_unknown_paper_is_said_and_the_first_is_shown(store: Store):
    page = opened(paper="<b>", verdict="wrong")
    assert [re.findall("`(.*?)`", each.value)[0] for each in page.warning] == [
        "paper=<b>",
        "verdict=wrong",
    ]
    assert next(iter(PAPERS.values())).title in written(page)


def test_the_figures_are_chosen_by_their_place_and_tell_their_numbers_in_words(
    store: Store, dummy: Paper
):
    page = opened(**OPENED)
    (chart,) = handed(page, "live_chart")
    assert "Proven ends at ≤ 2.00" in chart["alt"]
    assert {each["name"] for each in json.loads(chart["figure"])["data"]} == {
        each.name for each in given.LINES
    }
    page.selectbox(key="figure_999").set_value("theorem-3").run()
    assert page.query_params["figure_999"] == "theorem-3"
    assert "are: refuted 2; holds 4." in handed(page, "live_chart")[0]["alt"]
    assert "It lies below." in written(page)


def test_every_grid_tells_each_accuracy_on_record_with_its_seeds_and_its_date():
    told = 0
    for paper in PAPERS.values():
        for grid in paper.grids:
            table = (details_table if grid.of_recipes else values_table)(paper, grid)
            records = [recorded(paper.id, config) for _, config in grid.runs]
            for record in filter(None, records):
                assert f"{record.mean:.2f} %" in table, table
                assert record.date in table, table
                assert len(record.runs) == 1 or f"{len(record.runs)} seeds" in table, table
                told += 1
    assert told


def test_what_is_saved_of_a_figure_and_of_the_table_has_every_number_and_the_link(dummy: Paper):
    points = drawing_rows(given.LINES, "there")
    assert (len(points), points[0]["link"], points[0]["accountant"]) == (9, "there", "rdp")
    cell = map_rows(given.PLANE, given.CELLS, "there")[2]
    assert cell == {"x": 100.0, "y": 1.0, "area": "holds", "what": "c", "link": "there"}
    numbers = numbers_rows(comparisons(PAPER), "there")
    assert [each["theirs"] for each in numbers] == [each.theirs for each in PAPER.entries]
    assert [each["seeds"] for each in numbers] == [None, None, None, 3, None]
    assert [each["verdict"] for each in numbers[:3]] == ["reproduced", "differs", "refuted"]
