"""The mutation run: how many small faults, planted one at a time, the tests notice.

    python tests/benchmarks/mutation.py --room accountants [--only strong.py] [--minutes 30] [--tests FOLDER ...]
    python tests/benchmarks/mutation.py --named

For each fault a fresh process imports the code with it and runs the tests that reach its lines, quickest first, until
one fails. A fault that no test notices survived; those in `explained_mutants.txt` change nothing that can be seen, and
are counted apart. Where the time is up before all are tried, the score is that of a sample (drawn with a fixed seed).

Of the known tools, mutmut changes neither constants of a module nor functions with a decorator, which hold much of what
is proven here, and cosmic-ray starts an interpreter for each fault, which takes seconds with torch. Here a process that
holds the libraries is forked: a tenth of a second.
"""

import argparse
import ast
import hashlib
import json
import random
import sys
import time
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.mutants import Mutant, mutants_of, mutated
from tests.benchmarks.mutation_tests import Covered, Session, coverage_of, warm

ROOT = Path(__file__).parents[2]
ROOMS = {  # room: (its folder, where its tests are)
    "certified": ("dpcore/privacy/certified", ("tests/privacy", "dpcore/privacy")),
    "accountants": ("dpcore/privacy/accountants", ("tests/privacy", "dpcore/privacy")),
    "gradients": ("dpcore/training/gradients", ("tests/training", "dpcore/training")),
    "randomness": ("dpcore/training/randomness", ("tests/training", "dpcore/training")),
}
NAMED = (  # faults that once went unnoticed: (file, text, what it becomes)
    (
        "dpcore/privacy/accountants/strong.py",
        "composed(each, compositions, delta / 2)",
        "composed(each, compositions, delta)",
    ),
    ("dpcore/privacy/accountants/strong.py", "delta / (2 * np.maximum(steps, 1))", "delta / np.maximum(steps, 1)"),
    ("dpcore/privacy/certified/epsilon_bounds.py", "return lower, np.maximum(remove, add)", "return lower, remove"),
    ("dpcore/privacy/certified/compose.py", "delta * (1 - side * allowed)", "delta"),
    (
        "dpcore/training/gradients/clipping.py",
        "reciprocal_().mul_(self.clip_norm * SAFETY)",
        "reciprocal_().mul_(self.clip_norm)",
    ),
)
EXPLAINED = Path(__file__).with_name("explained_mutants.txt")
STORE = ROOT / ".mutation"  # what the tests reach, and the last results; safe to delete


def explained() -> dict[str, str]:
    """Why a mutant cannot be noticed or does no harm, by its name; a name may end in * for all that begin so."""
    lines = [line for line in EXPLAINED.read_text().splitlines() if line.strip() and not line.startswith("#")]
    parts = (line.rsplit(" :: ", 1) for line in lines)
    return {name.strip(): why.strip() for name, why in parts}


def is_explained(name: str, reasons: dict[str, str]) -> bool:
    """Whether the list of explained mutants holds this one."""
    return name in reasons or any(key.endswith("*") and name.startswith(key[:-1]) for key in reasons)


def covered(tests: tuple[str, ...]) -> dict[str, Covered]:
    """These tests, their seconds and lines; measured anew where a file of tests or the code has changed."""
    path = STORE / f"reached-{Path(tests[0]).name}.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    state = {file: _state(file) for file in _test_files(tests)}
    stale = [file for file in state if kept.get(file, {}).get("state") != state[file]]
    if stale:
        found = coverage_of(ROOT, [folder for folder, _ in ROOMS.values()], stale)
        kept = {file: each for file, each in kept.items() if file in state and file not in stale}
        for file in stale:
            mine = {test: vars(each) for test, each in found.items() if test.split("::")[0] == file}
            kept[file] = {"state": state[file], "tests": mine}
        path.write_text(json.dumps(kept))
    return {test: Covered(**each) for file in kept.values() for test, each in file["tests"].items()}


def _test_files(tests: tuple[str, ...]) -> list[str]:
    """Files of tests, and modules with doctests."""
    files = [each for folder in tests for each in sorted((ROOT / folder).rglob("*.py"))]
    return [str(each.relative_to(ROOT)) for each in files if each.name.startswith("test_") or ">>>" in each.read_text()]


@cache
def _code(file: str) -> bytes:
    """The code that a test can reach: privacy imports nothing else of the project."""
    top = ROOT / "dpcore" / ("privacy" if "privacy" in Path(file).parts else "")
    return b"".join(each.read_bytes() for each in sorted(top.rglob("*.py")))


def _state(file: str) -> str:
    return hashlib.sha256(_code(str(Path(file).parent)) + (ROOT / file).read_bytes()).hexdigest()


@cache
def mutants_in(room: str) -> tuple[Mutant, ...]:
    """Every mutant of a room."""
    files = sorted(str(each.relative_to(ROOT)) for each in (ROOT / ROOMS[room][0]).glob("*.py"))
    return tuple(mutant for each in files for mutant in mutants_of(ROOT, each))


def run(room: str, arguments: argparse.Namespace) -> None:
    """Try the room's mutants and print the score and the survivors."""
    tests = tuple(arguments.tests) or ROOMS[room][1]
    warm(ROOT, tests)
    session = Session(ROOT, covered(tests), arguments.seconds)
    mutants = [m for m in mutants_in(room) if arguments.only in m.path]
    kept = STORE / f"results-{room}.json"
    results: dict[str, str] = json.loads(kept.read_text()) if kept.exists() else {}
    reasons, end = explained(), time.monotonic() + 60 * arguments.minutes
    tried = [m for m in mutants if not is_explained(m.name, reasons)]
    if arguments.survivors:
        tried = [m for m in tried if not results.get(m.name, "").startswith("killed")]
    random.Random(0).shuffle(tried)
    for count, mutant in enumerate(tried):
        if time.monotonic() > end:
            break
        results[mutant.name] = session.verdict(mutant, mutated(ROOT, mutant))
        if count % 20 == 19:
            print(f"{count + 1} of {len(tried)} tried", file=sys.stderr, flush=True)
            kept.write_text(json.dumps(results, indent=0))
    kept.write_text(json.dumps(results, indent=0))
    report(room, mutants, results, reasons)


def report(room: str, mutants: list[Mutant], results: dict[str, str], reasons: dict[str, str]) -> None:
    """Print each survivor, then one line of figures."""
    counted = [m for m in mutants if not is_explained(m.name, reasons)]
    tried = [m for m in counted if m.name in results]
    alive = [m for m in tried if not results[m.name].startswith("killed")]
    for key in reasons:
        if key.startswith(ROOMS[room][0]) and not any(is_explained(m.name, {key: ""}) for m in mutants_in(room)):
            print(f"explained, but not there any more: {key}")
    for mutant in alive:
        print(f"{results[mutant.name]}: {mutant.name}")
    share = 100 * (1 - len(alive) / len(tried)) if tried else 0.0
    print(
        f"{room}: {len(mutants)} mutants, {len(mutants) - len(counted)} explained, {len(tried)} tried, "
        f"{len(tried) - len(alive)} killed: {share:.1f} %"
    )


def run_named(arguments: argparse.Namespace) -> bool:
    """Plant each fault that has a name; whether all were noticed."""
    warm(ROOT, ("tests/privacy", "tests/training"))
    noticed = []
    for path, text, other in NAMED:
        room = next(room for room, (folder, _) in ROOMS.items() if path.startswith(folder))
        source = (ROOT / path).read_text()
        if source.count(text) != 1:
            raise SystemExit(f"{path} should hold once: {text}")
        line = source[: source.index(text)].count("\n") + 1
        mutant = Mutant(path, "", text, other, 0, (line, line + text.count("\n")), -1)
        session = Session(ROOT, covered(ROOMS[room][1]), arguments.seconds)
        verdict = session.verdict(mutant, ast.parse(source.replace(text, other)))
        noticed.append(verdict.startswith("killed"))
        print(f"{path}: {text} -> {other}: {verdict}", flush=True)
    return all(noticed)


def main() -> None:
    """Run one room, or the named faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", choices=ROOMS, action="append", default=[])
    parser.add_argument("--named", action="store_true", help="only the faults that once went unnoticed")
    parser.add_argument("--only", default="", help="only files whose path holds this text")
    parser.add_argument("--tests", nargs="+", default=[], help="run these tests alone, not all of the room's")
    parser.add_argument("--survivors", action="store_true", help="skip what the last run has seen killed")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop trying mutants of a room after this time")
    parser.add_argument("--seconds", type=float, default=20.0, help="of tests, at most, for one mutant")
    arguments = parser.parse_args()
    STORE.mkdir(exist_ok=True)
    if arguments.named:
        sys.exit(0 if run_named(arguments) else 1)
    for room in arguments.room or ROOMS:
        run(room, arguments)


if __name__ == "__main__":
    main()
