"""`python -m dpcore data status | download | import DIR`: list or install the full data sets."""

import argparse
from functools import partial
from pathlib import Path

from dpcore import check
from dpcore.commands import Parser, parser_of, print_json
from dpcore.data.catalogue import DATASETS, LAYOUT, available, data_root, missing, remedy
from dpcore.data.download import download
from dpcore.data.image_folders import about
from dpcore.data.importing import import_folder
from dpcore.data.tabular import ORIGINALS, TABLES

FETCHED = [each.name for each in DATASETS.values() if not each.arrays]  # users bring the others


def parser() -> Parser:
    made = parser_of("data", "List, download or import the full data sets.")
    actions = made.add_subparsers(dest="action", required=True, metavar="ACTION")
    status = actions.add_parser("status", help="list the installed data sets")
    status.add_argument("--json", action="store_true", help="print one JSON object")
    fetch = actions.add_parser("download", help="download the full data sets and check them")
    fetch.add_argument(
        "--dataset", metavar="ID", help=f"only this one: {', '.join({**DATASETS, **ORIGINALS})}"
    )
    take = actions.add_parser(
        "import", help="install full data sets from their original files, or your own images"
    )
    found = f"IDX files, CIFAR-10's Python batches, other original files, or {LAYOUT}"
    take.add_argument(
        "folder",
        metavar="DIR",
        type=Path,
        help=f"a folder, the folders in it and their archives, or one archive, with {found}",
    )
    take.add_argument(
        "--name",
        metavar="ID",
        default="",
        help="of your own images; by default named as the folder",
    )
    return made


def run(arguments: argparse.Namespace) -> int:
    """Do the action; exit status 1 for a failed download."""
    actions = {"status": _status, "download": _download, "import": _import}
    return actions[arguments.action](arguments)


def _status(arguments: argparse.Namespace) -> int:
    if arguments.json:
        prints = {name: each.fingerprint for name, each in DATASETS.items() if each.fingerprint}
        print_json(
            {
                "root": str(data_root()),
                "sources": {name: list(available(name)) for name in DATASETS},
                "tables": {name: table.absent() for name, table in TABLES.items()},
                "fingerprints": prints,
            }
        )
        return 0
    print(f"Data root: {data_root()}")
    for name, dataset in DATASETS.items():
        sample = "bundled sample here" if dataset.sampled else "no sample is bundled"
        print(f"{dataset.title}: {sample}; full set {_full(name)}")
        if dataset.fingerprint:
            print(f"  {about(dataset)}.")
        if dataset.note:
            print(f"  {dataset.note}")
    for name, table in TABLES.items():
        if name not in DATASETS or name in ORIGINALS:
            print(f"{table.title} (table): {table.absent() or 'here'}")
    return 0


def _full(name: str) -> str:
    """Say where the full set is, or how to get it."""
    dataset = DATASETS[name]
    absent = missing(dataset)
    if "full" in available(name):
        return f"in {dataset.debian_folder}" if absent else "here"
    if len(absent) < len(dataset.files) or "is missing" not in absent[0]:
        return f"damaged: {absent[0]}"
    return f"missing: {remedy(dataset)}"


def _download(arguments: argparse.Namespace) -> int:
    known = {**DATASETS, **ORIGINALS}
    names = FETCHED
    if arguments.dataset is not None:
        names = [arguments.dataset]
        check.one_of(known, dataset=arguments.dataset)
    status = 0
    for name in names:
        if not download(known[name], partial(print, flush=True)):
            status = 1
    return status


def _import(arguments: argparse.Namespace) -> int:
    import_folder(arguments.folder, arguments.name, print)
    return 0
