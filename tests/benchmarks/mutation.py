"""The mutation run: how many small faults of a room, planted one at a time, the short suite notices.

    python -m tests.benchmarks.mutation --room accountants [--sample 150] [--seed 0] [--only strong.py]

The tests are collected once, and each is run once to see which lines it reaches. Each fault is then planted, in a
process forked for it, into the functions and constants that are there already, and the tests that reach it are run,
those first that have noticed most, until one fails. A fault that no test notices is alive; those in
`explained_mutants.txt` change nothing that can be seen, and are counted apart. What was computed from a constant when
another module was imported is from before the fault. Prints those alive, then a line of figures; writes all as JSON.

Of the known tools, mutmut (3.8) changes neither constants of a module nor most functions with a decorator, which hold
much of what is proven here, and cosmic-ray (8.7) starts all tests anew for each fault, which takes seconds with torch.
"""

import argparse
import ast
import importlib
import inspect
import json
import os
import random
import resource
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

# Before NumPy and torch: a process with threads cannot be forked safely.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from dpcore.training.gradients.core_threads import Cores
from tests.benchmarks.mutants import Mutant, mutants_of, mutated

ROOT = Path(__file__).parents[2]
ROOMS = {  # room: (its folder, where the tests are that reach it)
    "accountants": (
        "dpcore/privacy/accountants",
        "tests/privacy/accountants tests/privacy/test_*.py tests/privacy/tradeoff dpcore/privacy/accountants",
    ),
    "certified": (
        "dpcore/privacy/certified",
        "tests/privacy/certified tests/privacy/accountants tests/privacy/tradeoff dpcore/privacy/certified",
    ),
    "gradients": ("dpcore/training/gradients", "tests/training/gradients dpcore/training/gradients"),
    "randomness": ("dpcore/training/randomness", "tests/training/randomness dpcore/training/randomness"),
}
EXPLAINED = Path(__file__).with_name("explained_mutants.txt")
STORE = ROOT / ".mutation"
QUIET = ("--assert=plain", "-n0", "-s", "-pno:terminal", "-pno:cacheprovider", "--hypothesis-profile=mutation")
MEMORY = 2 * 2**30  # bytes that a test may take beyond what is there
Reached = dict[str, dict[str, set[int]]]  # of each test the lines of each file


def explained() -> dict[str, str]:
    """Why a mutant cannot be noticed or does no harm, by its name; a name may end in * for all that begin so."""
    lines = [line for line in EXPLAINED.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return {name.strip(): why.strip() for name, why in (line.rsplit(" :: ", 1) for line in lines)}


def is_explained(name: str, reasons: dict[str, str]) -> bool:
    """Whether the list of explained mutants holds this one."""
    return name in reasons or any(key.endswith("*") and name.startswith(key[:-1]) for key in reasons)


def forked(work: Callable[[Callable[[Any], None]], None], limit: float) -> list[Any]:
    """All that `work` says in a process of its own, which ends with whatever it has started, at the latest then."""
    path = STORE / f"said-{os.getpid()}.jsonl"
    path.unlink(missing_ok=True)
    process = os.fork()
    if process == 0:
        try:
            os.setsid()
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            for cores in [each for one in our_modules() for each in vars(one).values() if isinstance(each, Cores)]:
                cores.__init__(cores.count)  # a process that is forked has one thread
            with path.open("a", buffering=1) as out:
                work(lambda said: print(json.dumps(said), file=out))
        finally:
            os._exit(0)
    end = time.monotonic() + limit
    while not os.waitpid(process, os.WNOHANG)[0]:
        if time.monotonic() > end:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.005)
    with suppress(ProcessLookupError):  # nothing that it started is left
        os.killpg(process, signal.SIGKILL)
    said = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    path.unlink(missing_ok=True)
    return said


def passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Whether a test passes or is skipped."""
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def plant(mutant: Mutant) -> None:
    """Put a fault into the functions, classes and constants of a module, and into what follows from them there."""
    tree, own = mutated(ROOT, mutant)
    module = importlib.import_module(mutant.path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    changed: set[str] = set()  # constants
    for place, statement in enumerate(tree.body[own:], own):
        code = compile(ast.Module([statement], []), str(ROOT / mutant.path), "exec", dont_inherit=True)
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            if place == own or changed:  # its defaults may follow from a constant
                scratch = dict(vars(module))
                exec(code, scratch)
                transplant(vars(module)[statement.name], scratch[statement.name])
            continue
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        if place == own or changed & {node.id for node in names if isinstance(node.ctx, ast.Load)}:
            stored = {node.id: vars(module).get(node.id) for node in names if isinstance(node.ctx, ast.Store)}
            exec(code, vars(module))
            changed |= stored.keys()
            for name, old in stored.items():
                for other in our_modules():
                    if old is not None and vars(other).get(name) is old:
                        setattr(other, name, vars(module)[name])


def transplant(old: Any, new: Any) -> None:
    """Let a function do what another does, or every method of a class."""
    if isinstance(old, type):
        for name, value in vars(new).items():
            if isinstance(value, bool | int | float | str | tuple) and not name.startswith("__"):
                setattr(old, name, value)
            elif isinstance(bare(value), FunctionType) and name in vars(old):
                transplant(vars(old)[name], value)
        return
    old, new = bare(old), bare(new)
    old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__


def bare(value: Any) -> Any:
    """The function behind a property, a class method, a cache or another decorator."""
    for name in ("fget", "func", "__func__"):
        value = getattr(value, name, None) or value
    return inspect.unwrap(value) if callable(value) else value


def our_modules() -> list[ModuleType]:
    """What has been imported of the project, its tests included."""
    files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
    rooms = tuple(str(ROOT / room) for room in ("dpcore", "tests", "pages"))
    return [sys.modules[name] for name, file in files.items() if file.startswith(rooms)]


class Run:
    """A plug-in of pytest: in the place of running the tests that were collected, it runs them against faults."""

    def __init__(self, room: str, options: argparse.Namespace) -> None:
        self.folder, self.options = ROOMS[room][0], options
        self.kills: Counter[tuple[str, str]] = Counter()  # (file, test): how often it was the one that noticed
        self.seconds: dict[str, float] = {}  # of each test that reaches the room
        self.reached: dict[str, dict[str, set[int]]] = {}  # of each of them the lines of each file
        self.found: dict[str, Any] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measure what tests reach, choose the mutants, try each."""
        self.items = {item.nodeid: item for item in session.items}
        self.caches = [each for one in our_modules() for each in vars(one).values() if hasattr(each, "cache_clear")]
        most = MEMORY + resource.getpagesize() * int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        self.measure()
        self.control()
        reasons = explained()
        files = sorted(str(each.relative_to(ROOT)) for each in (ROOT / self.folder).glob("*.py"))
        mutants = [mutant for each in files for mutant in mutants_of(ROOT, each)]
        counted = [mutant for mutant in mutants if not is_explained(mutant.name, reasons)]
        chosen = [mutant for mutant in counted if self.options.only in mutant.name]
        if self.options.sample < len(chosen):
            chosen = random.Random(self.options.seed).sample(chosen, self.options.sample)
        verdicts: dict[str, str] = {}
        for mutant in chosen:
            verdicts[mutant.name] = self.verdict(mutant)
            print(f"{len(verdicts)} of {len(chosen)}: {verdicts[mutant.name]}: {mutant.name}", file=sys.stderr)
        mine = [key for key in reasons if key.startswith(self.folder + "/")]
        stale = [key for key in mine if not any(is_explained(mutant.name, {key: ""}) for mutant in mutants)]
        self.found = {"mutants": len(mutants), "explained": len(mutants) - len(counted), "stale": stale}
        self.found["verdicts"] = verdicts
        return True

    def measure(self) -> None:
        """Note the seconds of each test that passes without a fault, and the lines of the room that it reaches."""
        for file in dict.fromkeys(item.path for item in self.items.values()):
            items = [item for item in self.items.values() if item.path == file]
            for test, seconds, lines in forked(lambda say, items=items: self.traced(items, say), 600.0):
                self.seconds[test], self.reached[test] = seconds, {}
                for name, line in lines:
                    self.reached[test].setdefault(str(Path(name).relative_to(ROOT)), set()).add(line)
        print(f"{len(self.seconds)} of {len(self.items)} tests reach {self.folder}", file=sys.stderr)

    def traced(self, items: list[pytest.Item], say: Callable[[Any], None]) -> None:
        """Run tests, each from empty caches, and follow the functions of the room line by line."""
        prefix, lines = str(ROOT / self.folder), set()

        def trace(frame: Any, event: str, argument: object) -> Any:
            code = frame.f_code
            if not code.co_filename.startswith(prefix) or code.co_name == "<module>":
                return None
            lines.add((code.co_filename, frame.f_lineno))
            return trace

        threading.settrace(trace)
        for item, following in zip(items, [*items[1:], None], strict=True):
            self.clear()
            lines.clear()
            begun = time.perf_counter()
            sys.settrace(trace)
            passed = passes(item, following)
            sys.settrace(None)
            if passed and lines:
                say([item.nodeid, time.perf_counter() - begun, sorted(lines)])

    def control(self) -> None:
        """Leave out tests that fail without a fault once their order is another: they would notice anything."""
        tests = sorted(self.reached, key=self.seconds.__getitem__)
        while tests:
            said = forked(lambda say, tests=tests: self.attempt(None, tests, say), 600.0)
            failed = said[-1].removeprefix("killed by ") if said else tests[0]
            if failed not in self.reached:
                break
            print(f"left out, as it fails without a fault: {failed}", file=sys.stderr)
            del self.reached[failed]
            tests = tests[tests.index(failed) + 1 :]

    def clear(self) -> None:
        """Empty all caches: what a cache answers reaches nothing."""
        for cache in self.caches:
            cache.cache_clear()

    def verdict(self, mutant: Mutant) -> str:
        """`killed by ...`, `alive after N tests`, or `not planted`."""
        tests = self.chosen(mutant)
        said = forked(lambda say: self.attempt(mutant, tests, say), 3 * self.options.seconds + 60)
        last = said[-1] if said else "killed by a crash, or by its time or memory"
        self.kills[mutant.path, last.removeprefix("killed by ")] += last.startswith("killed by ")
        return last

    def attempt(self, mutant: Mutant | None, tests: list[str], say: Callable[[Any], None]) -> None:
        """Run the tests against a fault until one fails."""
        try:
            if mutant:
                plant(mutant)
        except Exception as error:  # a constant that cannot be computed is noticed by whoever imports it
            return say("not planted" if "free vars" in str(error) else f"killed by {type(error).__name__} on import")
        self.clear()
        for test, following in zip_longest(tests, tests[1:]):
            signal.setitimer(signal.ITIMER_REAL, 10 + 3 * self.seconds[test])  # a test that hangs ends the process
            if not passes(self.items[test], self.items.get(following or "")):
                return say(f"killed by {test}")
        say(f"alive after {len(tests)} tests")

    def chosen(self, mutant: Mutant) -> list[str]:
        """The tests that reach the mutant, within the seconds for one: first those that often notice, then quick ones.

        What lies outside functions was run on import, so that any test may notice it; those of its file come first.
        """

        def reaches(test: str) -> bool:
            lines = self.reached[test].get(mutant.path, set())
            return mutant.lines is None or any(mutant.lines[0] <= line <= mutant.lines[1] for line in lines)

        def place(test: str) -> tuple[int, bool, float]:
            return -self.kills[mutant.path, test], mutant.path not in self.reached[test], self.seconds[test]

        total, found = 0.0, []
        for test in sorted(filter(reaches, self.reached), key=place):
            total += self.seconds[test]
            if total > self.options.seconds:
                break
            found.append(test)
        return found


def main() -> None:
    """Try one room."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", choices=ROOMS, required=True)
    parser.add_argument("--sample", type=int, default=150, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--only", default="", help="only mutants whose name holds this text")
    parser.add_argument("--tests", nargs="+", help="run these tests, not those that the room has here")
    parser.add_argument("--seconds", type=float, default=20.0, help="of tests, at most, for one mutant")
    options = parser.parse_args()
    STORE.mkdir(exist_ok=True)
    settings.register_profile(
        "mutation", derandomize=True, database=None, deadline=None, max_examples=50,
        phases=(Phase.explicit, Phase.generate),
    )  # fmt: skip
    run = Run(options.room, options)
    patterns = options.tests or ROOMS[options.room][1].split()
    paths = [str(path) for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    pytest.main([*QUIET, f"--rootdir={ROOT}", *paths], plugins=[run])
    verdicts = {name: verdict for name, verdict in run.found["verdicts"].items() if verdict != "not planted"}
    alive = [f"{verdict}: {name}" for name, verdict in verdicts.items() if not verdict.startswith("killed")]
    score = 100 * (1 - len(alive) / max(1, len(verdicts)))
    for key in run.found["stale"]:
        print(f"explained, but not there any more: {key}")
    print("\n".join(sorted(alive)))
    result = {"room": options.room, "seed": options.seed, "tried": len(verdicts), "alive": len(alive), "score": score}
    (STORE / f"{options.room}.json").write_text(json.dumps(result | run.found, indent=1) + "\n")
    counts = f"{run.found['mutants']} mutants, {run.found['explained']} explained, {len(verdicts)} tried"
    print(f"{options.room}: {counts}, {len(verdicts) - len(alive)} killed: {score:.1f} %")


if __name__ == "__main__":
    main()
