"""Circuits of sequential tasks: for every step its argument slots and its unit operator.

A circuit of arity k gives each step of each scale an ordered tuple of k earlier positions and a unit operator, a
partial map from k tokens to one, such that every step's token is right on every input ([F], definitions of arXiv
2510.04130, Def. 4). Arrays inside; networkx graphs at the edge.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from circuits.task import Task, Trace
from circuits.wirings import Table, entries, keys_of

UNDEFINED = 255


class CircuitError(ValueError):
    """The circuit does not compute its task; the message says where."""


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """How one step is computed: positions are 1-based, `arguments` in slot order, `operator` an index."""

    position: int
    arguments: tuple[int, ...]
    operator: int


@dataclass(frozen=True, kw_only=True)
class Circuit:
    """A circuit of one task at the scales that it was made for.

    Attributes:
        task: whose tokens it computes.
        arity: slots of every unit operator.
        wirings: scale -> the steps in order.
        operators: one table each, uint8 [symbols ** arity]: the token for a key (argument tokens as digits, slot 1
            first), UNDEFINED where no step asks.
    """

    task: Task
    arity: int
    wirings: Mapping[int, tuple[Wiring, ...]]
    operators: tuple[NDArray[np.uint8], ...]

    def evaluate(self, trace: Trace) -> NDArray[np.uint8]:
        """The tokens that the circuit gives at the steps of a trace: uint8 [steps, inputs].

        Raises:
            CircuitError: its steps are not those of the trace, or one reads what is not there before it.
        """
        if [wiring.position for wiring in self.wirings[trace.scale]] != list(trace.steps):
            raise CircuitError(f"the circuit of '{self.task.name}' does not give the steps of scale {trace.scale}")
        for wiring in self.wirings[trace.scale]:
            if not all(1 <= argument < wiring.position for argument in wiring.arguments):
                raise CircuitError(
                    f"the circuit of '{self.task.name}' reads {wiring.arguments} for position {wiring.position}, "
                    f"scale {trace.scale}: only earlier positions can be read"
                )
        symbols = len(self.task.alphabet)
        tokens = np.empty((len(trace.steps), trace.tokens.shape[1]), dtype=np.uint8)
        for row, wiring in enumerate(self.wirings[trace.scale]):
            arguments = trace.tokens[[position - 1 for position in wiring.arguments]]
            tokens[row] = self.operators[wiring.operator][keys_of(arguments, symbols)]
        return tokens

    def check(self, traces: Iterable[Trace]) -> int:
        """Checks every step on every input of the traces; returns how many inputs that was.

        Since every earlier token is given, one pass decides: the first wrong step is wrong in free running as well.

        Raises:
            CircuitError: some step is wrong or cannot be computed; names the first.
        """
        inputs = 0
        for trace in traces:
            wrong = self.evaluate(trace) != trace.tokens[trace.prompt_length :]
            if wrong.any():
                step, column = np.argwhere(wrong)[0]
                prompt = self.task.text(trace.tokens[: trace.prompt_length, column])
                raise CircuitError(
                    f"the circuit of '{self.task.name}' is wrong at scale {trace.scale}, "
                    f"position {trace.prompt_length + step + 1}, prompt {prompt}"
                )
            inputs += trace.tokens.shape[1]
        return inputs

    def essential_slots(self, operator: int) -> tuple[int, ...]:
        """The fewest slots (0-based, first in order among equals) whose tokens already decide an operator's value."""
        symbols = len(self.task.alphabet)
        defined = np.flatnonzero(self.operators[operator] != UNDEFINED)
        values = self.operators[operator][defined]
        digits = [defined // symbols ** (self.arity - 1 - slot) % symbols for slot in range(self.arity)]
        candidates = (slots for size in range(self.arity) for slots in itertools.combinations(range(self.arity), size))
        for slots in candidates:
            read = np.stack([*(digits[slot] for slot in slots), np.zeros_like(defined)])
            if len(np.unique(read, axis=1).T) == len(np.unique(np.stack([*read, values]), axis=1).T):
                return slots
        return tuple(range(self.arity))

    def graph(self, scale: int) -> nx.MultiDiGraph:
        """The circuit of one scale as a graph.

        Nodes are positions 1..length with attributes `kind` ("prompt" or "step") and, at steps, `operator`; an edge
        runs from an argument to its step with attribute `slot` (1-based). A multigraph: one position may fill two
        slots. Graph attributes: `task`, `scale`, `arity`.
        """
        graph = nx.MultiDiGraph(task=self.task.name, scale=scale, arity=self.arity)
        first = self.wirings[scale][0].position
        graph.add_nodes_from(range(1, first), kind="prompt")
        for wiring in self.wirings[scale]:
            graph.add_node(wiring.position, kind="step", operator=wiring.operator)
            for slot, argument in enumerate(wiring.arguments, start=1):
                graph.add_edge(argument, wiring.position, slot=slot)
        return graph


def as_array(table: Table, symbols: int, arity: int) -> NDArray[np.uint8]:
    """A partial table of the search as an array: uint8 [symbols ** arity], UNDEFINED where it has no value."""
    array = np.full(symbols**arity, UNDEFINED, dtype=np.uint8)
    keys, values = entries(table, symbols)
    array[keys] = values
    return array
