"""Values that do not go together: every control stays, and the charts stay with the last setting that did."""

import pytest

from tests.pages.results.test_pinned import opened


@pytest.mark.parametrize("page", ["tradeoff", "calibrate"])
def test_a_batch_above_n_leaves_every_control_and_the_last_charts(page: str):
    app = opened(page, by="rdp", n="100", batch="50")
    charts, fields = len(app.get("plotly_chart")), {each.key for each in app.text_input}
    app.text_input(key="batch").set_value("999999").run()
    assert not app.exception
    assert any("batch=999999" in each.value for each in app.error)
    assert {each.key for each in app.text_input} == fields
    assert len(app.get("plotly_chart")) == charts
    assert any("the last settings that did" in each.value for each in app.caption)


def test_every_control_is_drawn_where_a_link_brings_values_that_clash():
    app = opened("tradeoff", n="100", batch="999999")
    assert {"n", "batch", "sigma", "epochs", "delta"} <= {each.key for each in app.text_input}
