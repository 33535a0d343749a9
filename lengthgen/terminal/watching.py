"""Display of a running sweep on stderr: a live table on a terminal, lines elsewhere.

Elsewhere a line is printed every minute, and one at the end. The progress of a group is read from the note that its
processes leave in the store after every epoch, on whatever machine they run.
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

from lengthgen.empirical.experiment.run import Run
from lengthgen.empirical.experiment.store import RunStore
from lengthgen.empirical.experiment.sweep import Group
from lengthgen.infrastructure.messages import tell
from lengthgen.terminal.progress import EVERY, seconds_left


@contextmanager
def watching(store: RunStore, runs: Sequence[Run]) -> Iterator[Callable[[Group], None]]:
    """Show the progress of the unfinished runs; yield the function to call with each group that ends."""
    watch = _Watch(store, [run for run in runs if not store.finished(run)])
    console = Console(stderr=True)
    if not watch.runs:
        yield watch.end
    elif console.is_interactive:
        with Live(get_renderable=watch.table, console=console, refresh_per_second=2, transient=True):
            yield watch.end
    else:
        with _lines(watch) as on_end:
            yield on_end


@contextmanager
def _lines(watch: "_Watch") -> Iterator[Callable[[Group], None]]:
    """Print lines in a thread; yield the function to call with each group that ends."""
    ended, look_lock = threading.Event(), threading.Lock()

    def on_end(group: Group) -> None:
        with look_lock:
            watch.end(group)

    def tell_every_minute() -> None:
        while not ended.wait(EVERY):
            with look_lock:
                watch.look()
                under_way = "; ".join(f"{name}, {epochs} epochs" for name, epochs, _ in watch.rows())
                tell(f"training: {watch.total()}{'; under way: ' if under_way else ''}{under_way}")

    tell(f"training: {len(watch.runs)} runs to do")
    looker = threading.Thread(target=tell_every_minute, daemon=True)
    looker.start()
    try:
        yield on_end
    finally:
        ended.set()
        looker.join()
        watch.look()
        tell(f"training: {watch.total()}")


class _Pace:
    """Progress of some epochs and their speed, estimated from the epochs done since the first look."""

    def __init__(self, done: int, total: int) -> None:
        self.first = self.done = done
        self.total, self.started = total, monotonic()

    def left(self) -> str:
        """Return the estimated time to the end as text."""
        left = seconds_left(self.done - self.first, self.total - self.first, monotonic() - self.started)
        return "?" if left is None else str(timedelta(seconds=round(left)))


class _Watch:
    """Runs and their progress. Other threads than the one that looks may call only `end`."""

    def __init__(self, store: RunStore, runs: Sequence[Run]) -> None:
        self.store, self.runs = store, {run.id: run for run in runs}
        self.ended: set[str] = set()
        self.epochs = dict.fromkeys(self.runs, 0)
        self.before = dict(self._notes())
        """Trainings begun by an earlier sweep; they count as under way only once their notes change."""
        self.under_way: dict[Group, _Pace] = {}
        self.sweep = _Pace(0, sum(run.training.epochs for run in runs))
        self.look()
        self.sweep.first = self.sweep.done

    def end(self, group: Group) -> None:
        """Mark a group as ended, finished or failed."""
        self.ended.update(run.id for run in group)

    def look(self) -> None:
        """Read all notes."""
        notes = dict(self._notes())
        for group, done in notes.items():
            if self.before.get(group) != done:
                pace = self.under_way.get(group)
                lost = max((pace.done if pace else self.before.pop(group, done)) - done, 0)
                if pace is None or lost:  # it begins anew, from its last state
                    self.under_way[group] = pace = _Pace(done, group[0].training.epochs)
                    self.sweep.first -= lost * len(group)
                pace.done = done
            self.epochs |= {run.id: done for run in group if run.id in self.epochs}
        for group in self.under_way.keys() - notes.keys():  # of runs trained one after the other, each ends alone
            self.ended.update(run.id for run in group if self.store.finished(run))
            del self.under_way[group]
        self.epochs |= {name: self.runs[name].training.epochs for name in self.ended & self.epochs.keys()}
        self.sweep.done = sum(self.epochs.values())

    def table(self) -> RenderableType:
        """Return the groups under way as a table, below the total."""
        self.look()
        table = Table(box=None)
        table.add_column("under way", no_wrap=True)
        table.add_column("epochs", justify="right", no_wrap=True)
        table.add_column("left", justify="right", no_wrap=True)
        for row in self.rows():
            table.add_row(*row)
        return Stacked(f"training: {self.total()}", table)

    def rows(self) -> list[tuple[str, str, str]]:
        """Return, for each group under way: its name without hashes, epochs done of all, and the time left."""
        rows = []
        for group, pace in self.under_way.items():
            name = group[0].id if len(group) == 1 else group[0].group
            name = name.rpartition("-")[0] + (f"-{len(group)}-runs" if len(group) > 1 else "")
            rows.append((name, f"{pace.done}/{pace.total}", pace.left()))
        return rows

    def total(self) -> str:
        """Return the progress of the sweep as text."""
        ended = len(self.ended & self.runs.keys())
        left = self.sweep.left()
        estimate = "" if left == "?" or ended == len(self.runs) else f", about {left} left"
        return f"{ended}/{len(self.runs)} runs{estimate}"

    def _notes(self) -> Iterator[tuple[Group, int]]:
        """Yield the trainings of runs that have not ended, and the number of epochs done in each."""
        for group, done in self.store.notes():
            if any(run.id in self.runs and run.id not in self.ended for run in group):
                yield group, done
