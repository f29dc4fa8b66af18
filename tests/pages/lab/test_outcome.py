"""The first screen of the Lab: what a network learns and what it keeps secret, in large numbers."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from dpcore.privacy.accountants import CERTIFIED
from dpcore.privacy.report.ruler import RULER
from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.recorded import recorded_at
from dpcore.training.slider_stops import show
from pages.parts import hero
from pages.parts.components.elements import LiveNumber
from pages.parts.controls.fields import Fields
from pages.parts.explain.lessons import LESSONS
from pages.parts.explain.scene import FEATURES, MODEL
from pages.parts.results import cache
from pages.parts.results.odds import of_hundred
from pages.parts.results.sampled import sampled_end, sampled_of, sampled_risks
from pages.parts.train.form import baseline_of, form_of
from pages.parts.train.run_history import watched_runs
from tests.pages.train_page import FIRST, handed, lab, recorded

OWN = baseline_of(FIRST)
Said = dict[str, tuple[list[str], Mapping[str, LiveNumber]]]  # by the key of a line


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Said:
    """The sentences and numbers of each line."""
    found: Said = {}

    def headline(sentences: list[str], numbers: Mapping[str, LiveNumber], key: str = "words"):
        found[key] = (sentences, numbers)

    monkeypatch.setattr(hero, "headline", headline)
    return found


def say(store: Store, ids: list[str], epsilon: float = math.inf, **texts: str) -> None:
    hero.say_learnt(form_of(Fields(texts), "cpu"), watched_runs(store, ids), epsilon)


@pytest.mark.parametrize(
    ("baseline", "compared"),
    [(OWN, True), (replace(OWN, seed=7), True), (replace(OWN, epochs=9.0), False)],
)
def test_what_privacy_costs_is_said_beside_the_same_run_without_it_alone(
    store: Store, said: Said, baseline, compared: bool
) -> None:
    say(store, [recorded(store, config, 40, Status.FINISHED) for config in (FIRST, baseline)])
    sentences, numbers = said["words"]
    assert ("baseline" in numbers) is compared
    assert any("costs {lost} points" in each for each in sentences) is compared
    # Else it is said of any run.
    assert all("{gained}" in each for each in sentences if "costs nothing" in each)
    assert numbers["epsilon"].value.startswith("≤ ")


@pytest.mark.parametrize(("status", "words"), [(None, "so far"), (Status.CANCELLED, "cut short")])
def test_a_private_run_that_has_not_ended_has_no_price_yet(
    store: Store, said: Said, status, words: str
) -> None:
    say(store, [recorded(store, FIRST, 40, status), recorded(store, OWN, 40, Status.FINISHED)])
    sentences, _ = said["words"]
    assert not any("costs" in each for each in sentences)
    assert words in sentences[-1]
    assert "{baseline} % without privacy." in sentences[-1]


def test_privacy_has_no_price_before_the_run_without_it_has_ended(store: Store, said: Said) -> None:
    say(store, [recorded(store, FIRST, 40, Status.FINISHED), recorded(store, OWN, 40)])
    sentences, _ = said["words"]
    assert not any("costs" in each for each in sentences)
    assert sentences[-1].endswith("{baseline} % without privacy, so far.")


def test_a_run_of_other_settings_is_named_so_with_its_delta(store: Store, said: Said) -> None:
    say(store, [recorded(store, FIRST, 40, Status.FINISHED)], sigma="2", delta="1e-6")
    sentences, numbers = said["words"]
    assert "{" not in sentences[0]  # until the run has an accuracy
    assert said["learnt"][0] == ["95 of 100 right"], "as recorded, at the delta of the records"
    assert "at epsilon ≤ 0.744 at delta 1e-5: 95.3 %" in sentences[0]
    assert "The run in the chart: {accuracy} % at epsilon {epsilon}, delta 1e-5." in sentences[-1]
    assert set(numbers) == {"accuracy", "epsilon"}
    say(store, [recorded(store, FIRST, 40, Status.FINISHED)], 2.0, sigma="2")
    found = recorded_at("mnist", "sample", 2.0)
    assert found
    assert said["learnt"][0] == [f"{100 * found.accuracy:.0f} of 100 right"], "as of these settings"
    say(store, [recorded(store, FIRST, 40, Status.FINISHED)], 1e-9, sigma="2")
    assert said["learnt"][0] == ["Defaults: 25 of 100"], "nothing so private was recorded"


def test_before_a_run_the_number_is_one_that_was_recorded_at_no_larger_an_epsilon(
    store: Store, said: Said
) -> None:
    for epsilon in (0.318, 0.4, 2.0):
        say(store, [], epsilon)
        found = recorded_at("mnist", "sample", epsilon)
        assert found
        assert found.epsilon <= epsilon
        assert said["learnt"][0] == [f"{100 * found.accuracy:.0f} of 100 right"]
        (words,) = said["words"][0]
        assert words.startswith("Recorded earlier")
        assert ("at epsilon ≤ " in words) is (epsilon != 0.318), "unless it is that of the settings"
        assert f": {100 * found.accuracy:.1f} %. {100 * found.baseline:.1f} % without" in words
        assert f"costs {100 * (found.baseline - found.accuracy):.1f} points" in words
    found = recorded_at("mnist", "sample", math.inf)
    assert found
    say(store, [])
    assert said["learnt"][0] == ["– of 100 right"], "no number was recorded with so little noise"
    words = f"Recorded earlier at epsilon ≤ 14.5: {100 * found.accuracy:.1f} %."
    assert said["words"][0] == [f"{words} Nothing with less noise was recorded."]
    say(store, [], 1e-9)
    assert said["learnt"][0] == ["Defaults: 25 of 100"]
    assert said["words"][0][0].endswith("Nothing this private was recorded.")
    say(store, [], 1.0, dataset="other", n="1281167")
    assert said["learnt"][0] == ["– of 100 right"], "nothing was trained on such data"


@pytest.mark.parametrize("delta", ["1e-3", "1e-7"])
def test_at_another_delta_the_recorded_number_is_that_of_as_much_noise(
    store: Store, said: Said, delta: str
) -> None:
    say(store, [], 1e-9, delta=delta, sigma="2")
    assert said["learnt"][0] == ["95 of 100 right"]
    assert "Recorded earlier at epsilon ≤ 0.744 at delta 1e-5: 95.3 %." in said["words"][0][0]
    say(store, [], 1e-9, delta=delta, sigma="2", sampler="random_allocation")
    assert said["learnt"][0][0].startswith("Defaults: ")
    spent = re.search(r"at epsilon ≤ ([\d.]+) at delta 1e-5: ", said["words"][0][0])
    assert spent
    form = form_of(Fields({"sigma": "2"}), "cpu")
    assert form.mechanism
    assert float(spent[1]) <= sampled_end("random_allocation", form.mechanism, 1e-5).last.value


@pytest.mark.parametrize(
    "texts", [{"optimizer": "adam"}, {"clip_norm": "1"}, {"ema": "0.9"}, {"sampler": "shuffle"}]
)
def test_of_settings_that_were_not_recorded_the_number_is_named_that_of_the_defaults(
    store: Store, said: Said, texts: dict[str, str]
) -> None:
    say(store, [], 1.0, **texts)
    assert said["learnt"][0] == ["Defaults: 96 of 100"]
    words = said["words"][0][0]
    assert words.startswith("Recorded with the defaults but for sigma, at epsilon ≤ 0.893: 95.7 %.")
    assert words.endswith("These settings were not recorded.")


@pytest.mark.parametrize(
    ("texts", "standing"),
    [({}, "92 of 100 right"), ({"clip_norm": "1"}, "Defaults: 92 of 100")],
)
def test_the_recorded_number_stands_until_the_run_has_one_of_its_own(
    store: Store, said: Said, texts: dict[str, str], standing: str
) -> None:
    (own,) = form_of(Fields(texts), "cpu").configs
    runs = [recorded(store, own, 0), recorded(store, baseline_of(own), 40)]
    say(store, runs, 0.318, **texts)
    assert said["learnt"][0] == [standing, "{accuracy} of 100 right"]
    assert said["learnt"][1]["accuracy"].value == ""
    words = said["words"][0]
    assert words[0].startswith("Recorded ")
    assert words[0].endswith("This run's own number comes with its first test.")
    assert "{accuracy} %" in words[1]


def test_another_length_than_was_recorded_is_told(store: Store, said: Said) -> None:
    say(store, [], 0.318, batch="512", epochs="2")
    assert "Recorded earlier with batch 256 and 5 epochs: " in said["words"][0][0]
    say(store, [], 0.318, batch="256", epochs="5", sigma="4")
    assert "with batch" not in said["words"][0][0]


@pytest.mark.parametrize("name", LESSONS)
def test_what_a_lesson_trains_is_what_was_recorded(name: str) -> None:
    for step in range(1, LESSONS[name].length + 1):
        texts = {key: str(text) for key, text in LESSONS[name].scene(step).fields.items()}
        settings = form_of(Fields(texts), "cpu").settings
        assert (settings.model, settings.features) == (MODEL, FEATURES)


def test_digits_are_said_to_be_of_the_last_run_where_the_settings_are_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[dict] = []
    monkeypatch.setattr(hero, "follows", lambda: True)
    monkeypatch.setattr(hero, "mount", lambda name, key, data: drawn.append(data))
    watched = watched_runs(store, [recorded(store, FIRST, 40, Status.FINISHED)])
    for sigma in (show(FIRST.sigma), "2"):
        hero.show_answers(form_of(Fields({"sigma": sigma}), "cpu"), watched)
    names = [[row["name"] for row in each["rows"]] for each in drawn]
    assert names == [["private", "non-private"], ["last run", "non-private"]]


@pytest.mark.parametrize("changed", [{"sampler": "shuffle"}, {"sigma": 0.0}])
def test_a_run_without_an_epsilon_by_the_accountants_is_told_by_its_accuracy_alone(
    store: Store, said: Said, changed: dict
) -> None:
    run = recorded(store, replace(FIRST, **changed), 40, Status.FINISHED)
    say(store, [run], **{name: str(value) for name, value in changed.items()})
    sentences, numbers = said["words"]
    assert sentences[-1] == "This run: {accuracy} %."
    assert numbers["accuracy"].value == "66.0"


def test_an_epsilon_of_other_batches_names_the_steps_it_counts() -> None:
    form = form_of(Fields({"batch": "514", "sampler": "shuffle"}), "cpu")
    assert form.mechanism
    otherwise = sampled_of("shuffle", form.mechanism, form.delta)
    assert otherwise
    assert form.steps == 98
    assert "</b> after 5 epochs (95 steps); " in hero.cost_of(form, {}, otherwise)


@pytest.mark.parametrize(("sigma", "shown"), [("4", "60.6 %"), ("0.48", "&gt; 99.9 %")])
def test_the_bar_of_the_worst_case_has_its_number(store: Store, sigma: str, shown: str) -> None:
    bodies = [each.proto.body for each in lab(sigma=sigma).get("html")]
    (picture,) = [each for each in bodies if "class=single" in each]
    assert f"</button> {shown}<" in picture


def test_the_spy_of_no_proven_epsilon_is_always_right(said: Said, monkeypatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(hero.st, "html", drawn.append)
    hero.say_kept(None, "")
    assert said["kept"][0] == ["Spy: 100 of 100 right"]
    assert "no promise at all" in drawn[-1]
    form = form_of(Fields({}), "cpu")
    assert form.mechanism
    found = cache.risks(form.mechanism, form.delta)
    hero.say_kept(found, "")
    (right,) = said["kept"][0]
    assert int(right.split()[1]) >= 100 * (1 + found.advantage.upper) / 2
    sure = re.search(r"at most ([\d.]+) % sure", drawn[-1])
    assert sure
    assert float(sure[1]) >= 100 * found.sure


def test_the_worst_case_says_why_it_is_more_than_its_epsilon_alone_would_give(monkeypatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(hero.st, "html", drawn.append)
    form = form_of(Fields({}), "cpu")
    assert form.mechanism
    found = cache.risks(form.mechanism, form.delta)
    epsilon = float(cache.curve(CERTIFIED, form.mechanism, form.delta).last.value)
    hero.kept_picture(found, epsilon)
    alone = re.search(r"without a delta would give at most ([\d.]+) %", drawn[-1])
    assert alone
    exact = 100 / (1 + math.exp(-epsilon))
    assert exact <= float(alone[1]) <= exact + 0.1
    assert float(alone[1]) < 100 * found.sure


def test_a_delta_of_one_over_n_is_warned_of_in_the_place_of_other_words() -> None:
    for delta, large in (("9e-5", False), ("1e-4", True), ("0.5", True)):
        form = form_of(Fields({"delta": delta}), "cpu")
        assert form.mechanism
        curves = {CERTIFIED: cache.curve(CERTIFIED, form.mechanism, form.delta)}
        words = hero.cost_of(form, curves, None)
        assert ("Delta is too large" in words) is large, delta
        assert ("smaller is safer" in words) is not large, delta
        assert "<b>≤ " in words


@pytest.mark.parametrize("epsilon", [0.001, 0.32, 1.0, 3.0, 30.0, 1e9, math.inf])
def test_the_ruler_marks_the_range_of_epsilon_and_names_all(epsilon: float) -> None:
    html = hero.ruler(epsilon)
    own = next(each for each in RULER if epsilon <= each.most)
    assert f"<li class=here data-range={own.name}" in html
    assert html.count("class=here") == 1
    assert own.reason in html
    assert all(f">{each.name}</" in html for each in RULER)


def test_of_other_batches_the_spy_has_a_bound_of_their_own_or_none(said: Said, monkeypatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(hero.st, "html", drawn.append)
    hero.say_kept(None, "", other_batches=True)
    hero.kept_picture(None, 3.0, other_batches=True)
    assert said["kept"][0] == ["Spy: no bound"]
    assert "class=people" not in "".join(drawn), "no hundred people without a proof"


@pytest.mark.parametrize(("sigma", "outside"), [("4", False), ("100", True)])
def test_each_mark_on_the_chart_is_told_below_it(sigma: str, outside: bool) -> None:
    page = lab(sigma=sigma)
    (signs,) = [each.proto.body for each in page.get("html") if "class=signs" in each.proto.body]
    marks = {"✓": "close", "↕": "too high", "✕": "too low: unsafe"}
    if outside:
        marks["!"] = "outside its conditions"
    told = re.findall(r">([^<>]+)</b>([^<]+)</span>", signs)
    assert {sign.strip("\ufe0e"): word for sign, word in told} == marks


@pytest.mark.parametrize("name", ["shuffle", "fixed_size"])
def test_the_labs_spy_is_never_that_of_poisson_batches_where_others_are_chosen(
    store: Store, name: str
) -> None:
    form = form_of(Fields({"sampler": name, "sigma": "1.23"}), "cpu")
    assert form.mechanism
    own = sampled_risks(name, form.mechanism, form.delta)
    page = lab(sampler=name, sigma="1.23")
    (large,) = [each for each in handed(page, "live_figures") if "Spy" in str(each["sentences"])]
    expected = f"Spy: {of_hundred(own)} of 100 right" if own else "Spy: no bound"
    assert large["sentences"] == [expected]
    poisson = of_hundred(cache.risks(form.mechanism, form.delta))
    assert str(poisson) not in large["sentences"][0]


def test_no_number_of_poisson_batches_stands_for_batches_of_which_nothing_is_proven(
    store: Store,
) -> None:
    page = lab(sampler="shuffle", schedule="step", sigma="4", epochs="12")
    (large,) = [each for each in handed(page, "live_figures") if "Spy" in str(each["sentences"])]
    assert large["sentences"] == ["Spy: no bound"]
    bodies = "".join(each.proto.body for each in page.get("html"))
    assert "Nothing is proven of how often a spy is right with these batches. Nor is" in bodies
    assert "limits what leaks" not in bodies
    assert any("only constant noise" in each.value for each in page.info)
