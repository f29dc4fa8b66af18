"""The still picture shows the curves of the address, in the page that Streamlit's scripts then take
over.
"""

import re

import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from pages.parts import first_paint
from pages.parts.first_paint import ELEMENTS, PLACE, UNIT, first_curves
from pages.parts.serving import files
from pages.parts.shell.streamlit_internals import SCRIPTS
from tests.pages.serving.test_routes import got

MECHANISM = Mechanism.constant(256 / 10_000, 1.1, 196)


def test_each_line_ends_as_high_as_its_accountants_epsilon():
    ends = re.findall(r'points="[^"]*,([\d.]+)"', first_curves({"sigma": "1.1", "scale": "linear"}))
    heights = [UNIT - float(end) for end in ends]
    names = ("moments", "mma", "rdp", CERTIFIED, "gdp")
    epsilons = [ACCOUNTANTS[name].curve(MECHANISM, [196], 1e-5).last.value for name in names]
    for epsilon in epsilons:  # heights are in proportion to epsilon
        ratio = epsilon / max(epsilons)
        assert min(abs(height / max(heights) - ratio) for height in heights) < 0.005, epsilon


def test_on_a_log_scale_they_are_higher():
    linear, log = (first_curves({"sigma": "1.1", "scale": scale}) for scale in ("linear", "log"))
    lowest = [
        max(float(end) for end in re.findall(r'points="[^"]*,([\d.]+)"', drawn))
        for drawn in (linear, log)
    ]
    assert lowest[1] != pytest.approx(lowest[0], abs=1)


def test_the_page_has_the_picture_and_names_the_scripts_that_charts_need():
    status, _, page = got("/", "sigma=1.1")
    assert status == 200
    assert page.count("<polyline") >= 5
    assert '<div id="root">' in page
    assert re.search(r'modulepreload" href="/files/[^"]*/live_chart.js"', page)
    assert f'import("{files.address(files.PLOTLY)}")' in page
    assert {PLACE, first_paint.PLOTLY}.isdisjoint(re.findall(r"<!-- .*? -->", page))


def test_the_page_names_the_scripts_of_streamlits_elements_and_those_that_they_load():
    page = got("/")[2]
    named = {each.rpartition("/")[2] for each in re.findall(r'"(\./static/js/[^"]+)"', page)}
    for element in ELEMENTS:
        assert any(each.startswith(f"{element}.") for each in named), element
    for name in named:
        script = (SCRIPTS / name).read_text(encoding="utf-8")
        assert set(re.findall(r'from"\./([^"]+)"', script)) <= named, name


@pytest.mark.parametrize(
    "query", ["sigma=nonsense", "sigma=%3Cscript%3E", f"sigma={'1' * 3000}x", "steps=10000001"]
)
def test_nonsense_in_the_address_leaves_a_page_with_nothing_of_it(query: str):
    status, _, page = got("/", query)
    assert status == 200
    assert '<div id="root">' in page
    assert "nonsense" not in page


def test_no_picture_stands_for_another_view_or_for_what_is_not_certified():
    for query in (
        "sampler=shuffle",
        "lesson=sampling",
        "against=delta",
        "sigma=1e-5",
        "sigma=0.001&epochs=100",
    ):
        status, _, page = got("/", query)
        assert status == 200, query
        assert "<polyline" not in page, query


def test_a_picture_that_takes_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(first_paint, "MAX_SECONDS", 0.0)
    assert "<polyline" not in got("/", "sigma=1.37")[2]
