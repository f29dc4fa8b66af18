"""Install full data sets, tables and the user's own images in the data root: checked first, all of them or none."""

import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from contextlib import ExitStack, suppress
from pathlib import Path

from dpcore.data.catalogue import CIFAR10, DATASETS, Dataset, data_root, raw_folder
from dpcore.data.formats import checked_content, content, find, max_bytes, members
from dpcore.data.image_folders import read_images
from dpcore.data.originals import MAX_RATINGS, RATINGS, READERS
from dpcore.data.tabular import ORIGINALS
from dpcore.data.tabular.delimited import MAX_BYTES, Original, folder_of_tables
from dpcore.whole_file import whole_file

Wanted = Dataset | Original
# archives as published -> their data set
ARCHIVES = {"cifar-10-python.tar.gz": "cifar10", "bank-additional.zip": "bank", "ml-1m.zip": "movielens"}
MEMBERS = {file.name: max_bytes(file) for file in CIFAR10.batches}  # what is unpacked of an archive -> its most bytes
MEMBERS |= {name: MAX_BYTES for each in ORIGINALS.values() for name in each.files} | {RATINGS: MAX_RATINGS}
MAX_UNPACKED = 2 * sum(map(max_bytes, CIFAR10.batches))  # of a tar archive


def install(wanted: Wanted, folder: Path) -> Path:
    """Check the files in the folder and put them, uncompressed, where torchvision or we look; return that place.

    Errors: ValueError naming the first file that is missing, truncated or another one, or a root that cannot be
    written; the root is then unchanged.
    """
    return _put(wanted, _contents(wanted, folder))


def _contents(wanted: Wanted, place: Path) -> dict[str, bytes]:
    """Return the checked files of a data set or a table, or the one that is made of a data set's original files."""
    if isinstance(wanted, Original):
        wanted.rows(place)  # ValueError if a file is missing or wrong
        return {name: content(path, MAX_BYTES) for name in wanted.files if (path := find(place, name))}
    if not wanted.arrays:
        return {file.name: checked_content(place, file) for file in wanted.files}
    return {wanted.arrays.name: wanted.arrays.written(*READERS[wanted.name].read(place, wanted.arrays))}


def _put(wanted: Wanted, contents: dict[str, bytes]) -> Path:
    """Replace the files of a table, or at once the folder of a data set, by these; return their folder."""
    root = data_root()
    try:
        if isinstance(wanted, Original):  # beside other tables
            for name, raw in contents.items():
                with whole_file(folder_of_tables() / name, shared=True) as file:
                    file.write(raw)
            return folder_of_tables()
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".incoming-", dir=root, ignore_cleanup_errors=True) as staging:
            made = Path(staging, "made")
            made.mkdir()
            for name, raw in contents.items():
                (made / name).write_bytes(raw)
            return _swap(made, raw_folder(wanted))
    except OSError as error:
        raise ValueError(f"Expected the data root {root} to be a writable folder; {error}.") from error


def _swap(made: Path, target: Path) -> Path:
    """Replace the target by the folder made; the old one is deleted with the temporary folder around that."""
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = made.with_name("old")
    if target.exists():
        target.rename(aside)
    try:
        return made.rename(target)
    except OSError:
        if aside.exists():
            aside.rename(target)
        raise


def import_folder(folder: Path, name: str = "") -> list[Wanted]:
    """Install every data set and table under a folder or in an archive, or else the user's own images there.

    Known files lie in torchvision's layout or side by side, gzipped or not, or in a published archive. If there is a
    name for own images, only these are taken.
    Errors: ValueError if a file is wrong or nothing is found; nothing is then installed.
    """
    with ExitStack() as opened:
        places = [] if name and os.path.isdir(folder) else _places(folder, opened)
        found = [(wanted, _contents(wanted, where)) for place in places for wanted, where in _known(place)]
    if name or not found:
        found = [read_images(folder, name)]
    for wanted, contents in found:
        _put(wanted, contents)
    return [wanted for wanted, _ in found]


def _places(path: Path, opened: ExitStack) -> list[Path]:
    """Return the path, and temporary folders with what is unpacked of an archive; ValueError if it does not exist."""
    archives = [path] if os.path.isfile(path) and not _known(path) else []
    if os.path.isdir(path):
        here = {each.name for each, _ in _known(path)}
        archives = [path / each for each, name in ARCHIVES.items() if name not in here and os.path.isfile(path / each)]
    elif not os.path.isfile(path):
        raise ValueError(f"Expected DIR={str(path)[:300]!r} to be a folder, or a zip or tar archive.")
    return [path, *(_unpacked(each, opened) for each in archives)]


def _unpacked(path: Path, opened: ExitStack) -> Path:
    """Return a temporary folder with the members of an archive that are named as known files."""
    target = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="dpcore-")))
    try:
        for name, size, source in members(path, MAX_UNPACKED):
            if size <= MEMBERS.get(name.name, -1):
                with (target / name.name).open("wb") as copy:
                    shutil.copyfileobj(source, copy)
    except (OSError, EOFError, RuntimeError, zlib.error, tarfile.TarError, zipfile.BadZipFile) as error:
        raise ValueError(f"Expected {path} to be a folder, or a whole zip or tar archive; {error}.") from error
    return target


def _known(folder: Path) -> list[tuple[Wanted, Path]]:
    """Return the tables and data sets with a file in the folder, each with the place of its files."""
    found: list[tuple[Wanted, Path]] = [
        (each, folder) for each in ORIGINALS.values() if any(find(folder, name) for name in each.files)
    ]
    found += _as_published(folder)
    for name, reader in READERS.items():
        file = DATASETS[name].arrays
        if file and (place := reader.find(folder, file)):
            found.append((DATASETS[name], place))
    return found


def _as_published(folder: Path) -> list[tuple[Dataset, Path]]:
    """Return the data sets whose own files are under the folder, each with their place."""
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
            with suppress(ValueError):
                checked_content(folder, file)
                return dataset
    titles = " or ".join(dataset.title for dataset in families)
    raise ValueError(
        f"Expected the IDX files in {folder} to be those of {titles}; every one is truncated or another's."
    )


def _has_any(folder: Path, dataset: Dataset) -> bool:
    return any(find(folder, file.name) for file in dataset.files)
