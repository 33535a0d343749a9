"""A sweep as it goes, on stderr: a live table on a terminal, elsewhere lines.

Lines say each group that ends, and every minute what is under way.

What is known of a group is the note its processes leave in the store after every epoch, wherever they run.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

from rich.console import Console, RenderableType
from rich.console import Group as Stacked
from rich.live import Live
from rich.table import Table

from empirical.runs.run import Run
from empirical.runs.store import RunStore
from empirical.training.sweep import Group
from theory.system.messages import tell

EVERY = 60.0
"""Seconds between lines on what is under way."""


@contextmanager
def watching(store: RunStore, runs: Sequence[Run]) -> Iterator[Callable[[Group], None]]:
    """Shows how far the runs are that are not finished; yields what is to be called with each group that ends."""
    watch = _Watch(store, [run for run in runs if not store.finished(run)])
    console = Console(stderr=True)
    if not watch.runs:
        yield watch.end
    elif console.is_interactive:
        with Live(get_renderable=watch.table, console=console, refresh_per_second=2, transient=True):
            yield watch.end
    else:
        with _lines(watch) as say_end:
            yield say_end


@contextmanager
def _lines(watch: "_Watch") -> Iterator[Callable[[Group], None]]:
    """Writes lines; yields what is to be called with each group that ends."""
    ended, one_looks = threading.Event(), threading.Lock()

    def say(what: str) -> None:
        tell(f"training: {watch.total()}; {what}")

    def say_end(group: Group) -> None:
        with one_looks:
            watch.end(group)
            watch.look()
            say(f"ended: {_name(group)}")

    def say_under_way() -> None:
        while not ended.wait(EVERY):
            with one_looks:
                watch.look()
                for name, epochs, left in watch.rows():
                    say(f"under way: {name}, {epochs} epochs, about {left} left")

    tell(f"training: {len(watch.runs)} runs to do")
    looker = threading.Thread(target=say_under_way, daemon=True)
    looker.start()
    try:
        yield say_end
    finally:
        ended.set()
        looker.join()


class _Pace:
    """How many of some epochs are done, and how fast: judged from those seen done since the first look."""

    def __init__(self, done: int, total: int) -> None:
        self.first = self.done = done
        self.total, self.started = total, monotonic()

    def left(self) -> str:
        """About how long it takes to the end."""
        if self.done <= self.first:
            return "?"
        seconds = (monotonic() - self.started) * (self.total - self.done) / (self.done - self.first)
        return str(timedelta(seconds=round(seconds)))


class _Watch:
    """Runs, and what was seen of them. Only `end` is called by others than the one who looks."""

    def __init__(self, store: RunStore, runs: Sequence[Run]) -> None:
        self.store, self.runs = store, {run.id: run for run in runs}
        self.ended: set[str] = set()
        self.epochs = dict.fromkeys(self.runs, 0)
        self.before = dict(self._notes())
        """Trainings begun by an earlier sweep: under way only once their notes change."""
        self.under_way: dict[Group, _Pace] = {}
        self.whole = _Pace(0, sum(run.training.epochs for run in runs))
        self.look()
        self.whole.first = self.whole.done

    def end(self, group: Group) -> None:
        """A group has ended, one way or the other."""
        self.ended.update(run.id for run in group)

    def look(self) -> None:
        """Reads all notes."""
        notes = dict(self._notes())
        for group, done in notes.items():
            if self.before.get(group) != done:
                self.before.pop(group, None)
                pace = self.under_way.get(group)
                if pace is None or done < pace.done:  # it began anew, from a checkpoint
                    self.under_way[group] = pace = _Pace(done, group[0].training.epochs)
                pace.done = done
            self.epochs |= {run.id: done for run in group if run.id in self.epochs}
        self.under_way = {group: pace for group, pace in self.under_way.items() if group in notes}
        self.epochs |= {name: self.runs[name].training.epochs for name in self.ended & self.epochs.keys()}
        self.whole.done = sum(self.epochs.values())

    def table(self) -> RenderableType:
        """What is under way, below the whole."""
        self.look()
        table = Table(box=None)
        table.add_column("under way", no_wrap=True)
        table.add_column("epochs", justify="right", no_wrap=True)
        table.add_column("left", justify="right", no_wrap=True)
        for row in self.rows():
            table.add_row(*row)
        return Stacked(f"training: {self.total()}", table)

    def rows(self) -> list[tuple[str, str, str]]:
        """Of each group under way: its name, epochs done of all, and about how long is left."""
        return [(_name(group), f"{pace.done}/{pace.total}", pace.left()) for group, pace in self.under_way.items()]

    def total(self) -> str:
        """The sweep as a whole."""
        ended = len(self.ended & self.runs.keys())
        return f"{ended}/{len(self.runs)} runs, about {self.whole.left()} left"

    def _notes(self) -> Iterator[tuple[Group, int]]:
        """Trainings of runs that have not ended, and how many epochs of each are done."""
        for group, done in self.store.notes():
            if any(run.id in self.runs and run.id not in self.ended for run in group):
                yield group, done


def _name(group: Group) -> str:
    """Readable, without hashes."""
    if len(group) == 1:
        return group[0].id.rpartition("-")[0]
    return f"{group[0].group.rpartition('-')[0]}-seeds{group[0].seed}-{group[-1].seed}"
