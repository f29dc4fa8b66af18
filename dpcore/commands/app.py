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


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(prog="python -m dpcore app", description="Serve the pages on this machine; Ctrl-C ends it.")
    made.add_argument("--port", type=whole, default=PORT, help=f"where on {HOST} (default {PORT})")
    return made


def run(arguments: argparse.Namespace) -> int:
    """Become Streamlit's server, which answers to the signals of this process; ValueError for a port in use."""
    check.whole(1, 65535, port=arguments.port)
    _check_free(arguments.port)
    # -P: what lies in the present folder is not taken for the library
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(script())]
    command += ["--server.address", HOST, "--server.port", str(arguments.port)]
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


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # as the server does: one that ended is no hindrance
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise ValueError(f"Expected port={port} on {HOST} to be free; {error.strerror}.") from error
