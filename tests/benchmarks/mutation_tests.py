"""Running tests against planted faults: which tests reach which lines, and one forked process for each fault."""

import ast
import gc
import importlib
import importlib.machinery
import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

# Before NumPy and torch: a process with threads cannot be forked safely.
os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import pytest

from tests.benchmarks.mutants import Mutant

QUIET = ("--assert=plain", "-p", "no:cacheprovider", "-p", "no:terminal")  # plain: else pytest itself loads files
SLOWEST = 20.0  # seconds of one test, after which it is taken to hang
FIRST = 25  # tests that are collected and run before the files of all others are read


@dataclass(frozen=True)
class Covered:
    """What one test takes and reaches."""

    seconds: float
    lines: dict[str, list[int]]  # by file, inside functions


def in_fork(work: Callable[[], Any], limit: float) -> Any:
    """What `work` returns in a process of its own, as JSON; None where it crashed or took longer than the limit."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        _answer(work, writing)
    os.close(writing)
    alarm = threading.Timer(limit, os.kill, (process, signal.SIGKILL))
    alarm.start()
    with os.fdopen(reading) as file:
        answer = file.read()
    os.waitpid(process, 0)
    alarm.cancel()
    alarm.join()
    return json.loads(answer) if answer else None


def _answer(work: Callable[[], Any], writing: int) -> None:
    try:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        answer = json.dumps(work())
        with os.fdopen(writing, "w") as file:
            file.write(answer)
    finally:
        os._exit(0)


def warm(root: Path, tests: tuple[str, ...]) -> None:
    """Import every library that the tests import, but nothing of the project."""
    os.chdir(root)

    def names() -> list[str]:
        pytest.main([*QUIET, "--collect-only", *tests])
        files = {name: getattr(module, "__file__", None) or "" for name, module in list(sys.modules.items())}
        return [name for name, file in files.items() if file and not _is_ours(file, root)]

    for name in in_fork(names, 600) or []:
        try:
            importlib.import_module(name)
        except Exception:  # an alias that only its library can import
            continue
    gc.freeze()  # else every process forked from here walks through all of it, twice


def _is_ours(file: str, root: Path) -> bool:
    return file.startswith(str(root)) and not file.startswith(sys.prefix)


def coverage_of(root: Path, folders: list[str], tests: list[str]) -> dict[str, Covered]:
    """Every passing test that reaches a function of the folders."""

    def measured() -> dict[str, Any]:
        recorder = Recorder(root, folders)
        pytest.main([*QUIET, *tests], plugins=[recorder, Examples()])
        return recorder.found

    found = in_fork(measured, 3600)
    if found is None:
        raise RuntimeError(f"The tests could not be run: {tests}")
    return {test: Covered(**each) for test, each in found.items()}


class Recorder:
    """A plug-in of pytest that records seconds and lines of each test that passes."""

    def __init__(self, root: Path, folders: list[str]) -> None:
        self.root, self.prefixes = root, tuple(str(root / folder) for folder in folders)
        self.found: dict[str, dict[str, Any]] = {}
        self.lines: set[tuple[str, int]] = set()
        self.passed = True

    def trace(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        """Follow functions of the folders line by line, and no others."""
        if not frame.f_code.co_filename.startswith(self.prefixes) or frame.f_code.co_name == "<module>":
            return None
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self.trace

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record one test, with caches emptied, since what a cache answers reaches nothing."""
        for cache in self._caches():
            cache.cache_clear()
        self.lines, self.passed = set(), True
        threading.settrace(self.trace)
        sys.settrace(self.trace)
        start = time.perf_counter()
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            self._keep(item.nodeid, time.perf_counter() - start)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Leave out tests that are skipped or fail without any fault."""
        self.passed &= report.passed

    def _caches(self) -> list[Any]:
        files = {name: getattr(module, "__file__", None) or "" for name, module in list(sys.modules.items())}
        ours = [sys.modules[name] for name, file in files.items() if _is_ours(file, self.root)]
        return [each for module in ours for each in vars(module).values() if hasattr(each, "cache_clear")]

    def _keep(self, test: str, seconds: float) -> None:
        lines: dict[str, list[int]] = {}
        for file, line in sorted(self.lines):
            lines.setdefault(str(Path(file).relative_to(self.root)), []).append(line)
        if lines and self.passed:
            self.found[test] = {"seconds": round(seconds, 3), "lines": lines}


class Examples:
    """A plug-in of pytest: hypothesis draws the same examples every time, and does not shrink what it finds."""

    @staticmethod
    def pytest_configure() -> None:
        """Set the profile before tests are collected."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutation", derandomize=True, database=None, phases=phases, deadline=None)
        settings.load_profile("mutation")


class Chosen:
    """A plug-in of pytest that runs only the chosen tests, in their order, and remembers the one that fails."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {test: place for place, test in enumerate(tests)}
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the chosen ones."""
        items[:] = sorted((each for each in items if each.nodeid in self.place), key=lambda e: self.place[e.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a failure."""
        if report.failed:
            self.failed = report.nodeid


class Session:
    """Verdicts on mutants, from tests that reach them."""

    def __init__(self, root: Path, tests: dict[str, Covered], seconds: float) -> None:
        self.root, self.tests, self.seconds = root, tests, seconds
        self.kills: dict[tuple[str, str], int] = {}  # (file, test): how often it was the one that noticed

    def verdict(self, mutant: Mutant, tree: ast.Module) -> str:
        """`killed by ...`, `survived N tests`, or `unreached`."""
        chosen, seconds = self._chosen(mutant)
        if not chosen:
            return "unreached"
        answer = in_fork(lambda: _tried(self.root / mutant.path, tree, chosen), 3 * seconds + SLOWEST + 10)
        if answer is None:
            return "killed by a crash or the time limit"
        code, failed = answer
        if failed:
            self.kills[mutant.path, failed] = self.kills.get((mutant.path, failed), 0) + 1
            return f"killed by {failed}"
        if code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
            return "killed by a failed import"
        return f"survived {len(chosen)} tests" if code == pytest.ExitCode.OK else "killed by a failed import"

    def _chosen(self, mutant: Mutant) -> tuple[list[str], float]:
        """The tests that reach the mutant, those first that often notice, then the quickest, and their seconds.

        What lies outside functions was run on import, so that any test may notice it; those of its file come first.
        """
        reaching = [test for test, each in self.tests.items() if mutant.lines is None or _reaches(each, mutant)]

        def place(test: str) -> tuple[int, bool, float]:
            kills = self.kills.get((mutant.path, test), 0)
            return -kills, mutant.path not in self.tests[test].lines, self.tests[test].seconds

        reaching.sort(key=place)
        chosen, total = [], 0.0
        for test in reaching:
            if total + self.tests[test].seconds <= self.seconds:
                chosen.append(test)
                total += self.tests[test].seconds
        return chosen, total


def _reaches(test: Covered, mutant: Mutant) -> bool:
    first, last = mutant.lines or (0, 0)
    return any(first <= line <= last for line in test.lines.get(mutant.path, ()))


def _tried(path: Path, tree: ast.Module, tests: list[str]) -> tuple[int, str]:
    with warnings.catch_warnings(action="ignore"):
        code = compile(tree, str(path), "exec", dont_inherit=True)
    original = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> Any:
        return code if self.path == str(path) else original(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code
    code_of_end, failed = int(pytest.ExitCode.OK), ""
    for some in filter(None, (tests[:FIRST], tests[FIRST:])):  # most faults are noticed by the first few tests
        chosen = Chosen(some)
        files = sorted({test.split("::")[0] for test in some})
        ended = pytest.main([*QUIET, "-x", "-o", f"timeout={SLOWEST}", *files], plugins=[chosen, Examples()])
        code_of_end, failed = int(ended), chosen.failed
        if failed or ended != pytest.ExitCode.OK:
            break
    return code_of_end, failed
