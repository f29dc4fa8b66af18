"""The page that checks a claim: typed, pasted, opened; its verdict, its certificate and its sentences."""

from functools import partial
from pathlib import Path

from streamlit.testing.v1 import AppTest

from dpcore.claims import Standing, judge
from dpcore.claims.reading import read_text
from dpcore.claims.worked import EXAMPLES
from pages.parts.check.verdict_card import SIGNS, counts_table, details_of, marked_text
from tests.pages.check_page import CLAIM
from tests.pages.train_page import opened_at

PAGE = Path(__file__).parents[3] / "pages" / "check.py"
CARD = "epsilon = 2.92, delta=1e-5, noise multiplier 1.1, batch 256, 60,000 examples, 15 epochs, Opacus RDP"
opened = partial(opened_at, PAGE)


def pasted(text: str) -> AppTest:
    return opened(claim_by="text or JSON").text_area(key="claim_text").set_value(text).run()


def verdict_of(app: AppTest) -> str:
    assert not app.exception
    return next(each.proto.body for each in app.get("html") if "class=sign" in each.proto.body)


def test_it_opens_on_an_invitation_an_example_and_the_printed_claims() -> None:
    app = opened()
    assert not app.exception
    assert "Type or paste" in app.markdown[0].value
    assert "at least 0.862" in verdict_of(app)  # of an example
    assert not app.code
    assert len([each for each in app.button if (each.key or "").startswith("example_")]) == len(EXAMPLES)


def test_a_link_holds_the_claim_and_its_verdict_is_shown() -> None:
    app = opened(**CLAIM)
    assert "Refuted" in verdict_of(app)
    assert "at least 0.862" in app.code[0].value
    assert app.get("plotly_chart")
    assert app.get("download_button")


def test_each_printed_claim_is_a_click_away() -> None:
    for example in EXAMPLES:
        app = opened().button(key=f"example_{example.name}").click().run()
        assert not app.error, example
        expected = judge(example.claim)
        assert expected.standing.value.capitalize() in verdict_of(app), example
        assert app.code[0].value == expected.review, example


def test_a_text_is_read_marked_and_taken_over_into_the_fields() -> None:
    app = pasted(CARD)
    assert "Holds" in verdict_of(app) or "Contradictory" in verdict_of(app)
    marks = next(each.proto.body for each in app.get("html") if "<mark>" in each.proto.body)
    assert "<mark>60,000</mark><sub>examples</sub>" in marks
    app = next(each for each in app.button if each.label == "Edit it as numbers").click().run()
    assert {each.key: each.value for each in app.text_input}["claim_examples"] == "60000"


def test_what_was_typed_before_says_nothing_of_a_text() -> None:
    app = opened(claim_by="text or JSON", claim_epsilon="9", claim_delta="1e-3", claim_sampler="shuffle")
    app.text_area(key="claim_text").set_value("noise multiplier 1.1").run()
    assert "delta; epsilon" in verdict_of(app)


def test_a_value_that_is_none_is_a_sentence_and_the_rest_stays() -> None:
    for field, text, words in (
        ("epsilon", "0", "Claimed epsilon\\: write a number above 0, for example 3.0."),
        ("epsilon", "3,0", "for example 3.0. Write a point before decimals, not a comma."),
        ("delta", "1", "between 0 and 1, for example 1e-5"), ("sigma", "-1", "a number above 0"), ("q", "2", "up to 1"),
        ("batch", "1.5", "Batch\\: write a whole number"),
    ):  # fmt: skip
        app = opened(**{f"claim_{field}": text})
        assert not app.exception, (field, text, words)
        assert words in app.error[0].value, (field, text, words)
        assert len([each for each in app.button if (each.key or "").startswith("example_")]) == len(EXAMPLES), field


def test_a_text_that_claims_nothing_is_told() -> None:
    for text in ["nonsense", "epsilon = 0", "delta = 1", '{"class_name": "LaplaceDpEvent"}', "{", "x" * 20_001]:
        app = pasted(text)
        assert not app.exception, text
        assert app.error or "Insufficient" in verdict_of(app), text


def test_nothing_of_a_text_becomes_html() -> None:
    text = "<script>alert(1)</script> epsilon = 3.0 & <b>delta</b> = 1e-5"
    html = marked_text(text, read_text(text))
    assert "<script>" not in html
    assert "<b>" not in html
    assert "<mark>3.0</mark>" in html


def test_every_verdict_has_a_sign_of_its_own_and_every_accountant_its_row() -> None:
    assert set(SIGNS) == set(Standing)
    assert len({sign for sign, _ in SIGNS.values()}) == len(Standing)
    verdict = judge(EXAMPLES[0].claim)
    assert any("Moments accountant, as in this program" in each for each in details_of(verdict))
    table = counts_table(verdict)
    assert table.count("<tr>") == len(verdict.counted)  # its head, and all but the certified one, whose band is above
    assert "≤ 1.26" in table
    assert "≈ 0.942" in table
