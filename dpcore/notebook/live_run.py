"""A training run in this process, drawn while it trains."""

from collections.abc import Generator, Sequence
from contextlib import closing
from html import escape
from typing import final

import ipywidgets as widgets
import plotly.graph_objects as go

from dpcore.figures import Track, accuracy_figure, charted, curves_figure, epochs_at
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.notebook.explorer import curves_of, redraw, statement_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.mechanism import Mechanism
from dpcore.privacy.report.numbers import epochs_of, percent, plain, raised, rounded, spoken
from dpcore.privacy.report.statement import Statement
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Event, Finished, Started, Stepped
from dpcore.training.plan import plan

NAME = "this run"
NOT_RECORDED = (
    "The run store does not have this run, so the app does not show it and cannot resume it."
)


@final
class LiveRun:
    """The widgets of `live`: the epsilon of a run above its accuracy, and its events so far."""

    def __init__(self, config: RunConfig, accountants: Sequence[str]) -> None:
        self.config = config
        self.plan = plan(config)
        self.events: list[Event] = []
        self._curves = curves_of(config, accountants)
        self.accuracy = go.FigureWidget(self._accuracy())
        shown = [self.accuracy]
        self.epsilon = None
        if self.plan.mechanism:
            self.epsilon = go.FigureWidget(self._epsilon(self.plan.mechanism))
            shown = [self.epsilon, self.accuracy]
        self.words = widgets.HTML()
        self.widget = widgets.VBox([self.words, *shown])
        self._say("Preparing.")

    @property
    def evaluated(self) -> list[Evaluated]:
        """The tests of the model so far."""
        return [event for event in self.events if isinstance(event, Evaluated)]

    @property
    def step(self) -> int:
        """The latest step that the run has reported."""
        for event in reversed(self.events):
            if isinstance(event, Stepped | Evaluated):
                return event.step
        return 0

    @property
    def mechanism(self) -> Mechanism | None:
        """The mechanism that the run is charged for; None without noise."""
        return self.plan.mechanism

    @property
    def statement(self) -> Statement:
        """The privacy statement of the whole run, for the release of its model."""
        return statement_of(self.config)

    def follow(self, events: Generator[Event, None, None]) -> None:
        """Draw the events of the run as they come.

        An interrupt ends the run within a step and is raised again.
        """
        try:
            with closing(events):
                for event in events:
                    self._take(event)
        except KeyboardInterrupt:
            self._say(f"Stopped soon after {self._progress()}. {self._most()}")
            raise

    def _take(self, event: Event) -> None:
        self.events.append(event)
        match event:
            case Started():
                self._say(f"{event.examples:,} examples, {event.steps:,} steps on {event.device}.")
            case Stepped():
                self._say(f"{self._progress().capitalize()}. {self._tested()}")
            case Evaluated():
                self._redraw()
            case Finished():
                self._redraw()
                self._say(f"Finished in {event.seconds:.1f} s. {self._tested()} {NOT_RECORDED}")

    def _progress(self) -> str:
        return f"step {self.step:,} of {self.plan.steps:,}"

    def _tested(self) -> str:
        """Describe the latest test of the model and its privacy cost."""
        if not self.evaluated:
            return ""
        last = self.evaluated[-1]
        reached = f"After {epochs_of(last.epoch)} the test accuracy is {percent(last.accuracy)}"
        mechanism = self.plan.mechanism
        if mechanism is None:
            return f"{reached}. {self.plan.unaccounted}"
        return f"{reached}, at {self._epsilon_after(last.step)}."

    def _epsilon_after(self, step: int) -> str:
        released = self.plan.released(step)
        assert released is not None, "asked only after a step of a run with an epsilon"
        spent = ACCOUNTANTS[CERTIFIED].spent(released, self.config.delta)
        delta = plain(raised(self.config.delta))
        epsilon = spoken("epsilon", rounded(spent.value, spent.kind), spent.kind)
        return f"{epsilon} (delta = {delta})"

    def _most(self) -> str:
        """Bound the cost of a run stopped between two reports by the cost of the whole run."""
        if self.plan.mechanism is None:
            return self.plan.unaccounted
        return f"It cost at most as much as the whole run: {self._epsilon_after(self.plan.steps)}."

    def _redraw(self) -> None:
        redraw(self.accuracy, self._accuracy())
        if self.epsilon and self.plan.mechanism:
            redraw(self.epsilon, self._epsilon(self.plan.mechanism))

    def _accuracy(self) -> go.Figure:
        epochs = []
        accuracy = []
        for each in self.evaluated:
            epochs.append(each.epoch)
            accuracy.append(each.accuracy)
        track = Track(NAME, epochs, accuracy, private=self.config.private)
        return accuracy_figure([track], "epoch", end=self.plan.steps * self.config.q)

    def _epsilon(self, mechanism: Mechanism) -> go.Figure:
        """Draw epsilon by each accountant, with a mark where the run is until it has ended."""
        now = None
        if self.evaluated and not isinstance(self.events[-1], Finished):
            now = self.evaluated[-1].epoch
        return curves_figure(self._curves, epochs_at(mechanism, charted(mechanism)), now=now)

    def _say(self, words: str) -> None:
        self.words.value = f"<p>{escape(words)}</p>"

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self.widget)


def live(config: RunConfig, accountants: Sequence[str] = DEFAULT_ACCOUNTANTS) -> LiveRun:
    """Train a run in this process, draw it in the notebook, and return it once it has ended.

    An interrupted cell ends the run within a step. The run store does not record the run.
    Errors: ValueError for missing data or a missing device; RuntimeError if the loss is no longer
    finite.
    """
    from dpcore.training.loop import train  # late: loading torch takes seconds

    run = LiveRun(config, accountants)
    run._ipython_display_()
    run.follow(train(config, planned=run.plan))
    return run
