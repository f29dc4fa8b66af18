"""What browsers load beside the pages: a fixed list of files, and no path to any other."""

import gzip
import re
from pathlib import Path

import plotly

from pages.parts.serving import files
from pages.parts.serving.routes import MAX_RUNS_FOLLOWED
from tests.pages.serving.test_routes import got

PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def test_plotly_is_the_installed_one_to_be_compiled_early_and_its_address_has_the_version():
    assert plotly.__version__ in files.address(files.PLOTLY)
    status, headers, body = got(files.address(files.PLOTLY))
    assert status == 200
    assert headers["content-type"].startswith("text/javascript")
    hint, _, script = body.partition("\n")
    assert hint == "//# allFunctionsCalledOnLoad"
    assert script == PLOTLY.read_text(encoding="utf-8")


def test_browsers_keep_a_file_forever_and_get_it_compressed():
    for name in [files.PLOTLY, *files.MODULES]:
        status, headers, body = got(
            files.address(name), headers={"Accept-Encoding": "gzip, br"}, raw=True
        )
        assert status == 200, name
        assert headers["content-encoding"] == "gzip", name
        assert headers["vary"] == "Accept-Encoding", name
        assert "immutable" in headers["cache-control"], name
        assert int(headers["content-length"]) == len(body), name
        assert gzip.decompress(body) == files.content(name), name


def test_a_module_asks_for_as_many_runs_in_one_connection_as_the_server_allows():
    (most,) = re.findall(
        r"^const MAX_RUNS = (\d+);", files.content("runs.js").decode(), flags=re.MULTILINE
    )
    assert int(most) == MAX_RUNS_FOLLOWED


def test_nothing_else_can_be_had():
    for name in (
        "live_chart.py",
        "live_chart.css",
        "..",
        "../routes.py",
        "%2e%2e%2froutes.py",
        "%2fetc%2fpasswd",
        "runs.js%00",
        "RUNS.JS",
        "runs.js/",
        "x" * 5000,
        "../../../app.py",
        "ä.js",
        "",
    ):
        status, _, body = got(f"/files/{files.stamp_of('runs.js')}/{name}")
        assert status in (404, 307), name
        assert "import" not in body, name


def test_another_stamp_than_the_present_one_is_unknown():
    for stamp in ["plotly-0.0.0", "0" * 16, "..", ""]:
        assert got(f"/files/{stamp}/runs.js")[0] == 404, stamp


def test_the_modules_load_none_but_each_other_and_nothing_from_elsewhere():
    for name in files.MODULES:
        text = files.content(name).decode()
        assert {each[2:] for each in re.findall(r'from "([^"]+)"', text)} <= set(files.MODULES), (
            name
        )
        assert "http" not in text, name
        assert "innerHTML" not in text, name
