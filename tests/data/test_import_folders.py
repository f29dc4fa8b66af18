"""An import takes all that is in a folder and one level below, and says of each file what became of
it.
"""

import gzip
import re
import zipfile
from pathlib import Path

import pytest

from dpcore.__main__ import main
from dpcore.data import formats
from dpcore.data.catalogue import DATASETS, available, dataset_of
from dpcore.data.image_folders import read_images
from dpcore.data.importing import MAX_LINES, import_folder
from dpcore.data.look_alikes import FOREIGN, LATIN, look_alikes
from dpcore.data.tabular import ORIGINALS
from tests.data.cifar_files import archived
from tests.data.idx_folders import tiny, write
from tests.data.image_files import folder, images, zipped
from tests.data.original_files import imdb_archive, movielens_archive, small
from tests.data.table_files import write_adult, write_bank, write_kddcup99

pytestmark = pytest.mark.usefixtures("root")


@pytest.fixture
def given(tmp_path: Path) -> Path:
    (tmp_path / "given").mkdir()
    return tmp_path / "given"


def imported(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that an import of the path says."""
    assert main(["data", "import", str(path)]) == 0
    return capsys.readouterr().out.splitlines()


def bank_archive(path: Path) -> Path:
    """The archive as it is published."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bank(path.parent)
    (name,) = ORIGINALS["bank"].files
    plain = path.parent / name
    zipped(path, {f"bank-additional/{name}": plain.read_bytes(), "bank-additional/names.txt": b"x"})
    plain.unlink()
    return path


def everything(path: Path) -> None:
    """Write a data set of each kind into a folder of its own."""
    (path / "README.md").write_text("Full data sets")
    for place in ("Adult", "KDDCup99", "IMDb", "MovieLens"):
        (path / place).mkdir()
    write_adult(path / "Adult")
    bank_archive(path / "Bank" / "bank-additional.zip")
    write_kddcup99(path / "KDDCup99")
    plain = path / "KDDCup99" / "kddcup.data_10_percent"
    plain.with_name(f"{plain.name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    imdb_archive(path / "IMDb" / "aclImdb_v1.tar.gz")
    movielens_archive(path / "MovieLens" / "ml-1m.zip")
    (path / "Pets").mkdir()
    zipped(path / "Pets" / "my pets.zip", images())
    folder(path / "flowers", images(classes=("rose", "tulip")))


def test_a_folder_for_each_data_set_gives_all_of_them(
    given, root, monkeypatch, cifar10, mnist, capsys
):
    for name in ("imdb", "movielens"):
        monkeypatch.setitem(DATASETS.shipped, name, small(name))
    everything(given)
    write(given / "MNIST" / "raw", mnist.contents, gzipped=True)
    archived(given / "CIFAR" / "cifar-10-python.tar.gz", cifar10.contents)
    said = imported(given, capsys)
    for name in ("mnist", "cifar10", "imdb", "movielens", "my_pets", "flowers"):
        assert "full" in available(name), name
    for name in ("adult", "bank", "kddcup99"):
        assert ORIGINALS[name].absent() == "", name
    sources = {
        "Adult (table)": "Adult/adult.data, Adult/adult.test",
        "Bank (table)": "Bank/bank-additional.zip",
        "KDDCup99 (table)": "KDDCup99/kddcup.data_10_percent.gz",
        "CIFAR-10": "CIFAR/cifar-10-python.tar.gz",
        "IMDb": "IMDb/aclImdb_v1.tar.gz",
        "MovieLens 1M": "MovieLens/ml-1m.zip",
        "my_pets": "Pets/my pets.zip",
        "flowers": "flowers/train, flowers/test",
    }
    for title, files in sources.items():
        (line,) = [each for each in said if each.startswith(f"{title}: checked, now under {root}.")]
        assert line.endswith(f" From {files}.")
    (line,) = [each for each in said if each.startswith("MNIST: checked")]
    assert line.count("MNIST/raw/") == 4
    assert len(said) == len(sources) + 2
    assert said[-1] == "Passed over: README.md; no data set or table here has such a file."
    assert imported(given, capsys) == said  # again, in place of what is there


def test_what_is_passed_over_is_said_with_its_reason(given, capsys):
    write_bank(given)
    bank_archive(given / "again" / "bank-additional.zip")
    folder(given, {".hidden": b"x", "again/deep/inner/x.csv": b"x", "notes.txt": b"x"})
    bad = images()
    bad["train/cat/001.png"] = b"nonsense"
    zipped(given / "bad.zip", bad)
    zipped(given / "other.zip", {"x/readme.txt": b"x"})
    (given / "torn.zip").write_bytes(b"PK nonsense")
    write(given / "letters", tiny("mnist", seed=9)[1])
    plain = given / ORIGINALS["bank"].files[0]
    plain.with_name(f"{plain.name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
    said = imported(given, capsys)
    assert said[0].startswith("Bank (table): checked")
    reasons = {
        "bad.zip": "Expected train/cat/001.png in .*bad.zip to be a whole PNG or JPEG image",
        "other.zip": "Expected the files of a data set or a table, or train/CLASS.*; found none",
        "torn.zip": "Expected the files of a data set or a table, or train/CLASS.*; found none",
        "again/bank-additional.zip": f"Bank is taken from {plain.name}",
        f"{plain.name}.gz": "it is not needed beside what was taken",
        "letters/.*-ubyte": (
            "Expected the IDX files in .*letters to be those of MNIST or Fashion-MNIST"
        ),
        "again/deep": "only the folder itself and the folders in it are looked through",
        "notes.txt": "no data set or table here has such a file",
    }
    for name, why in reasons.items():
        (line,) = [
            each
            for each in said[1:]
            if each.startswith("Passed over: ") and matches(name, why, each)
        ]
        assert line.endswith(".")
    assert len(said) == len(reasons) + 1


def matches(name: str, why: str, line: str) -> bool:
    return re.fullmatch(rf"Passed over: {name}; {why}.*\.", line) is not None


def test_of_many_other_files_some_are_named_and_the_rest_counted(given, capsys):
    write_bank(given)
    folder(given, {f"{number:04d}.txt": b"" for number in range(500)})
    (given / "0000\x1b[2J.txt").touch()
    said = imported(given, capsys)
    assert len(said) == 1 + MAX_LINES + 1
    assert said[-1] == f"Passed over: {501 - MAX_LINES:,} more."
    assert "Passed over: 0000?[2J.txt; no data set or table here has such a file." in said


def test_a_known_file_that_is_wrong_one_level_below_keeps_all_out(given, root, capsys):
    everything(given)
    path = given / "Adult" / "adult.test"
    path.write_text(path.read_text().replace("<=50K", "little"))
    assert main(["data", "import", str(given)]) == 2
    assert "adult.data to be one of" in capsys.readouterr().err
    assert not root.exists()


def test_a_folder_with_nothing_but_a_wrong_archive_of_images_says_what_is_wrong(
    given, root, capsys
):
    bad = images()
    bad["test/dog/001.png"] = b"nonsense"
    zipped(given / "pets.zip", bad)
    assert main(["data", "import", str(given)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "test/dog/001.png in" in line
    assert line.endswith(".")
    assert not root.exists()


def test_with_a_name_only_the_images_of_the_folder_itself_are_taken(given, capsys):
    everything(given)
    folder(given, images())
    (made,) = import_folder(given, "pets")
    assert made.name == "pets"
    assert "my_pets" not in DATASETS
    assert available("imdb") == ()
    assert ORIGINALS["bank"].absent()


def test_an_import_of_a_folder_with_the_data_root_leaves_that_alone(given, monkeypatch, capsys):
    monkeypatch.setenv("DPCORE_DATA", str(given / "root"))
    write_bank(given)
    imported(given, capsys)
    assert len(imported(given, capsys)) == 1


def test_only_members_that_are_wanted_are_opened(given, monkeypatch):
    write_bank(given)
    (name,) = ORIGINALS["bank"].files
    names = [f"other/{number}" for number in range(2000)]
    zipped(
        given / "bank-additional.zip",
        dict.fromkeys(names, b"") | {name: (given / name).read_bytes()},
    )
    (given / name).unlink()
    opened = []
    before = zipfile.ZipFile.open

    def noted(archive, member, *rest):
        opened.append(getattr(member, "filename", member))
        return before(archive, member, *rest)

    monkeypatch.setattr(zipfile.ZipFile, "open", noted)
    import_folder(given / "bank-additional.zip")
    assert opened == [name]


@pytest.mark.parametrize("make", [bank_archive, imdb_archive, lambda path: zipped(path, images())])
def test_an_archive_of_too_many_members_is_refused(make, given, root, monkeypatch, capsys):
    monkeypatch.setattr(formats, "MAX_MEMBERS", 1)
    name = {bank_archive: "bank-additional.zip", imdb_archive: "aclImdb_v1.tar.gz"}.get(
        make, "pets.zip"
    )
    make(given / name)
    assert main(["data", "import", str(given / name)]) == 2
    assert f"{name} to be" in (said := capsys.readouterr().err)
    assert "it has more than 1 members" in said
    assert not root.exists()


def test_the_list_of_members_is_bounded_before_it_is_read(given, monkeypatch):
    monkeypatch.setattr(formats, "MAX_LIST_BYTES", 100)
    path = zipped(given / "pets.zip", images())
    with pytest.raises(ValueError, match="its list of members has more than 100 bytes"):
        read_images(path)


def test_names_of_classes_that_look_alike_are_said(given, capsys):
    assert len(FOREIGN) == len(LATIN)
    names = ("cat", "C\u0430t", "\uff43\uff41\uff54", "dog", "co\u03c9", "d  og")
    assert look_alikes(names) == [("cat", "C\u0430t", "\uff43\uff41\uff54")]
    assert look_alikes(("cat", "cot", "c-t")) == []
    folder(given, images(classes=("a", "A", "\u0430", "b")))
    (line,) = imported(given, capsys)
    assert "; the classes A, a and \u0430 look alike." in line
    assert main(["data", "status"]) == 0
    assert "; the classes A, a and \u0430 look alike." in capsys.readouterr().out


def test_distinct_names_of_classes_are_not_said_to_look_alike(given, capsys):
    folder(given, images())
    (line,) = imported(given, capsys)
    assert "alike" not in line
    assert dataset_of("given").classes == ("cat", "dog")
