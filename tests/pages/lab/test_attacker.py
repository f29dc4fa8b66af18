"""Be the attacker: a round of ten, its score, and what is proven of the private model."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.audit.attack_game import recorded
from pages.parts import attacker
from pages.parts.attacker import GUESSES, MODELS, ROUND, right_of


def opened() -> AppTest:
    return AppTest.from_function(_page, default_timeout=300).run()


def _page() -> None:
    from pages.parts.attacker import play

    play()


@pytest.mark.parametrize("answer", [True, False])
def test_a_round_ends_after_ten_guesses_with_its_score_beside_the_bound(answer: bool) -> None:
    page = opened()
    for _ in range(ROUND):
        page.button(key=f"attack_{answer}").click().run()
    assert not page.exception
    digits, guesses = page.session_state[GUESSES][MODELS[0]]
    assert guesses == [answer] * ROUND
    told = " ".join(each.value for each in page.markdown)
    assert f"The round is over: {right_of(digits, guesses)} of {ROUND} right." in told
    assert right_of(digits, guesses) == sum(each.member is answer for each in digits)
    assert "epsilon ≤ " in told
    page.button(key="attack_again").click().run()
    assert page.session_state[GUESSES][MODELS[0]][1] == []


def test_a_model_has_its_own_round_and_a_coin_says_whether_a_digit_was_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = opened()
    page.button(key="attack_True").click().run()
    page.session_state["attacked_model"] = MODELS[1]
    page.run()
    assert [len(page.session_state[GUESSES][model][1]) for model in MODELS] == [1, 0]
    for toss, members in ((0.4, ROUND), (0.6, 0)):
        monkeypatch.setattr(attacker.random, "random", lambda toss=toss: toss)
        digits, _ = attacker._new_round()
        assert [each.member for each in digits].count(True) == members
        assert len({each.index for each in digits}) == ROUND


@pytest.mark.parametrize(
    ("sure", "said"), [(0.9999, "99.99 %"), (0.992, "99.20 %"), (1.0, "over 99.99 %")]
)
def test_the_model_is_as_sure_as_was_recorded_for_the_whole_signal_is_in_the_last_digits(
    monkeypatch: pytest.MonkeyPatch, sure: float, said: str
) -> None:
    digits = [replace(each, plain=sure) for each in recorded()]
    monkeypatch.setattr(attacker, "recorded", lambda: digits)
    told = " ".join(each.value for each in opened().markdown)
    assert f"the model is **{said}** sure of that." in told
