"""What a run's settings cost: each accountant's curve over its steps, its figure, and the privacy statement."""

from collections.abc import Iterable, Mapping

import numpy as np
import plotly.graph_objects as go

from dpcore import check
from dpcore.figures import charted, curves_figure, epochs_at
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED, Curve
from dpcore.privacy.certified.tradeoff_bounds import tradeoff_bounds
from dpcore.privacy.report.attack_risk import risks_of
from dpcore.privacy.report.statement import Statement, statement
from dpcore.training.config import RunConfig
from dpcore.training.plan import plan


def curves_of(config: RunConfig, accountants: Iterable[str]) -> dict[str, Curve]:
    """Epsilon over the steps of a run, by the accountants and the certified one; empty where nothing is accounted for.

    Errors: ValueError for an accountant that is not registered, or settings without a plan; RuntimeError where the
    numerics of an accountant give up.
    """
    names = {*accountants, CERTIFIED}
    for name in names:
        check.one_of(ACCOUNTANTS, accountant=name)
    mechanism = plan(config).mechanism
    if mechanism is None:
        return {}
    steps = charted(mechanism)
    return {name: ACCOUNTANTS[name].curve(mechanism, steps, config.delta) for name in ACCOUNTANTS if name in names}


def spent_figure(config: RunConfig, curves: Mapping[str, Curve], *, log: bool = False) -> go.Figure:
    """The page's figure of epsilon against epoch."""
    mechanism = plan(config).mechanism
    if mechanism is None or not curves:
        return curves_figure({}, np.empty(0))
    return curves_figure(curves, epochs_at(mechanism, charted(mechanism)), log=log)


def statement_of(config: RunConfig) -> Statement:
    """The privacy statement of a whole run, certified: the same as the page's.

    Errors: ValueError for a run without privacy, which has none.

    >>> print(statement_of(RunConfig(sigma=4.0)).text().splitlines()[0])
    Privacy statement
    """
    mechanism = plan(config).mechanism
    if mechanism is None:
        raise ValueError(f"Expected a run with an epsilon. {plan(config).unaccounted}")
    curve = ACCOUNTANTS[CERTIFIED].curve(mechanism, mechanism.steps, config.delta)
    found = risks_of(tradeoff_bounds(mechanism), config.delta)
    return statement(mechanism, curve, ACCOUNTANTS[CERTIFIED], found, config.examples, config.seed)
