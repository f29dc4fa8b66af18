"""The hosts of a server: the names and addresses by which a browser may call it.

A site can make its own name lead to this machine, and a browser then takes both for one site. The
header Host still has that name, so a server that answers only to its own hosts gives such a site's
pages nothing.
"""

import os
import re
from ipaddress import IPv6Address, ip_address

PUBLIC_NAME = "DPCORE_PUBLIC_NAME"  # the environment variable with names, commas between
LOCAL = ("localhost", "127.0.0.1", "::1")
_HEADER = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@/]+))(?::[0-9]*)?", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")


def public_names() -> tuple[str, ...]:
    """Return the hosts in DPCORE_PUBLIC_NAME. Errors: ValueError for what is none."""
    text = os.environ.get(PUBLIC_NAME, "")
    return names_in(text) if text.strip() else ()


def names_in(text: str) -> tuple[str, ...]:
    """Return the names and addresses of a text, which has commas between them.

    Errors: ValueError for what is none, and for an empty text.

    >>> names_in("Class.example, 10.0.0.7")
    ('class.example', '10.0.0.7')
    """
    names = tuple(canonical(each) for each in text.split(","))
    for name in names:
        if not _NAME.fullmatch(name) and not _is_address(name):
            raise ValueError(
                f"Expected the public name {name!r} to be the host in the server's address, "
                "such as class.example.org, without https:// and port."
            )
    return names


def host_of(header: str) -> str:
    """Return the host in a header Host, without the port; empty if the header names none.

    >>> [host_of(text) for text in ("LocalHost:8501", "[0:0::1]:80", "evil@localhost", "a b:c", "")]
    ['localhost', '::1', '', '', '']
    """
    match = _HEADER.fullmatch(header)
    return canonical(match[1] or match[2]) if match else ""


def canonical(host: str) -> str:
    """Return a name in small letters, and an address in the one form that equal addresses share.

    >>> canonical(" Class.Example"), canonical("::ffff:10.0.0.7"), canonical("fe80::0:1%eth0")
    ('class.example', '10.0.0.7', 'fe80::1')
    """
    name = host.strip().lower()
    try:
        address = ip_address(name.partition("%")[0])  # without the zone, which no browser sends
    except ValueError:
        return name
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(address)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
