"""The package: what its wheel holds, and the command and pages that come out of it, far from the
checkout.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import numpy
import pytest

from dpcore.extras import EXTRAS
from tests.e2e.server import ROOT, answering, free_port

HEADLINE = [
    "epsilon",
    "--q",
    ".01",
    "--sigma",
    "4",
    "--steps",
    "10000",
    "--delta",
    "1e-5",
    "--points",
    "1",
    "--json",
]
# 1.6 times 15 pixels, by the style sheet of the pages; Streamlit's own titles have 44.
TITLE = "24px"

pytestmark = pytest.mark.long


def output(command: list[str], folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def pip(*words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", *words], cwd=ROOT, check=True, timeout=240
    )


def files_in(folder: str) -> set[str]:
    """The files below a folder of the checkout, but for what Python keeps there."""
    paths = (
        path
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    return {str(path.relative_to(ROOT)) for path in paths}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout by what requirements-dev.txt installs."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), ".")
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel, with the dependencies of this one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder)
    inner = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    (inner / "borrowed.pth").write_text(str(Path(numpy.__file__).parents[1]))
    alone = "--no-deps", "--no-index", "--ignore-installed"
    pip("--python", str(folder / "bin" / "python"), "install", *alone, str(wheel))
    return folder / "bin"


def test_the_wheel_holds_every_file_of_the_library_and_the_pages_and_nothing_else(
    wheel: Path,
) -> None:
    site = files_in("pages") | {"app.py", ".streamlit/config.toml"}
    held = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in held if ".dist-info/" not in name} == files_in("dpcore") | {
        f"dpcore/site/{name}" for name in site
    }
    assert {"dpcore/py.typed", "dpcore/data/sample/mnist.npz"} <= held


def test_the_wheel_asks_for_what_the_files_of_requirements_ask_for(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as held:
        (name,) = (name for name in held.namelist() if name.endswith("METADATA"))
        told = held.read(name).decode().splitlines()
    needs = [
        line.removeprefix("Requires-Dist: ") for line in told if line.startswith("Requires-Dist")
    ]
    assert names_of([each for each in needs if "extra ==" not in each]) == {"numpy", "scipy"}
    every = set()
    for extra in EXTRAS:
        asked = [each for each in needs if f"extra == '{extra}'" in each]
        assert names_of(asked) == asked_in(f"requirements-{extra}.txt"), extra
        every |= names_of(asked)
    assert names_of([each for each in needs if "extra == 'all'" in each]) == every


def asked_in(file: str) -> set[str]:
    """The packages that a file of requirements names."""
    return names_of(
        [line for line in (ROOT / file).read_text().splitlines() if line[:1] not in ("#", "-")]
    )


def names_of(requirements: list[str]) -> set[str]:
    return {re.split("[<>=; ]", each)[0] for each in requirements}


def test_the_console_command_is_the_module(installed: Path, tmp_path: Path) -> None:
    here = json.loads(output([sys.executable, "-m", "dpcore", *HEADLINE], ROOT))
    assert json.loads(output([str(installed / "dpcore"), *HEADLINE], tmp_path)) == here
    assert (
        output([str(installed / "dpcore"), "--version"], tmp_path)
        == f"dpcore {metadata_version(installed)}\n"
    )


def metadata_version(installed: Path) -> str:
    code = "from importlib.metadata import version; print(version('dpcore'))"
    return output([str(installed / "python"), "-c", code], ROOT / "docs").strip()


def test_the_samples_come_with_it(installed: Path, tmp_path: Path) -> None:
    code = (
        "from dpcore.data import loading; print(loading.__file__, len(loading.load('mnist',"
        " 'sample').train))"
    )
    file, count = output([str(installed / "python"), "-c", code], tmp_path).split()
    assert Path(file).is_relative_to(installed.parent)
    assert count == "10000"


def test_the_installed_app_shows_its_pages_in_its_theme_and_trains(
    installed: Path, in_context, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    port = free_port()
    command = [str(installed / "dpcore"), "app", "--port", str(port)]
    with answering(command, port, tmp_path, tmp_path) as server:
        page = in_context(color_scheme="light")
        page.goto(server.url + "/?epochs=0.2")
        start = page.locator(".st-key-train button")
        expect(start).to_be_visible()
        assert (
            page.evaluate("() => getComputedStyle(document.querySelector('h1')).fontSize") == TITLE
        )
        start.click()
        page.get_by_role("link", name="One run, whole").first.click()
        progress = page.get_by_test_id("stProgress").first
        expect(progress).to_contain_text("finished")


@pytest.fixture(scope="session")
def small(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh environment, in which the wheel was installed without extras."""
    folder = tmp_path_factory.mktemp("small")
    venv.create(folder)
    pip("--python", str(folder / "bin" / "python"), "install", "--no-compile", str(wheel))
    return folder / "bin"


# Accounting, calibration and a claim, with what NumPy and SciPy can do.
ALONE = """
import sys, dpcore
mechanism = dpcore.Mechanism.constant(q=0.01, sigma=4.0, steps=10_000)
spent = dpcore.epsilon(mechanism, delta=1e-5)
print(spent)
print(dpcore.calibrate_sigma(q=0.01, steps=10_000, epsilon=3.0, delta=1e-5).value)
claim = "epsilon = 0.5, delta = 1e-5, sigma = 4.0, sampling rate q = 0.01, steps = 10000"
print(dpcore.judge(claim).standing.value)
print([name for name in ("torch", "streamlit", "plotly", "PIL") if name in sys.modules])
"""


def test_the_library_without_extras_accounts_calibrates_and_judges(
    small: Path, tmp_path: Path
) -> None:
    bounds, sigma, verdict, loaded = output(
        [str(small / "python"), "-c", ALONE], tmp_path
    ).splitlines()
    assert bounds == "0.946 to 0.949 (proven from both sides)"
    assert 1.56 < float(sigma) < 1.58
    assert (verdict, loaded) == ("refuted", "[]")
    here = json.loads(output([sys.executable, "-m", "dpcore", *HEADLINE], ROOT))
    assert json.loads(output([str(small / "dpcore"), *HEADLINE], tmp_path)) == here
    told = output([str(small / "dpcore"), "check", *CLAIM], tmp_path)
    assert told.startswith("HOLDS.")


CLAIM = ["--epsilon", "1", "--q", ".01", "--sigma", "4", "--steps", "10000", "--delta", "1e-5"]


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("app", "app"),
        ("lab export lab.html", "app"),
        ("train --epochs 1 --model mlp", "train"),
        ("audit --trainer half_noise --model mlp", "train"),
        ("perturb --dataset breast_cancer --epsilon 1", "train"),
        ("data status", "app"),
    ],
)
def test_a_command_says_in_a_sentence_which_extra_it_lacks(
    small: Path, tmp_path: Path, command: str, extra: str
) -> None:
    environment = {**os.environ, "DPCORE_HOME": str(tmp_path / "home")}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(small / "dpcore"), *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert f"is not installed. It comes with the extra {extra}: pip install" in line
    assert not (tmp_path / "lab.html").exists()


def test_a_port_in_use_is_bad_input(installed: Path, tmp_path: Path) -> None:
    with answering(
        [str(installed / "dpcore"), "app", "--port", str(port := free_port())],
        port,
        tmp_path,
        tmp_path,
    ):
        command = [str(installed / "dpcore"), "app", "--port", str(port)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert f"port={port} on 127.0.0.1 to be free" in done.stderr
    assert len(done.stderr.splitlines()) == 1
