"""`python -m dpcore lab export FILE.html`: write the lab as one file that needs no network."""

import argparse
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

from dpcore import check
from dpcore.commands import DELTA, Parser, number, parser_of, whole
from dpcore.data.catalogue import dataset_of
from dpcore.labfile.page import page_of
from dpcore.labfile.shipped import fits, shipped
from dpcore.labfile.stops import LEAST_DELTA, Stops, opening, stops_of
from dpcore.labfile.table import Table, computed
from dpcore.training.settings import Settings
from dpcore.whole_file import whole_file

PROCESSES = 2
MAX_PROCESSES = 64


def parser() -> Parser:
    made = parser_of("lab", "Write the lab as one HTML file that needs no network.")
    actions = made.add_subparsers(dest="action", required=True, metavar="ACTION")
    export = actions.add_parser("export", help="write the file")
    export.add_argument("file", metavar="FILE.html", type=Path)
    usual = Settings()
    export.add_argument(
        "--dataset",
        metavar="ID",
        default=usual.dataset,
        help=f"whose recorded accuracies are shown (default {usual.dataset})",
    )
    export.add_argument(
        "--n", type=whole, help="number of examples (default: those of the data set in the lab)"
    )
    export.add_argument(
        "--delta", type=number, default=usual.delta, help=f"{DELTA} (default {usual.delta:g})"
    )
    export.add_argument(
        "--processes", type=whole, default=PROCESSES, help=f"to compute with (default {PROCESSES})"
    )
    export.add_argument(
        "--anew",
        action="store_true",
        help="compute numbers that come with the package, too; this takes minutes",
    )
    return made


def run(arguments: argparse.Namespace) -> int:
    dataset = dataset_of(arguments.dataset).name
    n = opening(dataset).examples if arguments.n is None else arguments.n
    stops = stops_of(dataset, n)
    check.in_range(LEAST_DELTA, 1, ends="[)", delta=arguments.delta)
    check.whole(1, MAX_PROCESSES, processes=arguments.processes)
    if arguments.file.suffix != ".html":
        raise ValueError(f"Expected FILE={str(arguments.file)!r} to end with .html.")
    if not arguments.file.parent.is_dir():
        raise ValueError(f"Expected the folder of FILE={str(arguments.file)!r} to be there.")
    if fits(n, arguments.delta) and not arguments.anew:
        table = shipped()
    else:
        table = _computed(n, arguments.delta, stops, arguments.processes)
    page = page_of(table, dataset).encode()
    with whole_file(arguments.file, shared=True) as file:
        file.write(page)
    count = table.planes[0].size
    print(f"{arguments.file}: {count:,} settings in {len(page):,} bytes. Open it in a browser.")
    return 0


def _computed(n: int, delta: float, stops: Stops, processes: int) -> Table:
    """Compute the table, with a bar."""
    columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=1.0)

        def report(share: float) -> None:
            bar.update(task, completed=share)

        return computed(n, delta, stops, processes=processes, report=report)
