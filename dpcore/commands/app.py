"""`python -m dpcore app`: serve the pages."""

import argparse
import os
import socket
import sys
from pathlib import Path

from dpcore import check, extras
from dpcore.commands import Parser, parser_of, whole

HOST = "127.0.0.1"  # only this machine reaches it
PORT = 8501
OPEN = (
    "Anybody who reaches {} may change every run. With --shared only its owner may: see"
    " docs/classroom.md."
)


def parser() -> Parser:
    made = parser_of("app", "Serve the pages to a browser. Ctrl-C ends the server.")
    made.add_argument(
        "--port", type=whole, default=PORT, help=f"port to listen on (default {PORT})"
    )
    made.add_argument(
        "--host",
        default=HOST,
        metavar="ADDRESS",
        help=f"address (default {HOST}: this machine alone)",
    )
    made.add_argument(
        "--public-name",
        metavar="NAME",
        help=(
            "name by which browsers call the server, as behind a proxy; several with commas between"
        ),
    )
    made.add_argument(
        "--shared", action="store_true", help="give each run an owner (same as DPCORE_SHARED=1)"
    )
    made.add_argument(
        "--teacher", action="store_true", help="make a new teacher's key; needs --shared"
    )
    return made


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by Streamlit's server. Errors: ValueError for a port in use."""
    _check_installed()
    from dpcore.runs.host_names import PUBLIC_NAME, names_in, public_names
    from dpcore.runs.limits import SHARED, shared  # late: the store of runs needs much
    from dpcore.runs.record import state_directory
    from dpcore.runs.teacher_key import TEACHER

    host = arguments.host
    port = arguments.port
    check.whole(1, 65535, port=port)
    _check_free(host, port)
    if arguments.public_name is not None:
        os.environ[PUBLIC_NAME] = ",".join(names_in(arguments.public_name))
    public_names()  # an error is said before the server starts
    if arguments.shared:
        os.environ[SHARED] = "1"
    if arguments.teacher:
        if not shared():
            raise ValueError("Expected no --teacher without --shared: it would change nothing.")
        # The server makes a new one and prints it.
        (state_directory() / TEACHER).unlink(missing_ok=True)
    if not shared() and host not in (HOST, "localhost", "::1"):
        print(OPEN.format(host), file=sys.stderr)
    # -P: files in the present folder must not replace the library's
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(script())]
    command += ["--server.address", host, "--server.port", str(port)]
    sys.stdout.flush()
    os.execv(sys.executable, command)


def script() -> Path:
    """Find the app's script: in an installed library, or beside it in a checkout.

    Streamlit reads its settings and theme from .streamlit beside the script.

    >>> script().name, (script().parent / ".streamlit" / "config.toml").is_file()
    ('app.py', True)
    """
    library = Path(__file__).parents[1]
    installed = library / "site" / "app.py"
    return installed if installed.is_file() else library.parent / "app.py"


def _check_installed() -> None:
    """Raise MissingExtra without the packages of the pages; say it if training has to wait."""
    extras.require("app", "The pages need it")
    try:
        extras.require("train", "Runs stay queued until a trainer is there")
    except extras.MissingExtra as missing:
        print(missing, file=sys.stderr)


def _check_free(host: str, port: int) -> None:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise ValueError(
            f"Expected --host {host!r} to be an address of this machine, such as {HOST}."
        ) from error
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as probe:
        # As the server does, also after an ended one.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise ValueError(
                f"Expected port={port} on {host} to be free: {error.strerror}; try another."
            ) from error
