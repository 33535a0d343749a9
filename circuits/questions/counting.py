"""Number of minimum circuits of a task, and what all of them have in common ([F]).

Two circuits are the same if each step has the same wiring and the same steps share an operator; the entries of the
operators follow. The steps are served one after the other. What matters of the steps served so far is the multiset of
the operators' partial tables, so circuits with equal multisets are counted together.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.search.partition import Compatibility, plain
from lengthgen.circuits.search.templates import Place
from lengthgen.circuits.search.wirings import all_wirings
from lengthgen.circuits.src import SRCResult
from lengthgen.circuits.tables import Table
from lengthgen.circuits.task import Task, TaskError

MAX_STATES = 20_000
"""Largest number of multisets of tables after one step."""

_State = tuple[Table, ...]
"""Tables of the operators in use, ascending."""


@dataclass(frozen=True, kw_only=True)
class MinimumCircuits:
    """All circuits with as few operators as possible.

    Attributes:
        operators: number of operators, which is SRC at the last scale.
        count: number of circuits.
        entries: entries that some operator of every minimum circuit has, as (argument symbols, symbol); an entry that
            differs between them, or that some of them lacks, is not among them.
        wirings: step -> the wirings that it has in some minimum circuit.
    """

    operators: int
    count: int
    entries: tuple[tuple[tuple[str, ...], str], ...]
    wirings: Mapping[Place, tuple[tuple[int, ...], ...]]

    @property
    def forced(self) -> dict[Place, tuple[int, ...]]:
        """Steps that have the same wiring in every minimum circuit."""
        return {place: wirings[0] for place, wirings in self.wirings.items() if len(wirings) == 1}


def minimum_circuits(task: Task, result: SRCResult, clock: Clock | None = None) -> MinimumCircuits:
    """Return the number of minimum circuits up to the last scale of a result, and what they have in common.

    Raise TaskError if the mode is typed, several outputs are right, SRC is not known or infinite, a scale was sampled,
    a step has too many wirings, or the tables take more than MAX_STATES multisets.
    """
    clock = clock or Clock()
    if result.mode == "typed" or task.right is not None:
        raise task.error("minimum circuits are counted in the modes free and declared, of tasks with one right output")
    operators = result.values[max(result.bounds)]
    if result.circuit is None or operators is None or not all(trace.exhaustive for trace in result.traces):
        raise task.error("minimum circuits are counted where SRC is finite and exact; take smaller scales")
    places: list[Place] = []
    steps: list[Mapping[Table, list[tuple[int, ...]]]] = []
    for trace in result.traces:
        for position in trace.steps:
            step = all_wirings(task, trace, position, result.arity, result.mode, clock)
            if not step.complete:
                raise task.error(f"position {position} of scale {trace.scale} has too many wirings to count")
            places.append((trace.scale, position))
            steps.append(step.wirings)
    numbers = [{table: len(wirings) for table, wirings in step.items()} for step in steps]
    counting = _Counting(numbers, int(operators), len(task.alphabet), clock, task.name)
    last = counting.layers[-1]
    common = set.intersection(
        *({entry for table in state for entry in plain(table, counting.symbols)} for state in last)
    )

    def arguments(key: int) -> tuple[str, ...]:
        symbols, slots = counting.symbols, reversed(range(result.arity))
        return tuple(task.alphabet[key // symbols**slot % symbols] for slot in slots)

    wirings = {
        place: tuple(sorted(wiring for table in tables for wiring in step[table]))
        for place, step, tables in zip(places, steps, counting.used(), strict=True)
    }
    return MinimumCircuits(
        operators=int(operators),
        count=sum(last.values()),
        entries=tuple((arguments(key), task.alphabet[value]) for key, value in sorted(common)),
        wirings=wirings,
    )


class _Counting:
    """Multisets of operator tables after each step, with the number of ways to reach each."""

    def __init__(
        self, steps: Sequence[Mapping[Table, int]], operators: int, symbols: int, clock: Clock, name: str
    ) -> None:
        self.symbols, self._steps, self._operators, self._clock = symbols, steps, operators, clock
        self._compatible = Compatibility(symbols)
        self.layers: list[Counter[_State]] = [Counter({(): 1})]
        for step in steps:
            layer: Counter[_State] = Counter()
            for state, ways in self.layers[-1].items():
                for table, following in self._following(state, step):
                    layer[following] += ways * step[table]
            if len(layer) > MAX_STATES:
                raise TaskError(f"task '{name}': there are too many kinds of circuits to count; take smaller scales")
            self.layers.append(layer)

    def _following(self, state: _State, step: Mapping[Table, int]) -> Iterator[tuple[Table, _State]]:
        """Yield each way to serve a step: its table, and the multiset after it."""
        for table in step:
            self._clock.check(len(state) + 1)
            for index, operator in enumerate(state):
                if self._compatible(operator, table):
                    yield table, tuple(sorted((*state[:index], operator | table, *state[index + 1 :])))
            if len(state) < self._operators:
                yield table, tuple(sorted((*state, table)))

    def used(self) -> list[set[Table]]:
        """Return, for each step, the tables that it has in some circuit of all steps."""
        leading = set(self.layers[-1])  # multisets from which all later steps can be served
        used: list[set[Table]] = []
        for step, layer in zip(reversed(self._steps), reversed(self.layers[:-1]), strict=True):
            tables: set[Table] = set()
            before: set[_State] = set()
            for state in layer:
                for table, following in self._following(state, step):
                    if following in leading:
                        tables.add(table)
                        before.add(state)
            leading = before
            used.append(tables)
        return used[::-1]
