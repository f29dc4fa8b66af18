"""Long checks are marked slow: they run with --slow, and always under CI, where a skipped test fails the run.

Checks marked cuda run where there is CUDA; they alone may be skipped under CI, whose machine has none.

Hypothesis draws anew in every run, and keeps what failed in .hypothesis until it passes; what it has ever found stands
as an @example line above its test. Under CI it draws the same examples every time, so that a run can be repeated.
"""

import os

import pytest
from hypothesis import settings

# Torch's threads wait for one another after every operation. Awake, they would keep the other tests from the cores: a
# test of many small steps took twenty times as long beside them. The library reads this when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

settings.register_profile("local", deadline=None)  # pytest-timeout watches; a busy machine is no failure
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

collect_ignore_glob = ["*/conftest.py"]  # they hold no doctests, and their names would clash


NO_CUDA = "no CUDA here"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the long checks too")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """A process for each core for the whole suite; what is asked for by name runs in this one, where it is debugged."""
    named = config.args_source is pytest.Config.ArgsSource.ARGS or config.option.keyword
    return 0 if named else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    on_cuda = [item for item in items if item.get_closest_marker("cuda")]
    if on_cuda and not has_cuda():
        for item in on_cuda:
            item.add_marker(pytest.mark.skip(reason=NO_CUDA))
    if config.getoption("--slow") or os.environ.get("CI"):
        return
    skip = pytest.mark.skip(reason="long; run with --slow")
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(skip)


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
