"""What Python says to the chart that grows by itself, and what is drawn where it cannot."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.parts.components import elements
from pages.parts.components import live_chart as live
from pages.parts.components.elements import Table
from pages.parts.components.live_chart import Growth, Label, Mark, live_chart
from pages.parts.serving import files

FIGURE = go.Figure(
    {"data": [{"type": "scatter", "x": [1, 2], "y": [3, 4]}], "layout": {"height": 250}}
)


@pytest.fixture
def sent(monkeypatch):
    """What goes to the browser."""
    kept = []
    monkeypatch.setattr(elements, "mounted", lambda name: lambda **said: kept.append(said))
    return kept


def page() -> None:
    import plotly.graph_objects as go

    from pages.parts.components.elements import LiveNumber, live_figures, run_progress
    from pages.parts.components.live_chart import Growth, live_chart

    figure = go.Figure({"data": [{"type": "scatter", "x": [1, 2], "y": [3, 4]}]})
    live_chart(figure, [Growth("a", 2, 0)], key="chart", alt="A line.")
    live_figures([LiveNumber("Loss", "0.5")], "figures")
    for active in (True, False):
        said = "step 4 of 9" if active else "lost at step 4 of 9"
        run_progress("a", 7, "Run", {"active": active, "said": said}, f"bar_{active}")


def test_without_the_routes_all_is_drawn_once_and_a_sentence_says_how_to_follow_the_run(
    monkeypatch,
):
    monkeypatch.setattr(elements, "served", lambda: False)
    test = AppTest.from_function(page).run()
    assert not test.exception
    assert [each.proto.alt for each in test.get("plotly_chart")] == ["A line."]
    assert [(each.label, each.value) for each in test.metric] == [("Loss", "0.5")]
    told = [each.value for each in test.caption]
    assert told == [f"**Run** · step 4 of 9. {elements.ONCE}", "**Run** · lost at step 4 of 9."]
    assert not test.get("bidi_component")


def test_with_the_routes_the_browser_gets_the_figure_and_what_it_follows(sent):
    table = Table((10, 20), (0.5, 0.9))
    growth = Growth("a", 7, 0, scale=100.0, table=table, label=Label("acc", "{} %"))
    live_chart(FIGURE, [growth, Mark("a", 7, shape=0)], key="chart", alt="A line.", title="A\nB")
    (said,) = sent
    data = json.loads(json.dumps(said["data"]))
    assert said["key"] == "chart"
    assert data["figure"] == live.written(FIGURE)
    assert data["height"] == 250
    assert data["module"] == files.address("live_chart.js")
    assert data["plotly"] == files.address(files.PLOTLY)
    assert [each["kind"] for each in data["following"]] == ["growth", "mark"]
    assert data["following"][0]["table"] == {
        "steps": [10, 20],
        "values": [0.5, 0.9],
        "field": "step",
    }
    assert data["following"][0]["label"] == {"name": "acc", "text": "{} %", "digits": 1}


def test_a_browser_that_had_no_module_is_given_drawn_charts_from_then_on(sent, monkeypatch):
    monkeypatch.setattr(st, "session_state", {"chart": {"failed": "no module"}})
    live_chart(FIGURE, [], key="chart", alt="A line.")
    assert elements.follows()
    sent[0]["on_failed_change"]()
    assert not elements.follows()


def test_the_figure_is_sent_without_its_template_and_with_every_number_as_it_is():
    heights = np.array([0.1, np.nan, 1 / 3])
    figure = go.Figure(
        {"data": [{"type": "scatter", "x": [0.1, 0.2, 1 / 3], "y": heights.tolist()}]}
    )
    assert "template" in figure.layout
    read = json.loads(live.written(figure))
    assert read["data"][0]["x"] == [0.1, 0.2, 1 / 3]
    assert read["data"][0]["y"] == [0.1, None, 1 / 3]
    assert "template" not in read["layout"]
