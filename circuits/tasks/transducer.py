"""Finite-state transducers: tasks in a form that a program can reason about at all scales at once.

A Mealy machine reads the inputs x1..xn one by one and gives an output at each ([F]). Its task is the sequence
`x1 .. xn = y1 .. yn $`. The function `generate` of any other task can only be tried on prompts. Some named tasks are
given as machines too, for proofs at all scales (`lengthgen.circuits.questions.all_scales`).
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from lengthgen.circuits.answers import LONGEST_SYMBOL, MAX_SYMBOLS
from lengthgen.circuits.task import Task, TaskError
from lengthgen.infrastructure.userfile import require_name, shown

EQUALS = "="
"""Symbol between inputs and outputs."""
END = "$"
"""Symbol after the last output."""
MAX_STATES = 256
"""Largest number of states of a machine."""

State = str | int
"""Name of a state."""


@dataclass(frozen=True, kw_only=True)
class Transducer:
    """Mealy machine: its next state and its output are functions of its state and the input.

    A machine whose outputs depend on the place in the sequence counts the places modulo a period in its states.

    Attributes:
        name: name of the task; up to 100 printable characters.
        inputs: different input symbols, at least one. A symbol has 1 to 50 printable characters.
        start: state before the first input.
        step: (state, input) -> (next state, output), for every state that occurs and every input.

    Raises:
        TaskError: a field is not as described, a transition is missing, a symbol is '=' or '$', or there are more than
            MAX_STATES states or, with both of these, more than lengthgen.circuits.answers.MAX_SYMBOLS symbols.
    """

    name: str
    inputs: tuple[str, ...]
    start: State
    step: Mapping[tuple[State, str], tuple[State, str]]

    def __post_init__(self) -> None:
        require_name(self.name, "name of a machine", TaskError)
        self._need(
            isinstance(self.inputs, tuple | list | str) and self.inputs,
            f"the inputs must be a tuple of symbols, not {shown(self.inputs)}",
        )
        inputs = tuple(self._symbol(symbol, "an input") for symbol in self.inputs)
        self._need(len(set(inputs)) == len(inputs), "the inputs must be different symbols")
        self._need(
            isinstance(self.step, Mapping),
            f"step must map (state, input) to (next state, output), not {shown(self.step)}",
        )
        step: dict[tuple[State, str], tuple[State, str]] = {}
        for source, target in self.step.items():
            state, symbol = self._pair(source, "a key of step", "(state, input)")
            following, output = self._pair(target, "a value of step", "(next state, output)")
            self._need(symbol in inputs, f"step has the input {shown(symbol)}, which is not in {inputs}")
            step[self._state(state), symbol] = self._state(following), self._symbol(output, "an output")
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "step", step)
        states = {state for state, _ in step}
        start = f"step has no transition from the start {shown(self.start)}"
        self._need(self._state(self.start) in states, start)
        for (state, symbol), (following, _) in step.items():
            leads = f"step leads from state {shown(state)} with {shown(symbol)} to state {shown(following)}"
            self._need(following in states, f"{leads}, from which it has no transition")
        for state, symbol in itertools.product(states, inputs):
            self._need(
                (state, symbol) in step, f"step has no transition from state {shown(state)} with {shown(symbol)}"
            )
        for count, limit, what in (
            (len(states), MAX_STATES, "states"),
            (len(self.alphabet), MAX_SYMBOLS, "symbols"),
        ):
            self._need(count <= limit, f"at most {limit} {what}, not {count:,}")

    def _need(self, condition: object, otherwise: str) -> None:
        if not condition:
            raise TaskError(f"machine '{self.name}': {otherwise}")

    def _symbol(self, symbol: Any, what: str) -> str:
        well_formed = isinstance(symbol, str) and 0 < len(symbol) <= LONGEST_SYMBOL and symbol.isprintable()
        form = f"{what} is a text of 1 to {LONGEST_SYMBOL} printable characters, not {shown(symbol)}"
        self._need(well_formed, form)
        text = str.__str__(symbol)
        self._need(text not in {EQUALS, END}, f"'{text}' cannot be {what}, it is a mark of the task")
        return text

    def _state(self, state: Any) -> State:
        self._need(isinstance(state, str | int), f"a state is a text or an integer, not {shown(state)}")
        return state  # type: ignore[no-any-return]

    def _pair(self, value: Any, what: str, form: str) -> tuple[Any, Any]:
        pair = isinstance(value, tuple) and len(value) == 2
        self._need(pair, f"{what} must be a pair {form}, not {shown(value)}")
        return value  # type: ignore[no-any-return]

    @cached_property
    def alphabet(self) -> tuple[str, ...]:
        """Symbols of the task: the inputs, then the other outputs in the order of `step`, then '=' and '$'."""
        return tuple(dict.fromkeys([*self.inputs, *(output for _, output in self.step.values()), EQUALS, END]))

    @cached_property
    def states(self) -> tuple[State, ...]:
        """States in the order of `step`."""
        return tuple(dict.fromkeys(state for state, _ in self.step))

    def outputs(self, inputs: tuple[str, ...]) -> list[str]:
        """Return the output of the machine at each input. Raise KeyError if there is no such input."""
        state, outputs = self.start, []
        for symbol in inputs:
            state, output = self.step[state, symbol]
            outputs.append(output)
        return outputs

    def task(self) -> Task:
        """Return the task `x1 .. xn = y1 .. yn $` of the machine: position t is x_t, and n + 1 + t is y_t."""
        return Task(
            name=self.name,
            alphabet=self.alphabet,
            prompt=lambda n: [*[self.inputs] * n, (EQUALS,)],
            generate=lambda prompt: [*self.outputs(prompt[:-1]), END],
        )


def counter(base: int = 5) -> Transducer:
    """Return the machine of the task `counter`: its state is the sum so far, modulo the base."""
    digits = tuple(map(str, range(base)))
    step: dict[tuple[State, str], tuple[State, str]] = {
        (state, digit): ((state + int(digit)) % base, digits[(state + int(digit)) % base])
        for state in range(base)
        for digit in digits
    }
    return Transducer(name="counter", inputs=digits, start=0, step=step)


def parity() -> Transducer:
    """Return the machine of the task `parity`: its state is the parity so far."""
    return replace(counter(2), name="parity")


def copy(base: int = 2) -> Transducer:
    """Return the machine of the task `copy`, which has one state."""
    digits = tuple(map(str, range(base)))
    return Transducer(name="copy", inputs=digits, start=0, step={(0, digit): (0, digit) for digit in digits})


MACHINES: dict[str, Callable[..., Transducer]] = {"parity": parity, "counter": counter, "copy": copy}
"""Named tasks that are transducers, by name."""
