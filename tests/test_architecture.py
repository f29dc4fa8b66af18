"""The rules of the layout, read from the source: directions of imports, where heavy modules live, sizes, registries."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py")), *sorted((ROOT / "dpcore").rglob("*.py"))]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
MAX_FILE, MAX_FUNCTION, MAX_MEDIAN = 300, 60, 10

# From the top down; a module imports its own layer and those below. Layers in one row do not import each other.
LAYERS = [
    ["app", "pages", "dpcore.commands", "dpcore.__main__"],
    ["dpcore.figures"],
    ["dpcore.runs"],
    ["dpcore.training", "dpcore.audit"],
    ["dpcore.data"],
    ["dpcore.privacy"],
    ["dpcore.check"],
]
ROW = {name: row for row, names in enumerate(LAYERS) for name in names}


def module_of(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> str | None:
    """The layer a module belongs to; None for third parties and for the bare package."""
    return next((name for name in ROW if module == name or module.startswith(name + ".")), None)


def imports_of(path: Path) -> Iterator[tuple[str, int]]:
    """Every module a file imports anywhere, even inside functions, with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            for alias in node.names:
                # "from dpcore import check" imports the module dpcore.check
                yield f"{node.module}.{alias.name}" if node.module == "dpcore" else str(node.module), node.lineno


def users_of(package: str) -> set[str]:
    """Modules that import a package."""
    return {module_of(path) for path in SOURCES for name, _ in imports_of(path) if name.split(".")[0] == package}


def under(modules: set[str], *allowed: str) -> set[str]:
    """The modules that are not among the allowed ones, or below them."""
    return {each for each in modules if not any(each == name or each.startswith(name + ".") for name in allowed)}


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_imports_go_one_way(path: Path) -> None:
    own = layer_of(module_of(path))
    for name, line in imports_of(path):
        other = layer_of(name)
        if own is None or other is None or own == other:
            continue
        page_for_app = own == "app" and other == "pages"
        command_for_main = own == "dpcore.__main__" and other == "dpcore.commands"
        assert ROW[other] > ROW[own] or page_for_app or command_for_main, f"{path}:{line}: {own} imports {name}"


def test_streamlit_is_only_in_the_pages() -> None:
    assert not under(users_of("streamlit"), "app", "pages")


def test_torch_is_never_in_privacy_figures_or_a_page() -> None:
    light = {"app", "pages", "dpcore.privacy", "dpcore.figures", "dpcore.check", "dpcore.__main__"}
    users = users_of("torch") | users_of("torchvision")
    assert {each for each in users if not under({each}, *light)} == set()


def test_sqlite_is_only_in_the_store() -> None:
    assert not under(users_of("sqlite3"), "dpcore.runs.store")


def test_ray_is_only_in_its_pool() -> None:
    assert not under(users_of("ray"), "dpcore.runs.ray_pool")


def test_privacy_needs_numpy_and_scipy_only() -> None:
    known = {"numpy", "scipy", "dpcore"} | sys.stdlib_module_names
    for path in SOURCES:
        if layer_of(module_of(path)) == "dpcore.privacy":
            foreign = {name.split(".")[0] for name, _ in imports_of(path)} - known
            assert not foreign, path


@pytest.mark.parametrize("module", ["dpcore.privacy.accountants", "dpcore.figures", "dpcore.commands.epsilon"])
def test_importing_it_does_not_import_torch_or_streamlit(module: str) -> None:
    code = f"import sys, {module}; print([name for name in ('torch', 'streamlit', 'ray') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", SOURCES + TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_FILE, f"{path} is too long"
    for node in functions_of(path):
        assert length_of(node) <= MAX_FUNCTION, f"{path}:{node.lineno} {node.name} is too long"


def test_the_median_function_is_short() -> None:
    lengths = sorted(code_length_of(node) for path in SOURCES for node in functions_of(path))
    assert lengths[len(lengths) // 2] <= MAX_MEDIAN


def functions_of(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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

    files = {path.stem for path in (ROOT / "dpcore/commands").glob("*.py")} - {"__init__"}
    assert set(COMMANDS) == files


def test_every_page_file_has_its_line_in_the_menu() -> None:
    menu = (ROOT / "pages/parts/shell/menu.py").read_text(encoding="utf-8")
    for path in (ROOT / "pages").glob("*.py"):
        if path.stem != "__init__":
            assert f'"pages/{path.name}"' in menu, path


def test_no_file_names_the_machine_it_was_written_on() -> None:
    for path in SOURCES + TESTS:
        if path != Path(__file__):
            text = path.read_text(encoding="utf-8")
            assert "/work/" not in text, path
            assert "/tmp/" not in text, path
