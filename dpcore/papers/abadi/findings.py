"""Numbers in the answers to the claims of paper 002."""

from dpcore.papers.abadi.rows import AFFORDED, CLAIM, LAYERS, SETTING, one_step, with_pca
from dpcore.papers.comparison import certified, certified_lower
from dpcore.papers.entry import PrintedClaim
from dpcore.papers.words import Numbers, rounded_down, rounded_up
from dpcore.privacy.accountants import ACCOUNTANTS
from dpcore.privacy.report.numbers import nearest

DELTA = SETTING.delta


def _two_epsilons() -> Numbers:
    strong = ACCOUNTANTS["strong"].spent(CLAIM.mechanism, DELTA).value
    alone = float(one_step(SETTING.q, SETTING.sigma, CLAIM.mechanism.steps, DELTA))
    return {
        "certified": rounded_up(certified(CLAIM).value),
        "strong": rounded_up(strong),
        "alone": nearest(alone, 3),
    }


def _calls() -> Numbers:
    mechanism = with_pca(SETTING.sigma, 7.0, CLAIM.mechanism.steps, LAYERS)
    upper = ACCOUNTANTS["moments"].spent(mechanism, DELTA).value
    lower = certified_lower(PrintedClaim(mechanism, DELTA))
    return {"lower": rounded_down(lower), "upper": rounded_up(upper)}


def _levels() -> Numbers:
    """List the epochs that the three noise levels afford, by each way to count."""
    rows = AFFORDED.rows({"delta": DELTA})
    _noises, _epsilons, *columns = zip(*rows, strict=True)
    listed = [f"{', '.join(each[:-1])} and {each[-1]}" for each in columns]
    return dict(zip(("once", "twice", "whole", "apart"), listed, strict=True))


ANSWERS = {"two_epsilons": _two_epsilons, "calls": _calls, "levels": _levels}
