"""`python -m dpcore COMMAND ...`: run a command; bad input ends with one line and exit status 2."""

import importlib
import sys
from collections.abc import Sequence

from dpcore import __version__, extras

COMMANDS = {
    "app": "serve the pages to a browser",
    "lab": "write the lab as one HTML file that needs no network",
    "epsilon": "compute epsilon by every accountant",
    "calibrate": "find the sigma, steps, sampling rate or batch for a budget",
    "tradeoff": "compute the certified trade-off function and the attack risks",
    "check": "check a claimed epsilon",
    "runs": "list, show, export, resume and delete training runs, and queue sweeps",
    "train": "train a model, private or not",
    "audit": "train a run again and test its claim at every step",
    "papers": "recompute every number that the papers print",
    "perturb": "compare noise in output, objective, gradients and inputs",
    "data": "list, download or import the full data sets",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 2 for bad input, 130 after Ctrl-C."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] in (["-h"], ["--help"]):
        print("usage: python -m dpcore COMMAND [--help] ... | --version\n\ncommands:")
        print("\n".join(f"  {name:<10} {text}" for name, text in COMMANDS.items()))
        return 0
    if words == ["--version"]:
        print(f"dpcore {__version__}")
        return 0
    try:
        if not words or words[0] not in COMMANDS:
            given = f", not {words[0]!r}" if words else ""
            raise ValueError(
                f"Expected a command{given}: {', '.join(COMMANDS)}. --help describes each."
            )
        # A command loads only what it needs: epsilon never sees torch.
        command = importlib.import_module(f"dpcore.commands.{words[0]}")
        return command.run(command.parser().parse_args(words[1:]))
    except (ValueError, extras.MissingExtra) as error:
        return _refused(str(error))
    except ModuleNotFoundError as error:
        sentence = extras.said(error)
        if not sentence:
            raise
        return _refused(sentence)
    except KeyboardInterrupt:
        print("Cancelled.", file=sys.stderr)
        return 130  # as a shell reports Ctrl-C
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        sys.stderr.close()
        return 0


def _refused(sentence: str) -> int:
    """Print the sentence in one line, and return the exit status of bad input."""
    print("dpcore:", " ".join(sentence.split()), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
