"""Pages of other sites in the reader's browser: they neither frame ours nor become ours by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

from tests.e2e.conftest import ARGUMENTS, CHROMIUM
from tests.e2e.server import Server

NO_PAGE = "chrome-error://chromewebdata/"  # the address of a frame whose page the browser refused


@contextmanager
def site_of(html: str) -> Iterator[str]:
    """The address of a site of one page, on this machine."""

    class OnePage(BaseHTTPRequestHandler):
        """The page, for every request."""

        def do_GET(self) -> None:
            """Send the page."""
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), OnePage) as site:
        thread = Thread(target=site.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{site.server_port}"
        finally:
            site.shutdown()
            thread.join()


def test_no_other_page_shows_ours_in_a_frame(browser, app: Server):
    with site_of(f'<iframe src="{app.url}/runs"></iframe>') as address:
        page = browser.new_page()
        with page.expect_console_message(lambda said: "frame-ancestors 'none'" in said.text):
            page.goto(address)
        assert [frame.url for frame in page.frames[1:]] == [NO_PAGE]
        page.close()


def test_a_name_that_leads_to_this_machine_shows_no_page(browser, app: Server):
    port = urlsplit(app.url).port
    leads_here = "--host-resolver-rules=MAP evil.example 127.0.0.1"
    arguments = [*ARGUMENTS, leads_here]
    misled = browser.browser_type.launch(executable_path=str(CHROMIUM), args=arguments)
    page = misled.new_page()
    for path in ("", "runs", "train"):
        answer = page.goto(f"http://evil.example:{port}/{path}")
        assert answer.status == 403, path
        assert page.locator("[data-testid=stApp]").count() == 0, path
    misled.close()
