"""Install full data sets, tables and the user's own images in the data root: checked first, all of them or none."""

import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from dpcore.data.catalogue import CIFAR10, DATASETS, Dataset, data_root, raw_folder
from dpcore.data.formats import Bounded, checked_content, find, uncompressed
from dpcore.data.image_folders import read_images
from dpcore.data.originals import READERS
from dpcore.data.tabular import ORIGINALS
from dpcore.data.tabular.delimited import MAX_BYTES, Original, folder_of_tables
from dpcore.whole_file import whole_file

ARCHIVES = {"cifar-10-python.tar.gz": "cifar10", "bank-additional.zip": "bank"}  # as published -> their data set
MEMBERS = {file.name: file.max_bytes for file in CIFAR10.batches}  # what is unpacked of an archive -> its most bytes
MEMBERS |= {name: MAX_BYTES for each in ORIGINALS.values() for name in each.files}
MAX_UNPACKED = 2 * sum(file.max_bytes for file in CIFAR10.batches)  # of a tar archive


def install(dataset: Dataset, folder: Path, root: Path | None = None) -> Path:
    """Check the data set's files in the folder and put them, uncompressed, where torchvision looks; return that place.

    Errors: ValueError naming the first file that is missing, truncated or another one, or a root that cannot be
    written; the root is then unchanged.
    """
    target = raw_folder(dataset, root)
    _put(_contents(dataset, folder), target, root)
    return target


def _contents(dataset: Dataset, place: Path) -> dict[str, bytes]:
    """Return the checked files of a data set, or the one that is made of its original files."""
    if not dataset.arrays:
        return {file.name: checked_content(place, file) for file in dataset.files}
    return {dataset.arrays.name: dataset.arrays.written(*READERS[dataset.name].read(place, dataset.arrays))}


def _put(contents: dict[str, bytes], target: Path, root: Path | None) -> None:
    """Replace the target by a folder of these files, at once."""
    with _staging(root or data_root()) as staging:
        for name, raw in contents.items():
            (staging / name).write_bytes(raw)
        _swap(staging, target)


def import_folder(folder: Path, root: Path | None = None, name: str = "") -> list[Dataset | Original]:
    """Install every data set and table under a folder or in an archive, or else the user's own images there.

    Known files lie in torchvision's layout or side by side, gzipped or not, or in a published archive. If there is a
    name for own images, only these are taken.
    Errors: ValueError if a file is wrong or nothing is found; nothing is then installed.
    """
    with ExitStack() as opened:
        places = [] if name and os.path.isdir(folder) else _places(folder, opened)
        tables = [(each, place) for place in places for each in _tables(place)]
        for table, place in tables:
            table.rows(place)  # ValueError if a file is missing or wrong
        found = [(dataset, _contents(dataset, where)) for place in places for dataset, where in _sets(place)]
        if name or not (tables or found):
            tables, found = [], [read_images(folder, name)]
        for dataset, contents in found:
            _put(contents, raw_folder(dataset, root), root)
        for table, place in tables:
            _install_table(table, place)
    return [*(table for table, _ in tables), *(dataset for dataset, _ in found)]


def _places(path: Path, opened: ExitStack) -> list[Path]:
    """Return the path, and temporary folders with what is unpacked of an archive; ValueError if it does not exist."""
    archives = [path] if os.path.isfile(path) and not _of_originals(path) else []
    if os.path.isdir(path):
        here = {each.name for each, _ in _sets(path)} | {each.name for each in _tables(path)}
        archives = [path / each for each, name in ARCHIVES.items() if name not in here and os.path.isfile(path / each)]
    elif not os.path.isfile(path):
        raise ValueError(f"Expected DIR={str(path)[:300]!r} to be a folder, or a zip or tar archive.")
    return [path, *(_unpacked(each, opened) for each in archives)]


def _unpacked(path: Path, opened: ExitStack) -> Path:
    """Return a temporary folder with the members of an archive that are named as known files."""
    target = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="dpcore-")))
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    name = PurePosixPath(member.filename).name
                    if name in MEMBERS and member.file_size <= MEMBERS[name]:  # no more than its size is read
                        with archive.open(member) as source, (target / name).open("wb") as copy:
                            shutil.copyfileobj(source, copy)
        else:
            _unpack_tar(path, target)
    except (OSError, EOFError, RuntimeError, zlib.error, tarfile.TarError, zipfile.BadZipFile) as error:
        raise ValueError(f"Expected {path} to be a folder, or a whole zip or tar archive; {error}.") from error
    return target


def _unpack_tar(path: Path, target: Path) -> None:
    with (
        uncompressed(path) as stream,
        tarfile.open(fileobj=cast(IO[bytes], Bounded(stream, MAX_UNPACKED)), mode="r:") as archive,
    ):
        for member in archive:
            name = PurePosixPath(member.name).name
            if member.isfile() and member.size <= MEMBERS.get(name, -1):
                content = archive.extractfile(member)
                (target / name).write_bytes(content.read() if content else b"")


def _sets(place: Path) -> list[tuple[Dataset, Path]]:
    """Return the data sets of the catalogue in a folder, each with the place of its files."""
    return [*_found(place), *_of_originals(place)]


def _of_originals(folder: Path) -> list[tuple[Dataset, Path]]:
    """Return the data sets whose original files are in the folder, each with their place."""
    found = []
    for name, reader in READERS.items():
        file = DATASETS[name].arrays
        if file and (place := reader.find(folder, file)):
            found.append((DATASETS[name], place))
    return found


def _found(folder: Path) -> list[tuple[Dataset, Path]]:
    """Return the data sets under the folder, each with the place of its files."""
    found = []
    for dataset in (each for each in DATASETS.values() if not each.arrays):
        places = [folder / dataset.folder / "raw", folder / dataset.folder]
        if folder.name == dataset.folder or dataset.batches:  # the names of batches identify the data set
            places += [folder / "raw", folder]
        if folder.name == "raw" and folder.resolve().parent.name == dataset.folder:
            places.append(folder)
        place = next((place for place in places if _has_any(place, dataset)), None)
        if place:
            found.append((dataset, place))
    if not found and _has_any(folder, next(iter(DATASETS.values()))):
        found.append((_recognised(folder), folder))
    return found


def _recognised(folder: Path) -> Dataset:
    """Identify the data set of IDX files by their contents, since their names are the same."""
    families = [dataset for dataset in DATASETS.values() if dataset.idx]
    for dataset in families:
        for file in dataset.idx:
            path = find(folder, file.name)
            if path and file.is_at(path):
                return dataset
    titles = " or ".join(dataset.title for dataset in families)
    raise ValueError(
        f"Expected the IDX files in {folder} to be those of {titles}; every one is truncated or another's."
    )


def _has_any(folder: Path, dataset: Dataset) -> bool:
    return any(find(folder, file.name) for file in dataset.files)


@contextmanager
def _staging(root: Path) -> Iterator[Path]:
    """Yield a temporary folder in the root."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".incoming-", dir=root))
    except OSError as error:
        raise ValueError(f"Expected the data root {root} to be a writable folder; {error}.") from error
    try:
        inner = staging / "raw"
        inner.mkdir()
        yield inner
    except OSError as error:
        raise ValueError(f"Expected the data root {root} to take the files; {error}.") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _swap(staged: Path, target: Path) -> None:
    """Replace the target by the staged folder; the old one is deleted with the staging folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = staged.with_name("old")
    if target.exists():
        target.rename(aside)
    try:
        staged.rename(target)
    except OSError:
        if aside.exists():
            aside.rename(target)
        raise


def _tables(folder: Path) -> list[Original]:
    """Return the tables with a file in the folder."""
    return [each for each in ORIGINALS.values() if any(find(folder, name) for name in each.files)]


def _install_table(table: Original, folder: Path) -> None:
    """Copy the files of a table from the folder into the data root."""
    target = folder_of_tables()
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in table.files:
            _replace_file(find(folder, name), target, name)
    except OSError as error:
        raise ValueError(f"Expected the data root to take the files under {target}; {error}.") from error


def _replace_file(source: Path | None, target: Path, name: str) -> None:
    """Replace a file by a copy at once, and delete the same file with the other ending."""
    if source is None:
        raise ValueError(f"Expected {name} to be there still.")
    with open(source, "rb") as original, whole_file(target / source.name, shared=True) as copy:
        shutil.copyfileobj(original, copy)
    other = name if source.suffix == ".gz" else f"{name}.gz"
    if os.path.isfile(target / other):
        os.remove(target / other)
