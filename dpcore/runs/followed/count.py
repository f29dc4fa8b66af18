"""The steps of a followed training in memory: phases of constant q and sigma."""

from collections.abc import Sequence
from typing import NamedTuple

from dpcore.privacy.mechanism import Mechanism, Release

MAX_PHASES = 1_000  # with more, each two neighbours become one, which never lowers epsilon


class Phase(NamedTuple):
    """The steps from `first` on, until the next phase."""

    first: int  # steps before it
    q: float
    sigma: float


Releases = tuple[Release, ...]


def releases_of(phases: Sequence[Phase], steps: int) -> Releases:
    """The first `steps` steps as releases, in order.

    >>> releases_of([Phase(0, 0.1, 2.0), Phase(3, 0.1, 1.0)], 5)
    (Release(q=0.1, sigma=2.0, count=3), Release(q=0.1, sigma=1.0, count=2))
    """
    if not phases:
        return ()
    ends = [*(phase.first for phase in phases[1:]), steps]
    releases = []
    for phase, end in zip(phases, ends, strict=True):
        count = min(end, steps) - phase.first
        if count > 0:
            releases.append(Release(phase.q, phase.sigma, count))
    return tuple(releases)


def phases_of(releases: Sequence[Release]) -> list[Phase]:
    """The phases of releases in order, the opposite of `releases_of`."""
    phases = []
    before = 0
    for release in releases:
        phases.append(Phase(before, release.q, release.sigma))
        before += release.count
    return phases


def epoch_of(phases: Sequence[Phase], steps: int) -> float:
    """The expected uses of each example in the first `steps` steps."""
    return sum(release.q * release.count for release in releases_of(phases, steps))


def joined(phases: Sequence[Phase]) -> list[Phase]:
    """Each two neighbours as one phase, with the larger q and the smaller sigma of both.

    **Guarantees:** epsilon does not fall: a larger q and a smaller sigma reveal more.

    >>> joined([Phase(0, 0.1, 2.0), Phase(3, 0.1, 1.0), Phase(5, 0.2, 1.5)])
    [Phase(first=0, q=0.1, sigma=1.0), Phase(first=5, q=0.2, sigma=1.5)]
    """
    found = []
    for place in range(0, len(phases), 2):
        pair = phases[place : place + 2]
        q = max(each.q for each in pair)
        sigma = min(each.sigma for each in pair)
        found.append(Phase(pair[0].first, q, sigma))
    return found


def merged(releases: Sequence[Release]) -> Mechanism | None:
    """The releases with equal ones counted together, since their order does not matter."""
    counts: dict[tuple[float, float], int] = {}
    for release in releases:
        key = (release.q, release.sigma)
        counts[key] = counts.get(key, 0) + release.count
    if not counts:
        return None
    return Mechanism(tuple(Release(q, sigma, count) for (q, sigma), count in counts.items()))
