"""Watch runs in a terminal: a progress bar for each, and the accuracy of one as a curve."""

import math
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dpcore.commands.train import printer
from dpcore.privacy.report.numbers import percent
from dpcore.runs.expected import duration, rest_of_run
from dpcore.runs.history import all_of
from dpcore.runs.in_words import name_of, progress_of, status_of, steps_of
from dpcore.runs.kinds import TRAINING
from dpcore.runs.lifecycle import Status
from dpcore.runs.record import Run
from dpcore.runs.store import Store
from dpcore.runs.supervision import recover_dead
from dpcore.training.events import Evaluated, Event, Stepped

PAUSE = 0.25  # seconds between two looks at the store
ROWS = 10  # of a curve
COLUMNS = 60
BAR = 40
DOT = "•"
MAX_RUNS = 20  # runs in the picture


Wait = Callable[[float], object]  # of time.sleep


def watch_one(store: Store, item: Run, *, as_json: bool = False, wait: Wait = time.sleep) -> int:
    """Show a training run until it ends or until Ctrl-C, which does not end it.

    In a pipe, print its events.
    """
    if item.kind != TRAINING.name:
        raise ValueError(f"Expected run={item.id!r} to be a training run, not a {item.kind}.")
    if as_json or not sys.stdout.isatty():
        say = printer(as_json)

        def print_new(now: Run, said: Sequence[Event], new: Sequence[Event]) -> None:
            for event in new:
                say(event)

        return _follow(store, item, print_new, wait)
    with Live(console=Console(), auto_refresh=False) as live:

        def draw(now: Run, said: Sequence[Event], new: Sequence[Event]) -> None:
            live.update(_of_run(now, said), refresh=True)

        return _follow(store, item, draw, wait)


def watch_all(store: Store, *, wait: Wait = time.sleep) -> int:
    """Show queued and running training runs until Ctrl-C. Errors: ValueError without a terminal."""
    if not sys.stdout.isatty():
        raise ValueError(
            "Expected a terminal for --watch; 'runs list' without it prints the runs once."
        )
    with suppress(KeyboardInterrupt), Live(console=Console(), auto_refresh=False) as live:
        for _ in count():
            recover_dead(store)
            live.update(_of_runs(store.runs(Status.RUNNING, Status.QUEUED)), refresh=True)
            wait(PAUSE)
    return 0


def _follow(
    store: Store,
    item: Run,
    show: Callable[[Run, Sequence[Event], Sequence[Event]], object],
    wait: Wait,
) -> int:
    """Show the run, all of its events, and the new ones, again and again until it has ended."""
    said: list[Event] = []
    with suppress(KeyboardInterrupt):
        while True:
            recover_dead(store)
            item = store.run(item.id)  # before its events: an ended run then has all of them
            new = store.events(item.id, len(said))
            said += new
            show(item, said, new)
            if not item.active:
                break
            wait(PAUSE)
    return 0


def _of_runs(items: Sequence[Run]) -> RenderableType:
    table = Table("ID", "STATUS", "", "PROGRESS", "NAME", box=None, header_style="")
    for item in sorted(items, key=lambda each: (each.position or 0, each.id))[:MAX_RUNS]:
        table.add_row(item.id, status_of(item), _bar(item), progress_of(item), Text(name_of(item)))
    below = ""
    if not items:
        below = "No active runs."
    elif len(items) > MAX_RUNS:
        below = f"and {len(items) - MAX_RUNS} more"
    return Group(table, Text(below))


def _of_run(item: Run, said: Sequence[Event]) -> RenderableType:
    points = [(test.step, test.accuracy) for test in all_of(said, Evaluated)]
    lines = curve(points, _steps(item)) if points else ["Not tested yet."]
    head = Table.grid(padding=(0, 2))
    head.add_row(item.id, status_of(item), _bar(item), progress_of(item), _left(item, said))
    return Group(Text(name_of(item)), head, Text("\n".join(["", "test accuracy", *lines])))


def _bar(item: Run) -> ProgressBar:
    return ProgressBar(total=_steps(item), completed=item.done or 0, width=BAR)


def _steps(item: Run) -> int:
    return steps_of(item) or max(item.done or 0, 1)  # of another version


def _left(item: Run, said: Sequence[Event]) -> str:
    """Return the time left at the pace of the latest reports."""
    paces = [event.steps_per_second for event in all_of(said, Stepped)]
    left = rest_of_run(_steps(item), item.done or 0, paces)
    if item.status is not Status.RUNNING or left == math.inf:
        return ""
    return f"{duration(left)} left"


def curve(points: Sequence[tuple[int, float]], steps: int) -> list[str]:
    """Draw accuracies against steps as lines of text.

    >>> for line in curve([(1, 0.1), (50, 0.8), (100, 0.9)], 100)[:3]: print(line.replace("•", "*"))
     90.0% |                                                           *
     81.1% |                              *
     72.2% |
    """
    accuracies = [y for _, y in points]
    high = max(accuracies)
    span = high - min(accuracies)
    grid = [[" "] * COLUMNS for _ in range(ROWS)]
    for x, y in points:
        row = round((high - y) / span * (ROWS - 1)) if span > 0 else 0
        column = int(x / max(steps, 1) * COLUMNS)
        grid[row][min(COLUMNS - 1, column)] = DOT
    lines = []
    for row, dots in enumerate(grid):
        level = percent(high - span * row / (ROWS - 1), gap="")
        lines.append(f"{level:>6} |{''.join(dots)}".rstrip())
    lines.append(f"{'':6} +{'-' * COLUMNS}")
    lines.append(f"{'step':>6}  0{steps:>{COLUMNS - 1},}")
    return lines
