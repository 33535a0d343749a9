"""The problem of a search: a circuit of a task at some scales, of one arity and in one mode."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from circuits.clock import Clock
from circuits.modes import all_wirings
from circuits.operators import Asked, asked_of
from circuits.task import Task
from circuits.templates import Place
from circuits.trace import Trace
from circuits.wirings import Alternatives


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Traces of a task, one of each scale, and which circuits may compute them.

    Attributes:
        traces: scale -> its trace, ascending.
        arity: slots of every operator, in mode "typed" at most.
        mode: one of circuits.modes.Mode.
    """

    task: Task
    traces: Mapping[int, Trace]
    arity: int
    mode: str

    @classmethod
    def of(cls, task: Task, traces: Sequence[Trace], arity: int, mode: str) -> Self:
        """The problem of these traces, whose scales ascend."""
        return cls(task=task, traces={one.scale: one for one in traces}, arity=arity, mode=mode)

    @property
    def symbols(self) -> int:
        """Size of the alphabet."""
        return len(self.task.alphabet)

    @property
    def exact(self) -> bool:
        """Whether a wiring has as many slots as its step needs, instead of `arity`."""
        return self.mode == "typed"

    def places(self, scales: Iterable[int]) -> Iterator[Place]:
        """The steps of some scales, in order."""
        return ((scale, position) for scale in scales for position in self.traces[scale].steps)

    def asked(self, place: Place, wiring: tuple[int, ...]) -> Asked:
        """The entries that a step asks its operator for, through a wiring that determines it."""
        return asked_of(self.traces[place[0]], place[1], wiring)

    def alternatives(self, place: Place, clock: Clock) -> Alternatives:
        """Every wiring that the mode allows a step. Raises OutOfTime: the clock's limit has passed."""
        return all_wirings(self.task, self.traces[place[0]], place[1], self.arity, self.mode, clock)
