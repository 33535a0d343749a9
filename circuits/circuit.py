"""Circuits of sequential tasks: the argument slots and the unit operator of every step.

A circuit of arity k gives each step of each scale an ordered tuple of k earlier positions and a unit operator, a
partial map from k tokens to one, such that every step's token is right on every input ([F], definitions of arXiv
2510.04130, Def. 4). Circuits are stored as arrays and can be exported as networkx graphs.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lengthgen.circuits.tables import clashing, keys_of
from lengthgen.circuits.task import UNDEFINED, Task, Tokens
from lengthgen.circuits.trace import Trace
from lengthgen.infrastructure.brief import Brief

if TYPE_CHECKING:
    import networkx as nx

Role = frozenset[tuple[int, int]]
"""Role of a key for a query: (operator, slot) pairs that it fills there, slots counted from 1."""


class CircuitError(ValueError):
    """Error of a circuit that does not compute its task; the message says where."""


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """Wiring of one step: its 1-based position, its arguments in slot order, and the index of its operator."""

    position: int
    arguments: tuple[int, ...]
    operator: int


@dataclass(frozen=True, kw_only=True, repr=False)
class Circuit(Brief):
    """Circuit of one task at some scales.

    Attributes:
        task: the task whose tokens the circuit computes.
        arity: largest number of argument slots of an operator; operators have fewer only in mode "typed".
        wirings: scale -> the steps in order.
        operators: one table each, uint8 [symbols ** slots]. Entry `key` is the token for the argument tokens that are
            the digits of the key, slot 1 first; UNDEFINED if no step uses the entry.
    """

    task: Task
    arity: int
    wirings: Mapping[int, tuple[Wiring, ...]]
    operators: tuple[NDArray[np.uint8], ...]

    def evaluate(self, trace: Trace) -> Tokens:
        """Return the circuit's tokens at the steps of a trace, each computed from the trace's earlier tokens.

        Returns:
            uint8 [steps, inputs]; UNDEFINED where an operator has no value, and where an input has ended before.

        Raises:
            CircuitError: the steps are not those of the trace, a step reads a position that is not earlier, or the
                trace holds a token outside the alphabet.
        """
        wirings = self._wirings_of(trace.scale, trace.steps)
        symbols, steps = len(self.task.alphabet), trace.tokens[[wiring.position - 1 for wiring in wirings]]
        tokens = trace.tokens if self.task.end is None else trace.tokens[trace.tokens != UNDEFINED]
        if (largest := tokens.max(initial=0)) >= symbols:  # such a token would be read as another key
            raise CircuitError(
                f"the trace of scale {trace.scale} holds token {largest}: '{self.task.name}' has the tokens "
                f"0..{symbols - 1}"
            )
        computed = np.stack([self._computed(wiring, trace.tokens) for wiring in wirings])
        computed[steps == UNDEFINED] = UNDEFINED
        return computed

    def check(self, traces: Iterable[Trace]) -> int:
        """Check every step on every input of the traces; return the number of inputs.

        All earlier tokens are given, so one pass decides: the first wrong step is also wrong when the circuit runs
        freely.

        Raise CircuitError if some step is wrong or cannot be computed; the message names the first.
        """
        inputs = 0
        for trace in traces:
            wrong = self.evaluate(trace) != trace.tokens[[position - 1 for position in trace.steps]]
            if wrong.any():
                step = int(np.argmax(wrong.any(axis=1)))
                raise CircuitError(
                    f"the circuit of '{self.task.name}' is wrong at scale {trace.scale}, position {trace.steps[step]}, "
                    f"prompt {self.task.text(trace.prompts[np.argmax(wrong[step])])}"
                )
            inputs += trace.tokens.shape[1]
        return inputs

    def run(self, prompts: Tokens, scale: int) -> Tokens:
        """Run the circuit freely: compute every token after the prompt from the tokens before it.

        Args:
            prompts: token numbers, uint8 [count, prompt tokens].
            scale: scale of all prompts.

        Returns:
            Prompt and steps, uint8 [count, length]; UNDEFINED at steps that read an undefined token or have no value,
            and after the task's end.

        Raises:
            CircuitError: the circuit does not have the steps of this scale, a step reads a position that is not
                earlier, or a prompt is not a prompt of the task at this scale.
            TaskError: the task has no such scale.
        """
        choices = self.task.choices(scale)
        if prompts.ndim != 2 or prompts.shape[1] != len(choices):
            raise CircuitError(
                f"prompts of '{self.task.name}' at scale {scale} are of shape [count, {len(choices)}], "
                f"not {list(prompts.shape)}"
            )
        steps = itertools.islice(self.task.step_positions(scale), len(self.wirings.get(scale, ())))
        wirings = self._wirings_of(scale, tuple(steps))
        given = [position - 1 for position in self.task.given(scale)]
        end = -1 if self.task.end is None else self.task.alphabet.index(self.task.end)
        tokens = np.empty((len(choices) + len(wirings), len(prompts)), dtype=np.uint8)
        tokens[given] = prompts.T
        self._require_prompts(tokens[given], choices, scale)
        ended = np.zeros(len(prompts), dtype=np.bool_)
        for wiring in wirings:
            row = tokens[wiring.position - 1]
            row[:] = self._computed(wiring, tokens)
            row[ended] = UNDEFINED
            ended |= row == end
        return tokens.T

    def essential_slots(self, operator: int) -> tuple[int, ...]:
        """Return the fewest slots (0-based) whose tokens already decide an operator's value.

        Among sets of equal size it is the first in lexicographic order.
        """
        return self._essential[operator]

    @cached_property
    def _essential(self) -> tuple[tuple[int, ...], ...]:
        return tuple(_essential_slots(table, len(self.task.alphabet)) for table in self.operators)

    def roles(self, scale: int) -> Mapping[tuple[int, int], Role]:
        """Return (key, query) -> role, for every relevant pair of one scale; positions are 1-based.

        The step at position p is computed at query p - 1. Slots on which the operator does not depend are left out:
        they are filled only because a slot must hold something.
        """
        if scale not in self._roles:
            roles: dict[tuple[int, int], Role] = {}
            for wiring in self.wirings[scale]:
                for slot in self.essential_slots(wiring.operator):
                    pair = wiring.arguments[slot], wiring.position - 1
                    roles[pair] = roles.get(pair, frozenset()) | {(wiring.operator, slot + 1)}
            self._roles[scale] = roles
        return self._roles[scale]

    @cached_property
    def _roles(self) -> dict[int, dict[tuple[int, int], Role]]:
        return {}

    def graph(self, scale: int, prompt: Sequence[str] | None = None) -> "nx.MultiDiGraph":
        """Return the circuit of one scale as a graph.

        Nodes are the positions 1..length. Attribute `kind` is "prompt" or "step"; steps also have `operator`; if a
        prompt is given, every node has `token`, the symbol there when the circuit runs on it. An edge goes from an
        argument to its step and has attribute `slot` (1-based). It is a multigraph, since one position may fill two
        slots. Graph attributes: `task`, `scale`, `arity`.

        Raises:
            CircuitError: with a prompt, as for `run`, or the circuit gives no token at some step.
            TaskError: with a prompt, as for `run`.
        """
        import networkx as nx  # slow to import, and most commands need none of it

        graph = nx.MultiDiGraph(task=self.task.name, scale=scale, arity=self.arity)
        wirings = self.wirings[scale]
        graph.add_nodes_from(range(1, max(wiring.position for wiring in wirings) + 1), kind="prompt")
        for wiring in wirings:
            graph.add_node(wiring.position, kind="step", operator=wiring.operator)
            for slot, argument in enumerate(wiring.arguments, start=1):
                graph.add_edge(argument, wiring.position, slot=slot)
        if prompt is not None:
            tokens = self._symbols(scale, prompt)
            graph.remove_nodes_from({*graph} - {*tokens})  # steps after the end
            nx.set_node_attributes(graph, tokens, "token")
        return graph

    def _symbols(self, scale: int, prompt: Sequence[str]) -> dict[int, str]:
        """Return position -> symbol for the circuit run on one prompt."""
        alphabet = self.task.alphabet
        if unknown := [symbol for symbol in prompt if symbol not in alphabet]:
            raise CircuitError(f"symbol {unknown[0]!r} is not in the alphabet of '{self.task.name}': {alphabet}")
        numbers = np.array([[alphabet.index(symbol) for symbol in prompt]], dtype=np.uint8)
        tokens = self.run(numbers, scale)[0].tolist()
        if self.task.end is not None and (end := alphabet.index(self.task.end)) in tokens:
            tokens = tokens[: len(tokens) - tokens[::-1].index(end)]
        if UNDEFINED in tokens:
            raise CircuitError(
                f"the circuit of '{self.task.name}' gives no token at scale {scale}, "
                f"position {tokens.index(UNDEFINED) + 1}, prompt {' '.join(prompt)}"
            )
        return {position: alphabet[token] for position, token in enumerate(tokens, start=1)}

    def _wirings_of(self, scale: int, steps: tuple[int, ...]) -> tuple[Wiring, ...]:
        """Return the wirings of one scale.

        Raise CircuitError unless they are the steps in order and read earlier positions only.
        """
        wirings = self.wirings.get(scale, ())
        if not wirings or tuple(wiring.position for wiring in wirings) != steps:
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

    def _computed(self, wiring: Wiring, tokens: Tokens) -> Tokens:
        """Return the tokens of one step, uint8 [inputs], from those of earlier positions, uint8 [positions, inputs]."""
        arguments = tokens[[argument - 1 for argument in wiring.arguments]]
        values = self.operators[wiring.operator].take(keys_of(arguments, len(self.task.alphabet)), mode="clip")
        values[(arguments == UNDEFINED).any(axis=0)] = UNDEFINED
        return values

    def _require_prompts(self, tokens: Tokens, choices: Sequence[Sequence[int]], scale: int) -> None:
        """Raise CircuitError unless tokens, uint8 [prompt tokens, inputs], are prompts of the task at a scale."""
        for position, (row, allowed) in enumerate(zip(tokens, choices, strict=True), start=1):
            mask = np.zeros(256, dtype=bool)
            mask[list(allowed)] = True
            right = np.take(mask, row)
            if not right.all():
                wrong = int(row[np.argmin(right)])
                names = self.task.alphabet
                symbol = repr(names[wrong]) if wrong < len(names) else f"token {wrong}"
                raise CircuitError(
                    f"'{self.task.name}' does not allow {symbol} at position {position} of a prompt of scale {scale}: "
                    f"{self.task.text(allowed)}"
                )

    def _brief(self) -> str:
        scale = max(self.wirings, default=0)
        operators = f"{len(self.operators)} operator{'' if len(self.operators) == 1 else 's'}"
        return f"{self.task.name}: {operators} of arity {self.arity} up to scale {scale}"


def _essential_slots(table: NDArray[np.uint8], symbols: int) -> tuple[int, ...]:
    slots = next(slots for slots in itertools.count() if symbols**slots >= len(table))
    keys = np.flatnonzero(table != UNDEFINED)
    digits = (keys // symbols ** np.arange(slots)[::-1, None] % symbols).astype(np.uint8)
    for subset in (subset for size in range(slots) for subset in itertools.combinations(range(slots), size)):
        if not clashing(keys_of(digits[list(subset)], symbols), table[keys], symbols ** len(subset)).size:
            return subset
    return tuple(range(slots))
