"""Spot the fault: the program of a broken trainer, the line pointed at, and the audit's record."""

from pathlib import Path
from typing import Any

import streamlit as st

from dpcore.audit.broken_trainers import BROKEN
from dpcore.audit.faults import Program, programs
from dpcore.privacy import words_in
from dpcore.runs import pool
from dpcore.runs.lesson_answers import Answer, answer_of, csv_of_answers, note
from dpcore.runs.limits import shared
from dpcore.runs.record import StoreError
from pages.parts.shell.streamlit_internals import uninterrupted
from pages.parts.visitors import current_user

WORDS = words_in(Path(__file__).with_name("words.toml"))["fault"]
FIRST = "first_answers"  # in the session: trainer -> the first answer
HIDDEN = "\u00a0"  # a space that the browser keeps


def spot(name: str, intro: str) -> None:
    """Draw the program of a broken trainer to point at, and the verdict on the line pointed at."""
    program = programs()[name]
    st.markdown(intro)
    code, beside = st.columns([3, 2], gap="medium")
    with code, st.container(key="fault_code"):
        line = st.radio(
            WORDS["ask"],
            range(1, len(program.lines) + 1),
            index=None,
            format_func=lambda number: _shown(program, number),
            key=_key(name),
            on_change=_pointed,
            args=(name,),
        )
    with beside, st.container(key="fault_verdict"):
        if line is not None:
            _judge(program, line)
        if line != program.fault:
            st.button("Show me the line", key="fault_shown", on_click=_show, args=(name,))
        _score()


def _key(name: str) -> str:
    return f"fault_{name}"


def _shown(program: Program, number: int) -> str:
    """A line with its number, as Markdown; in a narrow window it is broken at its spaces."""
    code = program.lines[number - 1].code
    words = code.lstrip()
    indent = " " * (len(code) - len(words))
    kept = f"{number:2}  {indent}".replace(" ", HIDDEN)
    return f"`{kept}{words}`"


@uninterrupted
def _pointed(name: str) -> None:
    """Keep the first answer, for the reader and for the teacher."""
    line = st.session_state.get(_key(name))
    first = st.session_state.setdefault(FIRST, {})
    if line is None or name in first:
        return
    answer = answer_of(current_user().owner, name, line)
    first[name] = answer
    if not shared() or not answer.visitor:
        return
    try:
        note(pool.ensure_pool().store, answer)
    except StoreError:  # the page reports it
        return


@uninterrupted
def _show(name: str) -> None:
    st.session_state[_key(name)] = programs()[name].fault


def _judge(program: Program, line: int) -> None:
    if line != program.fault:
        st.markdown(WORDS["right_line"].format(line=line, why=program.lines[line - 1].why))
        return
    evidence = program.evidence
    trainer = BROKEN[program.name]
    st.markdown(f"### {WORDS['right'].format(line=line)}")
    st.markdown(f"**{trainer.title}.** {trainer.story} {WORDS['sound']} `{program.sound.strip()}`")
    st.markdown(f"**{evidence.verdict}**")
    st.markdown(f"{WORDS['audit']} {evidence.shows}")
    st.caption(f"{WORDS['recorded']} `{evidence.command}`")


def _score() -> None:
    """Draw how many lines were found at once, and offer the answers."""
    first: dict[str, Answer] = st.session_state.get(FIRST, {})
    if not first:
        return
    right = sum(each.right for each in first.values())
    st.caption(WORDS["score"].format(right=right, given=len(first), all=len(BROKEN)))
    rows: list[Any] = list(first.values())
    st.download_button(
        "Your answers as CSV",
        csv_of_answers(rows),
        "spot-the-fault.csv",
        "text/csv",
        key="fault_csv",
        type="tertiary",
        on_click="ignore",
    )
