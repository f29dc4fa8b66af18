"""What has been recorded of the papers' runs: of runs that they ask for, with the epsilon that is certified."""

import datetime
import json
import statistics

import pytest

from dpcore.papers import PAPERS, comparisons
from dpcore.papers.comparison import compared
from dpcore.papers.entry import Trained
from dpcore.papers.records import Recorded, kept, named, path_of, records_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan

RECORDS = [(paper, record) for paper in PAPERS for record in records_of(paper).values()]


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_every_record_is_of_a_run_that_the_paper_asks_for(paper) -> None:
    asked = {named(entry.config) for entry in paper.trained}
    asked |= {named(config) for sweep in paper.sweeps for config in sweep.configs}
    asked |= {named(config) for ladder in paper.ladders for _, config in ladder.runs}
    assert records_of(paper.id).keys() <= asked


@pytest.mark.parametrize(("paper", "record"), RECORDS)
def test_a_record_says_what_was_trained_when_where_and_at_what_epsilon(paper: str, record: Recorded) -> None:
    config = RunConfig.from_json(record.settings)
    mechanism = plan(config).mechanism
    assert kept(config) == record.settings
    if mechanism is None:
        assert record.epsilon is None
    else:
        curve = ACCOUNTANTS[CERTIFIED].curve(mechanism, mechanism.steps, config.delta)
        assert record.epsilon == pytest.approx(curve.last.value, rel=0.005)  # a later version may prove a little less
    assert len({run.seed for run in record.runs}) == len(record.runs) > 0
    for run in record.runs:
        assert 0.1 < run.accuracy < 1
        assert (run.accepted is not None) == (config.acceptance == "sa")
        assert run.accepted is None or run.accepted <= plan(config).steps
    assert datetime.date.fromisoformat(record.date) >= datetime.date(2026, 11, 21)
    assert record.device
    assert {"torch", "dpcore"} <= record.versions.keys()
    assert record.seconds > 0


@pytest.mark.parametrize("paper", PAPERS)
def test_a_file_of_records_has_each_configuration_once(paper: str) -> None:
    if path_of(paper).exists():
        assert len(json.loads(path_of(paper).read_text())) == len(records_of(paper)) > 0


def test_what_accepted_steps_alone_would_cost_is_told_beside_what_all_of_them_cost() -> None:
    """4,297 proposals of paper 001's MNIST column cost 2.48 to 2.49, those that were accepted alone less."""
    entry = next(each for each in PAPERS["001"].trained if each.config.acceptance == "sa")
    found = compared("001", entry)
    assert found.record
    accepted = round(statistics.fmean(run.accepted or 0 for run in found.record.runs))
    q, sigma = entry.config.q, entry.config.sigma
    alone = ACCOUNTANTS[CERTIFIED].curve(Mechanism.constant(q, sigma, accepted), accepted, 1e-5).last.value
    assert f"Of 4,297 proposals {accepted:,} were accepted" in found.why
    assert f"would cost epsilon {alone:.3g}, for which there is no proof" in found.why
    assert "all of them cost 2.49 at most" in found.why
    assert alone < 2.2


def test_only_runs_that_reject_steps_tell_of_it() -> None:
    told = {each.entry for each in comparisons(PAPERS["001"]) if "were accepted" in each.why}
    assert {entry.config.acceptance for entry in told if isinstance(entry, Trained)} == {"sa"}
