"""A training run in this process, drawn while it goes."""

from collections.abc import Generator, Sequence
from contextlib import closing
from html import escape
from typing import final

import ipywidgets as widgets
import plotly.graph_objects as go

from dpcore.figures import Track, accuracy_figure
from dpcore.figures.style import DEFAULT_ACCOUNTANTS
from dpcore.notebook.redrawing import redraw
from dpcore.notebook.spending import curves_of, spent_figure, statement_of
from dpcore.privacy.accountants import ACCOUNTANTS, CERTIFIED
from dpcore.privacy.report.kinds import rounded, spoken
from dpcore.privacy.report.numbers import epochs_of, percent, plain, raised
from dpcore.privacy.report.statement import Statement
from dpcore.training.config import RunConfig
from dpcore.training.events import Evaluated, Event, Finished, Started, Stepped
from dpcore.training.plan import plan

HEIGHT = 300  # pixels of the accuracy's figure
NOT_RECORDED = "This run is not in the run store: the app does not show it, and it cannot be resumed."


@final
class LiveRun:
    """What `live` draws: the accuracy and the epsilon of a run, and all that it has said so far."""

    def __init__(self, config: RunConfig, accountants: Sequence[str]) -> None:
        self.config, self.plan = config, plan(config)
        self.events: list[Event] = []
        self._curves = curves_of(config, accountants)
        self.accuracy = go.FigureWidget(self._accuracy())
        self.epsilon = go.FigureWidget(self._epsilon())
        self.words = widgets.HTML()
        figures = [self.accuracy, self.epsilon] if self._curves else [self.accuracy]
        self.widget = widgets.VBox([self.words, *figures])
        self._say("Preparing.")

    @property
    def evaluated(self) -> list[Evaluated]:
        """The tests of the model so far."""
        return [event for event in self.events if isinstance(event, Evaluated)]

    @property
    def step(self) -> int:
        """Steps done, as far as the run has said."""
        return max((event.step for event in self.events if isinstance(event, Stepped | Evaluated)), default=0)

    @property
    def statement(self) -> Statement:
        """The privacy statement of the whole run: what holds once its model is released."""
        return statement_of(self.config)

    def follow(self, events: Generator[Event, None, None]) -> None:
        """Draw the events of the run as they come. An interrupt ends the run within a step, and is raised."""
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
                redraw(self.accuracy, self._accuracy())
                redraw(self.epsilon, self._epsilon())
            case Finished():
                self._say(f"Finished in {event.seconds:.1f} s. {self._tested()} {NOT_RECORDED}")

    def _progress(self) -> str:
        return f"step {self.step:,} of {self.plan.steps:,}"

    def _tested(self) -> str:
        """The latest test of the model, and what its steps cost."""
        if not self.evaluated:
            return ""
        last = self.evaluated[-1]
        reached = f"After {epochs_of(last.epoch)} the test accuracy is {percent(last.accuracy)}"
        mechanism = self.plan.mechanism
        if mechanism is None:
            return f"{reached}. {self.plan.unaccounted}"
        return f"{reached}, at {self._epsilon_after(last.step)}."

    def _epsilon_after(self, step: int) -> str:
        mechanism, certified = self.plan.mechanism, ACCOUNTANTS[CERTIFIED]
        assert mechanism is not None, "asked only of a run with an epsilon"
        spent = certified.curve(mechanism, [self.plan.uses_at(step)], self.config.delta).last
        delta = plain(raised(self.config.delta))
        return f"{spoken('epsilon', rounded(spent.value, spent.kind), spent.kind)} (delta = {delta})"

    def _most(self) -> str:
        """What a run cost that was stopped between two reports: at most what the whole of it would have cost."""
        if self.plan.mechanism is None:
            return self.plan.unaccounted
        return f"Its steps cost at most what the whole run would have cost, {self._epsilon_after(self.plan.steps)}."

    def _accuracy(self) -> go.Figure:
        tested = self.evaluated
        track = Track("", [each.epoch for each in tested], [each.accuracy for each in tested])
        return accuracy_figure([track], "epoch", end=self.plan.steps * self.config.q, height=HEIGHT)

    def _epsilon(self) -> go.Figure:
        now = self.evaluated[-1].epoch if self.evaluated else 0.0
        return spent_figure(self.config, self._curves, now=now)

    def _say(self, words: str) -> None:
        self.words.value = f"<p>{escape(words)}</p>"

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self.widget)


def live(config: RunConfig, accountants: Sequence[str] = DEFAULT_ACCOUNTANTS) -> LiveRun:
    """Train a run in this process and draw it in the notebook while it trains; the whole run, once it has ended.

    Interrupting the cell ends the run within a step. Nothing is simulated, and nothing recorded: `python -m dpcore
    train` and the app keep their runs.
    Errors: ValueError for data or a device that is not here; RuntimeError if the loss stops being finite.
    """
    from dpcore.training.loop import train  # late: it loads torch, which takes seconds

    run = LiveRun(config, accountants)
    run._ipython_display_()
    run.follow(train(config, planned=run.plan))
    return run
