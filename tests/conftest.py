"""Long checks are marked slow: they run with --slow, and always under CI, where a skipped test fails the run.

So is all that is tested in a browser, but for what is marked as a journey: a reader's way through a page.

Checks marked cuda run where there is CUDA; they alone may be skipped under CI, whose machine has none.

Hypothesis draws anew in every run, and keeps what failed in .hypothesis until it passes; what it has ever found stands
as an @example line above its test. Under CI it draws the same examples every time, so that a run can be repeated.
"""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.plugin import pytest_xdist_auto_num_workers as cores

# Torch's threads wait for one another after every operation. Awake, they would keep the other tests from the cores: a
# test of many small steps took twenty times as long beside them. The library reads this when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

settings.register_profile("local", deadline=None)  # pytest-timeout watches; a busy machine is no failure
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

IN_A_BROWSER = Path(__file__).parent / "e2e"  # where a test mostly waits, and Chromium does the work

collect_ignore_glob = [
    "*conftest.py",  # they hold no doctests, and their names would clash
    "*/doubled_app.py",  # whoever imports it serves the pages from then on, and their charts are drawn by the browser
]


NO_CUDA = "no CUDA here"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the long checks too")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """For the whole suite one process more than cores, as browsers make it wait; what is named runs in this one."""
    named = config.args_source is pytest.Config.ArgsSource.ARGS or config.option.keyword
    return 0 if named else cores(config) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: IN_A_BROWSER not in item.path.parents)  # the longest begin first
    on_cuda = [item for item in items if item.get_closest_marker("cuda")]
    if on_cuda and not has_cuda():
        for item in on_cuda:
            item.add_marker(pytest.mark.skip(reason=NO_CUDA))
    if config.getoption("--slow") or os.environ.get("CI"):
        return
    skip = pytest.mark.skip(reason="long; run with --slow")
    for item in items:
        long = IN_A_BROWSER in item.path.parents and not item.get_closest_marker("journey")
        if long or item.get_closest_marker("slow"):
            item.add_marker(skip)


def pytest_collection_finish() -> None:
    """Let collections pass by what is there by now: a million objects of modules, none of which is ever garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def home_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The runs of a test that names no store: never those of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPCORE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


def has_cuda() -> bool:
    import torch  # late: most tests need none of it

    return torch.cuda.is_available()


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("CI") or reporter is None:  # with several processes only the first one reports
        return
    skipped = [report.longreprtext for report in reporter.stats.get("skipped", [])]
    if any(NO_CUDA not in reason for reason in skipped):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line("Under CI only tests marked cuda may be skipped; see the tests marked s above.", red=True)
