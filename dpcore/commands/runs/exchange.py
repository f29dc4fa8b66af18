"""The actions that write runs for elsewhere, and read them from there: `export` and `import`."""

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dpcore.commands import Parser
from dpcore.commands.runs.action import Action, add_ids, as_object, print_json
from dpcore.runs.export import FORMS, FolderForm, RunRecord, TextForm, file_name, record_of
from dpcore.runs.export.imported import read_run, take_in
from dpcore.runs.export.imported_events import MOST_BYTES
from dpcore.runs.store import Store


def _of_export(parser: Parser) -> None:
    add_ids(parser)
    forms = "; ".join(f"{form.name}: {form.title}" for form in FORMS.values())
    parser.add_argument("--format", choices=list(FORMS), default="json", help=forms)
    parser.add_argument("--to", metavar="PATH", help="the file or folder to make (default: print it)")


def _check_export(arguments: argparse.Namespace) -> None:
    form = FORMS[arguments.format]
    if len(arguments.id) > 1 and not form.several:
        raise ValueError(f"Expected one run with --format {form.name}, not {len(arguments.id)}.")
    if arguments.to == "":
        raise ValueError("Expected --to='' to be a path.")
    if arguments.to is None and isinstance(form, FolderForm):
        raise ValueError(f"Expected --to with --format {form.name}: it is a folder.")
    if arguments.json and arguments.to is None:
        raise ValueError("Expected --to with --json, which says what was written where.")


def _export(store: Store, arguments: argparse.Namespace) -> int:
    form = FORMS[arguments.format]
    ids = list(dict.fromkeys(arguments.id))
    records = [record_of(store, each) for each in ids]
    if arguments.to is None:
        assert isinstance(form, TextForm)
        sys.stdout.write(form.write(records))
        return 0
    path = Path(arguments.to)
    with _sentences(path):
        if isinstance(form, TextForm):
            path = path / file_name(form, ids) if path.is_dir() else path
            _write(path, form.write(records))
        else:
            _fill(path, form, records)
    if arguments.json:
        print_json({"runs": ids, "format": form.name, "to": str(path)})
    else:
        print(f"Wrote {path}.", file=sys.stderr)
    return 0


def _write(path: Path, text: str) -> None:
    """Write a new file, whole or not at all."""
    with open(path, "x", encoding="utf-8", newline="") as file:
        try:
            file.write(text)
            file.flush()
        except BaseException:  # half a file is none
            path.unlink(missing_ok=True)
            raise


def _fill(path: Path, form: FolderForm, records: Sequence[RunRecord]) -> None:
    """Make a new folder, whole or not at all."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(None, "it is there already")
    made = not path.exists()
    try:
        form.write(records, path)
    except BaseException:
        if made:
            shutil.rmtree(path, ignore_errors=True)
        raise


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """ValueErrors in place of what a file system raises."""
    try:
        yield
    except FileExistsError:
        raise ValueError(f"Expected nothing at {path}: nothing is overwritten.") from None
    except OSError as error:
        raise ValueError(f"Expected {path} to be a place to write to, but: {error.strerror or error}.") from error


def _of_import(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="what 'export --format json' has written")


def _check_import(arguments: argparse.Namespace) -> None:
    """Read and check the file before there is a store."""
    try:
        with open(arguments.file, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError for a NUL byte in the name
        why = getattr(error, "strerror", None) or error
        raise ValueError(f"Expected {arguments.file!r} to be a file that can be read, but: {why}.") from error
    arguments.run = read_run(content)


def _import(store: Store, arguments: argparse.Namespace) -> int:
    run = take_in(store, arguments.run)
    print_json(as_object(store.run(run))) if arguments.json else print(f"Imported as run {run}.")
    return 0


EXPORT = Action("export", "runs as files: tables, scripts, a model card, ...", _of_export, _export, _check_export)
IMPORT = Action("import", "take in a run of another store, marked as such", _of_import, _import, _check_import, True)
