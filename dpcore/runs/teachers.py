"""Which browsers the teacher has signed in with: a mark for each, in the home, that only the teacher's key makes.

Another key, twelve hours, or signing out end it. Several server processes on one home agree.
"""

import hmac
import re
import time
from contextlib import suppress
from pathlib import Path

from dpcore.runs.keys import LONGEST, same, teacher_key

FOLDER = "teachers"
LASTS = 12 * 3600.0  # seconds
OWNER = re.compile("[0-9a-f]{32}")  # what becomes the name of a file


def sign_in(home: Path, owner: str, given: str) -> bool:
    """Make this owner the teacher if that is the key; OSError or ValueError says why nobody can be."""
    key, _ = teacher_key(home)
    if not OWNER.fullmatch(owner) or len(given) > LONGEST or not same(given.strip(), key):
        return False
    folder = home / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / owner).write_text(_mark(key, owner), encoding="utf-8")
    return True


def sign_out(home: Path, owner: str) -> None:
    """End it."""
    if OWNER.fullmatch(owner):
        (home / FOLDER / owner).unlink(missing_ok=True)


def is_teacher(home: Path, owner: str) -> bool:
    """Whether this owner is the teacher at present."""
    if not OWNER.fullmatch(owner):
        return False
    file = home / FOLDER / owner
    with suppress(OSError, ValueError):
        fresh = time.time() - file.stat().st_mtime < LASTS
        return fresh and same(file.read_text(encoding="utf-8"), _mark(teacher_key(home)[0], owner))
    return False


def _mark(key: str, owner: str) -> str:
    return hmac.new(key.encode(), f"teacher {owner}".encode(), "sha256").hexdigest()
