"""What a page asks for beyond a limit is refused in a sentence that names the limit, and the page
goes on.
"""

import ast
from pathlib import Path

import pytest

from dpcore.runs import within_limits
from dpcore.runs.limits import FILE, Limits, write
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from tests.pages.train_page import CONFIG, lab, press, recorded, whole


def test_a_run_beyond_a_limit_is_refused_and_one_within_it_is_queued(store: Store):
    write(store.home, Limits(steps=1))
    page = lab()
    press(page, "Train without privacy")
    assert "The limit steps of limits.toml is 1, and this would make" in page.error[0].value
    assert not store.runs()
    write(store.home, Limits())
    press(page, "Train without privacy")
    assert not page.error
    assert len(store.runs()) == 1


def test_a_run_whose_accountant_gives_up_is_refused_and_can_be_asked_for_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    def gives_up(*_: object) -> None:
        raise RuntimeError("No order gives a bound.")

    page = lab()
    with monkeypatch.context() as patch:
        patch.setattr(within_limits, "plan", gives_up)
        press(page, "Train without privacy")
    assert page.error[0].value == "No order gives a bound."
    press(page, "Train without privacy")
    assert len(store.runs()) == 1


def test_resuming_beyond_a_limit_is_refused(store: Store):
    run = recorded(store, CONFIG, 10, status=Status.CANCELLED)
    write(store.home, Limits(kept=1))
    page = whole(run)
    page.button(key=f"resume_{run}").click().run()
    assert "Delete some of your runs" in page.error[0].value
    assert [each.id for each in store.runs()] == [run]


def test_with_a_bad_file_of_limits_the_page_lives_and_says_so_once_something_is_asked_for(
    store: Store,
):
    for text in ["steps = 0", "steps = nan", "stepz = 1", "\x00"]:
        (store.home / FILE).write_text(text)
        page = lab()
        assert not page.exception, text
        press(page, "Train without privacy")
        assert FILE in page.error[0].value, text
        assert not page.exception, text
        assert not store.runs(), text


def test_no_page_asks_for_runs_past_the_limits():
    past = ("submit", "add_run", "submit_sweep", "resume", "take_in")
    for file in Path("pages").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                assert name == "within_limits.submit" or name.rpartition(".")[2] not in past, (
                    f"{file}: {name}"
                )
