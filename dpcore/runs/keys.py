"""Keys of a server that several people share, each in a file that only its owner can read."""

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

COOKIES, TEACHER = "cookie.key", "teacher.key"  # files in the home
CHOSEN = "DPCORE_TEACHER_KEY"  # the environment variable of who chooses the teacher's key
SHORTEST, LONGEST = 8, 200  # characters of a teacher's key
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that reads like something else
_MADE = re.compile(f"[{_ALPHABET}]{{5}}(-[{_ALPHABET}]{{5}}){{3}}")


def cookie_key(home: Path) -> bytes:
    """What cookies are signed with, made where there is none. OSError or ValueError says why there is none."""
    text, _ = kept(home / COOKIES, lambda: secrets.token_hex(32))
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise ValueError(f"Expected {home / COOKIES} to hold 64 hexadecimal digits; remove it, and a new one is made.")
    return key


def teacher_key(home: Path) -> tuple[str, bool]:
    """What makes its holder the teacher, and whether it was made just now: then it was never shown to anybody.

    OSError or ValueError says why there is none.
    """
    chosen = os.environ.get(CHOSEN, "").strip()
    key, made = (chosen, False) if chosen else kept(home / TEACHER, _new_teacher_key)
    if not SHORTEST <= len(key) <= LONGEST:
        where = CHOSEN if chosen else str(home / TEACHER)
        raise ValueError(f"Expected {where} to have {SHORTEST} to {LONGEST} characters, but it has {len(key)}.")
    return key, made


def guessable(home: Path) -> bool:
    """Whether the teacher's key may be one that somebody guesses: any but one that was made here, which has 99 bits.

    OSError or ValueError says why there is none.
    """
    key, _ = teacher_key(home)
    return bool(os.environ.get(CHOSEN, "").strip()) or not _MADE.fullmatch(key)


def same(given: str, key: str) -> bool:
    """Whether a text is the key; how long that takes tells nothing of it.

    >>> same("open", "open"), same("opeN", "open"), same("", "open")
    (True, False, False)
    """
    return hmac.compare_digest(_digest(given), _digest(key))


def kept(file: Path, make: Callable[[], str]) -> tuple[str, bool]:
    """What the file says, and whether it was made just now; who makes it at the same time gets the same."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = not file.exists() and _made(file, make())
    if file.stat().st_mode & 0o077:  # a copy that was put back
        file.chmod(0o600)
    return file.read_text(encoding="utf-8").strip(), made


def _made(file: Path, text: str) -> bool:
    """Write a whole file where there is none; False where somebody was quicker."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    try:
        with open(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as out:
            out.write(f"{text}\n")
        os.link(draft, file)
    except FileExistsError:
        return False
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
    return True


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _new_teacher_key() -> str:
    """Four groups of five letters: 99 bits."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(5)) for _ in range(4))
