"""A guided lesson on the page: it moves the controls, explains, and checks answers."""

import re
from collections.abc import Mapping
from functools import cache
from html import escape
from typing import Any

import streamlit as st

from dpcore.check import verbatim
from dpcore.runs.expected import duration
from dpcore.runs.store import Store
from dpcore.training.defaults import OPENING_SIGMA
from dpcore.training.slider_stops import show
from pages.parts.components.elements import mount
from pages.parts.controls.url_state import Remembered, write
from pages.parts.explain.lesson import TARGETS, Lesson
from pages.parts.explain.lessons import LESSONS
from pages.parts.explain.scene import Scene
from pages.parts.explain.spot_the_fault import spot
from pages.parts.jobs import expected_seconds
from pages.parts.shell.streamlit_internals import restoring, uninterrupted
from pages.parts.train import run_picker
from pages.parts.train.buttons import start
from pages.parts.train.settings_form import DEFAULTS

LIST = "lesson_list"  # in the session: True while the list of lessons is open
LESSON = Remembered("lesson")
STEP = Remembered("step", "1")
OWN = "own_settings"  # of the visitor, before the first lesson
HOME = Scene()
# The fields of a scene that sets nothing, with the plain method of training.
FIELDS = HOME.fields | {"steps": str(HOME.mechanism.steps)}
# The fields of a page that was just opened.
UNCHOSEN = FIELDS | {"sigma": show(OPENING_SIGMA)}
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")  # in Markdown
NAME = re.compile(r"\{([^}:\[]+)[^}]*\}")  # of a number in a text
NUMBER_LENGTH = 7  # characters of most
LENGTHS = {"ends": 40, "shuffled.ends": 40, "people": 10}
CLOSE = "Ends the lesson; your own settings come back."


def lesson_menu() -> None:
    """Draw the way into the first lesson, and the list of all to choose from."""
    menu = st.container(key="lesson_menu", horizontal=True, gap="small")
    menu.button(
        "60 seconds",
        icon=":material/timer:",
        type="tertiary",
        key="first_lesson",
        help="Privacy in 60 seconds: five cards, no formula",
        on_click=_choose,
        args=(next(iter(LESSONS)),),
    )
    opened = menu.popover(
        "Lessons", icon=":material/school:", type="tertiary", key=LIST, on_change="rerun"
    )
    with opened, st.container(key="lesson_list_shown", gap=None):
        for number, each in enumerate(LESSONS.values()):
            st.button(
                f"{number}. {each.title} · {each.minutes} min · {each.level}",
                key=f"open_{each.name}",
                on_click=_choose,
                args=(each.name,),
                type="tertiary",
                width="stretch",
            )


@uninterrupted
def _choose(name: str) -> None:
    write({LIST: False})  # the open list would hide the lesson
    run_picker.show([])  # the visitor's own runs have other settings
    go_to(name, 1)


def lesson_panel() -> Any:
    """Draw the open lesson, before the controls that it moves; return the place of its button."""
    _follow_address()
    lesson = LESSONS.get(LESSON.value)
    return _draw(lesson, int(STEP.value)) if lesson else None


def offer_runs(place: Any, store: Store | None) -> None:
    """Draw the button that queues the runs of the open step, if it has any."""
    lesson = LESSONS.get(LESSON.value)
    step = int(STEP.value)
    runs = lesson.runs(step) if lesson else ()
    if not runs:
        return
    label = f"Train all {len(runs)}"
    seconds = expected_seconds(store, *runs)
    if seconds is not None:
        label += f" · {duration(seconds)}"
    place.button(
        label,
        key="lesson_runs",
        icon=":material/play_arrow:",
        disabled=store is None,
        on_click=start,
        args=(store, runs),
    )


@uninterrupted
def go_to(name: str, step: int) -> None:
    """Open a lesson at a step, counted from 1, and set its controls; for a callback."""
    _open(name, step, FIELDS | LESSONS[name].scene(step).fields)


def _open(name: str, step: int, fields: Mapping[str, object]) -> None:
    session = st.session_state
    session.setdefault(OWN, {key: session[key] for key in FIELDS if key in session})
    _show(name, step)
    session.pop(_answer_key(name), None)
    write(fields)


@uninterrupted
def start_over() -> None:
    """Set every control to its default, here and on other pages; for a callback."""
    write(st.session_state.get(DEFAULTS, {}) | UNCHOSEN)


@uninterrupted
def close() -> None:
    """End the lesson and restore the visitor's own settings; for a callback."""
    own = st.session_state.pop(OWN, {})
    _show("", 1)
    write(UNCHOSEN | own)


def _follow_address() -> None:
    """Follow the address if the page is new to this session, or the reader went back."""
    if LESSON.name in st.session_state and not restoring():
        return
    name = LESSON.value
    asked = STEP.value
    lesson = LESSONS.get(name)
    if lesson is None:
        _show("", 1)
        if name:
            st.warning(f"There is no lesson {verbatim(name)}. The lessons are in the menu above.")
        return
    step = 1
    if asked.isdecimal() and len(asked) < 10:
        step = min(max(int(asked), 1), lesson.length)
    fields = FIELDS | lesson.scene(step).fields
    for key in st.query_params:  # the address overrides the scene
        fields.pop(key, None)
    _open(name, step, fields)


def _show(name: str, step: int) -> None:
    LESSON.set(name)
    STEP.set(str(step))


def _draw(lesson: Lesson, step: int) -> Any:
    """Draw a step of a lesson; return the place of the button of its runs, if any."""
    with st.container(border=True, key="lesson_panel", gap="xsmall"):
        row = st.container(
            horizontal=True, gap="small", key="lesson_head", vertical_alignment="center"
        )
        row.markdown(f"**{lesson.title}**, step {step} of {lesson.length}")
        _buttons(row, lesson, step)
        with st.container(key="lesson_cards", gap=None):
            st.html(room_for(lesson.name))
            with st.container(key="lesson_card", gap="xsmall"):
                fault = lesson.steps[step - 1].fault
                if fault:
                    spot(fault, lesson.look(step))
                elif lesson.asks(step):
                    _ask(lesson)
                else:
                    st.markdown(lesson.look(step))
        targets = [TARGETS[name] for name in lesson.targets(step)]
        mount("halo", "halo", {"place": f"{lesson.name} {step}", "targets": targets})
        if not lesson.recipes:
            return None
        place = st.container(key="lesson_runs_place")
        if lesson.asks(step):  # without a button its place stays as high
            place.html("<div class=no-runs></div>")
        return place


def _buttons(row: Any, lesson: Lesson, step: int) -> None:
    """Draw the buttons of a lesson in its first row."""
    row.button(
        "Back",
        key="lesson_back",
        icon=":material/arrow_back:",
        on_click=go_to,
        args=(lesson.name, step - 1),
        disabled=step == 1,
    )
    following = _following(lesson, step)
    row.button(
        "Next lesson" if step == lesson.length else "Next",
        key="lesson_next",
        type="primary",
        icon=":material/arrow_forward:",
        on_click=go_to,
        args=following,
        disabled=not following,
    )
    row.button("Close", key="lesson_close", help=CLOSE, on_click=close)


@cache
def room_for(name: str) -> str:
    """All cards of a lesson as hidden HTML, one over the other: the largest gives all its height.

    An answer makes room for its reason: on all cards it would hide what they point at.
    Their numbers are filled in as blanks that are as long, since to compute them all takes long.
    """
    lesson = LESSONS[name]
    cards = []
    for step, each in enumerate(lesson.steps, 1):
        kind = "asked" if lesson.asks(step) else "said"
        words = f"<p class={kind}>{_blank(each.text)}</p>"
        if each.fault:
            words += "<div class=fault-room></div>"
        if lesson.asks(step):
            choices = [f"<span>{_blank(answer['text'])}</span>" for answer in lesson.answers]
            words += f"<p class=choices>{''.join(choices)}</p>"
        cards.append(f"<div>{words}</div>")
    return f'<div class="lesson-room" aria-hidden=true>{"".join(cards)}</div>'


def _blank(text: str) -> str:
    """A text as HTML without marks, in which numbers and words in braces are blanks."""
    shown = LINK.sub(r"\1", text).replace("*", "")
    return NAME.sub(lambda found: "0" * LENGTHS.get(found[1], NUMBER_LENGTH), escape(shown))


def _following(lesson: Lesson, step: int) -> tuple[str, int] | tuple[()]:
    """The next step, or the first one of the next lesson; nothing after the last lesson."""
    if step < lesson.length:
        return lesson.name, step + 1
    names = [*LESSONS]
    place = names.index(lesson.name) + 1
    return (names[place], 1) if place < len(names) else ()


def _ask(lesson: Lesson) -> None:
    """Draw the question and the verdict on the chosen answer."""
    scene = lesson.scene(lesson.length)
    answers = {lesson.fill(answer["text"], scene): answer for answer in lesson.answers}
    question = lesson.look(lesson.length)
    key = _answer_key(lesson.name)
    chosen = st.radio(question, [*answers], index=None, key=key, horizontal=True)
    if not chosen:
        return
    answer = answers[chosen]
    why = lesson.fill(answer["why"], scene)
    if lesson.is_right(answer):
        st.success(f"**Right.** {why}", icon=":material/check:")
    else:
        st.error(f"**Not so.** {why}", icon=":material/close:")


def _answer_key(name: str) -> str:
    return f"answer_{name}"
