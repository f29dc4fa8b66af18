"""The papers' page: whatever a paper declares is shown, and every number has its verdict."""

import json
import re
from html import unescape

import pytest

from dpcore.papers import PAPERS, comparisons
from dpcore.papers.paper import Paper
from dpcore.runs.store import Store
from pages.parts.papers import computed
from pages.parts.papers.entries_table import numbers_columns, told
from pages.parts.papers.figures import drawing_columns, map_columns
from tests.pages.papers.dummy import (
    CELLS,
    DIFFERS,
    LINES,
    PAPER,
    PLANE,
    REFUTED,
    REPRODUCED,
    SETTING,
    TRAINED,
    UNTRAINED,
    dummy,
    opened,
    opened_in_the_app,
    rows,
    written,
)

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
            cells = re.findall(r"<td class=number data-label=\"\w+\">(.*?)</td>", row)
            assert [unescape(cell) for cell in cells] == [each.entry.printed, each.ours_text or "–"], paper
            assert f"<b>{each.outcome.value}</b>" in row, paper


@pytest.mark.long
def test_every_paper_shows_what_it_brings_its_claims_its_gaps_and_one_of_its_figures(store: Store):
    for paper in PAPERS.values():
        page = opened(paper=paper.id)
        html = unescape(re.sub("<[^>]+>", "", written(page)))
        assert paper.title in html, paper
        assert paper.about in html, paper
        for each in paper.findings:
            assert each.claim in html, paper
            assert computed.holds(each) in html, paper
        assert all(each.text in html for each in paper.remarks), paper
        drawn = len(page.get("plotly_chart"))
        assert drawn == 1 if paper.drawings or paper.maps else drawn <= 1, (
            paper
        )  # of a sweep where a run has been recorded


def test_a_number_tells_theirs_ours_and_why(store: Store, dummy: Paper):
    shown = rows(opened(**OPENED))
    assert "It is &lt;so&gt;." in shown[name_of(REPRODUCED)]
    assert "A factor is missing." in shown[name_of(DIFFERS)]
    refuted = shown[name_of(REFUTED)]
    assert "<b>refuted</b>" in refuted
    assert re.search(r"at least 0\.\d+ is proven", refuted)
    assert told(SETTING) in refuted


def test_a_recorded_accuracy_tells_date_device_seeds_spread_and_epsilon_rounded_up(store: Store, dummy: Paper):
    shown = rows(opened(**OPENED))
    row = shown[name_of(TRAINED)]
    assert ">95.4 ± 0.36<" in row
    assert "Recorded on 2026-11-22: 3 seeds on cpu, torch 2.9, epsilon ≤ 1.24 (certified)." in row
    assert "<b>untrained</b>" in shown[name_of(UNTRAINED)]


def test_only_numbers_with_the_chosen_verdicts_are_shown_and_the_address_says_so(store: Store, dummy: Paper):
    page = opened(**OPENED, verdict="refuted")
    assert [*rows(page)] == [name_of(REFUTED)]
    page.pills(key="verdict").set_value(["differs", "refuted"]).run()
    assert len(rows(page)) == 2
    assert page.query_params["verdict"] == ["differs", "refuted"]
    page.pills(key="verdict").set_value([]).run()
    assert len(rows(page)) == len(PAPER.entries)
    assert "verdict" not in page.query_params


def test_an_unknown_paper_is_said_and_the_first_is_shown(store: Store):
    page = opened(paper="<b>", verdict="wrong")
    assert [re.findall("`(.*?)`", each.value)[0] for each in page.warning] == ["paper=<b>", "verdict=wrong"]
    assert next(iter(PAPERS.values())).title in written(page)


def test_the_figures_are_chosen_by_their_place_and_tell_their_numbers_in_words(store: Store, dummy: Paper):
    page = opened(**OPENED)
    chart = page.get("plotly_chart")[0].proto
    assert "Proven ends at ≤ 2.00" in chart.alt
    assert {each["name"] for each in json.loads(chart.spec)["data"]} == {each.name for each in LINES}
    page.selectbox(key="figure_999").set_value("theorem-3").run()
    assert page.query_params["figure_999"] == "theorem-3"
    assert "are: refuted 2; holds 4." in page.get("plotly_chart")[0].proto.alt
    assert "It lies below." in written(page)


def test_a_sweep_shows_what_has_been_recorded_and_opens_each_of_its_runs(store: Store, dummy: Paper):
    page = opened_in_the_app(paper=PAPER.id, figure_999="figure-7")
    assert "Recorded here ends at 95.4, at Expected batch 100" in page.get("plotly_chart")[0].proto.alt
    table = next(each.proto.body for each in page.get("html") if 'aria-label="Figure 7"' in each.proto.body)
    first, second = table.split("<tr>")[2:]
    assert "95.40 % ± 0.36 (3 seeds, cpu, torch 2.9, 2026-11-22)" in first
    assert "not recorded yet" in second
    assert "batch=2000" in second
    assert "train?" in second


def test_a_ladder_shows_what_has_been_recorded_of_each_rung_and_opens_its_runs(store: Store, dummy: Paper):
    page = opened_in_the_app(paper=PAPER.id, figure_999="record")
    assert page.get("plotly_chart")[0].proto.alt == (
        "Line chart of test accuracy, % against epsilon. best ends at 95.4, at epsilon 2."
    )
    tables = [each.proto.body for each in page.get("html")]
    accuracies = next(each for each in tables if 'aria-label="Record: accuracies"' in each)
    plain, best = accuracies.split("<tr>")[2:]
    assert plain.count("–") == 3
    assert [cell.split("<")[0] for cell in best.split("<b>")[1:]] == ["95.40", "95.10"]
    assert "± 0.36" in best
    assert best.count("train?") == 2, "the run without privacy has no link: the controls have no such setting"
    assert "sigma=2" in best
    trained = next(each for each in tables if 'aria-label="Record: runs"' in each).split("<tr>")[2:]
    assert [row.split("<br>")[0].removeprefix("<th scope=row>") for row in trained] == [
        "best, epsilon 2", "best, without privacy",
    ]  # fmt: skip
    assert "95.10, 95.30, 95.80" in trained[0]
    assert "(3 seeds, cpu, torch 2.9, 2026-11-22)" in trained[0]


def test_what_is_saved_of_a_figure_and_of_the_table_has_every_number_and_the_link(dummy: Paper):
    columns = drawing_columns(LINES, "there")
    assert (len(columns["x"]), columns["link"], columns["accountant"][0]) == (9, "there", "rdp")
    cells = map_columns(PLANE, CELLS, "there")
    assert list(zip(cells["x"], cells["y"], cells["area"], cells["what"], strict=True))[2] == (100.0, 1.0, "holds", "c")
    numbers = numbers_columns(comparisons(PAPER), "there")
    assert numbers["theirs"] == [each.theirs for each in PAPER.entries]
    assert numbers["seeds"] == [None, None, None, 3, None, None]
    assert numbers["verdict"][:3] == ["reproduced", "differs", "refuted"]


def test_a_calculator_follows_its_fields_and_says_what_it_does_not_take(store: Store, dummy: Paper):
    page = opened(**OPENED)
    assert ">0.02<" in written(page)
    page.text_input(key="999_rows").set_value("200").run()
    assert ">0.01<" in written(page)
    page.text_input(key="999_rows").set_value("5").run()
    assert page.error[0].value.startswith("Expected rows=5 to be a whole number of at least 10")
    assert ">0.01<" in written(page)


def test_what_is_accounted_for_is_computed_once_and_accuracies_are_looked_up_each_time(
    dummy: Paper, monkeypatch: pytest.MonkeyPatch
):
    before, asked = computed.numbers(PAPER), []
    monkeypatch.setattr(computed, "compared", lambda paper, entry: asked.append(entry))
    after = computed.numbers(PAPER)
    assert asked == [*PAPER.trained]
    assert after[: len(PAPER.computed)] == before[: len(PAPER.computed)]
