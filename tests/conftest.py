"""Two suites: the short one, which every change must pass, and the long one, of tests marked
`long`.

Marks alone say what is left out: tests marked `cuda` run by `pytest -m cuda`. Where there is no
Chromium, tests in a browser are skipped, but under CI nothing may be skipped, except for the test
of the container where there is no engine (marked `container`).

Hypothesis draws the same examples in every run of the short suite. The long one draws more of them,
anew each time; what was ever found stands as an @example line above its test.
"""

import gc
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.plugin import pytest_xdist_auto_num_workers as cores

# Torch's threads wait for one another after every operation. Awake, they would keep the other tests
# from the cores: a test of many small steps took twenty times as long beside them. The library
# reads this when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# No deadline: pytest-timeout watches, and a busy machine is no failure.
settings.register_profile(
    "short", deadline=None, derandomize=True, database=None, max_examples=50, print_blob=True
)
settings.register_profile(
    "long", deadline=None, derandomize=False, database=None, max_examples=500, print_blob=True
)
settings.load_profile("short")

# Where a test mostly waits, and Chromium does the work.
IN_A_BROWSER = Path(__file__).parent / "e2e"

collect_ignore_glob = [
    "*conftest.py",  # they hold no doctests, and their names would clash
    # Whoever imports it serves the pages from then on, and their charts are drawn by the browser.
    "*/doubled_app.py",
]


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """For the whole suite one process more than cores, as browsers make it wait; what is named runs
    in this one.
    """
    named = config.args_source is pytest.Config.ArgsSource.ARGS or config.option.keyword
    return 0 if named else cores(config) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: IN_A_BROWSER not in item.path.parents)  # the longest begin first


def pytest_collection_finish() -> None:
    """Exempt the million objects of the imported modules from garbage collection: they stay."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def home_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The runs of a test that names no store: never those of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPCORE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    # With several processes only the first one reports.
    if not os.environ.get("CI") or reporter is None:
        return
    skipped = reporter.stats.get("skipped", [])
    if any("container" not in report.keywords for report in skipped):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line(
            "Under CI no test may be skipped; see the tests marked s above.", red=True
        )


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The warnings so far about runs that are followed."""
    caplog.set_level(logging.WARNING, "dpcore.follow")
    return lambda: [each.getMessage() for each in caplog.records]
