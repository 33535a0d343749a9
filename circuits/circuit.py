"""Circuits of sequential tasks: for every step its argument slots and its unit operator.

A circuit of arity k gives each step of each scale an ordered tuple of k earlier positions and a unit operator, a
partial map from k tokens to one, such that every step's token is right on every input ([F], definitions of arXiv
2510.04130, Def. 4). Arrays inside; networkx graphs at the edge.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from circuits.task import Task, Tokens
from circuits.trace import Trace
from circuits.wirings import clashing, keys_of

UNDEFINED = 255

BLOCK = 32_768
"""Inputs that are computed together: their tokens of a few positions stay in the cache."""


class CircuitError(ValueError):
    """The circuit does not compute its task; the message says where."""


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """The wiring of one step: positions are 1-based, `arguments` in slot order, `operator` an index."""

    position: int
    arguments: tuple[int, ...]
    operator: int


@dataclass(frozen=True, kw_only=True)
class Circuit:
    """A circuit of one task at the scales that it was made for.

    Attributes:
        task: whose tokens it computes.
        arity: slots of the unit operators, at most; fewer only where circuits are typed.
        wirings: scale -> the steps in order.
        operators: one table each, uint8 [symbols ** slots]: the token for a key (argument tokens as digits, slot 1
            first), UNDEFINED where no step asks.
    """

    task: Task
    arity: int
    wirings: Mapping[int, tuple[Wiring, ...]]
    operators: tuple[NDArray[np.uint8], ...]

    def evaluate(self, trace: Trace) -> Tokens:
        """The tokens that the circuit gives at the steps of a trace, from the trace's earlier tokens.

        Returns:
            uint8 [steps, inputs]; UNDEFINED where an operator has no value.

        Raises:
            CircuitError: its steps are not those of the trace, one reads what is not there before it, or the trace
                holds a token that is not in the alphabet.
        """
        wirings = self._wirings_of(trace.scale, trace.steps)
        tokens = np.empty((len(trace.steps), trace.tokens.shape[1]), dtype=np.uint8)
        for block, given in self._blocks(trace):
            for row, wiring in enumerate(wirings):
                self._compute(wiring, given, tokens[row, block])
        return tokens

    def check(self, traces: Iterable[Trace]) -> int:
        """Checks every step on every input of the traces; returns how many inputs that was.

        Since every earlier token is given, one pass decides: the first wrong step is wrong in free running as well.

        Raises:
            CircuitError: some step is wrong or cannot be computed; names the first.
        """
        inputs = 0
        for trace in traces:
            wirings = self._wirings_of(trace.scale, trace.steps)
            first: Wiring | None = None
            prompt = ""
            for _, given in self._blocks(trace):
                tokens = np.empty(given.shape[1], dtype=np.uint8)
                for row, wiring in enumerate(wirings):
                    self._compute(wiring, given, tokens)
                    wrong = tokens != given[wiring.position - 1]
                    if wrong.any():
                        first, prompt = wiring, self.task.text(given[: trace.prompt_length, np.argmax(wrong)])
                        wirings = wirings[:row]  # only an earlier step of a later block can still be the first
                        break
            if first is not None:
                raise CircuitError(
                    f"the circuit of '{self.task.name}' is wrong at scale {trace.scale}, "
                    f"position {first.position}, prompt {prompt}"
                )
            inputs += trace.tokens.shape[1]
        return inputs

    def run(self, prompts: Tokens, scale: int) -> Tokens:
        """The circuit on its own: from the prompts alone, every later token computed from those before it.

        Args:
            prompts: uint8 [count, prompt length], token numbers.
            scale: of all of them.

        Returns:
            uint8 [count, length], prompt and steps; UNDEFINED at steps that read what is undefined or have no value.

        Raises:
            CircuitError: the circuit does not give the steps of this scale, one reads what is not there before it, or
                a prompt is none of the task's at this scale.
            TaskError: the task has no such scale.
        """
        choices = self.task.choices(scale)
        if prompts.ndim != 2 or prompts.shape[1] != len(choices):
            raise CircuitError(
                f"prompts of '{self.task.name}' at scale {scale} are of shape [count, {len(choices)}], "
                f"not {list(prompts.shape)}"
            )
        first = len(choices) + 1
        wirings = self._wirings_of(scale, range(first, first + len(self.wirings.get(scale, ()))))
        tokens = np.empty((len(choices) + len(wirings), len(prompts)), dtype=np.uint8)
        for start in range(0, len(prompts), BLOCK):
            block = tokens[:, start : start + BLOCK]
            block[: len(choices)] = prompts[start : start + BLOCK].T
            self._refuse_strangers(block, choices, scale)
            undefined: set[int] = set()
            for wiring in wirings:
                row = block[wiring.position - 1]
                self._compute(wiring, block, row)
                for argument in undefined.intersection(wiring.arguments):
                    row[block[argument - 1] == UNDEFINED] = UNDEFINED
                if row.max() == UNDEFINED:
                    undefined.add(wiring.position)
        return tokens.T

    def essential_slots(self, operator: int) -> tuple[int, ...]:
        """The fewest slots (0-based, first in order among equals) whose tokens already decide an operator's value."""
        return self._essential[operator]

    @cached_property
    def _essential(self) -> tuple[tuple[int, ...], ...]:
        return tuple(_essential_slots(table, len(self.task.alphabet)) for table in self.operators)

    def graph(self, scale: int, prompt: Sequence[str] | None = None) -> nx.MultiDiGraph:
        """The circuit of one scale as a graph.

        Nodes are positions 1..length with attributes `kind` ("prompt" or "step") and, at steps, `operator`; where a
        prompt is given also `token`, the symbol that is there when the circuit runs on it. An edge runs from an
        argument to its step with attribute `slot` (1-based). A multigraph: one position may fill two slots. Graph
        attributes: `task`, `scale`, `arity`.

        Raises:
            CircuitError: with a prompt: as `run`, or the circuit gives no token at some step.
            TaskError: with a prompt: as `run`.
        """
        graph = nx.MultiDiGraph(task=self.task.name, scale=scale, arity=self.arity)
        first = self.wirings[scale][0].position
        graph.add_nodes_from(range(1, first), kind="prompt")
        for wiring in self.wirings[scale]:
            graph.add_node(wiring.position, kind="step", operator=wiring.operator)
            for slot, argument in enumerate(wiring.arguments, start=1):
                graph.add_edge(argument, wiring.position, slot=slot)
        if prompt is not None:
            nx.set_node_attributes(graph, self._symbols(scale, prompt), "token")
        return graph

    def _symbols(self, scale: int, prompt: Sequence[str]) -> dict[int, str]:
        """Position -> symbol when the circuit runs on one prompt."""
        alphabet = self.task.alphabet
        if strangers := [symbol for symbol in prompt if symbol not in alphabet]:
            raise CircuitError(f"symbol {strangers[0]!r} is not in the alphabet of '{self.task.name}': {alphabet}")
        numbers = np.array([[alphabet.index(symbol) for symbol in prompt]], dtype=np.uint8)
        tokens = self.run(numbers, scale)[0].tolist()
        if UNDEFINED in tokens:
            raise CircuitError(
                f"the circuit of '{self.task.name}' gives no token at scale {scale}, "
                f"position {tokens.index(UNDEFINED) + 1}, prompt {' '.join(prompt)}"
            )
        return {position: alphabet[token] for position, token in enumerate(tokens, start=1)}

    def _wirings_of(self, scale: int, steps: range) -> tuple[Wiring, ...]:
        """The wirings of one scale, which must be those of the steps in order and read only what is before."""
        wirings = self.wirings.get(scale, ())
        if not wirings or [wiring.position for wiring in wirings] != list(steps):
            raise CircuitError(f"the circuit of '{self.task.name}' does not give the steps of scale {scale}")
        for wiring in wirings:
            if not all(1 <= argument < wiring.position for argument in wiring.arguments):
                raise CircuitError(
                    f"the circuit of '{self.task.name}' reads {wiring.arguments} for position {wiring.position}, "
                    f"scale {scale}: only earlier positions can be read"
                )
            slots = len(wiring.arguments)
            if slots > self.arity or len(self.operators[wiring.operator]) != len(self.task.alphabet) ** slots:
                raise CircuitError(
                    f"the circuit of '{self.task.name}' reads {wiring.arguments} with a table of "
                    f"{len(self.operators[wiring.operator])} entries for position {wiring.position}, scale {scale}: "
                    f"give at most {self.arity} arguments and a table of their size"
                )
        return wirings

    def _blocks(self, trace: Trace) -> Iterator[tuple[slice, Tokens]]:
        """The inputs of a trace in blocks: which they are, and their tokens, uint8 [length, inputs of the block]."""
        symbols = len(self.task.alphabet)
        for start in range(0, trace.tokens.shape[1], BLOCK):
            block = slice(start, start + BLOCK)
            given = trace.tokens[:, block]
            if given.max() >= symbols:  # such a token would be read as another key
                raise CircuitError(
                    f"the trace of scale {trace.scale} holds token {given.max()}: '{self.task.name}' has the tokens "
                    f"0..{symbols - 1}"
                )
            yield block, given

    def _compute(self, wiring: Wiring, tokens: Tokens, out: Tokens) -> None:
        """One step on the inputs of a block: tokens uint8 [positions, inputs] -> out, uint8 [inputs].

        Where an argument is no token (UNDEFINED), so is the key, and what is written is of no meaning.
        """
        table = self.operators[wiring.operator]
        symbols = len(self.task.alphabet)
        if not wiring.arguments:
            out[:] = table[0]
            return
        keys, *others = (tokens[argument - 1] for argument in wiring.arguments)
        for row in others:
            keys = np.multiply(keys, symbols, dtype=np.min_scalar_type(len(table) - 1))
            keys += row
        np.take(table, keys, mode="clip", out=out)  # the keys are in range, and this mode needs no second look

    def _refuse_strangers(self, tokens: Tokens, choices: Sequence[Sequence[int]], scale: int) -> None:
        """Raises CircuitError unless the rows of the prompt, uint8 [inputs] each, hold only what the task allows."""
        for position, (row, allowed) in enumerate(zip(tokens, choices, strict=False), start=1):
            mask = np.zeros(256, dtype=bool)
            mask[list(allowed)] = True
            right = np.take(mask, row)
            if not right.all():
                wrong = int(row[np.argmin(right)])
                names = self.task.alphabet
                told = repr(names[wrong]) if wrong < len(names) else f"token {wrong}"
                raise CircuitError(
                    f"'{self.task.name}' does not allow {told} at position {position} of a prompt of scale {scale}: "
                    f"{self.task.text(allowed)}"
                )


def _slots(entries: int, symbols: int) -> int:
    """Number of an operator's arguments, from the number of its table's entries."""
    return next(slots for slots in itertools.count() if symbols**slots >= entries)


def _essential_slots(table: NDArray[np.uint8], symbols: int) -> tuple[int, ...]:
    slots = _slots(len(table), symbols)
    defined = np.flatnonzero(table != UNDEFINED)
    values = table[defined]
    digits = np.empty((slots, len(defined)), dtype=np.uint8)
    for slot in range(slots):
        digits[slot] = defined // symbols ** (slots - 1 - slot) % symbols
    for some in (some for size in range(slots) for some in itertools.combinations(range(slots), size)):
        keys = keys_of(digits[list(some)], symbols)
        if not clashing(keys, values, symbols ** len(some)).size:
            return some
    return tuple(range(slots))
