"""Long checks are marked slow: they run with --slow, and always under CI, where a skipped test fails the run.

Checks marked cuda run where there is CUDA; they alone may be skipped under CI, whose machine has none.
"""

import os

import pytest

collect_ignore_glob = ["*/conftest.py"]  # they hold no doctests, and their names would clash


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the long checks too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    on_cuda = [item for item in items if item.get_closest_marker("cuda")]
    if on_cuda and not has_cuda():
        for item in on_cuda:
            item.add_marker(pytest.mark.skip(reason="no CUDA here"))
    if config.getoption("--slow") or os.environ.get("CI"):
        return
    skip = pytest.mark.skip(reason="long; run with --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


def has_cuda() -> bool:
    import torch  # late: most tests need none of it

    return torch.cuda.is_available()


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("CI") or reporter is None:
        return
    if any("cuda" not in report.keywords for report in reporter.stats.get("skipped", [])):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line("Under CI only tests marked cuda may be skipped; see the tests marked s above.", red=True)
