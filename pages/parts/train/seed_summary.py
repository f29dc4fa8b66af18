"""Runs that differ only in their seed: mean and spread, once all of them have ended."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dpcore.runs.record import Run
from dpcore.training.config import RunConfig
from dpcore.training.described import described
from dpcore.training.events import Finished
from dpcore.training.seed_summary import in_words

Ended = tuple[Run, RunConfig, Finished | None]


def seed_summaries(runs: Sequence[Ended]) -> None:
    """Say what each configuration with several seeds reached; nothing of one that still goes on, or was imported."""
    groups: dict[RunConfig, list[Ended]] = {}
    for each in [each for each in runs if not each[0].imported]:
        groups.setdefault(replace(each[1], seed=None), []).append(each)
    for config, group in groups.items():
        seeds = {_seed(run, config) for run, config, _ in group}
        finals = {
            _seed(run, config): final for run, config, final in group if final
        }  # a seed that ran twice counts once
        if len(finals) < 2 or any(run.active for run, _, _ in group):
            continue
        early = len(seeds) - len(finals)
        left_out = f" Left out, for it did not finish: {early} of {len(seeds)} seeds." if early else ""
        st.markdown(f"**{described(config)}** · {in_words(list(finals.values())).replace(chr(10), '; ')}.{left_out}")


def _seed(run: Run, config: RunConfig) -> int | str:
    """What tells the run's seed from others: a secret one is the run's own."""
    return run.id if config.seed is None else config.seed
