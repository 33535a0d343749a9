"""Problem of a search: find a circuit of a task at some scales, of one arity and in one mode."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.search.templates import Place
from lengthgen.circuits.search.wirings import Alternatives, all_wirings
from lengthgen.circuits.tables import StepEntries, step_entries
from lengthgen.circuits.task import Task
from lengthgen.circuits.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Traces of a task, one of each scale, with the arity and mode that circuits for them must have.

    Attributes:
        task: the task.
        traces: scale -> its trace, ascending.
        arity: number of slots of every operator; in mode "typed" the largest number.
        mode: one of lengthgen.circuits.search.wirings.Mode.
    """

    task: Task
    traces: Mapping[int, Trace]
    arity: int
    mode: str

    @classmethod
    def of(cls, task: Task, traces: Sequence[Trace], arity: int, mode: str) -> Self:
        """Return the problem of these traces, whose scales ascend."""
        return cls(task=task, traces={trace.scale: trace for trace in traces}, arity=arity, mode=mode)

    @property
    def symbols(self) -> int:
        """Size of the alphabet."""
        return len(self.task.alphabet)

    @property
    def has_reference(self) -> bool:
        """True if the task has a reference circuit with no more slots than the arity."""
        return self.task.reference is not None and self.task.reference.arity <= self.arity

    @property
    def exact(self) -> bool:
        """True if a wiring has exactly as many slots as its step needs, instead of `arity`."""
        return self.mode == "typed"

    def places(self, scales: Iterable[int]) -> Iterator[Place]:
        """Return the steps of some scales, in order."""
        return ((scale, position) for scale in scales for position in self.traces[scale].steps)

    def step_entries(self, place: Place, wiring: tuple[int, ...]) -> StepEntries:
        """Return the entries that a step needs through a wiring; the wiring must determine the step."""
        keys, values = step_entries(self.traces[place[0]], place[1], wiring)
        return StepEntries(slots=len(wiring), keys=keys, values=values)

    def alternatives(self, place: Place, clock: Clock) -> Alternatives:
        """Return every wiring that the mode allows for a step. Raise OutOfTime if the clock's limit has passed."""
        return all_wirings(self.task, self.traces[place[0]], place[1], self.arity, self.mode, clock)
