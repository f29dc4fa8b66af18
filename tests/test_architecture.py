"""The rules of the layout, read from the source: directions of imports, where heavy modules live, sizes, registries."""

import ast
import functools
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import networkx
import pytest

ROOT = Path(__file__).parent.parent
SOURCES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py")), *sorted((ROOT / "dpcore").rglob("*.py"))]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MAX_FILE, MAX_FUNCTION, MAX_MEDIAN = 300, 60, 10

# From the top down: a module imports from its own layer and from those below. Layers in one row do not import each
# other. A module belongs to the layer with the longest name that begins its own.
LAYERS = [
    ["app", "dpcore.__main__"],
    ["pages", "dpcore.commands", "dpcore.notebook"],
    ["dpcore.figures"],
    ["dpcore.papers"],
    ["dpcore.runs"],
    ["dpcore.audit"],
    ["dpcore.training"],
    ["dpcore.data"],
    ["dpcore"],
    ["dpcore.claims"],
    ["dpcore.audit.bounds"],
    ["dpcore.privacy.calibration"],
    ["dpcore.privacy.report"],
    ["dpcore.privacy.sampling"],
    ["dpcore.privacy.accountants"],
    ["dpcore.privacy.certified"],
    ["dpcore.privacy.accountants.base"],
    ["dpcore.privacy.tradeoff"],
    ["dpcore.privacy"],
    ["dpcore.check"],
]
ROW = {name: row for row, names in enumerate(LAYERS) for name in names}
# What the modules of a room define in common, because they are kinds of one thing.
SHARED = {"parser", "run", "absorb", "rules", "checked"}


def module_of(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in SOURCES}


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def layer_of(module: str) -> str:
    """The layer of one of our modules."""
    parts = module.split(".")
    prefixes = [".".join(parts[:size]) for size in range(len(parts), 0, -1)]
    return next(name for name in prefixes if name in ROW)


def imports_of(path: Path) -> Iterator[tuple[str, int]]:
    """Every module a file imports anywhere, even inside functions and for types only, with its line."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"  # "from dpcore import check" imports the module dpcore.check
                yield inner if inner in MODULES else str(node.module), node.lineno


def own_imports() -> Iterator[tuple[str, str, int]]:
    """Every import of one of our modules by another, with its line."""
    for module, path in MODULES.items():
        for name, line in imports_of(path):
            if name in MODULES:
                yield module, name, line


def users_of(*packages: str) -> set[str]:
    """Modules that import one of the packages."""
    return {
        module for module, path in MODULES.items() for name, _ in imports_of(path) if name.split(".")[0] in packages
    }


def names_of(module: ast.Module) -> set[str]:
    """What a module defines or imports, at any depth."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def under(modules: set[str], *allowed: str) -> set[str]:
    """The modules that are not among the allowed ones, or below them."""
    return {each for each in modules if not any(each == name or each.startswith(name + ".") for name in allowed)}


def test_every_layer_is_there() -> None:
    missing = [name for name in ROW if name not in MODULES and not (ROOT / name.replace(".", "/")).is_dir()]
    assert missing == []


@pytest.mark.parametrize("document", ["architecture.md", "adding.md"])
def test_every_file_and_function_that_a_document_names_is_there(document: str) -> None:
    text = " ".join((ROOT / "docs" / document).read_text(encoding="utf-8").split())
    files = {name for name in re.findall(r"`([\w./]+/[\w./]*)`", text) if not re.search("NAME|[.]{2}", name)}
    named = re.findall(r"`([\w.]+)(?:\([^`]*\))?` of `([\w/]+\.py)`", text)
    assert len(files) > 5
    assert sorted(name for name in files if not (ROOT / name).exists()) == []
    assert [f"{name} of {file}" for name, file in named if not defines(ROOT / file, name)] == []


def test_every_trip_through_the_code_has_a_heading_of_its_own_and_a_few_steps_numbered_from_one() -> None:
    trips = re.split(r"^## .+$", (ROOT / "docs/architecture.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for trip in trips:
        steps = [int(each) for each in re.findall(r"^(\d+)[.] ", trip, flags=re.MULTILINE)]
        assert steps == list(range(1, len(steps) + 1))
        assert 3 <= len(steps) <= 6


def defines(path: Path, name: str) -> bool:
    """Whether a file defines a name; a dot leads into a class."""
    body = tree_of(path).body
    *classes, last = name.split(".")
    for each in classes:
        body = next((node.body for node in body if isinstance(node, ast.ClassDef) and node.name == each), [])
    return last in names_of(ast.Module(body, []))


def test_every_imported_name_is_there() -> None:
    homes = MODULES | {module_of(path): path for path in TESTS}
    names = {module: names_of(tree_of(path)) for module, path in homes.items()}
    gone = []
    for path in SOURCES + TESTS:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.module in names:
                wanted = {alias.name for alias in node.names if f"{node.module}.{alias.name}" not in homes}
                gone += [f"{path}:{node.lineno} {name}" for name in wanted - names[node.module]]
            elif isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in ("dpcore", "pages", "tests"):
                lost = [alias.name for alias in node.names if f"{node.module}.{alias.name}" not in homes]
                gone += [f"{path}:{node.lineno} {node.module}.{name}" for name in lost]
    assert gone == []


def test_imports_go_one_way() -> None:
    wrong = []
    for module, name, line in own_imports():
        own, other = layer_of(module), layer_of(name)
        if own != other and ROW[other] <= ROW[own]:
            wrong.append(f"{module}:{line} ({own}) imports {name} ({other})")
    assert wrong == []


def test_no_module_imports_itself_through_others() -> None:
    graph = networkx.DiGraph((module, name) for module, name, _ in own_imports())
    circles = [sorted(each) for each in networkx.strongly_connected_components(graph) if len(each) > 1]
    assert circles == []
    assert list(networkx.selfloop_edges(graph)) == []


def test_no_room_has_two_things_of_one_name() -> None:
    homes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module, path in MODULES.items():
        for node in tree_of(path).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith(
                "_"
            ):
                homes[str(path.parent), node.name].append(module)
    twins = {name: places for (_, name), places in homes.items() if len(places) > 1}
    assert {name: places for name, places in twins.items() if name not in SHARED} == {}


def test_streamlit_is_only_in_the_pages() -> None:
    assert under(users_of("streamlit"), "app", "pages") == set()


def test_torch_is_never_in_privacy_figures_or_a_page() -> None:
    rooms = ("privacy", "audit.bounds", "figures", "check", "__main__")
    light = ("app", "pages", *(f"dpcore.{room}" for room in rooms))
    assert {each for each in users_of("torch", "torchvision") if not under({each}, *light)} == set()


def test_what_only_notebooks_have_is_only_in_their_room() -> None:
    assert under(users_of("ipywidgets", "anywidget", "IPython"), "dpcore.notebook") == set()


def test_ray_is_only_behind_the_pool_of_a_cluster() -> None:
    assert users_of("ray") == {"dpcore.runs.ray_pool.ray_cluster"}


def test_sqlite_is_only_in_the_store() -> None:
    assert under(users_of("sqlite3"), "dpcore.runs.store", "dpcore.runs.store_file") == set()


def test_privacy_and_the_statistics_of_audits_need_numpy_and_scipy_only() -> None:
    known = {"numpy", "scipy", "dpcore"} | sys.stdlib_module_names
    paths = [path for module, path in MODULES.items() if module.startswith(("dpcore.privacy", "dpcore.audit.bounds"))]
    assert {name.split(".")[0] for path in paths for name, _ in imports_of(path)} - known == set()


@pytest.mark.parametrize(
    "module",
    ["dpcore", "dpcore.privacy.accountants", "dpcore.audit.bounds", "dpcore.figures", "dpcore.commands.epsilon"],
)
def test_importing_it_does_not_import_what_takes_long(module: str) -> None:
    slow = "torch", "streamlit", "scipy.signal", "scipy.stats"
    code = f"import sys, {module}; print([name for name in {slow} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_two_files_of_tests_have_the_same_name() -> None:
    names = [path.name for path in TESTS if path.name not in ("conftest.py", "__init__.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []  # pytest would find but one of them


def test_files_stay_small() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES + TESTS}
    assert {str(path): length for path, length in lengths.items() if length > MAX_FILE} == {}


def test_functions_stay_small() -> None:
    functions = [(path, node) for path in SOURCES + TESTS for node in functions_of(path)]
    long = [f"{path}:{node.lineno} {node.name}" for path, node in functions if length_of(node) > MAX_FUNCTION]
    assert long == []


def test_the_median_function_is_short() -> None:
    lengths = sorted(code_length_of(node) for path in SOURCES for node in functions_of(path))
    assert lengths[len(lengths) // 2] <= MAX_MEDIAN


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def code_length_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines without the docstring."""
    first = node.body[0]
    text = ast.get_docstring(node) is not None
    return length_of(node) - ((first.end_lineno or first.lineno) - first.lineno + 1 if text else 0)


def test_every_accountant_file_has_its_line_in_the_registry() -> None:
    from dpcore.privacy.accountants import ACCOUNTANTS

    files = {path.stem for path in (ROOT / "dpcore/privacy/accountants").glob("*.py")} - {"__init__", "base"}
    assert set(ACCOUNTANTS) == files
    for name, accountant in ACCOUNTANTS.items():
        assert type(accountant).__module__ == f"dpcore.privacy.accountants.{name}"
        assert accountant.name == name


def test_every_command_file_has_its_line_in_the_dispatcher() -> None:
    from dpcore.__main__ import COMMANDS

    room = ROOT / "dpcore/commands"
    files = {path.stem for path in room.glob("*.py")} - {"__init__"}
    assert set(COMMANDS) == files | {path.parent.name for path in room.glob("*/__init__.py")}


def test_every_page_file_has_its_line_in_the_menu() -> None:
    from pages.parts.shell.menu import PAGES

    files = {f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")} - {"pages/__init__.py"}
    assert {page.file for page in PAGES} == files


def test_no_file_names_the_machine_it_was_written_on() -> None:
    for path in SOURCES + TESTS:
        if path != Path(__file__):
            text = path.read_text(encoding="utf-8")
            assert "/work/" not in text, path
            assert "/tmp/" not in text, path
