"""What a stranger can send: no path leads out of a route, no question changes anything, what is
typed stays text.
"""

import json
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from streamlit.testing.v1 import AppTest

from dpcore.runs.editing import annotate, rename, tag
from dpcore.runs.export import record_of
from dpcore.runs.export.data_forms import run_json
from dpcore.runs.export.imported import read_run, take_in
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.classroom import PROJECTED
from pages.parts.serving import routes
from pages.parts.serving.routes import ROUTES
from pages.parts.shell.menu import PAGES, page_at
from pages.parts.shell.page_of_style import styled_page
from pages.parts.visitors import Visitors
from tests.pages import train_page
from tests.pages.people.asking import asked
from tests.pages.people.conftest import Class
from tests.pages.runs.test_files_of_runs import uploaded
from tests.pages.train_page import CONFIG, recorded

ROOT = Path(__file__).parents[3]
APP = Visitors(Starlette(routes=ROUTES), b"k" * 32)
PAGE_ADDRESSES = {route.path for route in routes.PAGES_BY_ADDRESS}
HOSTILE = (
    "..",
    "../..",
    "../../../../etc/passwd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%5c..%5capp.py",
    "%00",
    "a%00b",
    "~root",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "file:///etc/passwd",
    "C:%5cboot.ini",
    "//evil.example/x",
    "%ff%fe",
    "a" * 10_000,
    "$(id)",
    "`id`",
    "|id",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "{{7*7}}",
    "' OR 1=1 --",
    "runs.sqlite3",
    "cookie.key",
    "teacher.key",
    "__import__('os')",
    "\u202e",
    "%0d%0aSet-Cookie:%20a=b",
)
MARKUP = (
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "**loud** :red[x] $x$",
    "../../etc/passwd\x00",
)
REASONS = {  # why a run ended -> what of it would be markup
    "![x](https://evil.example/p.png) [click](https://evil.example)": (
        "![x](https://evil.example/p.png) [click]("
    ),
    "`` ![x](//evil.example/p.png) ` :red[x] $x$": "![x](//evil.example/p.png)",
}


def paths(hostile: str) -> list[str]:
    """Every route with something hostile in each of its places, in turn and in all, and in each
    question.
    """
    found = []
    for route in ROUTES:
        places = re.findall("{[^}]*}", route.path)
        for chosen in [*([place] for place in places), places]:
            path = route.path
            for place in places:
                path = path.replace(place, hostile if place in chosen else "x")
            found.append(path)
        found += [
            f"{route.path}/{hostile}",
            f"{re.sub('{[^}]*}', 'x', route.path)}?after={hostile}&field={hostile}",
        ]
    return found


@pytest.fixture
def served(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The routes over a store with a run."""
    monkeypatch.setattr(routes, "ensure_pool", lambda: type("Pool", (), {"store": store}))
    store.submit(CONFIG, "a name")
    return store


def state_of(store: Store) -> list[object]:
    return [
        store.runs(kind=None),
        sorted(store.home.iterdir()),
        store.board("paused"),
        store.board("projected"),
    ]


def test_no_path_leads_out_of_a_route_and_nothing_is_changed(served: Store):
    for hostile in HOSTILE:
        before = state_of(served)
        for path in paths(hostile):
            answer = asked(APP, path)
            if path.partition("?")[0] in PAGE_ADDRESSES:  # a question changes nothing in the page
                assert answer.status == 200, path
                assert answer.body == styled_page(page_at(path.partition("?")[0][1:])), path
                continue
            assert answer.status in (307, 400, 404), path
            assert not re.search("root:|import |SQLite|Traceback|BEGIN", answer.body), path
            assert not any(
                name == "set-cookie" and "a=b" in value for name, value in answer.headers
            ), path
            assert str(served.home) not in answer.body, path
        assert state_of(served) == before, hostile


def test_no_route_takes_anything_but_a_question(served: Store):
    for method in ["POST", "PUT", "PATCH", "DELETE", "nonsense"]:
        before = state_of(served)
        for route in ROUTES:
            assert route.methods == {"GET", "HEAD"}, method
            assert asked(APP, re.sub("{[^}]*}", "x", route.path), method=method).status == 405, (
                method
            )
        assert state_of(served) == before, method


def without_code(text: str) -> str:
    """Markdown without what stands in it as it is."""
    return re.sub("`[^`]*`", "", text)


def said_by(app: AppTest) -> list[str]:
    """All that a page says in Markdown or HTML."""
    kinds = ("markdown", "html", "caption", "error", "warning", "info", "success")
    return [
        str(getattr(each, "value", "") or getattr(each.proto, "body", ""))
        for kind in kinds
        for each in app.get(kind)
    ]


@pytest.mark.long
def test_what_is_typed_into_a_field_is_text_and_never_markup(store: Store):
    for page in PAGES:
        app = AppTest.from_file(ROOT / page.file, default_timeout=120).run()
        assert not app.exception, page
        for key in [each.key for each in app.text_input]:
            for typed in MARKUP:
                field = next((each for each in app.text_input if each.key == key), None)
                if field is None or field.disabled:
                    break
                before = field.value
                field.input(typed).run()
                assert not app.exception, (key, typed)
                assert [each for each in map(without_code, said_by(app)) if typed in each] == [], (
                    key,
                    typed,
                )
                next(each for each in app.text_input if each.key == key).input(before)
            app.run()


def test_what_a_run_is_called_is_text_and_never_markup(room: Class, store: Store):
    for page in PAGES:
        run = recorded(store, CONFIG, 40, Status.FINISHED)
        room.turn_of(room.visitor(teacher=True))
        store.post(PROJECTED, run)
        for name in MARKUP[:3]:
            rename(store, run, name)
            annotate(store, run, name)
            tag(store, run, [name])
            shown = AppTest.from_function(
                above, kwargs={"file": str(ROOT / page.file)}, default_timeout=120
            )
            shown.query_params["run"] = run
            shown.run()
            assert not shown.exception, page
            assert [each for each in map(without_code, said_by(shown)) if name in each] == [], page
            assert [each for each in shown.expander if name in each.label] == [], page


def test_why_an_imported_run_ended_is_text_and_never_markup_and_nothing_resumes_it(store: Store):
    for status in [Status.FAILED, Status.LOST]:
        for said in REASONS:
            whole = json.loads(
                run_json([record_of(store, recorded(store, CONFIG, 40, status, "Boom"))])
            )
            whole["run"]["error"] = said
            app = train_page.opened(take_in(store, read_run(json.dumps(whole).encode())))
            assert REASONS[said] in "".join(said_by(app)), status
            assert [
                each for each in map(without_code, said_by(app)) if REASONS[said] in each
            ] == [], status
            assert [each for each in said_by(app) if "Resume" in each] == [], status


def test_a_file_that_is_refused_is_no_markup_either(store: Store):
    for said in MARKUP[:3]:
        whole = json.loads(
            run_json([record_of(store, recorded(store, CONFIG, 40, Status.CANCELLED))])
        )
        app = uploaded(store, json.dumps(whole | {said: 1}).encode())
        assert "The file was not imported: `Expected the file to have no key" in app.error[0].value
        assert without_code(app.error[0].value) == "The file was not imported: "


def above(file: str) -> None:
    """A page of a classroom."""
    import runpy

    from pages.parts.classroom import classroom

    classroom()
    runpy.run_path(file)
