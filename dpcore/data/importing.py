"""Install full data sets, tables and own images in the data root: checked first, all or none.

`import_folder` looks through a folder and the folders in it. Each data set or table that some files
there may hold is a candidate, which is read if none of its name was. Files with the names of known
ones have to be right. The user's own images, which any folder or zip archive may hold, are passed
over if they are not.
"""

import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from dpcore.data.catalogue import CIFAR10, DATASETS, IDX_NAMES, Dataset, data_root, raw_folder
from dpcore.data.formats import checked_content, content, find, max_bytes, members, open_zip
from dpcore.data.image_folders import PARTS, about, has_images, name_of, read_images
from dpcore.data.originals import MAX_RATINGS, RATINGS, READERS, REVIEWS_ARCHIVE
from dpcore.data.tabular import ORIGINALS
from dpcore.data.tabular.delimited import MAX_BYTES, Original, folder_of_tables
from dpcore.whole_file import whole_file

Wanted = Dataset | Original
Contents = dict[str, bytes]  # by the names of the files in the data root
Say = Callable[[str], None]
# archives as published -> their data set
ARCHIVES = {
    "cifar-10-python.tar.gz": "cifar10",
    "bank-additional.zip": "bank",
    "ml-1m.zip": "movielens",
}
# What is unpacked of an archive -> its most bytes.
MEMBERS = {file.name: max_bytes(file) for file in CIFAR10.batches}
for _table in ORIGINALS.values():
    MEMBERS |= dict.fromkeys(_table.files, MAX_BYTES)
MEMBERS[RATINGS] = MAX_RATINGS
KNOWN = {*MEMBERS, *ARCHIVES, *IDX_NAMES, REVIEWS_ARCHIVE}  # names of files of data sets and tables
MAX_UNPACKED = 2 * sum(map(max_bytes, CIFAR10.batches))  # of a tar archive


def install(wanted: Wanted, folder: Path) -> Path:
    """Check the files in the folder and put them, uncompressed, where torchvision or we look;
    return that place.

    Errors: ValueError naming the first file that is missing, truncated or another one, or a root
    that cannot be written; the root is then unchanged.
    """
    return _put(wanted, _contents(wanted, folder))


def _contents(wanted: Wanted, place: Path) -> Contents:
    """Return the checked files of a data set or a table, or the one that is made of a data set's
    original files.
    """
    if isinstance(wanted, Original):
        wanted.rows(place)  # ValueError if a file is missing or wrong
        contents = {}
        for name in wanted.files:
            path = find(place, name)
            if path:
                contents[name] = content(path, MAX_BYTES)
        return contents
    if not wanted.arrays:
        return {file.name: checked_content(place, file) for file in wanted.files}
    train, test = READERS[wanted.name].read(place, wanted.arrays)
    return {wanted.arrays.name: wanted.arrays.written(train, test)}


def _checked(wanted: Wanted, place: Path) -> tuple[Wanted, Contents]:
    return wanted, _contents(wanted, place)


def _put(wanted: Wanted, contents: Contents) -> Path:
    """Replace the files of a table, or at once the folder of a data set, by these; return their
    folder.
    """
    root = data_root()
    try:
        if isinstance(wanted, Original):  # beside other tables
            for name, raw in contents.items():
                with whole_file(folder_of_tables() / name, shared=True) as file:
                    file.write(raw)
            return folder_of_tables()
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=".incoming-", dir=root, ignore_cleanup_errors=True
        ) as staging:
            made = Path(staging, "made")
            made.mkdir()
            for name, raw in contents.items():
                (made / name).write_bytes(raw)
            return _swap(made, raw_folder(wanted))
    except OSError as error:
        raise ValueError(
            f"Expected the data root {root} to be a writable folder; {error}."
        ) from error


def _swap(made: Path, target: Path) -> Path:
    """Replace the target by the folder made; the old one is deleted with the temporary folder
    around that.
    """
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


class Candidate(NamedTuple):
    """Files that may be a data set or a table, not read yet."""

    key: str  # the same for files of one data set, or of one table
    files: tuple[Path, ...]  # or folders of files
    read: Callable[[], tuple[Wanted, Contents]]  # ValueError if a file is wrong
    passable: bool = False  # if a file is wrong, it is passed over; otherwise nothing is imported


class Taken(NamedTuple):
    """A data set or a table that was read, and its files."""

    wanted: Wanted
    contents: Contents
    files: tuple[Path, ...]


class Passed(NamedTuple):
    """Files that are not taken."""

    files: tuple[Path, ...]
    why: str  # without the full stop


def _nothing(line: str) -> None:
    """Say nothing."""


def import_folder(path: Path, name: str = "", say: Say = _nothing) -> list[Wanted]:
    """Install and return the data sets and tables in a folder, the folders in it, and archives.

    Known files lie in torchvision's layout or side by side, gzipped or not. With a name for own
    images, only the images of the folder, or of the archive at the path, are taken. `say` gets a
    line for each data set, and for each file that was passed over.
    Errors: ValueError if a known file is wrong or nothing is found; nothing is then installed.
    """
    if not os.path.isdir(path) and not os.path.isfile(path):
        raise ValueError(
            f"Expected DIR={str(path)[:300]!r} to be a folder, or a zip or tar archive."
        )
    taken: list[Taken] = []
    refused: list[Passed] = []
    if not name:
        taken, refused = _taken(path)
    if not taken:
        if refused and not os.path.isdir(path / PARTS[0]):
            raise ValueError(f"{refused[0].why}.")
        taken = [Taken(*read_images(path, name), (path,))]
    installed = []
    for each in taken:
        _put(each.wanted, each.contents)
        installed.append(each.wanted)
    for each in taken:
        say(_said(each, path))
    if os.path.isdir(path) and not name:
        for line in _passed_over(path, taken, refused):
            say(line)
    return installed


def _taken(path: Path) -> tuple[list[Taken], list[Passed]]:
    """Return what can be imported, and what cannot; ValueError if a known file is wrong."""
    found: dict[str, Taken] = {}
    refused: list[Passed] = []
    with ExitStack() as opened:
        for each in _candidates(path, opened):
            earlier = found.get(each.key)
            if earlier:
                if earlier.files != each.files:
                    why = f"{earlier.wanted.title} is taken from {_listed(earlier.files, path)}"
                    refused.append(Passed(each.files, why))
                continue
            try:
                found[each.key] = Taken(*each.read(), each.files)
            except ValueError as error:
                if not each.passable:
                    raise
                refused.append(Passed(each.files, str(error).rstrip(".")))
    return list(found.values()), refused


def _candidates(path: Path, opened: ExitStack) -> Iterator[Candidate]:
    """Yield what a folder or a file may hold; ValueError if a known archive is damaged."""
    if os.path.isfile(path):
        published = list(_known(path))
        yield from published or _within(path, _unpacked(path, opened))
        return
    for place in _places(path):
        yield from _known(place, passable=place != path)
        if has_images(place):
            yield _images(place, _parts_of(place))
        for file in _entries(place):
            yield from _in_archive(file, opened)


def _places(folder: Path) -> list[Path]:
    """Return the folder and the folders in it, but for the data root."""
    root = data_root().resolve()
    inner = [each for each in _entries(folder) if os.path.isdir(each) and each.resolve() != root]
    return [folder, *inner]


def _entries(folder: Path) -> list[Path]:
    """Return what is in a folder, without hidden files; nothing if it cannot be read."""
    with suppress(OSError):
        return sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    return []


def _parts_of(folder: Path) -> tuple[Path, ...]:
    return tuple(folder / part for part in PARTS)


def _images(path: Path, files: tuple[Path, ...]) -> Candidate:
    """Return the candidate for own images in a folder or a zip archive."""
    return Candidate(name_of(path), files, partial(read_images, path), passable=True)


def _in_archive(file: Path, opened: ExitStack) -> Iterator[Candidate]:
    """Yield what an archive in a folder may hold."""
    if not os.path.isfile(file):
        return
    zipped = file.suffix.lower() == ".zip"
    if file.name in ARCHIVES or (zipped and _has_known(file)):
        yield from _within(file, _unpacked(file, opened))
    elif zipped:
        yield _images(file, (file,))


def _has_known(file: Path) -> bool:
    """True if a zip archive has a file of a data set or a table, by its name."""
    with suppress(ValueError), open_zip(file) as archive:
        return any(PurePosixPath(name).name in MEMBERS for name in archive.namelist())
    return False


def _within(archive: Path, unpacked: Path) -> Iterator[Candidate]:
    """Yield what was unpacked of an archive."""
    for each in _known(unpacked):
        yield each._replace(files=(archive,))


def _unpacked(path: Path, opened: ExitStack) -> Path:
    """Return a temporary folder with the members of an archive that are named as known files."""
    target = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="dpcore-")))
    try:
        for name, size, source in members(path, MAX_UNPACKED, _is_known):
            if size <= MEMBERS[name.name]:
                with (target / name.name).open("wb") as copy:
                    shutil.copyfileobj(source, copy)
    except (
        OSError,
        EOFError,
        RuntimeError,
        zlib.error,
        tarfile.TarError,
        zipfile.BadZipFile,
    ) as error:
        raise ValueError(
            f"Expected {path} to be a folder, or a whole zip or tar archive; {error}."
        ) from error
    return target


def _is_known(name: PurePosixPath) -> bool:
    return name.name in MEMBERS


def _known(place: Path, *, passable: bool = False) -> Iterator[Candidate]:
    """Yield the tables and data sets with a file in the folder, or which the file is.

    IDX files of no known data set are `passable` or refused.
    """
    for table in ORIGINALS.values():
        files = _found(place, table.files)
        if files:
            yield Candidate(f"table {table.name}", files, partial(_checked, table, place))
    yield from _as_published(place, passable)
    for name, reader in READERS.items():
        dataset = DATASETS[name]
        assert dataset.arrays
        where = reader.find(place, dataset.arrays)
        if where:
            files = _parts_of(where) if os.path.isdir(where) else (where,)
            yield Candidate(name, files, partial(_checked, dataset, where))


def _as_published(folder: Path, passable: bool) -> Iterator[Candidate]:
    """Yield the data sets whose own files are under the folder."""
    found = False
    for dataset in DATASETS.values():
        for place in _places_of(dataset, folder):
            files = _files(place, dataset)
            if files:
                found = True
                yield Candidate(dataset.name, files, partial(_checked, dataset, place))
                break
    side_by_side = _files(folder, DATASETS["mnist"])  # other sets of IDX files have these names
    if side_by_side and not found:
        known = _recognised(folder)
        name = known.name if known else str(folder)
        yield Candidate(name, side_by_side, partial(_identified, known, folder), passable)


def _places_of(dataset: Dataset, folder: Path) -> list[Path]:
    """Return where the published files of a data set may lie in a folder, the likeliest first."""
    if dataset.arrays:
        return []
    places = [folder / dataset.folder / "raw", folder / dataset.folder]
    # The names of batches identify the data set.
    if folder.name == dataset.folder or dataset.batches:
        places += [folder / "raw", folder]
    if folder.name == "raw" and folder.resolve().parent.name == dataset.folder:
        places.append(folder)
    return places


def _families() -> list[Dataset]:
    """Return the data sets of IDX files, whose names are the same."""
    return [dataset for dataset in DATASETS.values() if dataset.idx]


def _recognised(folder: Path) -> Dataset | None:
    """Identify the data set of IDX files by their contents; None if they are of no known one."""
    for dataset in _families():
        for file in dataset.idx:
            with suppress(ValueError):
                checked_content(folder, file)
                return dataset
    return None


def _identified(known: Dataset | None, folder: Path) -> tuple[Wanted, Contents]:
    """Return the data set of IDX files; ValueError if they are of no known one."""
    if known:
        return _checked(known, folder)
    titles = " or ".join(dataset.title for dataset in _families())
    raise ValueError(
        f"Expected the IDX files in {folder} to be those of {titles}; every one is truncated or"
        " another's."
    )


def _files(folder: Path, dataset: Dataset) -> tuple[Path, ...]:
    """Return the files of a data set that are in the folder."""
    return _found(folder, [file.name for file in dataset.files])


def _found(folder: Path, names: Sequence[str]) -> tuple[Path, ...]:
    """Return the files of these names that are in the folder, gzipped or not."""
    found = []
    for name in names:
        path = find(folder, name)
        if path:
            found.append(path)
    return tuple(found)


MAX_LINES = 20  # on files that no data set has
UNKNOWN = "no data set or table here has such a file"
NOT_NEEDED = "it is not needed beside what was taken"
TOO_DEEP = "only the folder itself and the folders in it are looked through"


def _said(taken: Taken, path: Path) -> str:
    """Return the line on a data set that was imported."""
    wanted = taken.wanted
    kind = " (table)" if isinstance(wanted, Original) else ""
    said = f"{wanted.title}{kind}: checked, now under {data_root()}."
    if isinstance(wanted, Dataset) and wanted.fingerprint:
        said += f" {about(wanted)}."
    if taken.files != (path,):
        said += f" From {_listed(taken.files, path)}."
    return said


def _passed_over(path: Path, taken: Sequence[Taken], refused: Sequence[Passed]) -> Iterator[str]:
    """Yield the lines on the files in a folder that were not taken."""
    used: set[Path] = set()
    for each in taken:
        used.update(each.files)
    explained = set(used)
    for each in refused:
        files = tuple(file for file in each.files if file not in used)
        if files:
            explained.update(files)
            yield f"Passed over: {_listed(files, path)}; {each.why}."
    others = list(_unexplained(path, explained))
    for file, why in others[:MAX_LINES]:
        yield f"Passed over: {_listed((file,), path)}; {why}."
    if len(others) > MAX_LINES:
        yield f"Passed over: {len(others) - MAX_LINES:,} more."


def _unexplained(path: Path, explained: set[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the files, and folders too deep, of which nothing was said yet, each with why."""
    for place in _places(path):
        for entry in _entries(place):
            if any(entry.is_relative_to(each) or each.is_relative_to(entry) for each in explained):
                continue
            if os.path.isdir(entry):
                if place != path:
                    yield entry, TOO_DEEP
            elif KNOWN & {entry.name, entry.name.removesuffix(".gz")}:
                yield entry, NOT_NEEDED
            else:
                yield entry, UNKNOWN


def _listed(files: Sequence[Path], path: Path) -> str:
    """Return the files' names below the path, without characters that move a cursor."""
    names = [file.name if file == path else str(file.relative_to(path)) for file in files]
    return "".join(each if each.isprintable() else "?" for each in ", ".join(names))
