"""Local circuits of transducers: finitely many rules for all scales, and the proof that such a circuit is right ([F]).

A circuit is *local*, as each step reads some of the last inputs and outputs, and *periodic*, as its rules repeat,
except at the first steps and at the step '$'. Finitely many configurations can occur at a step: the state of the
machine, the last inputs and outputs, the rule, and x_t or the end. All that some prompt of some scale reaches are
enumerated from the machine's table alone; a circuit that is right at each of them is right at all scales, and one
that is wrong at some is wrong at some scale.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lengthgen.circuits.circuit import CircuitError
from lengthgen.circuits.tasks.transducer import END, EQUALS, State, Transducer

MAX_CONFIGURATIONS = 200_000
"""Largest number of configurations of a proof."""

Key = tuple[str, ...]
"""Tokens of the arguments of a step, slot 1 first."""

LEAST_BACK = {"x": 0, "y": 1, EQUALS: 0}
"""Kind of a place -> smallest number of steps back."""


class Place(NamedTuple):
    """Place of an argument of step t: x_(t-back), y_(t-back) or '='. Where no such input or output exists it is '='.

    Attributes:
        kind: one of LEAST_BACK.
        back: number of steps, at least that of LEAST_BACK; it does not matter for kind "=".
    """

    kind: str
    back: int

    def __str__(self) -> str:
        if self.kind == EQUALS:
            return "'='"
        return f"{self.kind}_(t-{self.back})" if self.back else f"{self.kind}_t"


class Rule(NamedTuple):
    """Rule of a step: the places of its arguments in slot order, and the index of its operator."""

    places: tuple[Place, ...]
    operator: int


class Shape(NamedTuple):
    """Numbers of rules for the first steps, and for the steps after them, where they repeat. '$' has the last rule."""

    first: int
    period: int

    @property
    def end(self) -> int:
        """Index of the rule of '$'."""
        return self.first + self.period

    def following(self, rule: int) -> int:
        """Return the index of the rule of the next step, unless that is '$', from the index of a step's rule."""
        return rule + 1 if rule + 1 < self.end else self.first

    def text(self, rule: int) -> str:
        """Return the steps of a rule in words."""
        if rule == self.end:
            return f"step t = n+1, '{END}'"
        if rule < self.first:
            return f"step t = {rule + 1}"
        turn = f" = {(rule + 1) % self.period} mod {self.period}" if self.period > 1 else ""
        return f"every step t{turn}{f' above {self.first}' if self.first else ''}"


@dataclass(frozen=True, kw_only=True)
class LocalCircuit:
    """Circuit of a transducer's task at all scales, given by finitely many rules.

    Attributes:
        arity: number of argument slots of every operator.
        first: rules of steps 1, 2, ...
        repeated: rules of the steps after these, in turn; at least one.
        end: rule of the step '$'.
        operators: tables, each from the tokens of the arguments to the token.

    Raises:
        CircuitError: a rule has a place or an operator that does not exist, or another number of places.
    """

    arity: int
    first: tuple[Rule, ...]
    repeated: tuple[Rule, ...]
    end: Rule
    operators: tuple[Mapping[Key, str], ...]

    def __post_init__(self) -> None:
        if not self.repeated:
            raise CircuitError("a local circuit needs at least one rule that repeats")
        for rule in self.rules:
            valid = all(place.kind in LEAST_BACK and place.back >= LEAST_BACK[place.kind] for place in rule.places)
            if not valid or len(rule.places) != self.arity or not 0 <= rule.operator < len(self.operators):
                raise CircuitError(f"a local circuit of arity {self.arity} cannot have the rule {rule}")

    @property
    def shape(self) -> Shape:
        """Numbers of rules."""
        return Shape(len(self.first), len(self.repeated))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules: those of first steps, those that repeat, and that of '$'."""
        return (*self.first, *self.repeated, self.end)

    def text(self) -> str:
        """Return the rules in words, separated by "; ". In the rule of '$', '=' stands for x_t, which is not there."""
        lines = []
        for index, rule in enumerate(self.rules):
            places = ", ".join(map(str, rule.places))
            if index == self.shape.end:
                places = places.replace("x_t", f"'{EQUALS}'")
            lines.append(f"{self.shape.text(index)}: operator {rule.operator + 1} of {places}")
        return "; ".join(lines)


class Configuration(NamedTuple):
    """All that a rule may depend on at step t, on some prompt of some scale.

    Attributes:
        rule: index of the rule of step t.
        state: state of the machine before x_t.
        inputs: last inputs before x_t; fewer at the first steps.
        outputs: last outputs before y_t; fewer at the first steps.
        coming: x_t; None at the step '$'.
    """

    rule: int
    state: State
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    coming: str | None

    def token(self, place: Place) -> str:
        """Return the token at one place."""
        if place.kind == "x" and place.back == 0:
            return EQUALS if self.coming is None else self.coming
        tokens = self.inputs if place.kind == "x" else self.outputs
        return tokens[-place.back] if 1 <= place.back <= len(tokens) and place.kind != EQUALS else EQUALS

    def output(self, machine: Transducer) -> str:
        """Return the token of the step: the output of the machine, '$' after the last."""
        return END if self.coming is None else machine.step[self.state, self.coming][1]

    def __str__(self) -> str:
        inputs = self.inputs if self.coming is None else (*self.inputs, self.coming)
        return f"state {self.state}, inputs [{' '.join(inputs)}], outputs [{' '.join(self.outputs)}]"


class TooManyError(Exception):
    """Error of a proof with more than MAX_CONFIGURATIONS configurations."""


class AllScalesError(ValueError):
    """Error of a circuit that is not right at all scales; the message names the configuration where it fails."""


def check_proof(machine: Transducer, circuit: LocalCircuit) -> int:
    """Check that a circuit gives the machine's outputs and '$' at all scales; return the number of configurations.

    By induction over the steps: all earlier tokens are right, so they are those of some configuration.

    Raises:
        AllScalesError: some token is wrong or not defined; the message names the first such configuration.
        TooManyError: there are more than MAX_CONFIGURATIONS.
    """
    rules, shape = circuit.rules, circuit.shape
    count, back = 0, dict(LEAST_BACK)  # the largest numbers of steps back from which inputs and outputs are read
    for place in itertools.chain(*(rule.places for rule in rules)):
        back[place.kind] = max(back[place.kind], place.back)
    for configuration in configurations(machine, shape, (back["x"], back["y"])):
        count += 1
        rule = rules[configuration.rule]
        key = tuple(map(configuration.token, rule.places))
        token, right = circuit.operators[rule.operator].get(key), configuration.output(machine)
        if token != right:
            raise AllScalesError(
                f"at {shape.text(configuration.rule)} operator {rule.operator + 1} gives {token or 'nothing'} for "
                f"{' '.join(key)}, not {right}: {configuration}"
            )
    return count


def configurations(machine: Transducer, shape: Shape, window: tuple[int, int]) -> Iterator[Configuration]:
    """Yield every configuration that occurs at some step of some prompt of some scale, earlier steps first.

    `window` has the numbers of earlier inputs and outputs in a configuration.

    Raise TooManyError if there are more than MAX_CONFIGURATIONS.
    """
    queue = [Configuration(0, machine.start, (), (), symbol) for symbol in machine.inputs]
    reached = set(queue)
    for configuration in queue:  # which grows
        if len(reached) > MAX_CONFIGURATIONS:
            raise TooManyError(f"more than {MAX_CONFIGURATIONS:,} configurations can be reached")
        yield configuration
        rule, state, inputs, outputs, coming = configuration
        if coming is None:
            continue
        state, output = machine.step[state, coming]
        inputs = (*inputs, coming)[max(0, len(inputs) + 1 - window[0]) :]
        outputs = (*outputs, output)[max(0, len(outputs) + 1 - window[1]) :]
        successors = [Configuration(shape.following(rule), state, inputs, outputs, symbol) for symbol in machine.inputs]
        successors.append(Configuration(shape.end, state, inputs, outputs, None))
        for successor in successors:
            if successor not in reached:
                reached.add(successor)
                queue.append(successor)
