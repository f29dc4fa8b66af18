"""Every word of a control's help and of a table's head is in the glossary, and every entry stands on some page."""

import re
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.figures.style import style_of
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.report.glossary import GLOSSARY
from dpcore.runs.store import Store
from dpcore.training.perturbation.methods import METHODS
from pages.parts.controls.presets import PRESETS
from pages.parts.explain.terms import head, legend, term
from tests.pages import audit_page
from tests.pages.check_page import CLAIM
from tests.pages.test_every_page import PAGES, ROOT, address_of, opened
from tests.pages.train_page import opened_at

PLAIN = ("Number", "All pairs by", "CLT", "(", "No pair")  # heads of columns that are curves, or say nothing
PLAIN += ("Where", "Theirs", "Open it in", "It claims", "What holds", "Run how", "Gives it")
PLAIN += ("Method", "Feature", "before", "handed over", "cut to its range", "nearest public row", "ε =")
PLAIN += (
    "Audit",
    "Result",
    "What it",
    "Generator",
    "Drawn",
    "Largest, by size",
    "Normal ones beyond it",
    "Chance of none",
)
PRINTED = re.compile(
    r"class='verdicts (papers|findings|features|audits|generators)'"
)  # tables whose rows have names of their own
HEADS = (r"<th scope=\w+[^>]*>(.*?)</th>", r"<th scope=col[^>]*>(.*?)</th>")
HELPED = ("markdown", "caption", "selectbox", "button", "button_group", "text_input", "toggle", "checkbox")


def shown(page: AppTest) -> str:
    """All HTML and all helps of a page."""
    helps = [getattr(each.proto, "help", "") for kind in HELPED for each in page.get(kind)]
    return " ".join([*(each.proto.body for each in page.get("html")), *helps])


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, AppTest]:
    """Every page, as it opens and with the choices that show more controls."""
    with pytest.MonkeyPatch.context() as patch:
        from types import SimpleNamespace

        from dpcore.runs import pool
        from dpcore.runs.store import Store

        with Store(tmp_path_factory.mktemp("store")) as store:
            patch.setattr(pool, "ensure_pool", lambda: SimpleNamespace(store=store, trouble=None))
            variants: list[dict[str, str]] = [{}, {"sampling": "q", "length": "steps"}]
            variants += [{"target": target} for target in ("advantage", "mu")] + [
                {"acceptance": "sa"},
                {"stride_by": "own", "learner": "mlp"},
                CLAIM,
            ]
            audited = audit_page.opened(run=audit_page.recorded(store))
            named = {f"{Path(page.file).stem} {query}": opened(page, query) for page in PAGES for query in variants}
            return named | {"audit": audited}


@pytest.mark.long
def test_every_entry_of_the_glossary_stands_on_some_page(pages: dict[str, AppTest]):
    told = " ".join(unescape(shown(page)) for page in pages.values())
    assert [name for name, entry in GLOSSARY.items() if entry.meaning not in told] == []


@pytest.mark.long
def test_an_arxiv_number_is_a_link_wherever_a_page_shows_it(pages: dict[str, AppTest], store: Store):
    preset = address_of(PRESETS["Moments accountant, MNIST"])
    more = [opened_at(ROOT / page.file, session={"sources": True}, **preset) for page in PAGES]
    texts = [shown(page) for page in (*pages.values(), *more)]
    texts += [each.value for page in (*pages.values(), *more) for each in (*page.markdown, *page.caption)]
    assert any("[arXiv 1607.00133v2](https://arxiv.org/abs/1607.00133v2)" in each for each in texts)
    assert any("Source: Abadi et al. 2016, [arXiv:1607.00133](" in each for each in texts)
    links = re.compile(r"\[arXiv[^\]]*\]\(https://arxiv\.org|>arXiv[^<]*</a>")
    assert [each for each in texts if re.search(r"arXiv[: ]\d", links.sub("", each))] == []


@pytest.mark.long
def test_every_head_of_a_table_explains_itself(pages: dict[str, AppTest]):
    names = {each.title for each in (*ACCOUNTANTS.values(), *METHODS.values())}
    names |= {style_of(name).label for name in ACCOUNTANTS}
    heads = {
        text for page in pages.values() for each in page.get("html")
        for text in re.findall(HEADS[bool(PRINTED.search(each.proto.body))], each.proto.body)
    }  # fmt: skip
    assert heads
    plain = {unescape(re.sub("<.*?>", "", each)).strip() for each in heads if "popovertarget" not in each}
    lines = re.compile(r"^[╌·—━\- ]+")
    assert {each for each in plain if lines.sub("", each) not in names and not each.startswith(PLAIN)} == set()


def test_what_an_entry_says_is_escaped_and_its_arxiv_number_a_link(monkeypatch: pytest.MonkeyPatch):
    entry = GLOSSARY["mu"]
    monkeypatch.setitem(GLOSSARY, "mu", type(entry)("<b>mu</b>", "a < b", "arXiv:1905.02383"))
    html = term("mu", "here")
    assert "&lt;b&gt;mu" in html
    assert "a &lt; b" in html
    assert '<a href="https://arxiv.org/abs/1905.02383"' in html


def test_a_head_that_is_no_word_of_the_glossary_stands_as_it_is():
    assert head("R&D", "table") == "R&amp;D"
    assert "popovertarget" in head("Kind", "table")
    assert legend("here").count("popovertarget") == 3
