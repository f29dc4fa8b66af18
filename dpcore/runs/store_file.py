"""The file of the run store: create or update its tables, and explain its faults."""

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dpcore.regular_file import check_regular
from dpcore.runs.record import StoreError

# The newest event of a run.
LAST = "(SELECT body FROM events WHERE run = runs.id ORDER BY sequence DESC LIMIT 1)"


def latest(event: str) -> str:
    """The newest event of a run that has this name, in SQL."""
    own = f"""run = runs.id AND body LIKE '{{"event": "{event}"%'"""
    return f"(SELECT body FROM events WHERE {own} ORDER BY sequence DESC LIMIT 1)"


SAVED = latest("checkpointed")  # from which a run continues
TESTED = latest("evaluated")
# work of a step of training, as `cost_of` counts it
PER_STEP = (
    "(COALESCE(json_extract(settings, '$.batch'), 0) + COALESCE(json_extract(settings, '$.public'),"
    " 0) / 3)"
)


def sql_of(name: str) -> str:
    """The SQL of a file of this folder."""
    return Path(__file__).with_name(f"{name}.sql").read_text(encoding="utf-8")


VERSION = 1 + sql_of("updates").count("-- version ")  # PRAGMA user_version
FILE = "runs.sqlite3"
BUSY = 10.0  # seconds a writer waits for its turn

_REASONS = {  # primary result code -> condition, way out
    sqlite3.SQLITE_NOTADB: (
        "a database",
        "It was left as it is; move it away or name another place in DPCORE_HOME.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "an intact database",
        "It was left as it is; restore it or move it away.",
    ),
    sqlite3.SQLITE_FULL: (
        "on a disk with room left",
        "Nothing was saved; free some space and try again.",
    ),
    sqlite3.SQLITE_IOERR: ("on a disk that works and has room left", "Nothing was saved."),
    sqlite3.SQLITE_READONLY: ("writable", "Name another place in DPCORE_HOME."),
    sqlite3.SQLITE_CANTOPEN: (
        "a file in a writable directory",
        "Name another place in DPCORE_HOME.",
    ),
    sqlite3.SQLITE_BUSY: (
        f"free within {BUSY:g} s",
        "Nothing was saved; another process holds it.",
    ),
}


Database = sqlite3.Connection


def insert(db: Database, row: Mapping[str, Any]) -> None:
    """Write a row of `row_of`."""
    db.execute(
        f"INSERT INTO runs ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
        tuple(row.values()),
    )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of the file into StoreErrors, which name the path, the reason and a way out."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        condition, way_out = _REASONS.get(code, ("usable", "Nothing was saved."))
        raise StoreError(
            f"Expected the run store {path} to be {condition}, but: {error}. {way_out}"
        ) from error
    except OSError as error:
        raise StoreError(
            f"Expected the run store {path} to be a file in a writable directory: {error}."
        ) from error


def identity_of(path: Path) -> tuple[int, int]:
    """The file at the path, which another one may replace."""
    file = os.stat(path)
    return file.st_dev, file.st_ino


def opened(path: Path) -> Database:
    """Connect to the store, or create it; another program's database is refused, unchanged."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_regular(path)
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY, 0o600))  # it will hold secret seeds
    db = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
    db.row_factory = sqlite3.Row
    try:
        if _version(db, path) != VERSION:
            _make(db, path)
        _keep_private(path)
        # A power cut may take the last events, never the file.
        db.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        db.close()
        raise
    return db


def _version(db: sqlite3.Connection, path: Path) -> int:
    """The version of the schema, 0 for an empty database.

    Errors: StoreError for a database that this program did not make.
    """
    both = "SELECT user_version, (SELECT COUNT(*) FROM sqlite_master) FROM pragma_user_version"
    # One statement: between two another process may make the store.
    version, tables = db.execute(both).fetchone()
    empty = version == 0 and tables == 0
    if empty or 1 <= version <= VERSION:
        return version
    raise StoreError(
        f"Expected the run store {path} to have schema version {VERSION} or less, but it has"
        f" {version}: another version of this program, or another program, made it. It was left as"
        " it is; name another place in DPCORE_HOME."
    )


def _make(db: sqlite3.Connection, path: Path) -> None:
    """Create or update the tables, once, in whichever process comes first."""
    _use_write_ahead_log(db)
    db.execute("BEGIN IMMEDIATE")
    with db:
        version = _version(db, path)
        statements = sql_of("tables")
        if version:  # of an older program: only what came since
            statements = sql_of("updates").partition(f"-- version {version + 1}\n")[2]
        for statement in statements.split(";\n"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {VERSION}")
        _keep_private(path)  # before a secret is written


def _keep_private(path: Path) -> None:
    """Let only the owner read the store and its log.

    Others can read stores of older versions and restored copies. SQLite gives a new log the mode of
    the store.
    """
    for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        with suppress(FileNotFoundError):  # a log comes and goes
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)


def _use_write_ahead_log(db: sqlite3.Connection) -> None:
    """Switch the file to WAL, and wait for a turn, which SQLite does not do here."""
    deadline = time.monotonic() + BUSY
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)
