"""`python -m dpcore COMMAND ...`: finds the command's module, and turns bad input into one line and exit status 2."""

import importlib
import sys
from collections.abc import Sequence

from dpcore import __version__

COMMANDS = {
    "app": "the pages in a browser, served on this machine",
    "epsilon": "epsilon against steps, by every accountant",
    "calibrate": "the sigma, steps, sampling rate or batch that keeps a budget",
    "tradeoff": "the certified trade-off function, and what an attacker can do",
    "check": "whether a claimed epsilon holds, with a certificate",
    "runs": "the training runs of this machine, and what can be done with them",
    "train": "one training run, its events as they happen",
    "audit": "a run trained again with eyes on every step: does what it claims hold",
    "papers": "what the papers print, recomputed, and what holds",
    "perturb": "private learning with noise in output, objective, gradients or inputs",
    "data": "the full data sets: status, download, import",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is its own, 2 for bad input, and 130 where Ctrl-C ended it."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] in (["-h"], ["--help"]):
        print(usage())
        return 0
    if words == ["--version"]:
        print(f"dpcore {__version__}")
        return 0
    try:
        if not words or words[0] not in COMMANDS:
            given = repr(words[0]) if words else "nothing"
            raise ValueError(f"Expected command={given} to be one of: {', '.join(COMMANDS)}.")
        # A command loads only what it needs: epsilon never sees torch.
        command = importlib.import_module(f"dpcore.commands.{words[0]}")
        return command.run(command.parser().parse_args(words[1:]))
    except ValueError as error:
        print("dpcore:", " ".join(str(error).split()), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Cancelled.", file=sys.stderr)
        return 130  # as a shell reports Ctrl-C
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        sys.stderr.close()
        return 0


def usage() -> str:
    """What `--help` prints."""
    lines = [f"  {name:<10} {text}" for name, text in COMMANDS.items()]
    return "\n".join(["usage: python -m dpcore COMMAND [--help] ... | --version", "", "commands:", *lines])


if __name__ == "__main__":
    sys.exit(main())
