"""The cookie by which a browser is known again: a random id of 128 bits, signed with a key of this server.

What is noted with runs is a digest of the id. So nobody who reads that learns a cookie, and who has no key makes none.
"""

import hashlib
import hmac
import re
import secrets

LASTS = 365 * 24 * 3600  # seconds
VALUE = re.compile(r"([0-9a-f]{32})\.([0-9a-f]{64})")


def name_of(key: bytes) -> str:
    """The name of the cookies of a server with this key: two servers of one machine do not take each other's away.

    >>> name_of(b"key")
    'dpcore_visitor_2c70e12b'
    """
    return f"dpcore_visitor_{hashlib.sha256(key).hexdigest()[:8]}"


def new_cookie(key: bytes) -> str:
    """The value of a cookie that nobody has yet."""
    visitor = secrets.token_hex(16)
    return f"{visitor}.{_signed(key, visitor)}"


def owner_of(value: str, key: bytes) -> str:
    """The owner that a cookie's value stands for; empty for one that was not signed with this key.

    >>> owner_of("nonsense", b"key"), len(owner_of(new_cookie(b"key"), b"key")), owner_of(new_cookie(b"key"), b"other")
    ('', 32, '')
    """
    found = VALUE.fullmatch(value)
    if found is None or not hmac.compare_digest(found[2], _signed(key, found[1])):
        return ""
    return hashlib.sha256(f"owner {found[1]}".encode()).hexdigest()[:32]


def header_of(key: bytes, *, secure: bool) -> str:
    """What the header Set-Cookie says, of a new cookie: no script reads it, and no other site's request carries it."""
    attributes = f"Path=/; Max-Age={LASTS}; HttpOnly; SameSite=Lax{'; Secure' if secure else ''}"
    return f"{name_of(key)}={new_cookie(key)}; {attributes}"


def _signed(key: bytes, visitor: str) -> str:
    return hmac.new(key, f"visitor {visitor}".encode(), hashlib.sha256).hexdigest()
