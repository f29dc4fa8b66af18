"""What the modules of the live components compute, asked in a browser."""

from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
import pytest

from dpcore.figures import runs, training
from dpcore.figures.epsilon import at_most
from dpcore.figures.layout import hover_text
from dpcore.figures.training import Track
from pages.parts.components.live_chart import written
from pages.parts.serving import files
from tests.e2e.server import Server

pytest.importorskip("playwright")
from playwright.sync_api import Page

pytestmark = pytest.mark.long

ITEM = {
    "kind": "growth",
    "run": "a",
    "after": 0,
    "seen": 0,
    "trace": 0,
    "event": "evaluated",
    "y": "accuracy",
    "item": None,
    "scale": 100,
    "x": "epoch",
    "table": None,
    "level": False,
    "label": None,
}


@pytest.fixture(scope="module")
def page(browser, app: Server):
    """A tab of the server's that shows nothing."""
    page = browser.new_page()
    page.goto(f"{app.url}/_stcore/health")
    yield page
    page.close()


@pytest.fixture(scope="module")
def asked(page: Page):
    """What a module's function answers; the figure, where one is its first argument, is answered
    after the call.
    """

    def ask(module: str, function: str, *arguments):
        script = """async ([address, name, given]) => {
            const answer = (await import(address))[name](...given);
            return [answer, given[0]];
        }"""
        return page.evaluate(script, [files.address(module), function, list(arguments)])

    return ask


def after_step(step: int, accuracy: float = 0.5) -> dict:
    return {"event": "evaluated", "step": step, "epoch": step / 10, "accuracy": accuracy}


def figure(**more) -> dict:
    return {"data": [{"x": [], "y": []}], "layout": {}, **more}


def test_events_of_the_right_kind_are_taken_each_once(asked):
    said = [after_step(2), {"event": "stepped", "step": 3, "epoch": 0.3}, after_step(4)]
    _, after = asked("figure_growth.js", "advanced", figure(), ITEM, said)
    assert after["data"][0] == {"x": [0.2, 0.4], "y": [50, 50]}
    said = [{"number": number, "body": after_step(number)} for number in (3, 4, 7)]
    fresh, item = asked("runs.js", "unseen", {"seen": 3}, said)
    assert [each["step"] for each in fresh] == [4, 7]
    assert item["seen"] == 7
    assert asked("runs.js", "unseen", item, said) == [[], item]


def test_the_strip_of_proposals_grows_as_python_draws_it(asked, monkeypatch):
    for before, most in (("", 400), ("aarr", 400), ("aar" * 300, 400), ("ar" * 450, 100)):
        monkeypatch.setattr(training, "MAX_POINTS", most)
        bars = {"data": [{"x": [], "y": []}, {"x": [], "y": []}], "layout": {}}
        item = {"kind": "strip", "decisions": before, "q": 0.25, "most": most}
        said = [{"event": "stepped", "step": 9, "decisions": each} for each in ("aar", "r")]
        _, after = asked("figure_growth.js", "advanced", bars, item, [*said, after_step(9)])
        expected = training.decisions_figure(f"{before}aarr", 0.25, 2000).data
        for grown, drawn in zip(after["data"], expected, strict=True):
            for name in ("x", "y", "width", "customdata"):
                assert grown[name] == pytest.approx(list(getattr(drawn, name))), (
                    name,
                    len(before),
                    most,
                )


def test_a_reading_says_what_an_event_says_of_it(asked):
    body = {"event": "stepped", "step": 1234, "accepted": 1200, "loss": 1234.5678}
    usual = {"event": "stepped", "of": "", "scale": 1, "digits": 0, "unit": "", "texts": None}
    texts = {"steps": [1000, 1300], "values": ["less", "more"], "field": "accepted"}
    for reading, said in (
        ({"y": "accepted", "of": "step"}, "1,200 / 34"),
        ({"y": "loss", "digits": 3}, "1,234.568"),
        ({"y": "nothing"}, None),
        ({"texts": texts}, "more"),
    ):
        assert asked("live_figures.js", "taken", usual | reading, body)[0] == said, reading


def test_a_step_lies_at_the_next_one_of_a_table_and_none_behind_it_is_drawn_nor_what_is_no_number(
    asked,
):
    table = ITEM | {"table": {"steps": [10, 20], "values": [0.5, 0.9]}}
    for step, spent in ((1, 0.5), (10, 0.5), (11, 0.9), (20, 0.9)):
        _, after = asked("figure_growth.js", "advanced", figure(), table, [after_step(step)])
        assert after["data"][0]["x"] == [spent], step
    said = [after_step(21), after_step(1) | {"accuracy": None}]
    assert asked("figure_growth.js", "advanced", figure(), table, said)[1]["data"][0] == {
        "x": [],
        "y": [],
    }


def test_a_call_that_is_overtaken_closes_nothing_and_is_not_what_stays_shown(page: Page):
    script = """async address => {
        const { mounted } = await import(address);
        const said = [];
        const called = mounted(class {
            constructor() { said.push("new"); }
            show({ data }) { said.push(data); }
            close() { said.push("closed"); }
        });
        const parentElement = document.body.appendChild(document.createElement("div"));
        const call = data => called({ parentElement, data });
        const first = call(1), second = call(2);
        first();                                // in order: the second stays
        const fourth = call(4), third = call(3);
        third();                                // out of order: the fourth is shown again
        const fifth = call(5);
        parentElement.remove();
        fifth();                                // its place goes
        second();
        return said;
    }"""
    said = page.evaluate(script, files.address("mounted.js"))
    assert said == ["new", 1, 2, 4, 3, 4, 5, "closed"]


def test_each_news_of_a_run_is_reported_once_whatever_the_others_say(page: Page):
    script = """async address => {
        const { Following } = await import(address);
        const following = new Following(() => {}), said = [];
        const state = (status, cancelling = false) =>
            ({ status, active: status !== "finished", cancelling });
        const runs = {
            a: { ended: true }, b: { status: state("running") },
                c: { status: state("finished") }, d: { unknown: "?" },
            e: { status: state("queued") }, f: { status: state("queued", true) },
        };
        following.runs = new Map(Object.entries(runs));
        for (const run of [..."abcdefgabcdefg"])
            following.report(run, state("queued"), (news) => said.push(news));
        return said;
    }"""
    said = page.evaluate(script, files.address("runs.js"))
    assert said == ["a ended", "b running", "d unknown", "f queued"]


def test_a_long_line_is_thinned_and_keeps_its_last_point(asked):
    said = [after_step(step, step / 3000) for step in range(1, 3001)]
    _, after = asked("figure_growth.js", "advanced", figure(), ITEM, said)
    line = after["data"][0]
    assert 400 <= len(line["x"]) == len(line["y"]) <= 800
    assert (line["x"][-1], line["y"][-1]) == (300, 100), "300 epochs and 100 %"
    assert line["x"] == sorted(line["x"])


def test_a_mark_lies_on_the_next_point_of_each_curve(asked):
    curves = [{"x": [0, 1, 2], "y": [0, 3, 4]}, {"x": [0, 2], "y": [1, 9]}, {"x": [], "y": []}]
    drawn = {"data": curves, "layout": {"shapes": [{"x0": 0, "x1": 0}]}}
    mark = {
        "kind": "mark",
        "seen": 0,
        "shape": 0,
        "trace": 2,
        "curves": [0, 1],
        "x": "epoch",
        "table": None,
    }
    _, after = asked("figure_growth.js", "advanced", drawn, mark, [after_step(12)])
    assert after["data"][2] == {"x": [2, 2], "y": [4, 9]}
    assert after["layout"]["shapes"][0] == {"x0": 1.2, "x1": 1.2}


def test_bars_change_all_at_once_with_the_numbers_on_them(asked):
    bars = {"data": [{"x": ["a", "b"], "y": [], "text": []}], "layout": {}}
    said = [{"event": "evaluated", "per_class": [0.5, 0.987]}]
    _, after = asked("figure_growth.js", "advanced", bars, ITEM | {"y": "per_class"}, said)
    assert after["data"][0] == {"x": ["a", "b"], "y": [50, 98.7], "text": ["50", "99"]}


def test_labels_that_would_meet_are_moved_apart_and_the_others_stay(asked):
    notes = [
        {"name": str(at), "xref": "paper", "yref": "y", "at": at, "text": "x"}
        for at in (50, 51, 90)
    ]
    layout = {"annotations": notes, "yaxis": {"range": [0, 100]}, "height": 264}
    placed = asked("figure_growth.js", "spread", layout, {})[0]["annotations"]
    # 9.5 of 100 are 19 of 200 pixels.
    assert [each["y"] for each in placed] == pytest.approx([90, 51, 41.5])


def test_labels_of_lines_beyond_an_end_of_the_axis_stand_in_the_order_of_their_values(asked):
    values = (500.0, 168.0, 0.024, 0.00991, 0.0086, 0.00858)
    note = {"xref": "paper", "x": 1, "yref": "y"}
    notes = [note | {"text": f"{value}", "at": value} for value in values]
    margin = {"t": 0, "b": 0}
    layout = {"height": 400, "margin": margin, "yaxis": {"type": "log", "range": [-2, 2]}}
    for shuffled in (notes, notes[::-1], [*notes[3:], *notes[:3]]):
        given = layout | {"annotations": shuffled}
        placed = asked("figure_growth.js", "spread", given, {})[0]["annotations"]
        falling = sorted(placed, key=lambda each: -each["y"])
        assert [each["at"] for each in falling] == list(values)


def test_two_labels_that_can_be_pointed_at_have_room_for_a_finger_each(page: Page):
    script = """async ([address, layout]) => {
        const { spread } = await import(address);
        return spread(layout, {}, (name) => name !== "b").annotations.map(({ y }) => y);
    }"""
    note = {"xref": "paper", "x": 1, "yref": "y", "text": "", "at": 0}
    notes = [note | {"name": name} for name in "abcd"]
    margin = {"t": 0, "b": 0}
    layout = {"height": 190, "margin": margin, "yaxis": {"range": [0, 190]}, "annotations": notes}
    places = page.evaluate(script, [files.address("figure_growth.js"), layout])
    assert [high - low for high, low in pairwise(places)] == pytest.approx([25, 19, 19])


def test_a_label_below_another_in_a_notebook_stands_at_the_end_of_its_line_in_a_browser(asked):
    tracks = [Track(name, [1.0], [height]) for name, height in (("low", 0.2), ("high", 0.9))]
    drawn = training.accuracy_figure(tracks, "epoch")
    below, above = drawn.layout.annotations[1], drawn.layout.annotations[0]
    assert above.yshift - below.yshift >= 19
    figure = asked("figure_growth.js", "read", written(drawn))[0]
    placed = asked("figure_growth.js", "spread", figure["layout"], {})[0]["annotations"]
    assert [each["y"] for each in placed] == pytest.approx([90, 20])
    assert [each["yref"] for each in placed] == ["y", "y"]


def test_numbers_stand_under_their_axes_as_they_are_and_no_bound_of_epsilon_reads_smaller(
    page: Page,
):
    script = """async ([growth, numbers, text]) => {
        const figure = (await import(growth)).read(text);
        const made = (await import(numbers)).table(figure, { alt: "" });
        return [...made.rows].map(row => [...row.cells].map(cell => cell.textContent));
    }"""
    rows = lambda drawn: page.evaluate(  # noqa: E731
        script,
        [
            files.address("figure_growth.js"),
            files.address("numbers_table.js"),
            written(go.Figure(drawn)),
        ],
    )
    front = runs.front_figure([runs.Outcome("a", 0.9, 2.34543)], "PLD")
    assert rows(front)[1:] == [[runs.FRONT, "2.34543", "90"]]
    assert rows(training.classes_figure(["shoe"], [0.9876]))[1][1:] == ["shoe", "98.76"]
    run = {"x": [0.5, 2.34543, 9.9991], "y": [10, 20, 30], "yaxis": "y2", "name": "run"}
    bound = {"x": [1], "y": [1.561], "name": "PLD"} | hover_text(np.array([1.561]), at_most)
    titles = {
        "xaxis": {"title": {"text": "certified epsilon"}},
        "yaxis": {"title": {"text": "epsilon"}},
    }
    both = {
        "data": [bound, run],
        "layout": titles | {"yaxis2": {"title": {"text": "%"}}, "hovermode": "x unified"},
    }
    assert rows(both) == [
        ["line", "certified epsilon", "epsilon", "%"],
        ["PLD", "1", "1.57", ""],
        ["run", "0.5", "", "10"],
        ["run", "2.346", "", "20"],
        ["run", "10", "", "30"],
    ]
    sideways = {"data": [bound | {"x": [1.561], "y": [1e-5]}], "layout": {"hovermode": "y unified"}}
    assert rows(sideways)[1] == ["PLD", "1.57", "0.00001"]


def test_text_from_elsewhere_is_no_markup_in_the_table_and_an_unknown_run_the_servers_sentence(
    page: Page,
):
    hostile = "<img src=x onerror=alert(1)>"
    drawn = {
        "data": [{"x": [1], "y": [2], "name": hostile}],
        "layout": {"xaxis": {"title": {"text": hostile}}},
    }
    script = """async ([address, figure, data]) => {
        const made = (await import(address)).table(figure, data);
        return [made.querySelectorAll("img").length, made.textContent];
    }"""
    images, text = page.evaluate(
        script, [files.address("numbers_table.js"), drawn, {"alt": hostile}]
    )
    assert images == 0
    assert text.count(hostile) == 3
    script = """address => import(address).then(({ Following }) => new Promise((resolve) => {
        const following = new Following(() => resolve(following.runs.get("nosuchrun").unknown));
        following.attend([{ run: "nosuchrun", after: 0 }]);
    }))"""
    assert "'nosuchrun'" in page.evaluate(script, files.address("runs.js"))
