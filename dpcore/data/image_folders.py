"""Read a data set of the user's own images: train/CLASS/*.png or *.jpg and test/CLASS/*, in a
folder or a zip file.

**Guarantees:** the files of a zip are read, never unpacked. No file is read, and no image decoded,
beyond its bound.
"""

import io
import json
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from dpcore.data.catalogue import DATASETS, FACTS_FILE, LAYOUT, Dataset, own_dataset, raw_folder
from dpcore.data.formats import open_zip
from dpcore.data.loading import Images, Split, fingerprint_of
from dpcore.data.look_alikes import look_alikes
from dpcore.data.tabular import TABLES
from dpcore.data.tabular.table import shuffled
from dpcore.regular_file import open_regular

PARTS = ("train", "test")
ENDINGS = (".png", ".jpg", ".jpeg")
CLASS = r"[\w(][\w (),.&'+-]{0,39}"  # a class's name, which pages and charts show
MAX_CLASSES = 100
MAX_IMAGES = 500_000
SIDES = range(8, 65)  # pixels of a side
MAX_BYTES = 1 << 20  # of an image's file
MAX_PIXELS = 1 << 29  # bytes of all decoded images
# Of a file -> of its pixels.
MODES = {"1": "L", "L": "L", "LA": "L", "P": "RGB", "RGB": "RGB", "RGBA": "RGB"}
RESERVED = ("other", *TABLES)  # "other" stands for no data set in addresses of pages

Opener = Callable[[], IO[bytes]]
Found = tuple[PurePosixPath, Opener | None]  # a path from train or test on; None: a folder


def about(dataset: Dataset) -> str:
    """Say the numbers of classes and images, the size, and the fingerprint of own images."""
    assert dataset.arrays
    count = dataset.arrays
    _, height, width = dataset.shape
    colour = "grey" if dataset.grey else "in colour"
    text = (
        f"{len(dataset.classes)} classes, {count.train:,} training and {count.test:,} test images,"
        f" {width} x {height} pixels, {colour}, fingerprint {dataset.fingerprint[:16]}"
    )
    for *names, last in look_alikes(dataset.classes):
        text += f"; the classes {', '.join(names)} and {last} look alike"
    return text


def has_images(folder: Path) -> bool:
    """True if the folder has an image of a class to train on."""
    return any(each.suffix.lower() in ENDINGS for each in (folder / PARTS[0]).glob("*/*"))


def name_of(path: Path) -> str:
    """Return the name of a folder or a zip file, made safe.

    >>> name_of(Path("My Flowers-2.zip"))
    'my_flowers_2'
    """
    name = path.stem if path.suffix.lower() == ".zip" else path.resolve().name
    return re.sub("[^a-z0-9]+", "_", name.lower()).strip("_")[:40]


def read_images(path: Path, name: str = "") -> tuple[Dataset, dict[str, bytes]]:
    """Return the data set in a folder or a zip file, named as that by default, and the files that
    keep it.

    Errors: ValueError that names the file at fault, or the name if another data set has it.
    """
    with ExitStack() as opened:
        if zipfile.is_zipfile(path):
            found = _in_zip(path, opened.enter_context(open_zip(path)))
        else:
            found = _in_folder(path)
        classes, files = _by_class(path, found)
        training = _mixed(files, "train")
        openers: dict[str, Opener] = {}
        numbers = []
        for image in training + _mixed(files, "test"):
            openers[f"{image} in {path}"] = files[image]
            numbers.append(classes.index(image.parts[1]))
        pixels = _decoded(openers)
    labels = np.array(numbers, np.uint8)
    count = len(training)
    train = (pixels[:count], labels[:count])
    test = (pixels[count:], labels[count:])
    facts: dict[str, Any] = {
        "classes": classes,
        "arrays": {"shape": pixels.shape[1:], "train": count, "test": len(labels) - count},
        "fingerprint": fingerprint_of(Split(Images(*train), Images(*test))),
    }
    dataset = own_dataset(name or name_of(path), **facts)
    _check_name(dataset)
    assert dataset.arrays
    return dataset, {
        dataset.arrays.name: dataset.arrays.written(train, test),
        FACTS_FILE: json.dumps(facts).encode(),
    }


def _mixed(files: Iterable[PurePosixPath], part: str) -> list[PurePosixPath]:
    """Return a part's images in a fixed order that mixes the classes: the last may be held out."""
    names = sorted(name for name in files if name.parts[0] == part)
    return [names[place] for place in shuffled(len(names))]


def _check_name(made: Dataset) -> None:
    """Raise ValueError if other data have the name."""
    name = made.name
    other = DATASETS.get(name)
    if name in RESERVED:
        raise ValueError(
            f"Expected another name than {name}, which other data have: add '--name NAME'."
        )
    if other and replace(other, fingerprint=other.fingerprint or made.fingerprint) != made:
        delete = f", or delete {raw_folder(other)}" if other.fingerprint else ""
        raise ValueError(
            f"Expected the images of {other.title}, which has the name {name}; add '--name"
            f" NAME'{delete}."
        )


def _in_folder(path: Path) -> Iterator[Found]:
    for part in PARTS:
        for place, _, names in os.walk(path / part, followlinks=True):
            folder = PurePosixPath(Path(place).relative_to(path).as_posix())
            yield folder, None
            for name in names:
                yield folder / name, partial(open_regular, os.path.join(place, name))


def _in_zip(path: Path, archive: zipfile.ZipFile) -> Iterator[Found]:
    """The members of both parts, which may lie in a folder of the archive."""
    for member in archive.infolist():
        name = PurePosixPath(member.filename.replace("\\", "/"))
        if re.match("/|[A-Za-z]:", str(name)) or ".." in name.parts:
            raise ValueError(
                f"Expected the names in {path} to stay inside it; {member.filename!r} leads out"
                " of it."
            )
        for place, step in enumerate(name.parts):
            if step in PARTS:
                opener = None if member.is_dir() else partial(archive.open, member)
                yield PurePosixPath(*name.parts[place:]), opener
                break


def _by_class(path: Path, found: Iterable[Found]) -> tuple[list[str], dict[PurePosixPath, Opener]]:
    """Return the classes in order, and the images' files; ValueError for a file or a class that is
    out of place.
    """
    images: dict[PurePosixPath, Opener] = {}
    folders: set[PurePosixPath] = set()
    filled: set[PurePosixPath] = set()
    for name, opener in found:
        if any(step.startswith(".") or step == "Thumbs.db" for step in name.parts):
            continue  # what systems leave behind
        if opener is None:
            if len(name.parts) == 2:
                folders.add(name)
            continue
        image = name.suffix.lower() in ENDINGS
        if len(name.parts) == 2 and not image:
            continue  # a list or a note beside the classes
        if not image or len(name.parts) != 3:
            raise ValueError(f"Expected {path} to hold {LAYOUT}, and no {name}.")
        if name in images:
            raise ValueError(f"Expected one {name} in {path}; there are two.")
        images[name] = opener
        filled.add(name.parent)
        if len(images) > MAX_IMAGES:
            raise ValueError(f"Expected at most {MAX_IMAGES:,} images in {path}.")
    return _classes(path, folders | filled, filled), images


def _classes(path: Path, folders: set[PurePosixPath], filled: set[PurePosixPath]) -> list[str]:
    """Return the classes' names in order; ValueError unless both parts have images of the same 2 to
    100.
    """
    if not folders:
        raise ValueError(
            f"Expected the files of a data set or a table, or {LAYOUT}, under {str(path)[:300]};"
            " found none."
        )
    classes = sorted({folder.name for folder in folders if folder.parts[0] == "train"})
    for folder in sorted(folders):
        if folder.name not in classes:
            raise ValueError(
                f"Expected each class of {path} to have a folder in train; {folder} is in test"
                " alone."
            )
        if not re.fullmatch(CLASS, folder.name):
            raise ValueError(
                f"Expected the class {folder.name!r} in {path} to be named by 1 to 40 letters or"
                " digits."
            )
    for name in classes:
        for part in PARTS:
            folder = PurePosixPath(part, name)
            if folder not in filled:
                raise ValueError(f"Expected an image in {folder} of {path}; there is none.")
    if not 2 <= len(classes) <= MAX_CLASSES:
        raise ValueError(
            f"Expected 2 to {MAX_CLASSES} classes in {path}; there are {len(classes)}:"
            f" {classes[0]} ..."
        )
    return classes


def _decoded(files: dict[str, Opener]) -> NDArray[np.uint8]:
    """Return images (n, H, W), or (n, 3, H, W) if one is coloured; ValueError if one is broken or
    of another size.
    """
    images: list[NDArray[np.uint8]] = []
    for name, opener in files.items():
        image = _pixels(name, opener)
        images.append(image)
        height, width = images[0].shape[:2]
        if image.shape[:2] != (height, width):
            size = f"{width} x {height} pixels, as {next(iter(files))} has"
            raise ValueError(
                f"Expected {name} to have {size}; it has {image.shape[1]} x {image.shape[0]}."
            )
        if len(files) * image.size > MAX_PIXELS:
            raise ValueError(
                f"Expected {name} and the others to have at most {MAX_PIXELS:,} pixels together."
            )
    if all(image.ndim == 2 for image in images):
        return np.stack(images)
    coloured = np.empty((len(images), 3, *images[0].shape[:2]), np.uint8)
    for row, image in zip(coloured, images, strict=True):
        row[:] = image if image.ndim == 2 else image.transpose(2, 0, 1)
    return coloured


def _pixels(name: str, opener: Opener) -> NDArray[np.uint8]:
    """Return a grey (H, W) or colour image (H, W, 3); ValueError says why a file is no image."""
    try:
        with opener() as stream, warnings.catch_warnings():
            # Its size is looked at below.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            raw = stream.read(MAX_BYTES + 1)
            image = Image.open(io.BytesIO(raw), formats=("PNG", "JPEG"))  # reads its header alone
        if len(raw) > MAX_BYTES or not {*image.size} <= {*SIDES}:
            raise ValueError(
                f"it has {image.width} x {image.height} pixels in {len(raw):,} bytes or more"
            )
        if getattr(image, "n_frames", 1) > 1:
            raise ValueError("it has several pictures, one after another")
        image = ImageOps.exif_transpose(image)  # upright, as whoever looks at it sees it
        opacity = image.convert("RGBA").getchannel("A").getextrema()
        if image.mode not in MODES or opacity != (255, 255):
            raise ValueError(
                f"its mode is {image.mode}, which is neither grey nor RGB without transparency"
            )
        return np.asarray(image.convert(MODES[image.mode]))
    except Exception as error:  # a damaged archive or image may raise anything
        sides = f"{SIDES[0]} to {SIDES[-1]} pixels a side and at most {MAX_BYTES:,} bytes"
        why = f"; {error}"
        if isinstance(error, UnidentifiedImageError):
            why = ""
        raise ValueError(
            f"Expected {name} to be a whole PNG or JPEG image of {sides}{why}."
        ) from error
