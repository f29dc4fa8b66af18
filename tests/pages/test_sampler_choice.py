"""How batches are drawn, on each page that counts them: chosen, remembered, told with its
adjacency, refused.
"""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.mechanism import Mechanism, Release
from dpcore.privacy.sampling import SAMPLERS
from dpcore.training.settings import DRAWN
from pages.parts.results import cache
from pages.parts.results.odds import of_hundred
from pages.parts.results.sampled import sampled_end, sampled_risks
from tests.pages.read_page import number_in
from tests.pages.train_page import charts, opened_at

pytestmark = pytest.mark.usefixtures("store")
ROOT = Path(__file__).parents[2]
PAGES = ("lab", "tradeoff", "calibrate")
OTHERS = [name for name in SAMPLERS if name != "poisson"]
QUICK = {"by": "rdp"}


def opened(page: str, **query: str) -> AppTest:
    return opened_at(ROOT / "pages" / f"{page}.py", **QUICK | query)


def sound(page: AppTest) -> AppTest:
    assert not page.exception
    assert not page.error
    return page


def told(page: AppTest) -> str:
    """All sentences on the page."""
    kinds = (page.markdown, page.caption, page.warning, page.info)
    return "\n".join(each.value for kind in kinds for each in kind)


def test_every_sampler_is_answered_for_with_its_adjacency():
    for page in PAGES:
        for name in SAMPLERS:
            app = sound(opened(page, sampler=name))
            assert app.selectbox(key="sampler").value == name, (page, name)
            assert (
                "Nothing is proven here for b-min-sep sampling" in app.selectbox(key="sampler").help
            ), page
            sampler, words = SAMPLERS[name], told(app)
            if name == "poisson":
                assert "zero-out" not in words, (page, name)
            else:
                # Its title says it.
                named = "" if name == "poisson_replace_one" else f", {sampler.adjacency}"
                assert f"**{sampler.title}**{named}: epsilon is " in words, (page, name)
                assert sampler.note in words, (page, name)


def test_a_shuffle_that_is_accounted_as_poisson_is_refuted_in_a_sentence():
    app = sound(opened("lab", sampler="shuffle", sigma="1.23"))
    (warned,) = [each.value for each in app.warning]
    claim, least = (
        number_in(r"claims ([\d.]+) where", warned),
        number_in(r"at least ([\d.]+) is proven", warned),
    )
    assert warned.startswith("Shuffled every epoch, and accounted as Poisson: ")
    assert claim < least
    assert least == number_in(
        r"zero-out: epsilon is proven to lie between \*\*([\d.]+)\*\*", told(app)
    )


def test_a_schedule_is_refused_in_a_sentence_and_poisson_is_still_shown():
    for page in PAGES:
        app = sound(opened(page, sampler="shuffle", schedule="step", sigma="4", epochs="12"))
        assert any(
            "only constant noise at one sampling rate is proven" in each.value for each in app.info
        ), page
        assert "**Shuffled every epoch**, zero-out: epsilon" not in told(app), page
        assert "poisson" not in json.dumps(charts(app)[0]).lower(), (
            page
        )  # nothing is faint: all of it is for Poisson batches


def test_the_address_holds_the_sampler_and_the_next_page_too():
    for page in PAGES:
        app = AppTest.from_file(ROOT / "app.py", default_timeout=60)
        app.query_params.update(QUICK)
        app.run()
        app.selectbox(key="sampler").set_value("fixed_order").run()
        assert app.query_params["sampler"] in ("fixed_order", ["fixed_order"]), page
        if page != "lab":
            app.switch_page(f"pages/{page}.py").run()
        assert sound(app).selectbox(key="sampler").value == "fixed_order", page
        app.selectbox(key="sampler").set_value("poisson").run()
        assert "sampler" not in app.query_params, page


def test_calibrate_answers_for_every_sampler():
    for name in OTHERS:
        for solve in ["sigma", "steps"]:
            app = sound(opened("calibrate", sampler=name, solve=solve, target_epsilon="8"))
            heads = [each.value for each in app.header if each.value.startswith(f"{solve} = ")]
            assert [each.partition(" (")[2] for each in heads] == [
                f"{SAMPLERS[name].title})",
                "Poisson)",
            ], (
                name,
                solve,
            )
            assert "within the target of 8" in told(app), (name, solve)


def test_a_rate_that_takes_minutes_is_refused_in_a_sentence():
    app = sound(opened("lab", sampler="fixed_size", sampling="q", q="2e-5", epochs="1"))
    assert any("takes minutes for q below" in each.value for each in app.info)


def test_a_number_of_the_sampler_is_a_field_on_every_page_and_nonsense_keeps_the_last_good_one():
    for page in PAGES:
        app = sound(opened(page, sampler="poisson_group", records="5"))
        assert "add/remove of 5 records" in told(app), page
        (field,) = [each for each in app.text_input if each.key == "records"]
        field.set_value("0").run()
        assert not app.exception
        assert any(
            each.value.startswith("Records of one person k must be ") for each in app.error
        ), page
        assert "add/remove of 5 records" in told(app), page
        app = sound(opened(page, sampler="truncated_poisson", largest="310"))
        wide = (
            number_in(r"zero-out: epsilon is .* and \*\*([\d.]+)\*\*", told(app))
            if page != "calibrate"
            else 0
        )
        app = sound(opened(page, sampler="truncated_poisson", largest="280"))
        if page != "calibrate":
            assert number_in(r"zero-out: epsilon is .* and \*\*([\d.]+)\*\*", told(app)) > wide, (
                page
            )


def test_the_button_says_no_epsilon_but_that_of_batches_that_the_run_draws():
    poisson = opened("lab").button(key="train").label
    for name in OTHERS:
        label = sound(opened("lab", sampler=name)).button(key="train").label
        if name in DRAWN:
            assert "epsilon" not in label, name
        else:
            assert label == poisson.replace("Train", "Train with Poisson batches"), name


def test_people_follow_the_sampler_or_are_none():
    mechanism = Mechanism.constant(q=0.0256, sigma=1.23, steps=781)
    poisson = of_hundred(cache.risks(mechanism, 1e-5))
    for name in (each for each in OTHERS if not SAMPLERS[each].parameters):
        found = sampled_risks(name, mechanism, 1e-5)
        end = sampled_end(name, mechanism, 1e-5).last
        if found is None:
            continue
        assert 50 < of_hundred(found) <= 100, name
        if (end.lower or 0.0) > cache.final(CERTIFIED, mechanism, 1e-5).last.value:
            assert of_hundred(found) > poisson, name
    assert sampled_risks("poisson", mechanism, 1e-5) is None
    schedule = Mechanism(tuple(Release(0.0256, sigma, 10) for sigma in (1.0, 2.0)))
    assert sampled_risks("shuffle", schedule, 1e-5) is None
