"""Instance of an analysed task at one scale, as figures show it: token names, circuit, labels and a marked step."""

from dataclasses import dataclass

import networkx as nx
import numpy as np

from lengthgen.circuits.analysis import Analysis
from lengthgen.circuits.encoding_spec import parse_encoding, relation_of
from lengthgen.circuits.induced import induced_complexity
from lengthgen.circuits.task import UNDEFINED, Task
from lengthgen.theory.relation import Labels, Relation


def operand_names(task: Task, scale: int) -> dict[int, tuple[str, int]]:
    """Map from each position of an operand to the letter of the operand and the place in it, from 1.

    The letter is x if there is one operand; else they are a, b, ...
    """
    operands = [segment for segment in task.segments(scale) if segment.operand]
    letters = ["x"] if len(operands) == 1 else [chr(ord("a") + index) for index in range(len(operands))]
    return {
        position: (letter, place)
        for operand, letter in zip(operands, letters, strict=True)
        for place, position in enumerate(range(operand.first, operand.last + 1), start=1)
    }


@dataclass(frozen=True, kw_only=True)
class Instance:
    """Task in one format at one scale; everything is read from the analysis.

    Attributes:
        analysis: analysis of the task, at least up to `scale`.
        scale: scale of the instance.
        step: step whose arguments are marked, counted from 1.

    Raises:
        ValueError: the scale was not analysed, or it has no such step.
    """

    analysis: Analysis
    scale: int
    step: int

    def __post_init__(self) -> None:
        largest = len(self.analysis.traces)
        if not 1 <= self.scale <= largest:
            raise ValueError(f"scale {self.scale} was not analysed: choose one of 1..{largest}")
        steps = len(self.analysis.circuit.wirings[self.scale])
        if not 1 <= self.step <= steps:
            raise ValueError(f"scale {self.scale} has the steps 1..{steps}, not {self.step}")

    @property
    def position(self) -> int:
        """Position of the token of the marked step. The query that computes it is one position earlier."""
        return self.analysis.circuit.wirings[self.scale][self.step - 1].position

    @property
    def queries(self) -> frozenset[int]:
        """Query positions at which a step is computed."""
        return frozenset(wiring.position - 1 for wiring in self.analysis.circuit.wirings[self.scale])

    @property
    def graph(self) -> nx.MultiDiGraph:
        """Graph of the circuit at this scale."""
        return self.analysis.circuit.graph(self.scale)

    def names(self) -> list[str]:
        """Name of the token at each position.

        A token that is the same in every prompt has its symbol as name. Other prompt tokens are x1, x2, ..., or
        a1, a2, ..., b1, b2, ... if there are several operands. Computed tokens are y1, y2, ...
        """
        trace = self.analysis.traces[self.scale - 1]
        occurring = [np.unique(row[row != UNDEFINED]) for row in trace.tokens]
        names = [self.analysis.task.alphabet[tokens[0]] if len(tokens) == 1 else "" for tokens in occurring]
        computed = {position: ("y", step) for step, position in enumerate(trace.steps, start=1)}
        for position, (letter, place) in (operand_names(self.analysis.task, self.scale) | computed).items():
            names[position - 1] = names[position - 1] or f"{letter}{place}"
        return names

    def arguments(self) -> dict[int, tuple[int, ...]]:
        """Map from key position to the slots that it fills at the marked step, if the operator depends on them."""
        roles = self.analysis.circuit.roles(self.scale)
        query = self.position - 1
        return {key: tuple(slot for _, slot in sorted(role)) for (key, at), role in roles.items() if at == query}

    def relevant(self) -> frozenset[tuple[int, int]]:
        """Pairs (key, query) of all arguments of all steps."""
        return frozenset(self.analysis.circuit.roles(self.scale))

    def relation(self, encoding: str) -> Relation:
        """Position relation of an encoding. Raises the errors of `lengthgen.circuits.encoding_spec.relation_of`."""
        return relation_of(parse_encoding(encoding), self.analysis.circuit)

    def labels(self, encoding: str) -> Labels:
        """Label matrix of an encoding: int64 [length, length], rows keys, columns queries. Raises as `relation`."""
        return self.relation(encoding).labels(self.analysis.traces[self.scale - 1].length, self.scale)

    def operators(self, encoding: str) -> float:
        """Number of operators that the encoding induces up to this scale; infinite if it cannot select some step.

        Raises as `relation`.
        """
        traces = self.analysis.traces[: self.scale]
        induced = induced_complexity(self.analysis.circuit, self.relation(encoding), traces)
        return induced.complexity[self.scale]
