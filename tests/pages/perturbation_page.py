"""The page of perturbation in a test: opened and read; a comparison's events are written as a
worker would.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from dpcore.runs.record import Status
from dpcore.runs.store import Store
from dpcore.training.perturbation.events import Event, Finished, Measured, Prepared
from dpcore.training.perturbation.methods import METHODS
from dpcore.training.perturbation.request import Request
from tests.pages.train_page import opened_at

PAGE = Path(__file__).parents[2] / "pages" / "perturbation.py"
REQUEST = Request(
    methods=("none", "output", "gradient", "paper_input"), epsilons=(0.1, 1.0), seeds=2
)
WHY = "Nothing is proven."
opened = partial(opened_at, PAGE)


def events_of(request: Request = REQUEST) -> list[Event]:
    """What a comparison of these settings says: a method gets better with epsilon, the paper's
    formula keeps none.
    """
    said: list[Event] = [Prepared(456, 113, 31, 31, 0.2, 0.95, 0.63, ("Mind the gap.",))]
    for name in request.methods:
        if not METHODS[name].takes_epsilon:
            said.append(Measured(name, None, 0.0, (0.95,), (0.0,), ("No noise is drawn.",)))
            continue
        obstacles = (WHY,) if name == "paper_input" else ()
        for epsilon in request.epsilons:
            accuracy = 0.6 + 0.3 * epsilon / max(request.epsilons)
            accuracies = tuple(accuracy - 0.01 * seed for seed in range(request.seeds))
            said.append(
                Measured(
                    name,
                    epsilon,
                    1 / epsilon,
                    accuracies,
                    (0.1 / epsilon,) * request.seeds,
                    obstacles,
                )
            )
    return [*said, Finished(4.0)]


def recorded(
    store: Store,
    said: Sequence[Event] | None = None,
    status: Status | None = None,
    error: str | None = None,
    request: Request = REQUEST,
) -> str:
    """A comparison that has said this; still running where no status is given."""
    run = store.submit(request, worker="test:1")
    for event in events_of(request) if said is None else said:
        store.append(run, event)
    if status:
        store.end(run, status, error)
    return run
