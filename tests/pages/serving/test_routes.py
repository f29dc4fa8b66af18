"""The routes beside the pages: what a stranger may send, and what a browser gets."""

import asyncio
import threading
from urllib.parse import quote

import pytest
from starlette.applications import Starlette

from dpcore.runs import feed as feed_module
from dpcore.runs.record import Status, StoreError
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from dpcore.training.events import Stepped
from pages.parts.first_paint import FIRST_PAINT
from pages.parts.runs import listing
from pages.parts.serving import routes
from pages.parts.serving.routes import MAX_READERS, MAX_RUNS_FOLLOWED, ROUTES
from pages.parts.train import run_picker
from tests.loop_of_its_own import awaited

TOO_MANY = "+".join(f"a{place}" for place in range(MAX_RUNS_FOLLOWED + 1))


class Pool:
    def __init__(self, store: Store) -> None:
        self.store = store


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(feed_module, "LOOK_SECONDS", 0.002)
    with Store(tmp_path) as store:
        monkeypatch.setattr(routes, "ensure_pool", lambda: Pool(store))
        yield store


def ended(store: Store, events: int = 3) -> str:
    run = store.submit(RunConfig(epochs=1), worker="elsewhere:1")
    for step in range(1, events + 1):
        store.append(run, Stepped(step, step / 10, 1.0, 0.5, (0.1, 0.2, 0.3, 0.4, 0.5), 10.0))
    store.end(run, Status.FINISHED)
    return run


def scope_of(
    path: str, query: str = "", headers: dict[str, str] | None = None, method: str = "GET"
) -> dict:
    pairs = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": quote(path).encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": pairs,
        "scheme": "http",
        "server": ("127.0.0.1", 80),
        "http_version": "1.1",
    }


def got(
    path: str,
    query: str = "",
    headers: dict[str, str] | None = None,
    method: str = "GET",
    *,
    raw: bool = False,
):
    """(status, headers, body) of a whole answer; the body as text, or `raw`."""
    sent: list[dict] = []

    async def receive() -> dict:
        await asyncio.sleep(30)
        return {"type": "http.disconnect"}

    async def send(message: dict) -> None:
        sent.append(message)

    async def ask() -> None:
        await asyncio.wait_for(
            Starlette(routes=[FIRST_PAINT, *ROUTES])(
                scope_of(path, query, headers, method), receive, send
            ),
            20,
        )

    awaited(ask())
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], headers, body if raw else body.decode()


def test_a_browser_gets_what_happened_and_the_end(store):
    run = ended(store)
    status, headers, body = got(f"/runs/{run}/events")
    assert status == 200
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["cache-control"] == "no-store"
    assert [f"id: {run}.{number}\n" in body for number in range(5)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert body.endswith(f'event: end\ndata: {{"run": "{run}"}}\n\n')


def test_several_runs_come_in_one_answer_each_from_its_own_place(store):
    first, second = ended(store), ended(store)
    _, _, body = got(f"/runs/{first}+{second}/events", "after=2+3")
    assert f"id: {first}.3\n" in body
    assert f"id: {first}.2\n" not in body
    assert f"id: {second}." not in body
    assert body.count("event: end") == 2


def test_one_connection_carries_a_page_of_the_table_of_runs_and_the_charts_beside_it():
    assert MAX_RUNS_FOLLOWED >= listing.AT_ONCE + run_picker.MAX_RUNS


def test_an_unknown_run_is_a_sentence_that_names_no_file(store):
    for run in ["nosuchrun", "x" * 32]:
        status, _, body = got(f"/runs/{run}/events")
        assert status == 200, run
        assert body.startswith(f'event: unknown\ndata: {{"run": "{run}", '), run
        assert repr(run) in body, run
        assert str(store.home) not in body, run
        assert "/" not in body, run


def test_an_unknown_run_hides_nothing_of_the_others(store):
    run = ended(store)
    _, _, body = got(f"/runs/nosuchrun+{run}/events")
    assert "event: unknown" in body
    assert f"id: {run}.3\n" in body


def test_what_is_no_id_is_refused_before_anything_is_looked_up(store, monkeypatch):
    for path in (
        "..",
        "x" * 33,
        "a+a",
        "+",
        TOO_MANY,
        "A",
        "ä",
        "a b",
        "a%00",
        "runs.sqlite",
        "'; DROP TABLE runs; --",
    ):
        monkeypatch.setattr(routes, "ensure_pool", lambda: pytest.fail("looked up"))
        status, _, body = got(f"/runs/{path}/events")
        assert status == 400, path
        assert body.startswith("Expected the path"), path


def test_a_count_that_is_none_is_refused(store):
    for after in ["-1", "1.5", "x", "1+2", "9" * 13, "", "1e3", "٣"]:
        status, _, body = got(f"/runs/{ended(store)}/events", f"after={quote(after)}")
        assert status == 400, after
        assert body.startswith("Expected after"), after


def test_a_count_beyond_the_last_event_gives_the_end_alone(store):
    run = ended(store)
    status, _, body = got(f"/runs/{run}/events", f"after={'9' * 12}")
    assert status == 200
    assert "id:" not in body
    assert "event: end" in body


def test_only_reading_is_allowed(store):
    assert got(f"/runs/{ended(store)}/events", method="POST")[0] == 405


def test_more_readers_than_a_server_can_hold_are_asked_to_come_later(store, monkeypatch):
    run = ended(store)
    monkeypatch.setattr(routes.READERS, "count", MAX_READERS)
    status, headers, _ = got(f"/runs/{run}/events")
    assert status == 503
    assert headers["retry-after"] == "10"


def test_a_store_that_fails_is_told(store, monkeypatch):
    def broken():
        raise StoreError("The run store cannot be used.")

    monkeypatch.setattr(routes, "ensure_pool", broken)
    assert got("/runs/abc/events")[0] == 503


def test_readers_are_counted_while_they_read_and_no_longer(store):
    run = ended(store)
    for _ in range(3):
        got(f"/runs/{run}/events")
        assert routes.READERS.count == 0
    got("/runs/../events")  # refused
    assert routes.READERS.count == 0


def test_no_more_readers_are_let_in_while_the_others_wait_for_the_store(store, monkeypatch):
    run, opened = ended(store), threading.Event()

    def slow() -> Pool:
        assert opened.wait(20)
        return Pool(store)

    monkeypatch.setattr(routes, "ensure_pool", slow)
    monkeypatch.setattr(routes, "MAX_READERS", 3)
    app = Starlette(routes=ROUTES)

    async def asked() -> list[int]:
        """The statuses of ten requests at once, in the order of their answers."""
        statuses: list[int] = []

        async def send(message: dict) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            if len(statuses) == 7:  # all but those that wait
                opened.set()

        async def receive() -> dict:
            await asyncio.sleep(30)
            return {"type": "http.disconnect"}

        scopes = [scope_of(f"/runs/{run}/events") for _ in range(10)]
        await asyncio.wait_for(asyncio.gather(*[app(scope, receive, send) for scope in scopes]), 25)
        return statuses

    assert awaited(asked()) == [503] * 7 + [200] * 3
    assert routes.READERS.count == 0


def test_nothing_goes_on_for_a_reader_that_has_gone(store):
    run = store.submit(RunConfig(epochs=1), worker="elsewhere:1")
    store.append(run, Stepped(1, 0.1, 1.0, 0.5, (0.1, 0.2, 0.3, 0.4, 0.5), 10.0))

    async def left() -> list[str]:
        sent = asyncio.Event()

        async def receive() -> dict:
            await sent.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict) -> None:
            if message.get("body"):
                sent.set()

        await Starlette(routes=ROUTES)(scope_of(f"/runs/{run}/events"), receive, send)
        return [str(task.get_coro()) for task in asyncio.all_tasks()]

    assert not any("pass_on" in each or "aclose" in each for each in awaited(left()))
