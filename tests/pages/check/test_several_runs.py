"""A text of several runs: a sentence on all, a table, and one of them open."""

from streamlit.testing.v1 import AppTest

from tests.pages.check_page import (
    RUNS,
    fields_of,
    marks_of,
    pasted,
    rows_of,
    run_opened,
    sent,
    standing_of,
)


def headline(app: AppTest) -> str:
    return next(each.proto.body for each in app.get("html") if "hold" in each.proto.body)


def test_a_table_of_runs_gets_a_sentence_a_row_for_each_and_the_first_one_open() -> None:
    app = pasted(RUNS)
    assert "3 of 4 runs hold; r3 is refuted." in headline(app)
    rows = rows_of(app)
    assert len(rows) == 4
    for row, sigma, word in zip(
        rows, ("0.6", "0.8", "1", "1.5"), ("Holds", "Holds", "Refuted", "Holds"), strict=True
    ):
        assert f">{sigma}</td>" in row
        assert word in row
        assert "1,500 steps" in row
        assert "class=sign" in row
    assert all(
        f">{name}</button>" in row for name, row in zip(("r1", "r2", "r3", "r4"), rows, strict=True)
    )
    assert fields_of(app)["sigma"] == "0.6"
    assert ("19.15", "epsilon") in marks_of(app)
    assert ">r1<" in standing_of(app)


def test_a_press_on_a_row_opens_its_run_with_its_card_its_fields_and_its_marks() -> None:
    app = run_opened(pasted(RUNS), 2)
    assert "Refuted" in standing_of(app)
    assert ">r3<" in standing_of(app)
    assert fields_of(app)["sigma"] == "1"
    assert ("3.30", "epsilon") in marks_of(app)
    assert ("19.15", "epsilon") not in marks_of(app)
    assert "epsilon is proven to be at least" in app.code[0].value
    assert "data-run=2 aria-pressed=true" in rows_of(app)[2]
    for nonsense in (4, -1, True, "1", None, [1], 1e300):
        app = sent(app, "claim_runs", "opened", nonsense)
        assert not app.exception, nonsense
    app = app.text_area(key="claim_text").set_value(RUNS + "\n").run()
    assert fields_of(app)["sigma"] == "0.6"  # another text begins with its first run


def test_what_was_set_by_hand_stays_with_its_run_and_is_used_for_all_on_request() -> None:
    app = run_opened(pasted(RUNS), 2)
    app = app.text_input(key="claim_epsilon").set_value("9").run()
    assert "4 of 4 runs hold." in headline(app)
    app = run_opened(app, 0)
    assert fields_of(app)["epsilon"] == "19.15"
    assert "4 of 4 runs hold." in headline(app)
    assert not [each for each in app.caption if "Set by hand" in each.value]
    app = run_opened(app, 2)
    assert fields_of(app)["epsilon"] == "9"
    assert [each for each in app.caption if "Set by hand: Claimed epsilon." in each.value]
    app = app.button(key="claim_for_all").click().run()
    assert all(">9</td>" in row for row in rows_of(app))
    app = app.button(key="claim_back").click().run()
    assert fields_of(app)["epsilon"] == "3.30"
    assert [">9</td>" in row for row in rows_of(app)] == [True, True, False, True]


def test_a_wrong_field_of_the_open_run_leaves_the_others_judged() -> None:
    app = pasted(RUNS).text_input(key="claim_sigma").set_value("x").run()
    assert "Sigma" in app.error[0].value
    assert "3 of 4 runs hold; r3 is refuted." in headline(app)
    app = run_opened(run_opened(app, 1), 0)
    assert fields_of(app)["sigma"] == "0.6"  # a text that is no value is not kept


def test_a_text_of_one_run_has_no_table() -> None:
    app = pasted("epsilon = 3, sigma = 1.1, q = 0.01, 1000 steps, delta = 1e-5")
    assert not [e for e in app.get("bidi_component") if e.proto.component_name == "claim_runs"]
    assert "Holds" in standing_of(app)


def test_nothing_of_a_label_becomes_html() -> None:
    app = pasted("| <b>run | σ | ε |\n|---|---|---|\n| <img src=x> | 1 | 3 |\n| <i>b | 2 | 4 |\n")
    assert not app.exception
    for row in rows_of(app):
        assert "<img" not in row
        assert "<i>" not in row
