"""Torch's own normal numbers: how far they reach, told while they are counted, the same for the same seed."""

import pytest
import torch
from scipy.stats import norm

from dpcore.audit.events import Counted
from dpcore.audit.observed import torch_normal
from dpcore.audit.observed.torch_normal import REACH, torch_counts
from dpcore.audit.request import MOST_DRAWS, AuditRequest
from tests.audit.small_audits import request_for, said_by


def test_it_tells_the_largest_so_far_and_how_many_would_be_beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_normal, "BLOCK", 1000)
    said = list(torch_counts(30_500, 7))
    assert [each.draws for each in said] == sorted({each.draws for each in said})
    assert said[-1].draws == 30_500
    assert len(said) <= torch_normal.REPORTS
    assert [each.largest for each in said] == sorted(each.largest for each in said)
    for each in said:
        assert each.expected_beyond == pytest.approx(2 * each.draws * norm.sf(each.largest), rel=1e-9)
    assert said == list(torch_counts(30_500, 7))
    assert said != list(torch_counts(30_500, 8))


def test_no_number_is_counted_where_none_is_asked_for_and_training_draws_what_it_would_have() -> None:
    before = torch.get_rng_state()
    list(torch_counts(1000, 1))
    assert torch.equal(before, torch.get_rng_state())
    assert list(torch_counts(0, 1)) == []
    with pytest.raises(ValueError, match="draws=-1"):
        list(torch_counts(-1, 1))
    for draws in (-1, 0.5, MOST_DRAWS + 1):
        with pytest.raises(ValueError, match="torch_draws="):
            AuditRequest(torch_draws=draws)  # type: ignore[arg-type]


@pytest.mark.long
def test_normal_numbers_would_go_further_than_torchs() -> None:
    *_, last = torch_counts(400_000_000, 1)
    assert last.largest <= REACH * (1 + 1e-6)
    assert last.expected_beyond > 2


def test_an_audit_counts_them_where_it_is_asked_to() -> None:
    asked = request_for()
    said = said_by(AuditRequest(asked.config, canaries=0, torch_draws=2000))
    (counted,) = (each for each in said if isinstance(each, Counted))
    assert counted.draws == 2000
    assert not [each for each in said_by(asked) if isinstance(each, Counted)]
