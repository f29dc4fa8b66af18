"""Bringing the original files of tables into the data root: from a folder, or from openml.org by scikit-learn."""

import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dpcore.data.catalogue import IMPORT
from dpcore.data.download import one_line
from dpcore.data.tabular.delimited import Original, folder_of_tables, place_of

UNUSED = "0"  # in the place of a field that openml.org leaves out and nobody learns from


def found_in(folder: Path, originals: Iterable[Original]) -> list[Original]:
    """Those of which a file lies in the folder, each of them read; ValueError where a file is missing or wrong."""
    found = [each for each in originals if any(place_of(folder, name) for name in each.files)]
    for each in found:
        each.rows(folder)
    return found


def install_tables(folder: Path, originals: Iterable[Original]) -> None:
    """Copy the files of tables that were found in the folder into the data root."""
    target = folder_of_tables()
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in (name for each in originals for name in each.files):
            _replace(place_of(folder, name), target, name)
    except OSError as error:
        raise ValueError(f"Expected the data root to take the files under {target}; {error}.") from error


def download_table(original: Original, say: Callable[[str], None]) -> bool:
    """Fetch the table from openml.org unless it is here; whether it is here in the end. `say` gets a line each time."""
    if not original.absent():
        say(f"{original.title}: already here.")
        return True
    if original.openml is None:
        say(f"{original.title}: no number at openml.org is known here; {IMPORT} takes {original.files[0]}.")
        return False
    say(f"{original.title}: trying openml.org by scikit-learn ...")
    try:
        frame = _fetched(original.openml)
        with tempfile.TemporaryDirectory(prefix="dpcore-") as scratch:
            written(original, frame, Path(scratch))
            install_tables(Path(scratch), found_in(Path(scratch), [original]))
    except Exception as error:  # scikit-learn lets through whatever the network, its cache or a parser raise
        say(f"{original.title}: not from openml.org: {one_line(error)}")
        say(f"{original.title}: could not be downloaded; {IMPORT} takes it from files.")
        return False
    say(f"{original.title}: checked, now in {folder_of_tables()}.")
    return True


def written(original: Original, frame: Any, folder: Path) -> None:
    """Write what openml.org has as the original's first file, and the other ones empty."""
    columns = [_words(frame, name) for name in original.fields[:-1]]
    columns.append([str(word).strip(" '\"") for word in frame.iloc[:, -1]])
    rows = [[UNUSED if column is None else column[place] for column in columns] for place in range(len(frame))]
    with (folder / original.files[0]).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=original.separator)
        writer.writerows([original.fields] if original.header else [])
        writer.writerows(rows)
    for name in original.files[1:]:
        (folder / name).write_text("")


def _words(frame: Any, name: str) -> list[str] | None:
    if name not in frame:
        return None
    return ["?" if value != value or value is None else str(value).strip(" '\"") for value in frame[name]]


def _fetched(number: int) -> Any:
    from sklearn.datasets import fetch_openml  # here, not above: costs a second

    found: Any = fetch_openml(data_id=number, as_frame=True, parser="auto")
    return found.frame


def _replace(source: Path | None, target: Path, name: str) -> None:
    """Put a copy in the target's place at once; the same file with the other ending goes."""
    if source is None:
        raise ValueError(f"Expected {name} to be there still.")
    handle, copy = tempfile.mkstemp(dir=target)
    os.close(handle)
    shutil.copyfile(source, copy)
    os.replace(copy, target / source.name)
    other = name if source.suffix == ".gz" else f"{name}.gz"
    if os.path.isfile(target / other):
        os.remove(target / other)
