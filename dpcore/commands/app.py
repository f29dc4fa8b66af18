"""`python -m dpcore app`: the pages, served on this machine."""

import argparse
import os
import socket
import sys
from pathlib import Path

from dpcore import check
from dpcore.commands import Parser, whole

HOST = "127.0.0.1"  # nobody else reaches it
PORT = 8501
OPEN = "Whoever reaches {} may change every run. With --shared a run is its owner's: see docs/classroom.md."


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(prog="python -m dpcore app", description="Serve the pages on this machine; Ctrl-C ends it.")
    made.add_argument("--port", type=whole, default=PORT, help=f"where to listen (default {PORT})")
    made.add_argument("--host", default=HOST, metavar="ADDRESS", help=f"of this machine (default {HOST}: only itself)")
    made.add_argument("--shared", action="store_true", help="a classroom, as DPCORE_SHARED=1: runs have owners")
    made.add_argument("--teacher", action="store_true", help="make a new teacher's key first; needs --shared")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Become Streamlit's server, which answers to the signals of this process; ValueError for a port in use."""
    from dpcore.runs.limits import SHARED, shared  # late: the store of runs needs much
    from dpcore.runs.record import state_directory
    from dpcore.runs.teacher_key import TEACHER

    host, port = arguments.host, arguments.port
    check.whole(1, 65535, port=port)
    _check_free(host, port)
    if arguments.shared:
        os.environ[SHARED] = "1"
    if arguments.teacher:
        if not shared():
            raise ValueError("Expected no --teacher without --shared: it would change nothing.")
        (state_directory() / TEACHER).unlink(missing_ok=True)  # the server makes another as it starts, and says it
    if not shared() and host not in (HOST, "localhost", "::1"):
        print(OPEN.format(host), file=sys.stderr)
    # -P: what lies in the present folder is not taken for the library
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(script())]
    command += ["--server.address", host, "--server.port", str(port)]
    sys.stdout.flush()
    os.execv(sys.executable, command)


def script() -> Path:
    """The app's script: within the library where it is installed, beside it in a checkout.

    Streamlit reads the settings and the theme in .streamlit beside the script.

    >>> script().name, (script().parent / ".streamlit" / "config.toml").is_file()
    ('app.py', True)
    """
    library = Path(__file__).parents[1]
    installed = library / "site" / "app.py"
    return installed if installed.is_file() else library.parent / "app.py"


def _check_free(host: str, port: int) -> None:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise ValueError(f"Expected host={host!r} to be an address of this machine.") from error
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # as the server does: one that ended is no hindrance
        try:
            probe.bind(address)
        except OSError as error:
            raise ValueError(f"Expected port={port} on {host} to be free; {error.strerror}.") from error
