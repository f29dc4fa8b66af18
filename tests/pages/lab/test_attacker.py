"""Be the attacker: a round of ten, two networks on one scale, and a program beside its limit."""

import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.audit.attack_game import (
    MODELS,
    PRIVATE,
    Digit,
    Score,
    asked_of,
    by_kind,
    known_of,
    recorded,
)
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.report.attack_risk import risks_of
from dpcore.training.plan import plan
from pages.parts.attacker import game
from pages.parts.attacker.doubt_line import DECADES, WORDS, confidence, doubt_line, in_words, place
from pages.parts.attacker.game import GAME, PROGRAM_GUESSES, ROUND, SCORES, Proven, chances, closing

PLACE = re.compile(r"--share: ([\d.]+)")


def opened() -> AppTest:
    return AppTest.from_function(_page, default_timeout=300).run()


def _page() -> None:
    from pages.parts.attacker.game import show_game

    show_game()


def told(page: AppTest) -> str:
    """All that the window says."""
    assert not page.exception
    texts = [each.value for each in (*page.markdown, *page.caption)]
    return " ".join([*texts, drawn(page)])


def drawn(page: AppTest) -> str:
    """The HTML of the window."""
    return " ".join(each.proto.body for each in page.get("html"))


@pytest.mark.parametrize("answer", [True, False])
def test_a_round_ends_after_ten_guesses_with_its_score(answer: bool) -> None:
    page = opened()
    for number in range(1, ROUND + 1):
        assert f"Digit {number} of {ROUND}" in drawn(page)
        page.button(key=f"attack_{answer}").click().run()
    digits, guesses = page.session_state[GAME]
    right = sum(each.member is answer for each in digits)
    assert guesses == [answer] * ROUND
    assert f"The round is over: {right} of {ROUND} right." in told(page)
    assert not [each for each in page.button if each.key == f"attack_{answer}"]
    page.button(key="attack_again").click().run()
    assert page.session_state[GAME].guesses == []


def test_each_guess_is_judged_by_what_the_digit_was() -> None:
    page = opened()
    for _ in range(3):
        digit = page.session_state[GAME].shown
        page.button(key="attack_True").click().run()
        verdict = "✓ Right: the last digit **was**" if digit.member else "✕ Wrong"
        assert verdict in told(page)
        assert ("the last digit **was not**" in told(page)) is not digit.member


def test_a_coin_says_whether_a_digit_was_in_and_no_dot_shows_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {each.index for each in known_of(recorded())}
    for toss, members in ((0.4, ROUND), (0.6, 0)):
        monkeypatch.setattr(game.random, "random", lambda toss=toss: toss)
        digits, _ = game._new_round()
        assert [each.member for each in digits].count(True) == members
        assert len({each.index for each in digits} - known) == ROUND


def test_both_networks_show_the_same_digit_beside_the_known_ones() -> None:
    page = opened()
    digit = page.session_state[GAME].shown
    inside, outside = by_kind(known_of(recorded()))
    pictures = [each.proto.body for each in page.get("html") if "class=doubts" in each.proto.body]
    assert len(pictures) == len(MODELS)
    for model, picture in zip(MODELS, pictures, strict=True):
        assert picture.count("<i ") == len(inside) + len(outside)
        assert f'<b class=asked style="--share: {place(digit.doubt(model)):.4f}' in picture
        assert f"<b>{confidence(digit.doubt(model))}</b> sure of" in picture
        surer = sum(each.doubt(model) <= digit.doubt(model) for each in inside)
        assert 'role=img aria-label="' in picture
        assert f"it is of {surer} of {len(inside)} known members and of " in picture
    assert "Without privacy" in pictures[0]
    assert "Private: epsilon ≤ " in pictures[1]
    assert 'alt="A handwritten ' in drawn(page)


def test_a_place_on_the_scale_is_ten_times_less_doubt_than_the_one_before() -> None:
    steps = [place(10.0**-decade) for decade in range(DECADES + 1)]
    assert steps == pytest.approx([decade / DECADES for decade in range(DECADES + 1)])
    assert in_words(2) == "99 of 100"
    assert place(1 - 0.9999) - place(1 - 0.992) > 0.3  # far apart, although both are 99 %
    assert place(1e-12) == place(0.0) == 1.0
    assert place(1.0) == 0.0


def test_dots_and_the_line_lie_where_the_scale_has_their_doubts() -> None:
    known = [Digit(0, True, 0.5, 0.01), Digit(1, False, 0.5, 0.1)]
    picture = doubt_line("Title", "plain", known, Digit(2, True, 0.5, 0.001), None)
    rows, _, scale = picture.partition("<p class=scale>")
    line = 3 / DECADES
    assert [float(each) for each in PLACE.findall(rows)] == [2 / DECADES, line, 1 / DECADES, line]
    steps = [float(each) for each in PLACE.findall(scale)]
    assert steps == [decade / DECADES for decade in range(DECADES + 1)]
    assert ">9<br>of 10<" in scale
    assert ">≥ 99,999<br>of 100,000<" in scale


@pytest.mark.parametrize(
    ("doubt", "said"),
    [
        (0.0001, "99.99 %"),
        (0.008, "99.2 %"),
        (0.7, "30 %"),
        (3e-7, "99.99997 %"),
        (0.9997, "0.03 %"),
        (1.0, "under 0.01 %"),
        (0.0, "100 %"),
    ],
)
def test_a_network_is_as_sure_as_was_recorded_for_the_whole_signal_is_in_the_last_digits(
    doubt: float, said: str
) -> None:
    assert confidence(doubt) == said


def test_the_limit_beside_the_programs_score_is_the_certified_one() -> None:
    page = opened()
    assert "by proof" not in told(page)
    page.button(key="attack_program").click().run()
    mechanism = plan(PRIVATE).mechanism
    assert mechanism
    proven = 50 * (1 + risks_of(tradeoff_bounds(mechanism), PRIVATE.delta).advantage.upper)
    epsilon = ACCOUNTANTS[CERTIFIED].curve(mechanism, mechanism.steps, PRIVATE.delta).last.value
    text = told(page)
    most = int(re.findall(r"at most (\d+) by proof", text)[0])
    assert proven <= most < proven + 1
    assert f"nobody can get beyond **{most}**" in text
    shown = float(re.findall(r"epsilon ≤ ([\d.]+) at delta 0.001", text)[0])
    assert epsilon <= shown < epsilon + 0.01


def test_the_program_guesses_of_both_networks_at_any_time_and_its_bars_are_drawn() -> None:
    page = opened()
    assert "<b class=bar" not in drawn(page)
    page.button(key="attack_program").click().run()
    scores = page.session_state[SCORES]
    assert {each.guesses for each in scores.values()} == {PROGRAM_GUESSES}
    assert drawn(page).count("<b class=bar") == 2 * len(MODELS)  # across both rows
    shares = {model: round(100 * score.share) for model, score in scores.items()}
    for share in shares.values():
        assert f"<b>{share} of 100</b> guessed right by the program" in drawn(page)
    assert f"the network betrays **{shares['plain']} of 100**" in told(page)
    assert "By chance its scores may be off by" in told(page)
    page.button(key="attack_True").click().run()
    assert page.session_state[SCORES] is not None
    assert page.session_state[GAME].guesses == [True]


def test_the_program_has_no_hindsight(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar chosen on the known digits is worthless for digits that a network is less sure of."""

    def changed(each: Digit) -> Digit:
        known = each.index in shown
        at = 0.01 if known else 0.0001
        doubt = at * 0.9 if each.member else at * 1.1
        return replace(each, plain=doubt, private=doubt)

    shown = {each.index for each in known_of(recorded())}
    digits = tuple(changed(each) for each in recorded())
    monkeypatch.setattr(game, "recorded", lambda: digits)
    page = opened()
    page.button(key="attack_program").click().run()
    for score in page.session_state[SCORES].values():
        assert score.share == pytest.approx(0.5, abs=0.08)  # in hindsight it would be 1


def test_the_closing_sentence_has_both_numbers_and_a_score_above_the_limit_is_explained() -> None:
    proven = Proven("≤ 1.42", 60)
    within = {"plain": Score(790, 1000, 0.05), "private": Score(604, 1000, 0.064)}
    above = within | {"private": Score(606, 1000, 0.064)}
    said = closing(within, proven)
    assert "betrays **79 of 100**" in said
    assert "With epsilon ≤ 1.42 nobody can get beyond **60**" in said
    assert "off by about 7 of 100" in chances(within, proven)  # rounded up
    assert WORDS["above"] not in chances(within, proven)
    assert WORDS["above"] in chances(above, proven)


def test_a_double_click_on_the_last_digit_counts_once() -> None:
    page = opened()
    digits = asked_of(recorded())[:1]
    page.session_state[GAME] = game.Round(digits, [])
    page.run()
    page.button(key="attack_True").click().run()
    assert page.session_state[GAME].guesses == [True]
    assert page.session_state[GAME].over
