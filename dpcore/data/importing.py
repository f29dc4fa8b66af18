"""Install full data sets in the data root: checked first, and complete or not at all."""

import os
import reprlib
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from dpcore.data.catalogue import CIFAR10, DATASETS, MNIST, Dataset, data_root, raw_folder
from dpcore.data.formats import Bounded, checked_content, find, uncompressed
from dpcore.data.originals import READERS
from dpcore.data.tabular.delimited import Original, folder_of_tables

ARCHIVE = "cifar-10-python.tar.gz"  # as published, and as torchvision leaves it
MAX_UNPACKED = 2 * sum(file.max_bytes for file in CIFAR10.batches)
SHORTENED = reprlib.Repr()
SHORTENED.maxstring = 300  # letters of a path in a message


def install(dataset: Dataset, folder: Path, root: Path | None = None) -> Path:
    """Check the data set's files in the folder and put them, uncompressed, where torchvision looks; return that place.

    Errors: ValueError naming the first file that is missing, truncated or another one, or a root that cannot be
    written; the root is then unchanged.
    """
    target = raw_folder(dataset, root)
    _put(_contents(dataset, folder), target, root)
    return target


def _contents(dataset: Dataset, folder: Path) -> dict[str, bytes]:
    return {file.name: checked_content(folder, file) for file in dataset.files}


def _put(contents: dict[str, bytes], target: Path, root: Path | None) -> None:
    """Replace the target by a folder of these files, at once."""
    with _staging(root or data_root()) as staging:
        for name, raw in contents.items():
            (staging / name).write_bytes(raw)
        _swap(staging, target)


def import_folder(folder: Path, root: Path | None = None) -> list[Dataset]:
    """Install every data set under a folder: in torchvision's layout or side by side; gzipped or not.

    A published archive may stand in for the folder, or lie in it.
    Errors: ValueError if a file is another one or nothing is found; nothing is then installed.
    """
    found = [(dataset, _made(dataset, place)) for dataset, place in _of_originals(folder)]
    if not found or _has_images(folder):
        found = [*_images_in(folder), *found]
    for dataset, contents in found:
        _put(contents, raw_folder(dataset, root), root)
    return [dataset for dataset, _ in found]


def _images_in(folder: Path) -> list[tuple[Dataset, dict[str, bytes]]]:
    """Return the data sets of images in a folder or an archive, with their checked files."""
    archive = folder / ARCHIVE
    if os.path.isfile(archive) and not any(_has_any(place, CIFAR10) for place in (folder, folder / CIFAR10.folder)):
        return [*(_checked_images(folder) if _found(folder) else []), *_images_in(archive)]
    with _unpacked(folder) as place:
        return _checked_images(place)


def _checked_images(folder: Path) -> list[tuple[Dataset, dict[str, bytes]]]:
    found = _found(folder)
    if not found:
        raise ValueError(f"Expected files such as {MNIST.idx[0].name} or data_batch_1 under {folder}; found none.")
    return [(dataset, _contents(dataset, place)) for dataset, place in found]


@contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """Yield the folder itself, or a temporary folder with an archive's batches; ValueError if it is neither."""
    if os.path.isdir(path):
        yield path
        return
    if not os.path.isfile(path):
        raise ValueError(f"Expected DIR={SHORTENED.repr(str(path))} to be a folder or CIFAR-10's archive.")
    with tempfile.TemporaryDirectory(prefix="dpcore-") as scratch:
        try:
            _unpack(path, Path(scratch))
        except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
            raise ValueError(f"Expected {path} to be a folder or a whole tar archive; {error}.") from error
        yield Path(scratch)


def _unpack(path: Path, target: Path) -> None:
    """Write the archive's members that are named as batches, and nothing else."""
    files = {file.name: file for dataset in DATASETS.values() for file in dataset.batches}
    with (
        uncompressed(path) as stream,
        tarfile.open(fileobj=cast(IO[bytes], Bounded(stream, MAX_UNPACKED)), mode="r:") as archive,
    ):
        for member in archive:
            name = PurePosixPath(member.name).name
            if name in files and member.isfile() and member.size <= files[name].max_bytes:
                content = archive.extractfile(member)
                (target / name).write_bytes(content.read() if content else b"")


def has_data_sets(folder: Path) -> bool:
    """Return True if a folder has a file of a data set of the catalogue, or its archive."""
    return _has_images(folder) or bool(_of_originals(folder))


def _has_images(folder: Path) -> bool:
    return os.path.isfile(folder / ARCHIVE) or bool(_found(folder))


def _of_originals(folder: Path) -> list[tuple[Dataset, Path]]:
    """Return the data sets whose original files are in the folder, each with their place."""
    found = []
    for name, reader in READERS.items():
        file = DATASETS[name].arrays
        if file and (place := reader.find(folder, file)):
            found.append((DATASETS[name], place))
    return found


def _made(dataset: Dataset, place: Path) -> dict[str, bytes]:
    """Make a data set's file from its original files."""
    assert dataset.arrays
    parts = READERS[dataset.name].read(place, dataset.arrays)
    return {dataset.arrays.name: dataset.arrays.written(*parts)}


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


def found_in(folder: Path, originals: Iterable[Original]) -> list[Original]:
    """Return the originals with a file in the folder, after reading them; ValueError if a file is missing or wrong."""
    found = [each for each in originals if any(find(folder, name) for name in each.files)]
    for each in found:
        each.rows(folder)
    return found


def install_tables(folder: Path, originals: Iterable[Original]) -> None:
    """Copy the files of these tables from the folder into the data root."""
    target = folder_of_tables()
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in (name for each in originals for name in each.files):
            _replace_file(find(folder, name), target, name)
    except OSError as error:
        raise ValueError(f"Expected the data root to take the files under {target}; {error}.") from error


def _replace_file(source: Path | None, target: Path, name: str) -> None:
    """Replace a file by a copy at once, and delete the same file with the other ending."""
    if source is None:
        raise ValueError(f"Expected {name} to be there still.")
    handle, copy = tempfile.mkstemp(dir=target)
    os.close(handle)
    shutil.copyfile(source, copy)
    os.replace(copy, target / source.name)
    other = name if source.suffix == ".gz" else f"{name}.gz"
    if os.path.isfile(target / other):
        os.remove(target / other)
