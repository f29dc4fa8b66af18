"""Sliders in a browser whose server answers late, or has lost what it was told."""

import re

import pytest

from tests.e2e.server import STILL, Server

pytest.importorskip("playwright")
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.e2e.slider_in_browser import LINE, field, opened


def first_move_lost(page: Page) -> list[bytes | str]:
    """Let the first move of a slider get lost on its way to the server; it will be in the list."""
    lost: list[bytes | str] = []

    def between(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def passed_on(message: bytes | str) -> None:
            if not lost and b'"moved"' in (message if isinstance(message, bytes) else message.encode()):
                lost.append(message)
            else:
                server.send(message)

        socket.on_message(passed_on)

    page.route_web_socket(re.compile("stream"), between)
    return lost


def test_a_move_that_the_server_has_lost_is_said_again(page: Page, app: Server):
    lost = first_move_lost(page)
    slider = opened(page, app)
    slider.press("ArrowRight")
    expect(field(page)).to_have_value("2.2")
    assert len(lost) == 1


def test_a_lost_move_is_said_again_however_long_the_page_runs_for_another_request(page: Page, app: Server):
    lost = first_move_lost(page)
    slider = opened(page, app)
    slider.press("ArrowRight")
    state = "state => { document.querySelector('[data-testid=stApp]').dataset.testScriptState = state; }"
    page.evaluate(state, "running")
    page.wait_for_timeout(12_000)
    expect(field(page)).to_have_value("2")
    page.evaluate(state, "notRunning")
    expect(field(page)).to_have_value("2.2")
    expect(slider).to_have_attribute("aria-valuetext", "2.2")
    assert len(lost) == 1


def test_a_chart_and_its_slider_stay_where_they_were_moved_to_however_long_the_page_takes(page: Page, app: Server):
    held: list[bytes | str] = []
    asked: list[bool] = []
    sockets: list[WebSocketRoute] = []

    def between(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        sockets.append(socket)
        passed = [3]  # messages that say that the page is being run

        def up(message: bytes | str) -> None:
            if b'"moved"' in (message if isinstance(message, bytes) else message.encode()):
                asked.append(True)
            server.send(message)

        def down(message: bytes | str) -> None:
            if asked and not passed[0]:
                held.append(message)
            else:
                passed[0] -= bool(asked)
                socket.send(message)

        socket.on_message(up)
        server.on_message(down)

    page.route_web_socket(re.compile("stream"), between)
    slider = opened(page, app)
    before = page.locator(LINE).get_attribute("d")
    slider.press("ArrowRight")
    page.wait_for_function(
        "([path, old]) => document.querySelector(path).getAttribute('d') !== old", arg=[LINE, before]
    )
    ahead = page.locator(LINE).get_attribute("d")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=running]")
    page.wait_for_timeout(12_000)
    assert page.locator(LINE).get_attribute("d") == ahead
    expect(slider).to_have_attribute("aria-valuetext", "2.2")
    expect(field(page)).to_have_value("2")
    assert len(asked) == 1
    for message in held:
        sockets[-1].send(message)
    held.clear()
    asked.clear()
    expect(field(page)).to_have_value("2.2")
    page.wait_for_selector(STILL)
    expect(page.locator(LINE)).to_have_attribute("d", ahead or "")
    expect(slider).to_have_attribute("aria-valuetext", "2.2")


def test_what_was_typed_after_a_lost_move_holds(page: Page, app: Server):
    slider = opened(page, app)
    page.evaluate("() => { window.kept = WebSocket.prototype.send; WebSocket.prototype.send = () => {}; }")
    slider.press("ArrowRight")
    page.wait_for_timeout(500)  # the hand has rested, and the move was sent to nobody
    page.evaluate("() => { WebSocket.prototype.send = window.kept; }")
    field(page).fill("7")
    field(page).press("Enter")
    expect(slider).to_have_attribute("aria-valuetext", "7", timeout=20_000)
    page.wait_for_timeout(5000)  # in which it would have been said again twice
    expect(field(page)).to_have_value("7")
    expect(slider).to_have_attribute("aria-valuetext", "7")
