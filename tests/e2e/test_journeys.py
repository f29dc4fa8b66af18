"""Each page as a reader uses it: opened once, its main journey taken, and what is there in the end
looked at.
"""

import csv
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from dpcore.claims import judge
from dpcore.claims.worked import EXAMPLES
from dpcore.papers.catalogue import PAPERS, comparisons
from dpcore.papers.comparison import Outcome
from dpcore.runs import editing
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from pages.parts.check.examples import name_of
from tests.e2e.looks import (
    alone,
    complete,
    drag,
    inside,
    looked_at,
    moves_of,
    opened,
    saved,
    shown_whole,
)
from tests.e2e.server import STILL, Server
from tests.pages.train_page import CONFIG, recorded

pytest.importorskip("playwright")
from playwright.sync_api import Locator, Page, expect

SLIDER = ".st-key-sigma_slider input[type=range]"
LABELS = ".st-key-epsilon_chart .annotation-text"
LINE = ".st-key-attack_chart .scatterlayer .trace:last-child path.js-line"
CARD = (
    "epsilon = 3.0, delta = 1e-5, noise multiplier 1.068, batch 512, 60,000 examples, 40 epochs;"
    " batches are shuffled"
)
MARKUP = "<b id=bold>x</b> **y** :red[z] $w$"
NETWORK = "features=pixels&model=mlp"


def field(page: Page, name: str = "Noise multiplier sigma") -> Locator:
    return page.get_by_role("textbox", name=f"{name}, exact")


def in_address(page: Page, key: str) -> list[str]:
    return parse_qs(urlsplit(page.url).query).get(key, [])


def pressed(page: Page, name: str, times: int = 1) -> None:
    page.wait_for_selector(STILL)
    page.get_by_role("button", name=name).first.click(click_count=times)


def test_on_the_lab_sigma_is_dragged_a_run_trained_and_compared_without_scrolling(
    tab: Page, app: Server
):
    sent = moves_of(tab)
    opened(tab, f"{app.url}/?{NETWORK}&epochs=2")
    slider = tab.locator(SLIDER)
    drag(tab, slider, 0.5)
    first = slider.get_attribute("aria-valuetext") or ""
    expect(field(tab)).to_have_value(first)
    tab.wait_for_url(re.compile(f"sigma={re.escape(first)}(&|$)"))
    complete(tab)
    expect(slider).to_have_attribute("aria-valuetext", first)
    assert sent[-1][0] == first

    train = tab.locator(".st-key-train button")
    expect(train).to_contain_text(re.compile(r"epsilon ≤ [\d.]+"))
    for each in (train, field(tab), tab.get_by_role("combobox", name=re.compile("Optimizer"))):
        assert inside(tab, each)
    train.click()
    tab.wait_for_url(re.compile("run="))
    # It has begun to learn.
    accuracies = tab.locator(".st-key-accuracy_chart .annotation-text")
    expect(accuracies.filter(has_text="% private")).to_be_visible()
    expect(tab.locator(".st-key-headline .headline")).to_contain_text(
        re.compile(r"[\d.]+ % at epsilon ≤ [\d.]+\.")
    )
    expect(tab.locator(".st-key-learnt .headline")).to_contain_text("of 100 right")
    expect(tab.locator(".answers [role=option]")).to_have_count(20)
    tab.locator(".answers [role=option]").first.click()
    # And the probability of each other class.
    expect(tab.locator(".answers-more .right").first).to_contain_text("7")
    tab.keyboard.press("Escape")
    slider.press("End")
    # The curves that the run was started from.
    ghost = tab.locator(LABELS).filter(has_text=f"sigma {first}")
    expect(ghost.first).to_be_visible()
    expect(tab.get_by_text("Proven: after all steps")).to_be_visible()
    expect(tab.locator(".st-key-kept .headline")).to_contain_text("of 100")
    for each in (
        tab.locator(LABELS).filter(has_text="✓"),
        tab.locator(".kept-words"),
        ghost,
    ):
        assert inside(tab, each.first)
    assert tab.evaluate("() => document.querySelector('[data-testid=stMain]').scrollTop") == 0
    looked_at(tab)


DRAWN = """() => {  // epochs of the first curve, once it is whole
    const epochs = document.querySelector('.st-key-accuracy_chart .live-plot')?.data?.[0]?.x;
    return Math.abs(epochs?.at(-1) - 3) < 0.1 ? [...epochs] : null;
}"""


def test_a_chart_whose_script_comes_late_stays_though_the_page_was_drawn_again_meanwhile(
    tab: Page, app: Server
):
    late = []
    tab.route("**/live_chart.js", lambda route: late.append(route))
    tab.goto(f"{app.url}/?{NETWORK}")
    expect(field(tab)).to_be_visible()
    tab.wait_for_selector(STILL)
    assert len(late) == 1
    field(tab).fill("2.5")
    field(tab).press("Enter")
    tab.wait_for_url(re.compile("sigma=2.5"))
    tab.wait_for_selector(STILL)
    late[0].continue_()
    complete(tab)
    expect(tab.locator(LABELS).first).to_be_visible()


def test_a_double_click_starts_one_run_which_is_shown_whole_and_grows_to_its_end(
    tab: Page, app: Server
):
    with Store(app.home) as store:
        before = {run.id for run in store.runs()}
        alone(opened(tab, f"{app.url}/?{NETWORK}&epochs=3"))
        tab.locator(".st-key-train button").click(click_count=2)
        shown_whole(tab)
        progress = tab.get_by_test_id("stProgress")
        expect(progress).to_contain_text("finished at step")
        drawn = tab.wait_for_function(DRAWN).json_value()
        assert drawn == sorted(drawn)
        (run,) = {run.id for run in store.runs()} - before
        assert in_address(tab, "one") == [run]
        assert store.run(run).status is Status.FINISHED
    accuracy = tab.get_by_test_id("stMetricValue").first
    expect(accuracy).to_have_text(re.compile(r"[\d.]+ %"))
    assert float((accuracy.text_content() or "").removesuffix(" %")) > 30
    loaded = Path(f"/proc/{app.pid}/maps").read_text()
    assert "numpy" in loaded
    assert "torch" not in loaded  # the server never holds it: workers do
    looked_at(tab)


def test_on_trade_off_the_curve_and_its_number_move_and_a_figure_is_one_click(
    tab: Page, app: Server
):
    opened(tab, f"{app.url}/tradeoff?sigma=2&pairs=moments")
    cell = tab.locator("table.attack td:nth-child(2)").first
    expect(cell).to_have_text(re.compile(r"^[\d.]+ to [\d.]+ %$"))
    curve, before = tab.locator(LINE).get_attribute("d") or "", cell.text_content() or ""
    tab.locator(SLIDER).press("ArrowRight")
    expect(cell).not_to_have_text(before)
    expect(tab.locator(LINE)).not_to_have_attribute("d", curve)
    tab.wait_for_url(re.compile(r"sigma=2\.2"))
    complete(tab)
    assert float((cell.text_content() or "").split()[0]) > float(
        before.split()[0]
    )  # with more noise the attacker errs more
    rows = list(csv.DictReader(saved(tab, "Download these curves").read_text().splitlines()))
    assert {row["kind"] for row in rows} == {"certified", "approximate", "upper"}
    assert {"Certified, at least", "Certified, at most", "CLT's G_mu"} <= {
        row["curve"] for row in rows
    }
    tab.get_by_text("Compare: accountants").click()
    pressed(tab, "Figure 5")
    tab.wait_for_url(re.compile(r"view=steps"))
    expect(tab.locator(".st-key-steps_chart .annotation-text").first).to_contain_text(
        "Certified, T = 1"
    )
    expect(field(tab)).to_have_value("1.1")
    looked_at(tab)


def test_on_calibrate_a_target_is_moved_its_answer_opened_elsewhere_and_come_back_from(
    tab: Page, app: Server
):
    opened(tab, f"{app.url}/calibrate?by=rdp")
    answer, target = tab.locator("h2"), field(tab, "Target epsilon")
    before = answer.text_content() or ""
    tab.locator(".st-key-target_epsilon_slider input[type=range]").press("ArrowRight")
    expect(answer).not_to_have_text(before)
    tab.wait_for_url(re.compile(r"target_epsilon="))
    complete(tab)
    chosen, after = target.input_value(), answer.text_content() or ""
    sigma, larger = (float(each.split()[2].rstrip(",")) for each in (after, before))
    assert sigma < larger  # a larger target takes less noise
    pressed(tab, "Open in Lab")
    expect(tab.locator("h1")).to_have_text(
        "Can a network learn from people's digits without giving any one of them away?"
    )
    expect(field(tab)).to_have_value(f"{sigma:g}")
    complete(tab)
    assert "leaving" not in tab.url
    tab.go_back()
    expect(target).to_have_value(chosen)
    expect(answer).to_have_text(after)
    expect(tab.get_by_text("Click a point to load")).to_be_visible()
    looked_at(tab)


def test_on_runs_heads_sort_and_ticked_runs_are_renamed_and_deleted(tab: Page, app: Server):
    with Store(app.home) as store:
        ids = [recorded(store, CONFIG, 10 * done, Status.FINISHED) for done in (1, 2, 3)]
        for place, run in enumerate(ids):
            editing.rename(store, run, f"quick {place}")
        opened(tab, f"{app.url}/runs?find=quick")
        names, ticks = tab.locator("table.runs tbody th"), tab.locator("table.runs tbody input")
        expect(names).to_have_text(["quick 2", "quick 1", "quick 0"])
        tab.get_by_role("button", name="Run", exact=True).press("Enter")
        expect(names).to_have_text(["quick 0", "quick 1", "quick 2"])
        expect(tab.locator("th[aria-sort=ascending]")).to_contain_text("Run")
        tab.evaluate(
            "() => document.querySelectorAll('table.runs input').forEach(each => each.click())"
        )
        tab.wait_for_url(re.compile("(run=.*){3}"))  # ticks in quick succession all count
        expect(tab.locator("table.runs input:checked")).to_have_count(3)
        assert in_address(tab, "run") == ids
        expect(tab.locator(".run-key")).to_contain_text("3:")
        for place in (1, 2):
            tab.wait_for_selector(STILL)
            ticks.nth(place).click()
        expect(tab.locator("table.runs input:checked")).to_have_count(1)
        pressed(tab, "Name, tags, note")
        tab.get_by_label("Name", exact=True).fill(f"quick {MARKUP}")
        tab.get_by_label("Tags, separated by commas").fill(MARKUP)
        tab.get_by_role("button", name="Save").click()
        expect(names.filter(has_text=f"quick {MARKUP}")).to_be_visible()
        assert tab.locator("#bold").count() == 0
        pressed(tab, "Delete")
        asked = tab.get_by_role("dialog")
        expect(asked).to_contain_text("quick <b id=bold>x</b> **y**")
        asked.get_by_role("button", name="Delete").click()
        expect(names).to_have_count(2)
        assert in_address(tab, "run") == []
        assert {run.id for run in store.runs()} & set(ids) == set(ids[1:])
        ticks.first.click()
        expect(tab.locator("table.runs input:checked")).to_have_count(1)
        looked_at(tab)
        for run in ids[1:]:
            editing.delete(store, run)


def test_on_perturbation_a_place_is_chosen_and_methods_compared(tab: Page, app: Server):
    few = (
        "table=iris&methods=none&methods=output&methods=gradient"
        "&epsilons=0.5&epsilons=8&fits=20&descent=20"
    )
    opened(tab, f"{app.url}/perturbation?{few}")
    pressed(tab, "each gradient")
    expect(tab.get_by_text("Noise on each gradient: gradient perturbation.")).to_be_visible()
    expect(tab.get_by_role("button", name="each gradient")).to_have_attribute(
        "aria-pressed", "true"
    )
    pressed(tab, "Compare")
    expect(
        tab.get_by_text("held-out rows (", exact=False).filter(has_not_text="Measured before")
    ).to_be_visible()
    expect(tab.locator(".st-key-accuracy_kept .js-plotly-plot")).to_have_count(1)
    (comparison,) = in_address(tab, "comparison")
    with Store(app.home) as store:
        assert store.run(comparison).status is Status.FINISHED
        assert store.run(comparison).request.steps == 20
    looked_at(tab)


def test_on_papers_a_refuted_row_is_read_opened_in_the_lab_and_left_again(tab: Page, app: Server):
    refuted = [each for each in comparisons(PAPERS["004"]) if each.outcome is Outcome.REFUTED]
    setting, rows = refuted[0].entry.setting, tab.locator("[aria-label=Numbers] tbody tr")
    assert setting
    opened(tab, f"{app.url}/papers?paper=004&verdict=refuted")
    expect(rows).to_have_count(len(refuted))
    row = rows.filter(has_text=f"{refuted[0].entry.place}: {refuted[0].entry.quantity}").first
    expect(row).to_contain_text(refuted[0].why)
    tab.evaluate("() => { window.session = 'kept' }")
    if row.locator("details[open]").count() == 0:  # it is not among the most telling ones
        row.locator("summary").click()
    row.get_by_role("link", name="Lab").click()
    expect(field(tab)).to_have_value(f"{setting.sigma:g}")
    expect(field(tab, "Epochs")).to_have_value(f"{setting.epochs:g}")
    assert tab.evaluate("() => window.session") == "kept"  # the page was not loaded anew
    complete(tab)
    tab.go_back()
    expect(rows).to_have_count(len(refuted))
    expect(tab.locator("h2", has_text=PAPERS["004"].title)).to_be_visible()
    looked_at(tab)


def test_on_check_a_printed_claim_is_refuted_its_sentence_copied_and_a_pasted_one_read(
    tab: Page, app: Server
):
    claim = next(each for each in EXAMPLES if each.name == "clt")
    sentence, verdict = judge(claim.claim).review, tab.locator(".st-key-claim_verdict")
    opened(tab, f"{app.url}/check")
    pressed(tab, name_of(claim))
    expect(verdict).to_contain_text("Refuted")
    expect(verdict.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    tab.wait_for_url("**claim_epsilon=0.83*")
    tab.get_by_text(sentence).hover()
    tab.get_by_role("button", name="Copy to clipboard").click()
    tab.wait_for_function(
        "async said => (await navigator.clipboard.readText()).includes(said)", arg=sentence
    )
    box = tab.get_by_role(
        "textbox", name="Paste the claim of a paper, a model card or a training log"
    )
    box.fill(CARD)
    box.press("Control+Enter")
    expect(verdict).to_contain_text("shuffled batches")
    expect(tab.locator("mark", has_text="60,000")).to_be_visible()
    expect(tab.get_by_role("textbox", name="Epochs")).to_have_value("40")
    expect(verdict).to_contain_text("Refuted")
    looked_at(tab)


def test_on_audit_a_broken_trainer_is_chosen_audited_and_caught(tab: Page, app: Server):
    small = "audit_batch=500&audit_epochs=0.5&canaries=100&torch_beside=no"
    opened(tab, f"{app.url}/audit?trainer=half_noise&{small}")
    tab.locator(".st-key-audit button").click()
    tab.wait_for_url("**run=*")
    expect(tab.get_by_text("A recorded example")).to_have_count(0)
    curves = tab.locator(".st-key-curves summary").first
    expect(curves).to_be_visible()
    expect(tab.get_by_text("it adds half the noise.")).to_be_visible()
    complete(tab)
    tab.locator(".st-key-tests summary").click()
    expect(tab.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(tab.locator("table.audits tbody tr").first).to_contain_text("fails")
    curves.click()
    expect(
        tab.locator(
            "p strong", has_text="Evidence reached 20 at step 1 of 10: the noise is too small."
        )
    ).to_be_visible()
    (run,) = in_address(tab, "run")
    with Store(app.home) as store:
        assert store.run(run).status is Status.FINISHED
        assert store.run(run).request.trainer == "half_noise"
    looked_at(tab)
