"""The audit page: what is asked, audited, shown, said of what cannot be shown, and kept."""

import json
import re
from dataclasses import replace

from streamlit.testing.v1 import AppTest

from dpcore.audit.bounds.finding import TESTS
from dpcore.audit.broken_trainers import BROKEN, TRAINERS
from dpcore.audit.events import Counted, Scored, Traced, Watched
from dpcore.audit.request import AuditRequest
from dpcore.figures.style import REFUTED
from dpcore.runs.expected import duration
from dpcore.runs.kinds import AUDIT
from dpcore.runs.record import Status, cost_of
from dpcore.runs.store import Store
from dpcore.training.config import RunConfig
from pages.parts.audit.panel import TORCH_DRAWS
from pages.parts.audit.results import QUICK, example
from pages.parts.jobs import UNDER_WAY
from tests.pages.audit_page import (
    CONFIG,
    REQUEST,
    events_of,
    found_noise,
    of_config,
    opened,
    recorded,
    without,
)
from tests.pages.read_page import html_of, words
from tests.pages.train_page import charts


def names_in(page: AppTest, color: str = "") -> list[list[str]]:
    """The names of the traces of each figure; of one colour, if that is given."""
    drawn = [json.loads(each.proto.spec) for each in page.get("plotly_chart")]
    kept = [
        [
            each
            for each in figure["data"]
            if not color or each.get("marker", {}).get("color") == color
        ]
        for figure in (*drawn, *charts(page))
    ]
    return [[each["name"].replace("\N{NO-BREAK SPACE}", " ") for each in traces] for traces in kept]


def rows_in(page: AppTest) -> list[str]:
    """The rows of the table of tests."""
    return html_of(page).split('aria-label="The tests"')[1].split("</table>")[0].split("<tr>")[2:]


def results_in(page: AppTest) -> list[str]:
    return [each.split("</b> ")[1].split("<")[0] for each in rows_in(page)]


def test_it_asks_for_the_controls_where_the_projector_mode_hides_its_button(store: Store):
    page = opened(present="1")
    assert "Turn on **Controls** and press **Audit** to run" in words(page, "markdown")
    page.toggle(key="drawer").set_value(True).run()
    assert "Press **Audit** to run" in words(page, "markdown")


def test_it_opens_on_its_question_with_what_can_be_chosen(store: Store):
    page = opened()
    assert page.selectbox(key="trainer").options == [each.title for each in TRAINERS.values()]
    assert page.selectbox(key="trainer").value == example().request.trainer == "half_noise"
    assert TRAINERS["half_noise"].story in words(page, "caption")
    assert "Press **Audit**" in words(page, "markdown")
    assert "A recorded example: half the noise" in html_of(page)
    assert "Promised 2.53. Really at least 12.9: it adds half the noise.</h2>" in html_of(page)
    assert "12.9 holds if all else is as promised" in html_of(page)
    assert [each.label for each in page.expander][1:] == [
        "15 tests: 3 failed, 8 passed, 4 cannot tell"
    ]
    assert not any(each.proto.expanded for each in page.expander)
    assert "other settings" not in words(page, "caption")
    verdicts = {
        name: "fails" if name in example().failed else "passes" for name in example().p_values
    }
    assert results_in(page) == [
        verdicts.get(each.audit, "cannot tell") for each in example().measured
    ]
    assert "Noise ≥ 12.9, p < 1e-300" in names_in(page)[0]


def test_audit_queues_what_the_controls_say_and_the_address_keeps_it(store: Store):
    for trainer in ["same_noise", "accepted_only"]:
        page = opened(
            trainer=trainer, audit_sigma="2", canaries="100", confidence="0.99", audit_epochs="0.5"
        )
        assert BROKEN[trainer].story in words(page, "caption"), trainer
        page.button(key="audit").click().run()
        job = store.runs(kind=AUDIT.name)[0]
        request = job.request
        assert (request.trainer, request.canaries, request.confidence) == (
            trainer,
            100,
            0.99,
        ), trainer
        assert request.torch_draws == TORCH_DRAWS, trainer
        assert request.config == RunConfig(model="mlp", sigma=2.0, batch=QUICK.batch, epochs=0.5), (
            trainer
        )
        assert page.query_params["run"] == job.id, trainer
        assert store.runs() == [], trainer


def test_while_one_goes_on_it_is_not_begun_again(store: Store):
    page = opened()
    for _ in range(2):
        page.button(key="audit").click().run()
    assert UNDER_WAY in words(page, "info")
    assert len(store.runs(kind=None)) == 1


def test_it_says_how_far_it_is_and_is_cancelled(store: Store):
    run = recorded(store, events_of()[:2], None)
    page = opened(run=run)
    (bar,) = page.get("progress")
    assert bar.proto.text.startswith("step 5 of 10, noise so far: sigma about 0.5")
    assert bar.proto.value == 50
    page.button(key=f"cancel_{run}").click().run()
    assert "was not started in this tab" in words(page, "markdown")
    assert {*results_in(page)} == {"waits"}
    assert len(results_in(page)) == len(TESTS)
    page.button(key="cancel_yes").click().run()
    assert store.run(run).cancelling
    store.end(run, Status.CANCELLED)
    page.run()
    assert "was cancelled. It had no findings yet." in words(page, "info")
    assert not page.button(key="audit").disabled


def test_a_broken_trainer_is_caught_by_name_and_its_claim_is_red(store: Store):
    page = opened(run=recorded(store))
    assert re.search(
        r"Promised 1\.\d+\. Really at least 9\.00: it adds half the noise\.</h2>"
        r"<p>Refuted by 1 of 5 tests, with 95 % confidence over all tests\. 9\.00 holds if all else is as"
        r" promised\.</p>",
        html_of(page),
    )
    seconds = 4 * cost_of(AuditRequest(QUICK)) / cost_of(REQUEST)
    assert page.button(key="audit").label == f"Audit · about {duration(seconds)}"
    line = names_in(page)[0]
    assert line[:3] == ["Certified", "Proven", "Noise ≥ 9.00, p < 1e-300"]
    assert any(each.startswith("Rényi ≤") for each in line)
    assert "In and out ≈ 0.400" in line
    broken = r"Noise shows epsilon ≥ 9\.00, so the promise of at most 1\.\d+ is broken\."
    assert len(re.findall(broken, words(page, "caption"))) == 1
    red = names_in(page, REFUTED)[0]
    assert red[0] == "Noise ≥ 9.00, p < 1e-300"
    assert red[1].startswith("Promised ≤ 1."), "the trainer breaks its promise, no accountant does"
    assert [each.partition(" ")[0] for each in red[2:]] == ["CLT", "MMA"], "below what is proven"


def test_ours_passes_and_only_what_lies_below_the_proven_bound_is_red(store: Store):
    page = opened(run=recorded(store, events_of(found_noise(0.5, 0.6)), request=of_config()))
    assert re.search(r"Promised \S+\. Nothing above 0\.500 found: it keeps", html_of(page))
    assert "as far as 5 tests can tell." in html_of(page)
    assert "That is no proof" in html_of(page)
    red = [each.partition(" ")[0] for each in names_in(page, REFUTED)[0]]
    (below,) = re.findall(r"as is proven: (.*?)\.", words(page, "caption"))
    assert red == below.split(" and ") == ["CLT", "MMA"]  # no proven accountant is among them


def test_an_estimate_or_an_audit_that_passes_refutes_no_number(store: Store):
    page = opened(run=recorded(store, events_of(found_noise(50.0, 0.6)), request=of_config()))
    red = [each.partition(" ")[0] for each in names_in(page, REFUTED)[0]]
    assert red == ["CLT", "MMA"], "neither the promise nor an accountant that proves its number"
    assert "Noise shows" not in words(page, "caption")
    assert "No test refutes it: it keeps its promise" in html_of(page)  # chance lifts a bound


def test_the_table_says_what_is_tested_what_is_not_and_what_came_out(store: Store):
    page = opened(run=recorded(store))
    rows = rows_in(page)
    assert results_in(page) == ["fails", "passes", "passes", "cannot tell", "cannot tell"]
    assert "9.00 (conditional)" in rows[0]
    assert "&lt; 1e-300" in rows[0]
    assert "≈ 0.400 (estimate)" in rows[3]
    assert all('data-label="What it leaves untested"' in each for each in rows)


def test_tests_light_up_one_by_one_and_those_that_no_correction_turns_are_decided_at_once(
    store: Store,
):
    first = [
        found_noise(9.0, 1e-9),
        replace(found_noise(None, 0.02), audit="generator"),
        replace(found_noise(None, 0.06), audit="one_run"),
    ]
    page = opened(run=recorded(store, [*events_of()[:3], *first], None))
    assert "3 of 15 tests" in page.get("progress")[0].proto.text
    lit = dict(zip(TESTS, results_in(page), strict=True))
    assert (lit["noise"], lit["generator"], lit["one_run"], lit["losses"]) == (
        "fails",
        "undecided",
        "passes",
        "waits",
    )


def test_charts_show_the_canaries_under_the_certified_curve_their_laws_and_the_limits(store: Store):
    page = opened(run=recorded(store))
    _, roc, scores, limits, losses = names_in(page)
    assert "Certified for the claim" in roc
    assert {"At least", "At most", "Seen"} <= {*roc} & {*losses}
    assert scores == ["In the data", "Not in it", "In the data, theory", "Not in it, theory"]
    assert {"No run shows more", "Best canaries, about", "One run"} <= {*limits}
    captions = words(page, "caption")
    assert "Why one run shows little" in captions
    assert "at 1.0 % false positives it finds 2.0 % of members (1.0 % to 10.0 %)" in captions


def test_evidence_is_drawn_while_it_trains_and_says_at_which_step_it_reached_the_line(store: Store):
    caught = "Evidence reached 20 at step 4 of 10: the noise is too small."
    quiet, loud = (
        Watched(3, 10, 0.5, evidence=(0.1, 0.3, -0.2)),
        Watched(4, 10, 0.5, None, None, (9e4, 9e4, -0.2), caught),
    )
    for said, status in (([quiet], None), ([quiet, loud], None), ([quiet, loud], Status.CANCELLED)):
        page = opened(run=recorded(store, [*events_of()[:1], *said], status))
        assert names_in(page) == [
            ["All evidence", "Too little noise", "Repeated noise", "Line at 20"]
        ]
        assert (caught in words(page, "caption")) == (loud in said)
    silent = opened(run=recorded(store, events_of()[:2], None))
    assert names_in(silent) == []


def test_without_canaries_or_a_claim_the_rest_is_shown_with_a_sentence(store: Store):
    page = opened(run=recorded(store, without(events_of(), Scored, Traced, Counted)))
    assert "no scores of canaries" in words(page, "info")
    assert len(names_in(page)) == 2
    raw = opened(
        run=recorded(
            store, events_of(found_noise(None, 0.5), None), request=of_config(private=False)
        )
    )
    assert "Nothing is claimed. Nothing is charged" in words(raw, "info")
    assert "no number line" in words(raw, "info")
    assert "Certified for the claim" not in names_in(raw)[0]
    assert "passes" in html_of(raw)


def test_a_finished_training_run_in_the_address_is_what_is_audited(store: Store):
    run = store.submit(CONFIG, worker="test:1")
    store.end(run, Status.FINISHED)
    page = opened(run=run)
    assert page.selectbox(key="audited").value == run
    assert not words(page, "warning")
    page.button(key="audit").click().run()
    (job,) = store.runs(kind=AUDIT.name)
    assert job.request.config == CONFIG


def test_bad_values_are_said_and_where_nothing_can_be_audited_the_button_is_off(store: Store):
    for field, value, said in (
        ("canaries", "6000", "write at most 5000, half of the examples"),
        ("canaries", "-1", "Canaries must "),
        ("confidence", "1", "Confidence must "),
        ("audit_sigma", "x", "Noise multiplier sigma must "),
        ("audit_sigma", "0", "Noise multiplier sigma must be above 0"),
        ("audit_batch", "20000", "Expected batch must be at most the 10000"),
    ):
        page = opened(**{field: value})
        assert said in words(page, "error"), (field, value, said)
        assert page.button(key="audit").disabled == ("Showing" not in words(page, "error")), (
            field,
            value,
            said,
        )


def test_screen_readers_hear_the_result_of_a_test_once_as_a_word(store: Store):
    shown = html_of(opened())
    signs = re.findall("<b class=sign[^>]*>", shown)
    assert signs
    assert all("aria-hidden=true" in each for each in signs)  # the word stands beside it


def test_the_line_of_signs_of_an_audit_under_way_is_not_read_twice(store: Store):
    shown = html_of(opened(run=recorded(store, events_of()[:2], None)))
    # The table below says the same, in words.
    assert "<p class=legend aria-hidden=true><span><b class=sign" in shown


def test_a_verdict_says_both_numbers_and_its_fault_only_where_the_test_of_it_found_it(store: Store):
    silent = replace(found_noise(None, 0.0), audit="fresh_noise", title="Fresh noise")
    endless = replace(found_noise(), epsilon=None, unbounded=True)
    for noise, said in (
        (endless, "Really without limit: it adds half the noise.</h2>"),
        (silent, "It does not keep that.</h2>"),
    ):
        shown = html_of(opened(run=recorded(store, events_of(noise))))
        assert said in shown
        assert ("class=beyond" in shown) == (noise is endless)
    raw = html_of(opened(run=recorded(store, events_of(claim=None))))
    assert "Fault found by 1 of 5 tests" in raw
    assert "<figure class=promise-bar" not in raw


def test_the_example_says_so_where_the_controls_ask_for_something_else(store: Store):
    for fields, other in (({}, False), ({"trainer": "own"}, True), ({"audit_sigma": "2"}, True)):
        page = opened(**fields)
        assert ("This is of other settings" in words(page, "caption")) == other, fields


def test_the_settings_of_a_run_are_audited_by_our_own_trainer(store: Store):
    run = store.submit(CONFIG, worker="test:1")
    store.end(run, Status.FINISHED)
    assert opened(run=run).selectbox(key="trainer").value == "own"
