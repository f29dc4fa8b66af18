"""Actions of `python -m dpcore runs`, such as list, show, cancel, resume, export and import."""

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dpcore.commands import Parser, option, print_json, whole
from dpcore.commands.runs import foreign
from dpcore.commands.train import add_settings, closing, config_of, follow, printer
from dpcore.regular_file import open_regular
from dpcore.runs.editing import MAX_NAME_CHARS, delete, text
from dpcore.runs.expected import start_of
from dpcore.runs.export import FORMS, FolderForm, RunRecord, TextForm, file_name, record_of
from dpcore.runs.export.imported import read_run, take_in
from dpcore.runs.export.imported_events import MAX_BYTES
from dpcore.runs.foreign.price import as_object as as_foreign_object
from dpcore.runs.foreign.runs import keep
from dpcore.runs.foreign.table import looks_like_table
from dpcore.runs.in_process import with_first_event
from dpcore.runs.in_words import name_of, progress_of, status_of, when
from dpcore.runs.kinds import KINDS, TRAINING, event_to_json
from dpcore.runs.lifecycle import check_ended
from dpcore.runs.record import Run, checkpoint_path, row_of, worker_name
from dpcore.runs.resume import rest_of
from dpcore.runs.run_table import counted
from dpcore.runs.store import PAUSED, Store, add_run
from dpcore.runs.sweeps import named_runs, sweep_of, values_of
from dpcore.training.events import Finished
from dpcore.training.resume_point import resume_point_of

ALL_KINDS = "all"
WAITS = "The queue is paused. Continue it on the page Runs: 'python -m dpcore app'."
UNSET = {"seed": "secret", "rate": "largest proven"}  # what stands for None
PRICE = "Releasing the best of them costs more than that run alone, because each uses the data."


def as_object(item: Run) -> dict[str, Any]:
    values = asdict(item)
    values["last"] = event_to_json(item.last) if item.last else None
    del values["stored_plan"]
    return values


def in_columns(rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose columns are as wide as their widest cells."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [word.ljust(width) for word, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _check_list(arguments: argparse.Namespace) -> None:
    if arguments.watch and (arguments.json or arguments.kind != TRAINING.name):
        raise ValueError(
            "Expected no --json and no --kind with --watch, which draws training runs in a"
            " terminal."
        )


def _list(store: Store, arguments: argparse.Namespace) -> int:
    if arguments.watch:
        from dpcore.commands.runs.watching import watch_all  # late: it loads rich

        return watch_all(store)
    kind = None if arguments.kind == ALL_KINDS else arguments.kind
    runs = store.runs(kind=kind)
    if arguments.json:
        print_json({"runs": [as_object(item) for item in runs]})
        return 0
    rows = [("ID", "STATUS", "SUBMITTED", "PROGRESS", "NAME")]
    rows += [
        (item.id, status_of(item), when(item.created), progress_of(item), name_of(item))
        for item in runs
    ]
    print(in_columns(rows) if runs else "No runs yet.")
    left_out = sum(counted(store, "kind").values()) - len(runs)
    if left_out:
        print(f"Jobs of other kinds left out: {left_out}. --kind all lists them.", file=sys.stderr)
    if store.board(PAUSED):
        print(WAITS, file=sys.stderr)
    return 0


def _show(store: Store, arguments: argparse.Namespace) -> int:
    item = store.run(arguments.id)
    if arguments.watch:
        from dpcore.commands.runs.watching import watch_one

        return watch_one(store, item, as_json=arguments.json)
    if arguments.json:
        print_json(as_object(item))
        return 0
    status = status_of(item)
    if item.position:
        status = f"{status}, {start_of(store, item.id)}"
    rows = [
        ("id", item.id),
        ("name", name_of(item)),
        ("status", status),
        ("progress", progress_of(item)),
    ]
    moments = {"submitted": item.created, "started": item.started, "ended": item.ended}
    for label, moment in moments.items():
        rows.append((label, "-" if moment is None else when(moment)))
    rows.append(("events", str(item.sequence)))
    if item.imported:
        rows.append(("imported", f"{item.imported}; its figures were not measured here"))
    for name, value in item.settings.items():
        words = UNSET.get(name, "-") if value is None else str(value)
        rows.append((name, words))
    print(in_columns(rows))
    if item.error:
        print(item.error.rstrip())
    return 0


def _check_sweep(arguments: argparse.Namespace) -> None:
    """Read the grid before a store exists. Defaults of other settings suit its first values."""
    axes: dict[str, list[Any]] = {}
    for each in arguments.grid:
        name, between, values = each.partition("=")
        setting = name.strip().replace("-", "_")
        if not between or setting in axes:
            raise ValueError(
                f"Expected --grid {each[:80]!r} to look like sigma=1,2,4, with each setting once."
            )
        axes[setting] = values_of(setting, values)
        if getattr(arguments, setting, None) is not None:
            raise ValueError(
                f"Expected no {option(setting)} beside --grid {setting}: it would change nothing."
            )
        setattr(arguments, setting, axes[setting][0])
    arguments.name = text(arguments.name, MAX_NAME_CHARS, "name")
    arguments.axes = list(axes)
    arguments.configs = sweep_of(config_of(arguments), axes, arguments.seeds)


def _sweep(store: Store, arguments: argparse.Namespace) -> int:
    sweep = store.new_id()
    named = named_runs(arguments.configs, arguments.axes, arguments.name)
    rows = [row_of(store.new_id(), config, name, sweep=sweep) for config, name in named]
    with store.writing() as db:
        for row in rows:
            add_run(db, row)
    runs = [row["id"] for row in rows]
    if arguments.json:
        print_json({"sweep": sweep, "runs": runs})
        return 0
    for row in rows:
        print(f"{row['id']}  {row['name']}")
    print(f"Queued {len(runs)} runs as sweep {sweep}; 'python -m dpcore app' trains them. {PRICE}")
    return 0


def _cancel(store: Store, arguments: argparse.Namespace) -> int:
    before = store.run(arguments.id)
    if before.followed:
        raise ValueError(
            f"Run {before.id} is followed: its own program ends it, by run.finish() or its end."
        )
    store.cancel(arguments.id)
    now = store.run(arguments.id)
    if arguments.json:
        print_json(as_object(now))
    elif not before.active:
        print(f"Run {arguments.id} has already ended: {now.status}.")
    else:
        print(f"Run {arguments.id} is {status_of(now)}.")
    return 0


def _resume(store: Store, arguments: argparse.Namespace) -> int:
    from dpcore.training.loop import train  # late: loading torch takes seconds

    with rest_of(store, arguments.id) as rest:
        config = rest.before.config
        file = checkpoint_path(store.home, rest.id)
        point = resume_point_of(rest.said, rest.before.origin)
        # a bad checkpoint raises ValueError before anything is recorded
        events = with_first_event(
            train(config, file=file, planned=rest.plan, secret=rest.secret, resume_point=point)
        )
        with store.writing() as db:
            rest.add_run(db, worker_name(os.getpid()))
    print(f"Recorded as run {rest.id}.", file=sys.stderr)
    finals: list[Finished] = []
    status = follow(store, rest.id, events, printer(arguments.json, finals))
    if finals and not arguments.json:
        print("\n".join(closing([config], finals, rest.plan)))
    return status


def _delete(store: Store, arguments: argparse.Namespace) -> int:
    runs = [store.run(each) for each in dict.fromkeys(arguments.id)]
    for item in runs:  # all of them or none
        check_ended(item.id, item.status)
    if not (arguments.yes or _agreed(runs)):
        print("Nothing was deleted.", file=sys.stderr)
        return 0
    for item in runs:
        delete(store, item.id)
    if arguments.json:
        print_json({"deleted": [item.id for item in runs]})
    else:
        print("\n".join(f"Deleted run {item.id} ({name_of(item)})." for item in runs))
    return 0


def _agreed(runs: list[Run]) -> bool:
    if not sys.stdin.isatty():
        raise ValueError("Expected --yes without a terminal: a deleted run is gone for good.")
    named = ", ".join(f"{item.id} ({name_of(item)})" for item in runs)
    print(
        f"Delete {named} with all events and checkpoints, for good? [y/N] ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _check_export(arguments: argparse.Namespace) -> None:
    form = FORMS[arguments.format]
    if len(arguments.id) > 1 and not form.several:
        raise ValueError(f"Expected one run with --format {form.name}, not {len(arguments.id)}.")
    if arguments.to == "":
        raise ValueError("Expected --to='' to be a path.")
    if arguments.to is None and isinstance(form, FolderForm):
        raise ValueError(f"Expected --to FOLDER with --format {form.name}.")
    if arguments.json and arguments.to is None:
        raise ValueError("Expected --to with --json, which prints only the path.")


def _export(store: Store, arguments: argparse.Namespace) -> int:
    form = FORMS[arguments.format]
    ids = list(dict.fromkeys(arguments.id))
    records = [record_of(store, each) for each in ids]
    if arguments.to is None:
        assert isinstance(form, TextForm)
        sys.stdout.write(form.write(records))
        return 0
    to = Path(arguments.to)
    path = to
    try:
        if isinstance(form, TextForm):
            if to.is_dir():
                path = to / file_name(form, ids)
            _write(path, form.write(records))
        else:
            _fill(path, form, records)
    except FileExistsError:
        raise ValueError(f"Expected nothing at {path}: export overwrites nothing.") from None
    except OSError as error:
        raise ValueError(
            f"Expected {to} to be writable, but: {error.strerror or error}."
        ) from error
    if arguments.json:
        print_json({"runs": ids, "format": form.name, "to": str(path)})
    else:
        print(f"Wrote {path}.", file=sys.stderr)
    return 0


def _write(path: Path, text: str) -> None:
    """Write a new file, complete or not at all."""
    with open(path, "x", encoding="utf-8", newline="") as file:
        try:
            file.write(text)
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _fill(path: Path, form: FolderForm, records: Sequence[RunRecord]) -> None:
    """Write a new folder, complete or not at all."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError
    made = not path.exists()
    try:
        form.write(records, path)
    except BaseException:
        if made:
            shutil.rmtree(path, ignore_errors=True)
        raise


def _check_import(arguments: argparse.Namespace) -> None:
    """Read and check the file before a store exists."""
    try:
        with open_regular(arguments.file) as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError for a NUL byte in the name
        why = getattr(error, "strerror", None) or error
        raise ValueError(
            f"Expected {arguments.file!r} to be a readable file, but: {why}."
        ) from error
    arguments.found = None
    options = foreign.given(arguments)
    in_json = content.lstrip().startswith(b"{")
    if in_json and options:
        raise ValueError(
            f"Expected no {options[0]} with a run in JSON, which names its numbers itself."
        )
    if options or looks_like_table(content):
        arguments.found = foreign.read_foreign(arguments, content)
    else:
        arguments.run = read_run(content)


def _import(store: Store, arguments: argparse.Namespace) -> int:
    if arguments.found is not None:
        return _import_foreign(store, arguments)
    run = take_in(store, arguments.run)
    if arguments.json:
        print_json(as_object(store.run(run)))
    else:
        print(f"Imported as run {run}.")
    return 0


def _import_foreign(store: Store, arguments: argparse.Namespace) -> int:
    found = arguments.found
    ids = keep(store, found.runs, os.path.basename(arguments.file))
    if arguments.json:
        print_json(as_foreign_object(ids, found))
        return 0
    print(in_columns(foreign.rows_of(ids, found)))
    for line in foreign.remarks_on(found):
        print(line, file=sys.stderr)
    print("\n".join(foreign.closing(found, arguments.file)))
    return 0


Check = Callable[[argparse.Namespace], None]
Act = Callable[[Store, argparse.Namespace], int]


def _add_id(parser: Parser, nargs: str | None = None) -> None:
    parser.add_argument("id", nargs=nargs, metavar="ID", help="id of a run")


def _add_sweep(made: Parser) -> None:
    add_settings(made)
    grid = "a setting and its values, such as sigma=1,2,4; once or twice"
    made.add_argument(
        "--grid", action="append", required=True, metavar="SETTING=VALUE,...", help=grid
    )
    made.add_argument(
        "--seeds",
        type=whole,
        default=1,
        metavar="COUNT",
        help="number of runs for each combination",
    )
    made.add_argument("--name", default="", help="first words of the name of each run")


Action = Callable[..., Parser]


def add_actions(parser: Parser) -> None:
    """Add each action with its arguments; `act` does it and returns the exit status.

    `check` raises ValueError before a store exists, and an action that `begins` makes a store if
    there is none.
    """
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="ACTION", parser_class=Parser
    )

    def action(
        name: str, about: str, act: Act, check: Check = lambda _: None, *, begins: bool = False
    ) -> Parser:
        made = actions.add_parser(name, help=about)
        made.set_defaults(act=act, check=check, begins=begins)
        return made

    _add_looks(action)
    _add_changes(action)
    _add_files(action)
    for each in actions.choices.values():
        each.add_argument("--json", action="store_true", help="print JSON")


def _add_looks(action: Action) -> None:
    made = action("list", "list the runs, newest first", _list, _check_list)
    made.add_argument(
        "--kind",
        choices=[*KINDS, ALL_KINDS],
        default=TRAINING.name,
        help=f"kind of jobs (default {TRAINING.name})",
    )
    made.add_argument(
        "--watch", action="store_true", help="show queued and running runs until Ctrl-C"
    )
    made = action("show", "show a run and its settings", _show)
    _add_id(made)
    made.add_argument(
        "--watch",
        action="store_true",
        help="show the run until it ends, with its accuracy as a curve",
    )


def _add_changes(action: Action) -> None:
    made = action("cancel", "cancel a run; it stops within one step", _cancel)
    _add_id(made)
    made = action("resume", "continue an interrupted run here, under a new id", _resume)
    _add_id(made)
    made = action("delete", "delete ended runs for good", _delete)
    _add_id(made, nargs="+")
    made.add_argument("--yes", action="store_true", help="do not ask")
    made = action("sweep", "queue runs over one or two settings", _sweep, _check_sweep, begins=True)
    _add_sweep(made)


def _add_files(action: Action) -> None:
    made = action(
        "export", "write runs as tables, scripts, a model card, ...", _export, _check_export
    )
    _add_id(made, nargs="+")
    forms = "; ".join(f"{form.name}: {form.title}" for form in FORMS.values())
    made.add_argument("--format", choices=list(FORMS), default="json", help=forms)
    made.add_argument(
        "--to", metavar="PATH", help="file or folder to write (default: standard output)"
    )
    made = action("import", "import runs, marked as imported", _import, _check_import, begins=True)
    files = (
        "file of 'export --format json'; or a table of runs that another program wrote: CSV, as of"
        " 'mlflow experiments csv', or the database of an Optuna study or of a trackio project"
    )
    made.add_argument("file", metavar="FILE", help=files)
    foreign.add_columns(made)
