"""The answer, all accountants' answers, and the noise that each needs for one epsilon."""

import math
from dataclasses import replace
from functools import lru_cache
from html import escape
from typing import Any

import streamlit as st

from dpcore.papers.entry import PrintedSetting
from dpcore.papers.gaussian_dp.rows import BOTTOM, TOP
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.calibration import for_sampler
from dpcore.privacy.calibration.solve import Answer, same_epsilon
from dpcore.privacy.calibration.targets import EpsilonTarget
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import epochs_of, nearest, outward, plain, raised, short
from dpcore.privacy.report.statement import proven_range, why_uncounted
from dpcore.privacy.report.verdict import Worth
from dpcore.privacy.sampling import Sampler, sampler_of, steps_of_epoch
from dpcore.privacy.sampling.base import Poisson, epochs_meant, steps_counted
from dpcore.privacy.schedule import Recipe
from dpcore.training.slider_stops import show
from pages.parts.calibrate import in_words
from pages.parts.calibrate.carried import carry_shown
from pages.parts.calibrate.in_words import spent_text, value_of
from pages.parts.calibrate.question import (
    Asked,
    answer,
    judged,
    recipe_of,
    settable,
    sigma_above,
    spent,
)
from pages.parts.controls.mechanism import ChosenSetting
from pages.parts.page_change import load
from pages.parts.results import cache
from pages.parts.results.exports import Origin, Rows, csv_button
from pages.parts.results.odds import WORDS, legend, odds_icons
from pages.parts.results.sampled import sampled_end
from pages.parts.results.tables import VerdictRow, sign, verdict_rows
from pages.parts.shell import menu

COUNTED_BY = "Counted by"
# The first promises an epsilon, the others need less noise for it.
COUNTED = ("moments", "gdp", CERTIFIED)
ALL = "all_answers"
BESIDE = "gdp"  # stands beside the certified answer: it claims too much in most settings
BELOW = "The map and the tables below are for Poisson batches, add/remove."
COUNTING = "Counting batches that are not Poisson ..."
LESS_NOISE_HEADS = ("sigma", "Less noise", "mu (CLT)", "Epsilon it counts", "Certified epsilon")
# Of Bu et al. 2020: sigma 1.3 becomes 1.06, for epsilon 1.34; epsilon is 8.68 in the lower half.
FIGURE_4 = {"top": TOP, "bottom": BOTTOM}


def show_answer(found: Answer, asked: Asked, setting: ChosenSetting, by: str, sampler: str) -> None:
    """Draw the answer for Poisson batches, its cost with a verdict, and buttons that load it."""
    with st.container(key="in_sight", gap="xsmall"):
        # Above the answer for other batches.
        named = "" if sampler == Poisson.name else " (Poisson)"
        st.header(f"{in_words.headline(found)}{named}", anchor=False)
        exact = answer(asked, by)
        st.markdown(in_words.sentence(found, None if isinstance(exact, str) else exact.value))
        held = in_words.held(found, setting)
        if held:
            st.markdown(held)
    if by != CERTIFIED:
        verdict = judged(found)
        st.html(f"<p>{sign(verdict.worth)} {escape(verdict.text)}</p>")
    if not getattr(asked.target, "runs", None):  # the attacker's figures are those of one run
        with st.container(key="people"):
            st.html(odds_icons(cache.risks(found.mechanism, setting.delta)))
    st.caption(in_words.present_cost(setting, asked.target, by))
    for note in in_words.notes_of(found):
        grave = note == found.reading.note or note.startswith("delta =")
        draw = st.warning if grave else st.info
        draw(note)
    _ways_on()


def _ways_on() -> None:
    """Draw the buttons that load the answer, here and on other pages."""
    row = st.container(horizontal=True, gap="small", vertical_alignment="center", key="use_place")
    row.button("Use this answer", type="primary", on_click=carry_shown, key="use")
    if menu.SEEN not in st.session_state:  # without the app there are no other pages
        return
    # A link would not do: a page's query does not change a value that the session has.
    verb = "Open in"
    for page in menu.PAGES:
        if not page.opens_settings:
            continue
        row.button(
            f"{verb} {page.title}",
            type="tertiary",
            icon=":material/arrow_forward:",
            key=f"to_{page.file}",
            on_click=carry_shown,
            args=(page.file,),
        )
        verb = "in"


def show_less_noise(setting: ChosenSetting) -> None:
    """Draw the comparison of Bu et al. at the present setting, with their settings as presets."""
    box = st.expander("Same epsilon, less noise", key="less_noise", on_change="rerun")
    if not box.open:
        return
    box.markdown(WORDS["calibrate"]["less_noise"].format(sigma=setting.sigma))
    row = box.container(horizontal=True, gap="small")
    for half, printed in FIGURE_4.items():
        title = f"Figure 4, {half}: sigma {printed.sigma:g}, epoch {printed.epochs:g}"
        row.button(title, on_click=load, args=(_fields_of_printed(printed),))
    counted = less_noise(
        setting.q, setting.sigma, setting.mechanism.steps, setting.delta, recipe_of(setting)
    )
    if isinstance(counted, str):
        box.info(counted)
    else:
        box.html(verdict_rows("Less noise", COUNTED_BY, LESS_NOISE_HEADS, counted))


def _fields_of_printed(setting: PrintedSetting) -> dict[str, str]:
    return {
        "sampling": "batch",
        "length": "epochs",
        "n": plain(setting.n),
        "batch": plain(setting.batch),
        "sigma": plain(setting.sigma),
        "epochs": plain(setting.epochs),
        "delta": plain(setting.delta),
        "schedule": setting.schedule,
    }


def show_answers(asked: Asked, by: str, origin: Origin) -> None:
    """Draw the answers of few accountants, and, once asked for, those of all, and their file."""
    heads = (asked.solve, f"{asked.target.word.capitalize()} it counts")
    few = [name for name in ACCOUNTANTS if name in (CERTIFIED, BESIDE, by)]
    st.html(verdict_rows("Answers", COUNTED_BY, heads, [answer_row(asked, each) for each in few]))
    box = st.expander(f"All {len(ACCOUNTANTS)} accountants", key=ALL, on_change="rerun")
    if box.open:
        rows = [answer_row(asked, name) for name in ACCOUNTANTS]
        box.html(verdict_rows("All answers", COUNTED_BY, heads, rows))
        box.html(legend())
        with box:
            answers_download(asked, origin)


def _solved_field(asked: Asked) -> str:
    return "q" if asked.solve == "batch" else asked.solve


def answers_download(asked: Asked, origin: Origin) -> None:
    """Draw a button for the answers as CSV, each with its whole setting."""
    solved = _solved_field(asked)
    shared = origin._replace(sigma=asked.sigma, steps=asked.steps)._replace(**{solved: None})

    def rows() -> Rows:
        return [shared._asdict() | row for row in answers_rows(asked)]

    file = shared.file(f"{asked.solve}-for-{asked.target.word}{asked.target.size:g}")
    csv_button("Download the answers (CSV)", rows, f"{file}.csv", "download_answers")


def answers_rows(asked: Asked) -> Rows:
    """One row for each accountant; the last column is the field that the answer sets."""
    return [_answer_fields(asked, name) for name in ACCOUNTANTS]


@lru_cache(maxsize=256)
def less_noise(
    q: float, sigma: float, steps: int, delta: float, recipe: Recipe
) -> tuple[VerdictRow, ...] | str:
    """The rows of the moments accountant and of those that need less noise, or an error."""
    first, *others = COUNTED
    try:
        promise, answers = same_epsilon(
            q,
            sigma,
            steps,
            delta,
            promised_by=first,
            accountants=tuple(others),
            recipe=recipe,
        )
        target = EpsilonTarget(promise.value, delta)
        mechanism = recipe.mechanism(q, sigma, steps)
        own = Answer("sigma", sigma, target, promise, None, first, mechanism)
        return tuple(_less_row(each, sigma) for each in (own, *answers))
    except (ValueError, RuntimeError) as error:
        return str(error)


def _answer_fields(asked: Asked, name: str) -> dict[str, Any]:
    """The answer by one accountant; a question without one has empty fields, and a note."""
    solved = _solved_field(asked)
    fields = {
        "accountant": name,
        "solved": asked.solve,
        "answer": "",
        "beyond": "",
        "target": str(asked.target),
        "spent": "",
        "lower": "",
        "kind": "",
        "verdict": "",
        "note": "",
        solved: "",
    }
    found = answer(asked, name)
    if isinstance(found, str):
        return fields | {"note": found}
    q = found.mechanism.releases[0].q
    return fields | {
        "answer": found.value,
        "beyond": found.beyond,
        "spent": found.reading.value,
        "lower": found.reading.lower,
        "kind": found.reading.kind,
        "verdict": judged(found).worth,
        "note": found.note,
        solved: q if asked.solve == "batch" else found.value,
    }


def answer_row(asked: Asked, name: str) -> VerdictRow:
    found = settable(asked, name)
    if isinstance(found, str):
        return VerdictRow(name, ("–", "–"), ACCOUNTANTS[name].kind, Worth.NOT_AVAILABLE, found)
    cells = (value_of(found), spent_text(found))
    verdict = judged(found)
    return VerdictRow(name, cells, found.reading.kind, verdict.worth, verdict.text)


def _less_row(found: Answer, before: float) -> VerdictRow:
    sigma = float(found.value)
    exact = spent(found.target, CERTIFIED, found.mechanism)
    verdict = judged(found)
    certified = "no bound"  # a sigma can be too small to certify
    if math.isfinite(exact.value):
        low = outward(exact.lower or 0.0, math.floor)
        certified = f"{low} to {outward(exact.value, math.ceil)}"
    less = f"{100 * (1 - sigma / before):.0f} %" if sigma != before else "–"
    counted = outward(found.reading.value, math.ceil)
    cells = (nearest(sigma), less, short(cache.mu(found.mechanism)), counted, certified)
    return VerdictRow(found.accountant, cells, found.reading.kind, verdict.worth, verdict.text)


def show_sampled(name: str, asked: Asked, setting: ChosenSetting, by_poisson: Answer | str) -> None:
    """Draw the answer for batches that are not Poisson, or why there is none."""
    sampler = sampler_of(name)
    if name == Poisson.name:
        return
    why_not = why_uncounted(sampler, setting.mechanism) or unsolvable(name, asked)
    if why_not:
        st.info(why_not)
        return
    assert isinstance(asked.target, EpsilonTarget)
    with st.spinner(COUNTING, show_time=sampler.slow):
        found = answer_for(name, asked)
    if isinstance(found, str):
        st.error(f"{sampler.title}: {found}")
        return
    st.header(f"{sampled_headline(sampler, found)} ({sampler.title})", anchor=False)
    st.markdown(sampled_sentence(sampler, found))
    if isinstance(by_poisson, Answer) and asked.solve == "sigma":
        st.markdown(at_poisson_sigma(name, by_poisson))
    fields = fields_of(sampler, found)
    st.button("Use this answer", on_click=load, args=(fields,), key="use_sampled")
    st.caption(f"{sampler.note} {found.reading.note} {BELOW}")


def unsolvable(name: str, asked: Asked) -> str:
    """A sentence that says why a sampler has no answer; "" where it has one.

    >>> from dpcore.privacy.schedule import Recipe
    >>> unsolvable("shuffle", Asked("q", EpsilonTarget(3.0, 1e-5), Recipe(), 1000, 0.0, 1.0, 10))
    'Shuffled every epoch: solve for sigma or steps. The answer below is for Poisson batches.'
    """
    title = sampler_of(name).title
    if asked.solve not in for_sampler.SOLVABLE_FOR_SAMPLERS:
        return f"{title}: solve for sigma or steps. The answer below is for Poisson batches."
    if not isinstance(asked.target, EpsilonTarget):
        return f"{title}: choose epsilon as the target. The answer below is for Poisson batches."
    if asked.target.runs:
        return (
            f"{title}: the cost of choosing is proven for Poisson batches alone. The answer below"
            " is for these."
        )
    return ""


@lru_cache(maxsize=256)
def answer_for(name: str, asked: Asked) -> Answer | str:
    """The answer for a sampler to a question about Poisson batches, or why there is none."""
    sampler = sampler_of(name)
    target = asked.target
    if not isinstance(target, EpsilonTarget):
        return f"{sampler.title}: choose epsilon as the target."
    try:
        if asked.solve == "sigma":
            steps = steps_counted(sampler, asked.q, asked.steps)
            found = for_sampler.sigma_for_sampler(sampler, target, asked.q, steps)
            return _sampled_settable(sampler, found, asked.q, steps)
        return for_sampler.steps_for_sampler(sampler, target, asked.q, asked.sigma)
    except (ValueError, RuntimeError) as error:
        return str(error)


def _sampled_settable(sampler: Sampler, found: Answer, q: float, steps: int) -> Answer:
    """The answer with its sigma rounded up to what can be set, unless that cost too much."""
    sigma = sigma_above(found.value)
    reading = sampler.curve(q, sigma, steps, found.target.at or 0.0).last
    if reading.value > found.target.size:
        return found
    mechanism = Mechanism.constant(q, sigma, steps)
    return replace(found, value=sigma, reading=reading, beyond=None, mechanism=mechanism)


def sampled_headline(sampler: Sampler, found: Answer) -> str:
    if found.solved == "sigma":
        return f"sigma = {show(found.value)}"
    return f"steps = {found.value:,}, or {epochs_of(epochs_in(sampler, found.mechanism))}"


def sampled_sentence(sampler: Sampler, found: Answer) -> str:
    """The range of its epsilon, never rounded past the target."""
    certain = proven_range(sampler, replace(found.reading, value=found.spent)).rstrip(".")
    delta = plain(raised(found.target.at or 0.0))
    length = epochs_of(epochs_in(sampler, found.mechanism))
    beyond = ""
    if found.beyond is not None:
        beyond = f" At {found.solved} = {show(found.beyond)}, epsilon already exceeds the target."
    return (
        f"{certain}, at delta = {delta} over {length}, {found.mechanism.steps:,} steps, within the"
        f" target of {found.target.size:g}.{beyond}"
    )


def at_poisson_sigma(name: str, by_poisson: Answer) -> str:
    """The cost of the sampler at the answer for Poisson batches."""
    sigma = float(by_poisson.value)
    there = sampled_end(name, by_poisson.mechanism, by_poisson.target.at or 0.0).last
    low = outward(there.lower or 0.0, math.floor)
    high = outward(there.value, math.ceil)
    return (
        f"At sigma = {show(sigma)}, the answer for Poisson batches, epsilon lies between **{low}**"
        f" and **{high}** here."
    )


def epochs_in(sampler: Sampler, mechanism: Mechanism) -> float:
    q = mechanism.releases[0].q
    if sampler.by_epoch:
        return mechanism.steps / steps_of_epoch(q)
    return epochs_meant(q, mechanism.steps)


def fields_of(sampler: Sampler, found: Answer) -> dict[str, str]:
    if found.solved == "sigma":
        return {"sigma": show(found.value)}
    if sampler.by_epoch:
        return {"length": "epochs", "epochs": show(epochs_in(sampler, found.mechanism))}
    return {"length": "steps", "steps": show(found.value)}
