"""The user's own images: read to the pixel, named, listed and trained on; refused by a sentence
that names the file.
"""

import io
import json
import re
import shutil
import zipfile
import zlib
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from dpcore.__main__ import main
from dpcore.data import catalogue, image_folders
from dpcore.data.catalogue import CIFAR10, DATASETS, available, dataset_of, raw_folder
from dpcore.data.importing import import_folder
from dpcore.data.loading import fingerprint_of, load, load_test_images
from dpcore.data.tabular import ORIGINALS
from dpcore.training.config import RunConfig
from dpcore.training.models import models_for
from tests.data.image_files import folder, images, png, zipped
from tests.data.table_files import write_bank

pytestmark = pytest.mark.usefixtures("root")


def by_eye(files: dict[str, bytes], part: str, label: int, name: str) -> list[tuple[int, bytes]]:
    """Label and pixels of each image of a class, read one by one."""
    chosen = [raw for path, raw in files.items() if path.startswith(f"{part}/{name}/")]
    return [(label, np.asarray(Image.open(io.BytesIO(raw))).tobytes()) for raw in chosen]


@pytest.mark.parametrize("shape", [(12, 10), (8, 8, 3), (64, 64), (32, 32, 3)])
@pytest.mark.parametrize("given", ["folder", "zip", "zip within"])
def test_an_import_holds_every_pixel_and_label_in_mixed_order(shape, given, tmp_path):
    files = images(*shape)
    if given == "folder":
        path = folder(
            tmp_path / "My pets",
            files | {"train/.DS_Store": b"x", "train/cat/._a.png": b"", "README": b""},
        )
    else:
        extra = {"__MACOSX/train/cat/._000.png": b"x", "train/list.csv": b"a,b"}
        path = zipped(
            tmp_path / "My pets.zip",
            files | extra,
            within="pets-main/" if given == "zip within" else "",
        )
    (made,) = import_folder(path)
    assert made == dataset_of("my_pets")
    assert (made.classes, made.sources) == (("cat", "dog"), ("full",))
    assert made.shape == (3 if len(shape) == 3 else 1, *shape[:2])
    assert available("my_pets") == ("full",)
    split = load("my_pets", "full")
    assert fingerprint_of(split) == made.fingerprint
    assert np.array_equal(load_test_images("my_pets", "full").images, split.test.images)
    for part, found in (("train", split.train), ("test", split.test)):
        pixels = found.images if len(shape) == 2 else found.images.transpose(0, 2, 3, 1)
        expected = [
            each
            for label, name in enumerate(made.classes)
            for each in by_eye(files, part, label, name)
        ]
        here = [
            (int(label), image.tobytes()) for label, image in zip(found.labels, pixels, strict=True)
        ]
        assert sorted(here) == sorted(expected)
        assert here != expected  # the last may be held out, and the first are shown
    again = zipped(tmp_path / "again.zip", files)
    assert import_folder(again, name="others")[0].fingerprint == made.fingerprint


def test_grey_images_among_coloured_ones_palettes_and_opaque_ones_are_taken(tmp_path):
    grey = np.arange(64, dtype=np.uint8).reshape(8, 8)
    colour = np.stack([grey, grey + 64, grey + 128], -1)
    files = images(8, 8) | {
        "train/cat/a.jpg": png(colour, "JPEG"),
        "train/cat/b.PNG": png(colour, mode="RGBA"),
    }
    files |= {"train/dog/c.png": png(colour, mode="P"), "train/dog/d.png": png(grey, mode="1")}
    (made,) = import_folder(folder(tmp_path / "pets", files))
    assert made.shape == (3, 8, 8)
    rows = {image.tobytes() for image in load("pets", "full").train.images}
    assert colour.transpose(2, 0, 1).tobytes() in rows
    assert np.stack([Image.open(io.BytesIO(files["train/cat/000.png"]))] * 3).tobytes() in rows


PNG = png(np.zeros((12, 10), np.uint8))


def headed(side: int) -> bytes:
    """An image whose header tells of so many pixels a side."""
    head = b"IHDR" + side.to_bytes(4, "big") * 2 + PNG[24:29]
    return PNG[:12] + head + zlib.crc32(head).to_bytes(4, "big") + PNG[33:]


FAULTS = {  # what is left out of the files, what is added, and the words of the sentence
    "an empty class": (
        "train/cat",
        {"train/cat/": b""},
        "an image in train/cat of .*; there is none",
    ),
    "a class not tested": ("test/dog", {}, "an image in test/dog of .*; there is none"),
    "one class": ("t[a-z]*/dog", {}, "2 to 100 classes .*there are 1: cat"),
    "a class in test alone": ("-", {"test/cow/1.png": PNG}, "in train; test/cow is in test alone"),
    "another size": (
        "-",
        {"train/dog/x.png": png(np.zeros((12, 11), np.uint8))},
        "dog/x.png .* 10 x 12 .*; it has 11 x",
    ),
    "a broken image": (
        "-",
        {"test/dog/x.png": images(12, 10)["test/dog/000.png"][:-40]},
        "test/dog/x.png in .* to be a whole",
    ),
    "no image": (
        "-",
        {"test/dog/x.jpg": b"nonsense"},
        "test/dog/x.jpg in .*to 64 pixels a side and at most",
    ),
    "a huge image": (
        "-",
        {"train/cat/x.png": png(np.zeros((65, 65), np.uint8))},
        "cat/x.png .*65 x 65",
    ),
    "a tiny image": (
        "-",
        {"train/cat/x.png": png(np.zeros((7, 9), np.uint8))},
        "cat/x.png .*9 x 7",
    ),
    "a bomb": ("-", {"train/cat/x.png": headed(60_000)}, "train/cat/x.png .*3600000000 pixels"),
    "a small bomb": (
        "-",
        {"train/cat/x.png": headed(10_000)},
        "train/cat/x.png .*10000 x 10000 pixels",
    ),
    "a long file": (
        "-",
        {"train/cat/x.png": PNG + bytes(1 << 20)},
        "cat/x.png .*10 x 12 pixels in",
    ),
    "transparency": (
        "-",
        {"train/cat/x.png": png(np.full((12, 10, 4), 9, np.uint8))},
        "x.png .*mode is RGBA, which is",
    ),
    "ink": (
        "-",
        {"train/cat/x.jpg": png(np.zeros((12, 10), np.uint8), "JPEG", "CMYK")},
        "x.jpg .*mode is CMYK, which is",
    ),
    "another format": ("-", {"train/cat/x.gif": b"GIF89a"}, "and no train/cat/x.gif"),
    "a folder too deep": ("-", {"train/cat/more/x.png": PNG}, "and no train/cat/more/x.png"),
    "no class": ("-", {"train/x.png": PNG}, "and no train/x.png"),
    "a class of marks": ("-", {"train/<b>x/x.png": PNG}, "class '<b>x' in .* to be named"),
    "nothing": ("t", {"train/": b"", "test/": b""}, "under .*pets.zip; found none"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("given", [folder, zipped])
def test_a_fault_is_one_sentence_that_names_the_file_and_nothing_is_written(
    fault, given, root, tmp_path, capsys
):
    without, more, words = FAULTS[fault]
    kept = {name: raw for name, raw in images(12, 10).items() if not re.match(without, name)}
    path = given(tmp_path / "pets.zip", kept | more)
    with pytest.raises(ValueError, match=words):
        import_folder(path)
    assert main(["data", "import", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(".")
    assert not root.exists()
    assert "pets" not in DATASETS


@pytest.mark.parametrize(
    "name", ["../train/cat/x.png", "/train/cat/x.png", "C:\\train\\x.png", "train/../../x.png"]
)
def test_a_zip_that_leads_outside_or_repeats_a_name_is_refused(name, root, tmp_path):
    with pytest.raises(ValueError, match="leads out of it"):
        import_folder(zipped(tmp_path / "pets.zip", images() | {name: PNG}))
    path = zipped(tmp_path / "twice.zip", images())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more/train/cat/000.png", PNG)
    with pytest.raises(ValueError, match=r"one train/cat/000.png in .*twice.zip; there are two"):
        import_folder(path)
    assert not root.exists()


def test_numbers_of_classes_images_and_pixels_are_bounded(root, tmp_path, monkeypatch):
    names = tuple(f"c{number}" for number in range(101))
    with pytest.raises(ValueError, match=r"2 to 100 classes .* there are 101"):
        import_folder(folder(tmp_path / "many", images(8, 8, classes=names, train=1, test=1)))
    assert import_folder(
        folder(tmp_path / "all", images(8, 8, classes=names[:100], train=1, test=1))
    )
    path = folder(tmp_path / "pets", images(12, 10))
    for bound, value, words in (
        ("MAX_IMAGES", 17, "at most 17 images"),
        ("MAX_PIXELS", 18 * 120 - 1, "at most 2,159"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(image_folders, bound, value)
            with pytest.raises(ValueError, match=words):
                import_folder(path)
    assert import_folder(path)


def test_names_that_clash_are_refused_and_the_same_images_are_not(root, tmp_path):
    path, other = (
        folder(tmp_path / "pets", images()),
        folder(tmp_path / "sub" / "pets", images(9, 9)),
    )
    for _ in range(2):
        assert import_folder(path)[0].name == "pets"
    before = (raw_folder(dataset_of("pets")) / "examples").read_bytes()
    with pytest.raises(
        ValueError, match=r"which has the name pets; add '--name NAME', or delete .*images/pets"
    ):
        import_folder(other)
    assert (raw_folder(dataset_of("pets")) / "examples").read_bytes() == before
    for name in (
        "mnist",
        "adult",
        "iris",
        "other",
        "cifar10_jpeg",
        "Pets",
        "../pets",
        "_",
        "x" * 41,
        "own images",
    ):
        with pytest.raises(ValueError, match="--name NAME"):
            import_folder(path, name=name)
    with pytest.raises(ValueError, match="which has the name pets"):
        import_folder(folder(tmp_path / "named", images(classes=("cow", "dog"))), name="pets")
    assert sorted(each.name for each in (root / "images").iterdir()) == ["pets"]
    assert import_folder(other, name="pets_2")[0].shape == (1, 9, 9)
    assert list(DATASETS)[-2:] == ["pets", "pets_2"]


def test_a_class_may_be_a_link_to_its_folder_and_a_loop_of_links_is_refused(tmp_path):
    path = folder(tmp_path / "pets", images())
    (path / "train" / "cat").rename(tmp_path / "cats")
    (path / "train" / "cat").symlink_to(tmp_path / "cats")
    assert import_folder(path)[0].examples("full") == 12
    (tmp_path / "cats" / "loop").symlink_to(path / "train")
    with pytest.raises(ValueError, match="and no train/cat/loop"):
        import_folder(path)


def test_a_class_named_like_a_kind_of_reviews_is_no_review(tmp_path):
    (made,) = import_folder(folder(tmp_path / "scans", images(classes=("neg", "pos"))))
    assert made.classes == ("neg", "pos")


def test_a_damaged_set_is_said_when_it_is_loaded_and_others_are_left_out(root, tmp_path):
    (made,) = import_folder(folder(tmp_path / "pets", images()))
    path = raw_folder(made) / "examples"
    raw = path.read_bytes()
    path.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with pytest.raises(ValueError, match="to hold the images that were imported; delete it"):
        load("pets", "full")
    path.write_bytes(b"")
    assert available("pets") == ()
    for name, facts in {"a": "{", "b": "[]", "c": "{}", "D": json.dumps({"classes": []})}.items():
        folder(root / "images" / name, {"facts.json": facts.encode()})
    assert [name for name in DATASETS if name not in DATASETS.shipped] == ["pets"]
    (root / "images" / "pets").rename(root / "images" / "mnist")
    assert dict(DATASETS) == DATASETS.shipped


def test_commands_list_train_and_miss_it_by_its_name(root, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    path = folder(tmp_path / "pets", images(8, 8, 3, train=40))
    assert main(["data", "import", str(path), "--name", "beasts"]) == 0
    about = "2 classes, 80 training and 6 test images, 8 x 8 pixels, in colour, fingerprint "
    about += f"{dataset_of('beasts').fingerprint[:16]}."
    assert f"beasts: checked, now under {root}. {about}" in capsys.readouterr().out
    assert main(["data", "status"]) == 0
    assert f"beasts: no sample is bundled; full set here\n  {about}\n" in capsys.readouterr().out
    assert main(["data", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fingerprints"] == {
        "beasts": dataset_of("beasts").fingerprint
    }
    assert models_for("beasts") == ("abadi", "linear", "mlp")
    assert (
        main(
            ["train", "--dataset", "beasts", "--model", "linear", "--device", "cpu", "--sigma", "1"]
        )
        == 0
    )
    said = capsys.readouterr()
    assert "80 examples" in said.out
    (run,) = re.findall("Recorded as run (.*)\\.", said.err)
    exported = str(tmp_path / "run.json")
    assert main(["runs", "export", run, "--format", "json", "--to", exported]) == 0
    assert main(["runs", "import", exported]) == 0
    config = RunConfig(dataset="beasts", source="full", model="linear", batch=8)
    root.rename(tmp_path / "elsewhere")
    others = images(8, 8, 3, train=40)
    others["train/cat/000.png"] = others["train/cat/001.png"]
    import_folder(folder(tmp_path / "others", others), name="beasts")
    capsys.readouterr()
    assert main(["runs", "import", exported]) == 2
    assert (
        "a run on the images that are called beasts here; it was on others."
        in capsys.readouterr().err
    )
    shutil.rmtree(root)
    with pytest.raises(
        ValueError,
        match=r"images that 'python -m dpcore data import DIR --name beasts' brings here\.$",
    ):
        RunConfig.from_json(config.to_json())


def test_cifar10_as_jpeg_is_known_by_its_facts_and_named_so(root, tmp_path, monkeypatch, capsys):
    jpeg = DATASETS.shipped["cifar10_jpeg"]
    assert jpeg.classes == CIFAR10.classes
    assert (jpeg.shape, jpeg.title) == (CIFAR10.shape, "CIFAR-10 as JPEG")
    path = zipped(
        tmp_path / "cifar10-jpeg.zip", images(32, 32, 3, classes=CIFAR10.classes, train=2, test=1)
    )
    with pytest.raises(
        ValueError, match="the images of CIFAR-10 as JPEG, which has the name cifar10_jpeg"
    ):
        import_folder(path)
    assert jpeg.arrays
    few = replace(jpeg, arrays=replace(jpeg.arrays, train=20, test=10))
    monkeypatch.setitem(DATASETS.shipped, "cifar10_jpeg", few)
    monkeypatch.setitem(
        catalogue.FACTS["cifar10_jpeg"], "arrays", {"originals": few.arrays.originals}
    )
    assert main(["data", "import", str(path)]) == 0
    assert "CIFAR-10 as JPEG: checked" in capsys.readouterr().out
    assert replace(dataset_of("cifar10_jpeg"), fingerprint="") == few
    assert available("cifar10_jpeg") == ("full",)
    with pytest.raises(
        ValueError,
        match=r"full CIFAR-10 under .* takes it from files, and cifar10_jpeg stands in for it",
    ):
        load("cifar10", "full")


@pytest.mark.parametrize("given", ["the zip", "its folder"])
def test_banks_zip_is_taken_as_it_is_published(given, root, tmp_path, capsys):
    write_bank(folder(tmp_path / "given", {"x/": b""}))
    (name,) = ORIGINALS["bank"].files
    members = {"bank-additional/.DS_Store": b"x", f"__MACOSX/bank-additional/._{name}": b"x"}
    members |= {f"bank-additional/{name}": (tmp_path / "given" / name).read_bytes()}
    path = zipped(tmp_path / "bank-additional.zip", members)
    (tmp_path / "given" / name).unlink()
    assert main(["data", "import", str(path if given == "the zip" else path.parent)]) == 0
    said = capsys.readouterr().out.splitlines()
    from_zip = "" if given == "the zip" else f" From {path.name}."
    assert said[0] == f"Bank (table): checked, now under {root}.{from_zip}"
    assert len(ORIGINALS["bank"].read().labels) == 12
    zipped(path, {name: b"age;y\n1;2\n"})
    shutil.rmtree(root)
    assert main(["data", "import", str(path)]) == 2
    assert f"fields in each row of {name}" in capsys.readouterr().err
    path.write_bytes(path.read_bytes()[:-30])
    assert main(["data", "import", str(path)]) == 2
    assert "to be a folder, or a whole zip or tar archive" in capsys.readouterr().err
    assert not root.exists()


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_an_image_is_turned_as_its_exif_says(form, tmp_path):
    # Darker at the top.
    pixels = np.repeat(np.arange(0, 240, 20, dtype=np.uint8)[:, None], 10, axis=1)
    image = Image.fromarray(pixels)
    for orientation, upright in {1: pixels, 3: pixels[::-1, ::-1], 6: np.rot90(pixels, -1)}.items():
        exif = Image.Exif()
        exif[0x0112] = orientation
        file = io.BytesIO()
        image.save(file, form, exif=exif, **({"quality": 100} if form == "JPEG" else {}))
        path = folder(tmp_path / f"turned{orientation}", {"x.png": file.getvalue()}) / "x.png"
        found = image_folders._pixels("x.png", lambda path=path: path.open("rb"))
        assert found.shape == upright.shape
        assert np.abs(found.astype(int) - upright).max() <= 3


def test_an_animation_is_no_image(tmp_path):
    frames = [Image.fromarray(np.full((12, 10), grey, np.uint8)) for grey in (0, 200)]
    file = io.BytesIO()
    frames[0].save(file, "PNG", save_all=True, append_images=frames[1:])
    files = images() | {"train/cat/x.png": file.getvalue()}
    with pytest.raises(ValueError, match=r"train/cat/x.png .*; it has several pictures"):
        import_folder(folder(tmp_path / "pets", files))
