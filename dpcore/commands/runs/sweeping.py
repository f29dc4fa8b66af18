"""The action that queues a grid of runs: `sweep`."""

import argparse
from typing import Any

from dpcore import check
from dpcore.commands import Parser, whole
from dpcore.commands.runs.action import Action
from dpcore.commands.runs.run_texts import print_json
from dpcore.commands.train import add_settings, config_of, option
from dpcore.runs.editing import LONGEST_NAME, text
from dpcore.runs.store import Store
from dpcore.runs.sweeps import MOST, submit_sweep, sweep_in, sweep_of, values_of

PRICE = "To release one of them, or the best, costs more than it alone: each of them uses the data."


def _of_sweep(parser: Parser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--grid",
        action="append",
        required=True,
        metavar="SETTING=VALUE,...",
        help="a setting and its values, as sigma=1,2,4; once or twice",
    )
    parser.add_argument("--seeds", type=whole, default=1, metavar="COUNT", help="how many runs of each combination")
    parser.add_argument("--name", default="", help="what the runs are called, before their settings")


def _check_sweep(arguments: argparse.Namespace) -> None:
    """Read the grid before there is a store. What is not swept has the defaults that suit its first values."""
    check.whole(1, MOST, seeds=arguments.seeds)
    axes: dict[str, list[Any]] = {}
    for each in arguments.grid:
        name, between, values = each.partition("=")
        setting = name.strip().replace("-", "_")
        if not between or setting in axes:
            raise ValueError(f"Expected --grid {each[:80]!r} to be a setting, =, and values, each setting once.")
        axes[setting] = values_of(setting, values)
        if getattr(arguments, setting, None) is not None:
            raise ValueError(f"Expected no {option(setting)} beside --grid {setting}: it would change nothing.")
        setattr(arguments, setting, axes[setting][0])
    arguments.name = text(arguments.name, LONGEST_NAME, "name")
    arguments.axes, arguments.configs = list(axes), sweep_of(config_of(arguments), axes, arguments.seeds)


def _sweep(store: Store, arguments: argparse.Namespace) -> int:
    sweep = submit_sweep(store, arguments.configs, arguments.axes, arguments.name)
    queued = sweep_in(store, sweep)
    runs = queued.runs if queued else []
    if arguments.json:
        print_json({"sweep": sweep, "runs": [run.id for run in runs]})
        return 0
    print("\n".join(f"{run.id}  {run.name}" for run in runs))
    print(f"Queued {len(runs)} runs as sweep {sweep}; 'python -m dpcore app' trains what is queued. {PRICE}")
    return 0


SWEEP = Action(
    "sweep", "queue a grid over one or two settings, with several seeds", _of_sweep, _sweep, _check_sweep, True
)
