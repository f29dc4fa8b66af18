"""A foreign SQLite database, read from its bytes, of which nothing is trusted."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

Database = sqlite3.Connection
MAGIC = b"SQLite format 3\0"
MODES = slice(18, 20)  # two bytes that say how it is written; 2 asks for a log beside it
ROLLBACK = b"\1\1"
MAX_WORK = 20_000  # rounds of 1,000 instructions of SQLite, for all questions


@contextmanager
def opened(content: bytes) -> Iterator[Database]:
    """A connection to a copy in memory. Errors: ValueError for a database that cannot be read."""
    changed = bytearray(content)
    changed[MODES] = ROLLBACK
    rounds = iter(range(MAX_WORK))
    with closing(sqlite3.connect(":memory:")) as db:
        db.row_factory = sqlite3.Row
        try:
            db.deserialize(bytes(changed))
            db.execute("PRAGMA trusted_schema = OFF")
            db.set_progress_handler(lambda: next(rounds, None) is None, 1_000)
            yield db
        except (sqlite3.Error, OverflowError, TypeError, LookupError) as error:
            raise ValueError(f"Expected the database to be readable, but: {error}.") from None


def tables_of(db: Database) -> set[str]:
    """The names of its tables, without views."""
    return {
        row["name"] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    }


def json_in(value: Any) -> Any:
    """The value of a JSON text, or of its bytes; None if it is none."""
    try:
        return json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return None
