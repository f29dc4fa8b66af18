"""A pasted text: what was read is marked, and what was not is pressed and said by hand."""

import json
from pathlib import Path

from benchmarks.claims import ENOUGH, count_of
from tests.pages.check_page import (
    fields_of,
    filled,
    marks_of,
    opened,
    parts_of,
    pasted,
    sent,
    standing_of,
)
from tests.pages.train_page import handed

TEXTS = Path(__file__).parents[2] / "claims" / "texts"
# Only sigma has its name.
NAMELESS = "Noise multiplier 1.1; we drew 0.01, ran it 1000 times, and got 1.6 at 1e-5."


def test_numbers_without_a_name_are_offered_with_the_fields_that_can_hold_them() -> None:
    app = pasted(NAMELESS)
    assert fields_of(app) == {"sigma": "1.1"}
    offers = {each["text"]: dict(each["offers"]) for each in parts_of(app) if "offers" in each}
    assert {*offers} == {"0.01", "1000", "1.6", "1e-5"}
    assert "steps" in offers["1000"]
    assert "q" not in offers["1000"]
    assert "q" in offers["0.01"]
    assert "steps" not in offers["0.01"]
    assert [*offers["0.01"]][-1] == "sigma"  # the one that has a value comes last


def test_presses_fill_fields_mark_them_as_set_by_hand_and_complete_the_claim() -> None:
    app = pasted(NAMELESS)
    presses = ("0.01", "q"), ("1000", "steps"), ("1.6", "epsilon"), ("1e-5", "delta")
    app = filled(app, *presses)
    assert "Holds" in standing_of(app)
    assert fields_of(app) == {
        "sigma": "1.1",
        "q": "0.01",
        "steps": "1000",
        "epsilon": "1.6",
        "delta": "1e-5",
    }
    told = "Set by hand: Claimed epsilon, Delta, Rate q, Steps T."
    assert sum(told in each.value for each in app.caption) == 2  # beside the fields, on the card
    assert ("1000", "steps, by hand") in marks_of(app)
    assert any("(by hand)" in each.proto.body for each in app.get("html"))
    offered = [e.proto.label for e in app.get("download_button")]
    assert "Download the certificate (JSON)" in offered
    app = app.button(key="claim_back").click().run()
    assert fields_of(app) == {"sigma": "1.1"}
    assert not [each for each in app.caption if "Set by hand" in each.value]


def test_a_number_that_is_another_field_after_all_leaves_the_one_before() -> None:
    app = filled(pasted(NAMELESS), ("0.01", "delta"))
    assert fields_of(app) == {"sigma": "1.1", "delta": "0.01"}
    app = filled(app, ("0.01", "q"))
    assert fields_of(app) == {"sigma": "1.1", "q": "0.01"}
    app = filled(app, ("0.01", "sigma"))
    assert fields_of(app) == {"sigma": "0.01"}
    app = filled(app, ("0.01", "q"), ("1000", "steps"), ("1000", "epochs"))
    assert fields_of(app) == {"sigma": "1.1", "q": "0.01", "epochs": "1000"}


def test_a_value_that_was_read_and_then_changed_is_marked_as_passed_over() -> None:
    app = pasted("sigma = 1.1").text_input(key="claim_sigma").set_value("2").run()
    (part,) = parts_of(app)
    assert part["passed"]
    assert "by hand" in part["why"]


def test_two_values_of_a_field_are_offered_by_a_button_each() -> None:
    app = pasted("sigma = 1.0, sigma = 2.0, q = 0.01")
    assert "sigma" not in fields_of(app)
    assert {each["field"] for each in parts_of(app) if each.get("passed")} == {"sigma?"}
    app = app.button(key="offer_sigma_2").click().run()
    assert fields_of(app)["sigma"] == "2"
    assert [each for each in app.caption if "Set by hand: Sigma." in each.value]
    assert "offer_sigma_1" in [each.key for each in app.button]
    assert "offer_sigma_2" not in [each.key for each in app.button]


def test_a_press_of_another_text_or_run_a_second_time_or_of_nonsense_changes_nothing() -> None:
    app = pasted(NAMELESS)
    before = fields_of(app)
    nonsense = [
        None,
        "x",
        [1],
        [[10, "old", 30, "q"]],
        [["1", 2, 3, 4]],
        {"a": 1},
        [[True, None, 1.5, "q"]],
    ]
    for each in nonsense:
        app = sent(app, "claim_text", "filled", each)
        assert not app.exception, each
        assert fields_of(app) == before, each
    (text,) = handed(app, "claim_text")
    start = next(each["start"] for each in text["parts"] if each["text"] == "0.01")
    for number, of, field in ((10**9, "of another text", "q"), (10**9 + 1, text["of"], "runs")):
        app = sent(app, "claim_text", "filled", [[number, of, start, field]])
        assert fields_of(app) == before, of
    press = [10**9 + 2, text["of"], start, "q"]
    app = sent(app, "claim_text", "filled", [press])
    assert fields_of(app) == before | {"q": "0.01"}
    app = app.text_input(key="claim_q").set_value("0.02").run()
    app = sent(app, "claim_text", "filled", [press])
    assert fields_of(app)["q"] == "0.02"


def test_nothing_of_a_text_becomes_html() -> None:
    app = pasted("<script>alert(1)</script> epsilon = 3.0 & <b>delta</b> = 1e-5")
    assert not [each for each in app.get("html") if "alert(1)" in each.proto.body]
    assert ("3.0", "epsilon") in marks_of(app)  # the script of the component draws texts alone


def test_a_text_without_a_value_is_told_what_to_do_in_one_sentence() -> None:
    app = pasted("# Privacy\n- [ ] epsilon: TBD\nVersion 2.1, 14 pages")
    assert len(app.info) == 1
    assert "press a framed number" in app.info[0].value
    assert not app.error
    assert not app.code
    assert "type the values" in pasted("Nothing here.").info[0].value
    app = filled(app, ("2.1", "epsilon"))
    assert "Insufficient" in standing_of(app)


def test_a_megabyte_of_noise_is_one_sentence_and_a_long_text_has_few_parts() -> None:
    app = pasted("7 q\x00<é " * 150_000)
    assert [each.value for each in app.error] == [
        "The text has 1,050,000 characters\\: paste at most 100,000."
    ]
    assert not [each for each in app.expander if each.label == "Edit what was read"]
    assert not app.info
    assert not app.exception
    app = pasted("12 0.5 3e-4\n" * 3000)
    assert not app.exception
    assert len(parts_of(app)) == 200


def test_an_empty_text_leads_back_to_the_example() -> None:
    app = pasted(NAMELESS)
    app = app.text_area(key="claim_text").set_value("  \n").run()
    assert not app.exception
    assert fields_of(app) == {"sigma": "1.1"}
    assert not [e for e in app.get("bidi_component") if e.proto.component_name == "claim_text"]
    assert opened().get("html")


ONE_TRAINING = {"sigma": "1", "q": "0.01", "steps": "1000", "epsilon": "9.5", "delta": "1e-5"}


def test_a_number_under_its_name_is_taken_by_one_press_and_all_of_a_training_are_by_one() -> None:
    text = (
        "On text we use sigma = 1, q = 0.01, 1000 steps. The guarantee on images is (9.5, 1e-5)-DP."
    )
    app = pasted(text)
    assert not fields_of(app)
    assert "several trainings" in app.info[0].value
    assert {each["field"] for each in parts_of(app) if each.get("at_once")} == {
        *("sigma?", "q?", "steps?", "epsilon?", "delta?")
    }
    app = app.button(key="offer_all").click().run()
    assert fields_of(app) == ONE_TRAINING
    assert "Holds" in standing_of(app)
    assert "offer_all" not in [each.key for each in app.button]
    assert not [each for each in parts_of(app) if each.get("at_once")]


def test_what_is_said_of_another_run_is_not_among_all_of_a_training() -> None:
    app = pasted(
        "sigma = 1.1 and q = 0.01. The baseline of Lee et al. has epsilon = 8, delta = 1e-5."
    )
    assert not fields_of(app)
    app = app.button(key="offer_all").click().run()
    assert fields_of(app) == {"sigma": "1.1", "q": "0.01"}


def test_a_number_with_commas_is_offered_as_fields_write_it() -> None:
    app = pasted("Auf 25.000 Zählerreihen, sigma = 1,1, delta = 1e-5, Lernrate 0,15")
    offers = {each["text"]: dict(each["offers"]) for each in parts_of(app) if "offers" in each}
    assert offers["25.000"]["examples"] == "25000"
    assert offers["0,15"]["q"] == "0.15"


def test_most_texts_are_complete_after_three_presses() -> None:
    expected = json.loads((TEXTS / "expected.json").read_text(encoding="utf-8"))
    needed = [
        count_of((TEXTS / name).read_text(encoding="utf-8"), each)
        for name, each in expected.items()
    ]
    assert sum(count <= ENOUGH for count in needed) >= 120, needed


def test_a_press_takes_what_one_paragraph_says() -> None:
    one = "Model A uses sigma = 1, q = 0.01 and 1000 steps: epsilon = 9.5 at delta = 1e-5."
    app = pasted(f"{one}\n\nModel B uses sigma = 2 and q = 0.02.")
    assert not fields_of(app)
    app = app.button(key="offer_paragraph_0").click().run()
    assert fields_of(app) == ONE_TRAINING
    assert "Holds" in standing_of(app)
    app = app.button(key=f"offer_paragraph_{len(one)}").click().run()
    assert fields_of(app)["sigma"] == "2"
