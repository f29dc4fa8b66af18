"""The secrets of a shared server: its keys, and the marks of signed-in teachers.

The keys are the key of its cookies and the teacher's key. Each is a file in the home that only the
owner of the home can read, so all server processes agree. Behind a key stands its seal, an HMAC by
the key of cookies: a key without one was chosen by somebody, or made by a version that sealed none,
and is refused. A teacher's mark can only be made with the teacher's key. It ends after twelve
hours, with sign-out, or with a new key.
"""

import hmac
import os
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dpcore.regular_file import regular_text
from dpcore.whole_file import private

COOKIES = "cookie.key"  # a file in the home
TEACHER = "teacher.key"  # a file in the home
MARKS = "teachers"  # a folder in the home
MARK_SECONDS = 12 * 3600.0  # for which a mark holds
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # no letter looks like a digit
_COOKIE_KEY = re.compile("[0-9a-fA-F]{64}")
_TEACHER_KEY = re.compile(f"[{_ALPHABET}]{{5}}(-[{_ALPHABET}]{{5}}){{3}}")
_OWN_NONE = " Students then own none of their earlier runs; the teacher can still change those."
_OWNER = re.compile("[0-9a-f]{32}")  # becomes the name of a file


def cookie_key(home: Path) -> bytes:
    """The key that signs cookies, made if there is none.

    OSError or ValueError says why there is none.
    """
    text, _ = _secret_in(home / COOKIES, _new_cookie_key, _COOKIE_KEY, bytes.fromhex, _OWN_NONE)
    return bytes.fromhex(text)


def teacher_key(home: Path) -> tuple[str, bool]:
    """The teacher's key, and whether it was made just now, so that nobody has seen it yet.

    It has 99 bits, so guessing is hopeless; a chosen key is refused, as it has no seal. OSError or
    ValueError says why there is none.
    """
    key = cookie_key(home)
    return _secret_in(home / TEACHER, _new_teacher_key, _TEACHER_KEY, lambda _: key)


def sign_in(home: Path, owner: str, given: str) -> bool:
    """Make this owner the teacher if the key is right.

    OSError or ValueError says why nobody can be.
    """
    key, _ = teacher_key(home)
    if not _OWNER.fullmatch(owner) or not _same(given.strip(), key):
        return False
    folder = home / MARKS
    folder.mkdir(mode=0o700, exist_ok=True)
    with open(folder / owner, "w", encoding="utf-8", opener=private) as mark:
        mark.write(_mark(key, owner))
    return True


def sign_out(home: Path, owner: str) -> None:
    if _OWNER.fullmatch(owner):
        (home / MARKS / owner).unlink(missing_ok=True)


def is_teacher(home: Path, owner: str) -> bool:
    if not _OWNER.fullmatch(owner):
        return False
    file = home / MARKS / owner
    with suppress(OSError, ValueError):
        fresh = time.time() - file.stat().st_mtime < MARK_SECONDS
        return fresh and _same(regular_text(file), _mark(teacher_key(home)[0], owner))
    return False


def _secret_in(
    file: Path,
    make: Callable[[], str],
    form: re.Pattern[str],
    sealing: Callable[[str], bytes],
    loss: str = "",
) -> tuple[str, bool]:
    """The key in a file, and whether it was made just now; processes that race get the same one.

    `sealing` gives the key of its seal, and `loss` says what a new one costs.
    Errors: OSError; ValueError unless the file holds a key of this form with its seal.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = False
    if not file.exists():
        new = make()
        made = _made(file, f"{new}\n{_seal(file, new, sealing(new))}")
    if file.stat().st_mode & 0o077:  # a restored copy
        file.chmod(0o600)
    key, _, seal = regular_text(file).strip().partition("\n")
    if not form.fullmatch(key) or not _same(seal, _seal(file, key, sealing(key))):
        raise ValueError(
            f"Expected {file} to hold a key with its seal, which a chosen one and those of older "
            f"versions lack; remove it, and a new one is made.{loss}"
        )
    return key, made


def _seal(file: Path, text: str, key: bytes) -> str:
    return hmac.new(key, f"{file.name} {text}".encode(), "sha256").hexdigest()


def _made(file: Path, text: str) -> bool:
    """Write a whole file if there is none; False if another process was quicker."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(descriptor, "w", encoding="utf-8") as out:
            out.write(f"{text}\n")
        os.link(draft, file)
    except FileExistsError:
        return False
    finally:
        draft.unlink(missing_ok=True)
    return True


def _new_cookie_key() -> str:
    return secrets.token_hex(32)


def _new_teacher_key() -> str:
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(20))
    return "-".join([letters[:5], letters[5:10], letters[10:15], letters[15:]])


def _mark(key: str, owner: str) -> str:
    return hmac.new(key.encode(), f"teacher {owner}".encode(), "sha256").hexdigest()


def _same(given: str, secret: str) -> bool:
    """Compare the texts in a time that reveals only the length."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode())
