"""Workers and servers are killed at random moments: every run finishes once, and says what an undisturbed one says."""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from tests.benchmarks.page_opener import opened
from tests.loop_of_its_own import awaited
from tests.runs.faults.afterwards import note_endings, wrongs
from tests.runs.faults.killing import App, Server, kill_workers, until_done

Eventually = Callable[..., None]
Wait = Callable[[], None]


@pytest.mark.long
def test_runs_outlive_random_kills_of_workers_and_of_two_servers(store: Store, home: Path) -> None:
    note_endings(store)
    runs = [store.submit(RunConfig(seed=None if seed % 2 else seed)) for seed in range(12)]
    start = partial(Server, home, "train", slots=2)
    killed = until_done(store, start, random.Random(7), servers=2, most=80, within=120)
    assert killed.workers > 0
    assert killed.servers > 0
    assert wrongs(store, runs) == []


@pytest.mark.long
def test_runs_go_on_where_the_app_itself_is_killed_and_started_again_and_its_pages_show_them(
    store: Store, home: Path, runs: list[str], under_way: Wait, all_ended: Wait, eventually: Eventually
) -> None:
    first = App(home)
    try:
        under_way()
        kill_workers(home)
        first.kill()
        second = App(home)
        try:
            all_ended()
            eventually(second.answers)
            pages = [awaited(errors_of(second.url, page, runs)) for page in ("train", "runs", "")]
        finally:
            second.kill()
    finally:
        first.kill()
        kill_workers(home)
    assert pages == [[], [], []]
    assert wrongs(store, runs) == []


async def errors_of(url: str, page: str, runs: list[str]) -> list[str]:
    """What a page complains of."""
    found: list[str] = []

    def take(message: ForwardMsg) -> None:
        element = message.delta.new_element
        if element.WhichOneof("type") == "exception":
            found.append(element.exception.message)
        if element.WhichOneof("type") == "alert":
            found.append(element.alert.body)

    async with opened(url, page, "&".join(f"run={run}" for run in runs), take=take):
        return found
