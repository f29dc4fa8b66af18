"""The round of guessing: what is recorded of two models, and what it says of who was in their
training set.
"""

import numpy as np

from dpcore.audit.attack_game import MEMBERS, PLAIN, PRIVATE, recorded
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.report.attack_risk import risks_of
from dpcore.training.plan import plan
from tests.audit.record_attack_game import SHOWN


def best_threshold(model: str) -> float:
    """The best share of right guesses by "surer than this: it was", or by its opposite."""
    sure = np.array([getattr(each, model) for each in recorded()])
    member = np.array([each.member for each in recorded()])
    rights = [((sure >= bar) == member).mean() for bar in [*sure, np.inf]]
    return max(*rights, *(1 - np.array(rights)))


def test_as_many_digits_were_in_the_training_set_as_not_and_the_file_says_which() -> None:
    assert PRIVATE.examples == PLAIN.examples == MEMBERS
    digits = recorded()
    assert [each.member for each in digits] == [True] * SHOWN + [False] * SHOWN
    assert all((each.index < MEMBERS) is each.member for each in digits)
    assert len({each.index for each in digits}) == len(digits)
    assert all(0 <= share <= 1 for each in digits for share in (each.private, each.plain))


def test_without_privacy_a_threshold_finds_members_and_with_it_hardly_any_more_than_a_coin() -> (
    None
):
    assert best_threshold("plain") > 0.7
    mechanism = plan(PRIVATE).mechanism
    assert mechanism
    most = (1 + risks_of(tradeoff_bounds(mechanism), PRIVATE.delta).advantage.upper) / 2
    assert most < 0.75
    assert best_threshold("private") < most + 3 * np.sqrt(
        0.25 / len(recorded())
    )  # of 120 digits, and the best of all rules
