"""The page that checks a claim: typed, pasted, opened; its verdict, its certificate and its
sentences.
"""

import json
from dataclasses import replace

from streamlit.testing.v1 import AppTest

from dpcore.claims import Printed, Standing, judge, read
from dpcore.claims.certificate import certificate_of
from dpcore.claims.worked import EXAMPLES
from dpcore.figures.style import SIGNS
from pages.parts.check.examples import CLAIMED, name_of
from pages.parts.check.verdict_card import counts_table, details_of
from tests.pages.check_page import (
    CLAIM,
    fields_of,
    marks_of,
    opened,
    pasted,
    standing_of,
)

CARD = (
    "epsilon = 2.92, delta=1e-5, noise multiplier 1.1, batch 256, 60,000 examples, 15 epochs,"
    " Opacus RDP"
)


def test_it_opens_on_an_invitation_an_example_and_the_printed_claims() -> None:
    app = opened()
    assert not app.exception
    assert app.text_area(key="claim_text").label.startswith("Paste the claim")
    assert not app.expander[0].proto.expanded
    assert "at least 0.862" in standing_of(app)  # of an example
    assert not app.code
    assert len([each for each in app.button if (each.key or "").startswith("example_")]) == len(
        EXAMPLES
    )


def test_a_link_holds_the_claim_and_its_verdict_is_shown() -> None:
    app = opened(**CLAIM)
    assert "Refuted" in standing_of(app)
    assert "at least 0.862" in app.code[0].value
    assert app.get("plotly_chart")
    assert app.get("download_button")


def test_a_claim_for_the_best_of_several_runs_is_judged_as_one() -> None:
    claim = CLAIM | {"claim_epsilon": "2.0"}
    assert "Holds" in standing_of(opened(**claim))
    for text, standing, words in (
        ("1", "Holds", "one run"),
        ("10", "Unproven", "the best of 10 runs"),
        ("geometric:10", "Holds", "a secret number of runs, geometric with mean 10"),
    ):
        app = opened(**claim, claim_runs=text)
        assert standing in standing_of(app), text
        assert app.text_input(key="claim_runs").value == text
        assert any(words in each.value for each in app.caption), text
        assert words in app.code[0].value, text
    app = app.text_input(key="claim_runs").set_value("many:3").run()
    assert "such as geometric" in app.error[0].value
    assert app.text_input(key="claim_sigma").value == "1.3"
    app = app.button(key=f"example_{EXAMPLES[0].name}").click().run()
    assert app.text_input(key="claim_runs").value == ""


def test_each_printed_claim_is_a_click_away() -> None:
    for example in EXAMPLES:
        app = opened().button(key=f"example_{example.name}").click().run()
        assert not app.error, example
        expected = judge(example.claim)
        assert expected.standing.value.capitalize() in standing_of(app), example
        assert app.code[0].value == expected.review, example


def test_a_text_is_read_marked_and_fills_the_fields_which_can_be_changed() -> None:
    app = pasted(CARD)
    assert "Holds" in standing_of(app) or "Contradictory" in standing_of(app)
    assert ("60,000", "examples") in marks_of(app)
    assert fields_of(app)["examples"] == "60000"
    app.text_input(key="claim_epsilon").set_value("0.5").run()
    assert "Refuted" in standing_of(app)
    app.text_area(key="claim_text").set_value("noise multiplier 1.1").run()
    assert fields_of(app) == {"sigma": "1.1"}


def test_the_fields_stay_folded_until_a_text_was_read_or_a_field_has_something() -> None:
    def folded(app: AppTest) -> dict[str, bool]:
        known = ("Type it instead", "Edit what was read")
        return {each.label: not each.proto.expanded for each in app.expander if each.label in known}

    assert folded(opened()) == {"Type it instead": True}
    assert folded(opened(claim_epsilon="3")) == {"Type it instead": False}
    assert folded(pasted(CARD)) == {"Edit what was read": False}
    app = pasted(CARD).button(key="check_it").click().run()
    assert "Edit what was read" in folded(app)
    assert fields_of(app)["examples"] == "60000"


def test_a_delta_of_one_in_n_fills_its_field_as_a_fraction_that_is_the_same_number() -> None:
    app = pasted("epsilon = 8, delta = 1/n, 1,281,167 examples, sigma 1.1, batch 1000, 10 epochs")
    assert fields_of(app)["delta"] == "1/1281167"
    assert "Edit what was read" in [each.label for each in app.expander]
    claim = read(app.text_area(key="claim_text").value).claim
    assert claim.delta == 1 / 1281167


def test_each_example_says_what_it_is_and_which_number_it_claims() -> None:
    assert {*CLAIMED} == {each.name for each in EXAMPLES}
    assert len({*CLAIMED.values()}) == len(EXAMPLES)
    for each in EXAMPLES:
        assert each.claim.epsilon
        assert each.claim.epsilon.text[:5] in name_of(each)  # Opacus prints twelve digits


def test_what_was_passed_over_is_told_and_taken_by_one_click() -> None:
    app = pasted(
        "σ = 1.1, q = 0.01, 1000 steps, δ = 1e-5. ε = 9.0, and if batches were Poisson, ε would be"
        " 1.6."
    )
    assert fields_of(app)["epsilon"] == "9.0"
    assert any(
        "Passed over\\: epsilon 1.6; the text only supposes it." in each.value
        for each in app.caption
    )
    app = (
        next(each for each in app.button if each.label == "Claimed epsilon: 1.6 instead")
        .click()
        .run()
    )
    assert fields_of(app)["epsilon"] == "1.6"
    assert "Refuted" not in standing_of(app)
    assert not [
        each for each in pasted("δ = 0, 5 warm-up steps").button if "instead" in each.label
    ]  # none may be right
    app = pasted("σ = 1.1")
    assert any("Nothing in the text was passed over" in each.value for each in app.caption)


def test_a_history_of_changing_noise_stays_beside_the_fields() -> None:
    state = {"history": [[1.1, 0.01, 500], [0.9, 0.01, 500]], "mechanism": "rdp"}
    app = pasted(json.dumps(state))
    for field, text in (("epsilon", "8"), ("delta", "1e-5")):
        app = app.text_input(key=f"claim_{field}").set_value(text).run()
    assert "Holds" in standing_of(app)
    app = app.button(key=f"example_{EXAMPLES[0].name}").click().run()
    assert app.code[0].value == judge(EXAMPLES[0].claim).review
    assert app.text_area(key="claim_text").value == ""


def test_a_value_that_is_none_is_a_sentence_and_the_rest_stays() -> None:
    for field, text, words in (
        ("epsilon", "0", "Claimed epsilon\\: write a number above 0, for example 3.0."),
        ("epsilon", "3,0", "for example 3.0. Write a point before decimals, not a comma."),
        ("delta", "1", "between 0 and 1, for example 1e-5"),
        ("sigma", "-1", "a number above 0"),
        ("q", "2", "up to 1"),
        ("batch", "1.5", "Batch\\: write a whole number"),
    ):
        app = opened(**{f"claim_{field}": text})
        assert not app.exception, (field, text, words)
        assert words in app.error[0].value, (field, text, words)
        assert len([each for each in app.button if (each.key or "").startswith("example_")]) == len(
            EXAMPLES
        ), field


def written_on(app: AppTest) -> str:
    return " ".join(each.proto.body for each in app.get("html"))


def test_a_wrong_value_is_told_beside_its_field_and_the_verdict_on_the_rest_stays() -> None:
    typed = {"claim_epsilon": "3", "claim_delta": "1e-5", "claim_sigma": "1.1", "claim_q": "0.01"}
    kept = standing_of(opened(**typed, claim_steps="1000"))
    app = opened(**typed, claim_steps="1000", claim_epochs="1,5", claim_batch="abc")
    assert len(app.error) == 2
    said = " ".join(each.value for each in app.error)
    assert "Epochs" in said
    assert "Batch" in said
    assert standing_of(app) == kept
    assert "Left out until there is a value in its field: Batch, Epochs." in written_on(app)
    app = opened(claim_epsilon="-4")
    assert "Claimed epsilon" in app.error[0].value
    assert "An example." in written_on(app)


def test_a_text_that_claims_nothing_is_told() -> None:
    for text in [
        "nonsense",
        "epsilon = 0",
        "delta = 1",
        '{"class_name": "LaplaceDpEvent"}',
        "{",
        "x" * 20_001,
    ]:
        app = pasted(text)
        assert not app.exception, text
        assert app.error or app.info or "Insufficient" in standing_of(app), text


def test_every_verdict_has_a_sign_of_its_own_and_every_accountant_its_row() -> None:
    assert set(SIGNS["claim"]) == set(Standing)
    assert len({sign for sign, _ in SIGNS["claim"].values()}) == len(Standing)
    verdict = judge(EXAMPLES[0].claim)
    assert any("Moments accountant, as in this program" in each for each in details_of(verdict))
    table = counts_table(verdict)
    # Its head, and all but the certified one, whose band is above.
    assert table.count("<tr>") == len(verdict.counted)
    assert "≤ 1.26" in table
    assert "≈ 0.942" in table


def test_the_card_says_how_many_facts_are_stated_and_the_certificate_what_was_set_by_hand() -> None:
    app = pasted("For sigma = 1.1, user-level privacy, q = 0.01 and 1000 steps, delta = 1e-5.")
    app = app.text_input(key="claim_epsilon").set_value("2").run()
    found = read(app.text_area(key="claim_text").value)
    told = found.runs[0].told
    assert "unit" in told
    verdict = judge(replace(found.claim, epsilon=Printed("2")), told)
    assert verdict.complete in [each.value for each in app.caption]
    certificate = certificate_of(verdict, ["epsilon"], told)
    assert certificate["inputs"]["by_hand"] == ["epsilon"]
    (button,) = [e for e in app.get("download_button") if "certificate" in e.proto.label]
    assert button.proto.url.endswith(".json")


def test_laplace_beside_the_steps_is_judged_with_them_also_after_a_field_is_changed() -> None:
    step = "PoissonSampledDpEvent(0.01, GaussianDpEvent(1.1))"
    event = f"ComposedDpEvent([SelfComposedDpEvent({step}, 1000), LaplaceDpEvent(2.0)])"
    app = pasted(f"event = {event}; epsilon = 2.5, delta = 1e-5")
    assert not app.exception
    assert "Holds" in standing_of(app)
    assert "beside a Laplace release of scale 2" in app.code[0].value
    app.text_input(key="claim_epsilon").set_value("1.55").run()
    assert "Refuted" in standing_of(app)  # without it 1.52 is proven
    assert "beside a Laplace release of scale 2" in app.code[0].value
