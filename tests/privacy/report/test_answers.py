"""What an accountant answers is passed on as it is; where its numerics give up, that is +inf with the reason."""

import math
from typing import ClassVar, final

import numpy as np
import pytest

from dpcore.privacy.accountants import ACCOUNTANTS, Accountant, Curve, Kind
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.answers import epsilon_after, epsilon_at_end, profile_at_end

MECHANISM = Mechanism.constant(0.01, 2.0, 300)


@final
class Tired(Accountant):
    """It has no number for anything."""

    name: ClassVar[str] = "tired"
    kind: ClassVar[Kind] = Kind.UPPER

    def _account(self, mechanism: Mechanism, steps: object, delta: object) -> Curve:
        raise RuntimeError("The numbers left the floats.")


@pytest.mark.parametrize("name", ["pld", "rdp", "mma"])
def test_an_answer_is_the_accountants_own(name: str):
    whole = ACCOUNTANTS[name].curve(MECHANISM, [7, 300], 1e-5)
    np.testing.assert_array_equal(epsilon_after(name, MECHANISM, (7, 300), 1e-5).epsilon, whole.epsilon)
    assert epsilon_at_end(name, MECHANISM, 1e-5).last == ACCOUNTANTS[name].curve(MECHANISM, 300, 1e-5).last
    deltas = np.array([1e-6, 1e-3])
    found, wanted = profile_at_end(name, MECHANISM, deltas), ACCOUNTANTS[name].profile(MECHANISM, deltas)
    np.testing.assert_array_equal(found.epsilon, wanted.epsilon)


def test_where_the_numerics_give_up_nothing_is_promised_and_the_reason_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(ACCOUNTANTS, "tired", Tired())
    for curve in (
        epsilon_after("tired", MECHANISM, [7, 300], 1e-5),
        epsilon_at_end("tired", MECHANISM, 1e-5),
        profile_at_end("tired", MECHANISM, np.array([1e-6, 1e-3])),
    ):
        assert set(curve.epsilon.tolist()) == {math.inf}
        assert (curve.lower, curve.kind, curve.note) == (None, Kind.UPPER, "The numbers left the floats.")


def test_what_is_asked_wrongly_is_an_error_all_the_same():
    with pytest.raises(ValueError, match="steps"):
        epsilon_after("pld", MECHANISM, [301], 1e-5)
