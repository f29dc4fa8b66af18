"""A press takes the values in the fields, and a run that is broken off undoes no choice."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import dpcore
from dpcore.runs import editing
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.e2e.looks import Wire, complete, opened
from tests.e2e.server import Server, serving
from tests.e2e.test_journeys import field, in_address
from tests.pages.train_page import CONFIG, recorded

pytest.importorskip("playwright")
from playwright.sync_api import Page, expect

PRESET = {
    "Training examples n": "60000",
    "Expected batch": "600",
    "Noise multiplier sigma": "4",
    "Epochs": "100",
}
FEW = "table=iris&methods=none&methods=output&epsilons=8&fits=2"


class Late(Wire):
    """A wire on which what the browser says can be held up, too."""

    def __init__(self, page: Page) -> None:
        self.waiting: list[bytes] | None = None
        super().__init__(page, lost=self._kept)

    @contextmanager
    def at_once(self, requests: int) -> Iterator[None]:
        """Let the server hear of all that is done in the block at once: no page has answered to the
        first of it.
        """
        self.waiting = []
        yield
        while len(self.waiting) < requests:
            self.page.evaluate("() => 0")
        said, self.waiting = self.waiting, None
        for each in said:
            self.to_server(each)

    def _kept(self, said: bytes) -> bool:
        if self.waiting is not None:
            self.waiting.append(said)
        return self.waiting is not None


@pytest.fixture(scope="module")
def held(browser: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The page whose runs can be held up."""
    with serving(
        tmp_path_factory.mktemp("held"), str(Path(__file__).with_name("held_page.py"))
    ) as server:
        server.home.mkdir(exist_ok=True)
        yield server


@pytest.fixture
def hold(held: Server) -> Iterator[Path]:
    """The file that holds them up, once it is there."""
    file = held.home / "hold"
    yield file
    file.unlink(missing_ok=True)


def chosen(page: Page, title: str) -> None:
    """Choose a preset."""
    page.get_by_role("combobox", name="Start from").click()
    page.get_by_role("option", name=title, exact=True).click()


def drawn(page: Page, hold: Path, before: int) -> int:
    """How many runs of the held page have drawn its fields, once they are more than before."""
    runs = hold.with_name("drawn")
    while runs.stat().st_size <= before:
        page.evaluate("() => 0")
    return runs.stat().st_size


def typed(page: Page, label: str, value: str) -> None:
    field(page, label).fill(value)
    field(page, label).press("Enter")


def test_a_preset_stays_though_the_run_that_fills_it_in_is_broken_off(
    page: Page, held: Server, hold: Path
):
    wire = Wire(page)
    opened(page, held.url)
    hold.touch()
    wire.holding = True  # the browser hears nothing of what the preset sets
    runs = drawn(page, hold, 0)
    chosen(page, "Moments accountant, MNIST")
    runs = drawn(page, hold, runs)
    page.get_by_role("button", name="Something else").click()
    drawn(page, hold, runs)  # the run before was broken off
    hold.unlink()
    wire.release()
    complete(page)
    for label, text in PRESET.items():
        expect(field(page, label)).to_have_value(text)
        expect(page.get_by_role("slider", name=label)).to_have_attribute("aria-valuetext", text)


def test_what_is_typed_over_a_preset_in_a_hurry_is_not_reset_by_it(
    page: Page, held: Server, hold: Path
):
    wire = Wire(page)
    opened(page, held.url)
    chosen(page, "Moments accountant, MNIST")
    expect(field(page, "Epochs")).to_have_value("100")
    complete(page)
    hold.touch()
    wire.holding = True
    runs = drawn(page, hold, 0)
    # A setting of one's own, which the browser does not hear.
    typed(page, "Noise multiplier sigma", "9")
    runs = drawn(page, hold, runs)
    typed(page, "Epochs", "7")
    drawn(page, hold, runs)  # the run before was broken off
    hold.unlink()
    wire.release()
    complete(page)
    expect(field(page)).to_have_value("9")
    expect(field(page, "Epochs")).to_have_value("7")
    expect(page.locator(".st-key-sigma_slider input[type=range]")).to_have_attribute(
        "aria-valuetext", "9"
    )


def test_an_old_value_counts_again_once_the_browser_has_heard_of_the_new_one(
    page: Page, held: Server
):
    opened(page, held.url)
    chosen(page, "Moments accountant, MNIST")
    expect(field(page)).to_have_value("4")
    complete(page)
    typed(page, "Noise multiplier sigma", "1.23")
    expect(page.locator(".st-key-sigma_slider input[type=range]")).to_have_attribute(
        "aria-valuetext", "1.23"
    )
    complete(page)
    expect(field(page)).to_have_value("1.23")


@pytest.mark.parametrize("name", ["Compare", "Audit", "Train"])
def test_a_button_that_is_pressed_before_the_page_has_answered_takes_what_was_typed(
    page: Page, app: Server, name: str
):
    address, label, text = {
        "Compare": (f"perturbation?{FEW}", "Steps T of descent", "20"),
        "Audit": (
            "audit?audit_batch=500&audit_epochs=0.5&canaries=100&torch_beside=no",
            "Canaries",
            "120",
        ),
        "Train": ("?features=pixels&model=mlp&epochs=0.1", "Noise multiplier sigma", "3"),
    }[name]
    wire = Late(page)
    opened(page, f"{app.url}/{address}")
    folded = {"Compare": "Descent", "Audit": "Confidence"}.get(name)
    if folded:
        page.locator("summary", has_text=folded).click()
    complete(page)
    with wire.at_once(2):
        typed(page, label, text)
        main = page.get_by_test_id("stMain")
        main.get_by_role("button", name=re.compile(f"^(\\w+ )?{name}")).first.click()
    page.wait_for_url(re.compile("(comparison|run)="))
    job, *_ = [*in_address(page, "comparison"), *in_address(page, "run")][::-1]
    with Store(app.home) as store:
        request = store.run(job).request
        read = {"Compare": "steps", "Audit": "canaries"}.get(name, "sigma")
        assert getattr(request, read) == float(text)
        store.cancel(job)


def test_a_pin_that_is_set_before_the_page_has_answered_is_of_what_was_typed(
    page: Page, app: Server
):
    wire = Late(page)
    opened(page, f"{app.url}/tradeoff")
    with wire.at_once(2):
        typed(page, "Noise multiplier sigma", "3")
        page.get_by_role("button", name="Pin this setting").click()
    page.wait_for_url(re.compile("pin="))
    assert in_address(page, "pin")[0].split("~")[2] == "3.0"


def test_q_that_is_chosen_instead_of_a_batch_shows_the_batch_that_was_just_typed(
    page: Page, app: Server
):
    wire = Late(page)
    opened(page, f"{app.url}/tradeoff")
    with wire.at_once(2):
        typed(page, "Expected batch", "500")
        page.get_by_role("radio", name="q", exact=True).click()
    expect(field(page, "Sampling rate q")).to_have_value("500/10000")


def test_the_answer_that_is_used_is_the_one_to_the_target_that_was_just_typed(
    page: Page, app: Server
):
    wire = Late(page)
    opened(page, f"{app.url}/calibrate?by=rdp")
    with wire.at_once(2):
        typed(page, "Target epsilon", "1")
        page.get_by_role("button", name="Use this answer").click()
    known = {"q": 256 / 10_000, "steps": 196, "delta": 1e-5, "accountant": "rdp"}
    answer = dpcore.calibrate_sigma(epsilon=1.0, **known).value
    used = f"{math.ceil(100 * answer) / 100:g}"  # rounded up to what the slider can be set to
    page.wait_for_url(re.compile(rf"sigma={re.escape(used)}(&|$)"))


def test_what_is_done_with_ticked_runs_is_done_with_one_that_was_just_ticked(
    page: Page, app: Server
):
    with Store(app.home) as store:
        runs = [recorded(store, CONFIG, 10, Status.FINISHED) for _ in range(2)]
        for place, run in enumerate(runs):
            editing.rename(store, run, f"pressed {place}")
        wire = Late(page)
        opened(page, f"{app.url}/runs?find=pressed&run={runs[0]}")
        with wire.at_once(2):
            page.locator("table.runs tbody input:not(:checked)").click()
            page.get_by_role("button", name="Delete").click()
        asked = page.get_by_role("dialog")
        for place in range(2):
            expect(asked).to_contain_text(f"pressed {place}")
        for run in runs:
            editing.delete(store, run)
