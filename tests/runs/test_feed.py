"""The feed of a run: every reader gets every event once and in order, and nobody's reading costs
the others.
"""

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator

import pytest

import dpcore
from dpcore.runs import feed as feed_module
from dpcore.runs.feed import RunFeed, feed_of, messages
from dpcore.runs.holding import hold
from dpcore.runs.record import Status, StoreError
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Finished, Started, Stepped
from tests.loop_of_its_own import awaited

CONFIG = RunConfig(epochs=1)


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(feed_module, "LOOK_SECONDS", 0.002)


def stepped(step: int) -> Stepped:
    return Stepped(step, step / 10, 1.0, 0.5, (0.1, 0.2, 0.3, 0.4, 0.5), 10.0)


def running(store, events: int = 0) -> str:
    run = store.submit(CONFIG, worker="elsewhere:1")
    for step in range(1, events + 1):
        store.append(run, stepped(step))
    return run


def numbers(pieces: list[bytes]) -> list[int]:
    return [int(each) for each in re.findall(rb"^id: \w+\.(\d+)$", b"".join(pieces), re.MULTILINE)]


def named(pieces: list[bytes]) -> list[tuple[str, dict]]:
    found = re.findall(rb"^event: (\w+)\ndata: (.*)$", b"".join(pieces), re.MULTILINE)
    return [(name.decode(), json.loads(data)) for name, data in found]


async def collected(pieces: AsyncIterator[bytes]) -> list[bytes]:
    return [piece async for piece in pieces]


def test_a_reader_gets_every_event_of_a_run_once_in_order_and_is_told_of_its_end(store):
    run = running(store, 3)

    async def watch() -> list[bytes]:
        reading = asyncio.create_task(collected(messages([(RunFeed(store, run), 0)])))
        for step in range(4, 40):
            await asyncio.sleep(0.001)
            store.append(run, stepped(step))
        store.append(run, Finished(39, 1.0, 0.9))
        store.end(run, Status.FINISHED)
        return await reading

    pieces = awaited(watch())
    assert numbers(pieces) == list(range(1, 41))
    told = [(name, said.get("status")) for name, said in named(pieces)]
    statuses = [said for name, said in named(pieces) if name == "status"]
    assert all(one != following for one, following in itertools.pairwise(statuses))
    assert list(dict.fromkeys(told)) == [
        ("status", "running"),
        ("status", "finished"),
        ("end", None),
    ]
    assert b"".join(pieces).endswith(b'event: end\ndata: {"run": "%s"}\n\n' % run.encode())
    bodies = re.findall(rb"^id: .*\ndata: (.*)$", b"".join(pieces), re.MULTILINE)
    assert json.loads(bodies[-1])["event"] == "finished"


def test_a_reader_goes_on_behind_the_event_that_it_has(store):
    run = running(store, 5)
    store.end(run, Status.FINISHED)
    for after in (0, 2, 5, 10**9):
        pieces = awaited(collected(messages([(RunFeed(store, run), after)])))
        assert numbers(pieces) == list(range(after + 1, 6))
        assert named(pieces)[-1][0] == "end"


def test_of_a_queued_run_a_reader_hears_its_place_and_when_it_is_expected_to_begin(store):
    run = store.submit(RunConfig())

    async def watch() -> list[bytes]:
        reading = messages([(RunFeed(store, run), 0)])
        pieces = [await anext(reading)]
        store.cancel(run)
        return [*pieces, *await collected(reading)]

    said = [content for name, content in named(awaited(watch())) if name == "status"]
    assert [each["said"] for each in said] == [
        "queued, number 1, starts in a moment",
        "cancelled at step 0 of 98",
    ]


def test_a_feed_says_how_far_a_run_is_at_each_report_and_nothing_without_news(store):
    run = running(store)
    store.append(run, Started(10_000, 20, 0.05, "cpu", 1, "", (("device", "cpu (here)"),)))
    feed, said, known = RunFeed(store, run), [], 0
    for news in (lambda: None, lambda: store.append(run, stepped(10)), lambda: hold(store, run)):
        news()
        said.append(feed._look(known)[1]["said"])
        known = store.run(run).sequence
        assert feed._look(known)[1]["said"] == said[-1]
    assert said == [
        "step 0 of 20, 0 steps/s on cpu", "step 10 of 20, 10 steps/s, 1 s left on cpu",
        "paused at step 10 of 20",
    ]  # fmt: skip


class Paused:
    """The feed's pause between two looks, which ends where a test says so."""

    def __init__(self) -> None:
        self.begun, self.over = asyncio.Event(), asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.begun.set()
        await self.over.wait()


def test_many_readers_cost_the_store_one_look_and_get_the_news_in_one_piece(store, monkeypatch):
    run = running(store, 5)
    bodies = store.bodies
    looks: list[tuple] = []

    def noted(*about: object) -> object:
        looks.append(about)
        return bodies(*about)

    monkeypatch.setattr(store, "bodies", noted)

    async def watch() -> list[list[bytes]]:
        pause = Paused()
        feed = RunFeed(store, run, pause)
        readers = [asyncio.create_task(collected(messages([(feed, 0)]))) for _ in range(50)]
        await pause.begun.wait()
        assert looks == [(run, 0)]
        store.append(run, stepped(6))
        store.append(run, stepped(7))
        store.end(run, Status.FINISHED)
        pause.over.set()
        return await asyncio.gather(*readers)

    for pieces in awaited(watch()):
        in_pieces = [numbers([piece]) for piece in pieces]
        assert [each for each in in_pieces if each] == [[1, 2, 3, 4, 5], [6, 7]]
    assert looks == [(run, 0), (run, 5)]  # not one for each reader


def test_nobody_looks_at_the_store_once_nobody_reads(store, monkeypatch):
    run, looks = running(store, 1), []
    look = store.run
    monkeypatch.setattr(store, "run", lambda *about: looks.append(about) or look(*about))

    async def watch() -> None:
        pause = Paused()
        feed = RunFeed(store, run, pause)
        reading = messages([(feed, 0)])
        await anext(reading)
        assert feed.readers
        await reading.aclose()
        assert not feed.readers
        await pause.begun.wait()
        pause.over.set()
        await feed._looking
        assert len(looks) == 1

    awaited(watch())


def test_a_store_that_fails_is_said_and_ends_the_feed(store):
    run = running(store, 2)

    async def watch() -> list[bytes]:
        reading, pieces = messages([(RunFeed(store, run), 0)]), []
        while not numbers(pieces):
            pieces.append(await anext(reading))
        store.path.unlink()
        return pieces + await collected(reading)

    pieces = awaited(watch())
    assert numbers(pieces) == [1, 2]
    problem = dict(named(pieces))["problem"]
    assert problem["run"] == run
    assert str(store.path) in problem["problem"]


def test_who_comes_after_the_store_has_failed_for_a_moment_gets_the_run_again(store, monkeypatch):
    run = running(store, 3)
    store.end(run, Status.FINISHED)

    def busy(*_: object) -> None:
        raise StoreError("it is busy")

    async def twice() -> list[list[bytes]]:
        with monkeypatch.context() as patch:
            patch.setattr(store, "bodies", busy)
            first = await collected(messages([(feed_of(store, run), 0)]))
        feed_of(store, run).readers.add(asyncio.Event())  # somebody who has not left yet
        return [first, await collected(messages([(feed_of(store, run), 0)]))]

    first, second = awaited(twice())
    assert dict(named(first))["problem"] == {"run": run, "problem": "it is busy"}
    assert numbers(second) == [1, 2, 3]
    assert "problem" not in dict(named(second))


def test_the_feeds_of_several_runs_come_in_one_stream(store):
    first, second = running(store, 3), running(store, 2)

    async def watch() -> list[bytes]:
        both = messages([(feed_of(store, first), 1), (feed_of(store, second), 0)])
        reading = asyncio.create_task(collected(both))
        store.end(first, Status.FINISHED)
        store.append(second, Evaluated(3, 0.3, 0.5, 1.0, (0.5,) * 10))
        store.end(second, Status.CANCELLED)
        return await reading

    text = b"".join(awaited(watch())).decode()
    assert re.findall(rf"id: {first}\.(\d)", text) == ["2", "3"]
    assert re.findall(rf"id: {second}\.(\d)", text) == ["1", "2", "3"]
    assert text.count("event: end") == 2


def test_a_followed_run_that_goes_on_is_read_on(store):
    told = {"delta": 1e-5, "examples": 600, "batch": 60, "sigma": 1.1, "home": store.home}
    first = dpcore.follow(id="mine1", **told)
    first.step()
    first.finish()
    feed = RunFeed(store, "mine1")
    pieces = awaited(collected(messages([(feed, 0)])))
    again = dpcore.follow(id="mine1", home=store.home)

    async def watch() -> list[bytes]:
        reading = asyncio.create_task(collected(messages([(feed, len(numbers(pieces)))])))
        await asyncio.sleep(0.2)
        again.step()
        again.log({"loss": 1.0})
        again.finish()
        return await reading

    more = awaited(watch())
    assert numbers(more)[0] == len(numbers(pieces)) + 1
    assert b'"logged"' in b"".join(more)
    assert named(more)[-1] == ("end", {"run": "mine1"})
