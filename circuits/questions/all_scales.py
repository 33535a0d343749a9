"""SRC at all scales of a finite-state transducer, proved by induction over the configurations of its machine.

SRC does not decrease in the scale, so its value r at one scale bounds it from below at all later scales. A circuit of r
operators that is right at all scales bounds it from above, and both together are its value ([F]). Such a circuit is
given by finitely many rules: it is *local*, as each step reads some of the last inputs and outputs, and *periodic*, as
the rules repeat, except at the first steps and at the step '$'. Finitely many configurations can occur at a step: the
state of the machine, the last inputs and outputs, the rule, and x_t or the end. All that can be reached from the start,
at any scale, are enumerated from the machine's table alone; a circuit that is right at each of them is right at all
scales, and one that is wrong at some is wrong at some scale.

No output depends on later inputs. So a slot that reads one can read x_t as well, and rules for the last outputs alone
would save no operator.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from circuits.circuit import Circuit, CircuitError, Wiring
from circuits.clock import Clock, OutOfTime
from circuits.src import MAX_ARITY, minimal_arity, src, traces_up_to
from circuits.task import UNDEFINED, Task, TaskError
from circuits.transducer import END, EQUALS, State, Transducer

MAX_CONFIGURATIONS = 200_000
"""Largest number of configurations of a proof."""
WINDOW = 3
"""Largest number of steps back from which a circuit that is searched for reads; fewer at large arity."""
MAX_WIRINGS = 10_000
"""Largest number of wirings of a rule that are searched, unless the window is 1."""
MAX_FIRST = 2
"""Largest number of first steps with rules of their own in a circuit that is searched for."""
MAX_PERIOD = 6
"""Largest period of a circuit that is searched for; it is not above the number of states either."""
MAX_TRIED = 20_000
"""Largest number of choices of a wiring and an operator that are tried for the rules of one shape."""

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

    def position(self, scale: int, step: int) -> int:
        """Return the position of the argument, 1-based, for one step (from 1) of a sequence of one scale."""
        number = step - self.back
        if self.kind == EQUALS or number < 1:
            return scale + 1
        return number if self.kind == "x" else scale + 1 + number


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

    def circuit(self, task: Task, scales: Iterable[int]) -> Circuit:
        """Return the circuit of some scales, as arrays.

        Args:
            task: task of the machine (`Transducer.task`).
            scales: scales of the circuit, each at least 1.

        Raises:
            KeyError: an operator has a token that is not in the alphabet of the task.
        """
        number = {symbol: token for token, symbol in enumerate(task.alphabet)}
        tables = []
        for operator in self.operators:
            table = np.full((len(number),) * self.arity, UNDEFINED, dtype=np.uint8)
            for key, token in operator.items():
                table[tuple(number[symbol] for symbol in key)] = number[token]
            tables.append(table.reshape(-1))
        return Circuit(
            task=task,
            arity=self.arity,
            wirings={scale: tuple(self._wirings(scale)) for scale in scales},
            operators=tuple(tables),
        )

    def _wirings(self, scale: int) -> Iterator[Wiring]:
        """Yield the wirings of the steps of one scale."""
        index = 0
        for step in range(1, scale + 2):
            rule = self.rules[index] if step <= scale else self.end
            yield Wiring(
                position=scale + 1 + step,
                arguments=tuple(place.position(scale, step) for place in rule.places),
                operator=rule.operator,
            )
            index = self.shape.following(index)


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


@dataclass(frozen=True, kw_only=True)
class AllScales:
    """SRC of a transducer's task at all scales.

    Attributes:
        arity: number of slots of every operator.
        values: scale -> SRC at the searched scales; math.inf if infeasible, None if it was not decided.
        constant_from: scale from which on SRC is `value` at all scales; None if that is not proved.
        value: SRC at all scales from `constant_from` on; math.inf if infeasible, None if it is not proved.
        upper: upper bound of SRC at all scales; math.inf if none is proved.
        circuit: circuit of `upper` operators that is right at all scales; None if there is none.
        why: reason for the value, or for its absence, as a sentence.
    """

    arity: int
    values: Mapping[int, float | None]
    constant_from: int | None
    value: float | None
    upper: float
    circuit: LocalCircuit | None
    why: str


def src_for_all_scales(
    machine: Transducer, arity: int | None = None, *, searched: int = 6, clock: Clock | None = None
) -> AllScales:
    """Return SRC of a machine's task, proved for all scales if a local circuit attains the value at the last one.

    The lower bound is that of `circuits.src` at scale `searched`, or at the last scale before the clock's limit. The
    upper bound is a local circuit that `check_proof` accepts. Its rules are searched for apart from the circuit that
    `circuits.src` gives, because minimum circuits are not unique, and that one need not be local.

    Args:
        machine: the machine.
        arity: number of slots of every operator; by default the fewest with which the searched scales are feasible.
        searched: last scale at which SRC is computed, at least 1.
        clock: time limit; None for no limit.

    Raises:
        ValueError: the arity is not positive.
        TaskError: the scale is below 1, no arity is given and more than circuits.src.MAX_ARITY slots are needed, or
            operators of this arity have too many entries.
        Interrupted: Ctrl-C in the search (`circuits.src`).
    """
    task, clock = machine.task(), clock or Clock()
    traces = traces_up_to(task, searched, clock)
    if arity is None:
        arity = minimal_arity(traces)
    if arity is None:
        raise TaskError(f"machine '{machine.name}': scale {len(traces)} needs an arity above {MAX_ARITY}; name one")
    result = src(task, traces, arity, clock=clock)
    last = len(traces)
    lower = result.bounds[last][0]
    values = {scale: value if scale <= result.exhaustive_to else None for scale, value in result.values.items()}
    circuit, upper = None, math.inf
    if math.isinf(lower):
        scale, position = result.hardest[-1]
        why = f"no {arity} earlier positions determine the token at position {position} of scale {scale}"
    else:
        try:
            with clock.phase("proof"):
                proposed = _fewest(machine, arity, int(lower), clock)
                check_proof(machine, proposed)
            circuit, upper = proposed, len(proposed.operators)
            assert lower <= upper, f"'{machine.name}': a circuit has fewer operators than the lower bound {lower}"
            why = f"SRC is at least {lower:.0f} at scale {last}, and a circuit is right at all scales: {circuit.text()}"
        except _NoWiringError as refusal:
            why = f"the search finds no local circuit: {refusal}"
        except (TooManyError, OutOfTime) as limit:
            why = f"the proof ended early: {limit}"
    if lower < upper < math.inf:
        why = f"SRC is at least {lower:.0f} and at most {upper:.0f} from scale {last} on: search larger scales"
    reached = [scale for scale, (low, _) in result.bounds.items() if low == upper]
    return AllScales(
        arity=arity,
        values={scale: upper if scale in reached else value for scale, value in values.items()},
        constant_from=reached[0] if reached else None,
        value=upper if reached else None,
        upper=upper,
        circuit=circuit,
        why=why,
    )


def check_proof(machine: Transducer, circuit: LocalCircuit) -> int:
    """Check that a circuit gives the machine's outputs and '$' at all scales; return the number of configurations.

    By induction over the steps: all earlier tokens are right, so they are those of some configuration.

    Raises:
        AllScalesError: some token is wrong or not defined; the message names the first such configuration.
        TooManyError: there are more than MAX_CONFIGURATIONS.
    """
    rules, shape = circuit.rules, circuit.shape
    count = 0
    for configuration in _configurations(machine, shape, _window([place for rule in rules for place in rule.places])):
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


def _window(places: Iterable[Place]) -> tuple[int, int]:
    """Return the largest number of steps back from which inputs and outputs are read."""
    back = dict(LEAST_BACK)
    for place in places:
        back[place.kind] = max(back[place.kind], place.back)
    return back["x"], back["y"]


def _configurations(machine: Transducer, shape: Shape, window: tuple[int, int]) -> Iterator[Configuration]:
    """Yield every configuration that occurs at some step of some prompt of some scale, earlier steps first.

    Args:
        machine: the machine.
        shape: numbers of rules.
        window: numbers of earlier inputs and outputs in a configuration.

    Raises:
        TooManyError: there are more than MAX_CONFIGURATIONS.
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
        inputs, outputs = _last((*inputs, coming), window[0]), _last((*outputs, output), window[1])
        successors = [Configuration(shape.following(rule), state, inputs, outputs, symbol) for symbol in machine.inputs]
        successors.append(Configuration(shape.end, state, inputs, outputs, None))
        for successor in successors:
            if successor not in reached:
                reached.add(successor)
                queue.append(successor)


def _last(tokens: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Return the last tokens, at most `count`."""
    return tokens[max(0, len(tokens) - count) :]


@dataclass(frozen=True)
class _Choice:
    """Wiring of a rule, and its table over all configurations of the rule."""

    places: tuple[Place, ...]
    table: Mapping[Key, str]


class _NoWiringError(Exception):
    """Error of a shape of which some rule has no wiring; the message names two configurations that show it."""


def _fewest(machine: Transducer, arity: int, least: int, clock: Clock) -> LocalCircuit:
    """Return a local circuit that is right at all scales, with as few operators as the search finds.

    Small windows come first, then small shapes.

    Args:
        machine: the machine.
        arity: number of slots of every operator.
        least: lower bound of the number of operators.
        clock: clock of the calling computation.

    Raises:
        _NoWiringError: every shape has a rule without a wiring.
        TooManyError: there are too many configurations.
        OutOfTime: the clock's limit has passed.
    """
    windows = [back for back in range(1, WINDOW + 1) if back == 1 or (2 * back + 2) ** arity <= MAX_WIRINGS]
    periods = range(1, min(MAX_PERIOD, len(machine.states)) + 1)
    counts = itertools.product(range(MAX_FIRST + 1), periods)
    shapes = sorted(itertools.starmap(Shape, counts), key=lambda shape: (sum(shape), shape.period))
    feasible: list[tuple[Shape, list[list[_Choice]]]] = []
    refusal: Exception | None = None
    for window, shape in itertools.product(windows, shapes):
        try:
            choices = _choices(machine, shape, arity, window, clock)
        except _NoWiringError as error:
            refusal = error
            continue
        except TooManyError as error:
            refusal = error
            break  # later ones hardly have fewer
        circuit = _assigned(choices, shape, arity, least, clock)
        if circuit is not None:
            return circuit
        feasible.append((shape, choices))
    if not feasible:
        assert refusal is not None
        raise refusal
    for most in range(least + 1, max(shape.end for shape, _ in feasible) + 2):
        for shape, choices in feasible:
            circuit = _assigned(choices, shape, arity, most, clock)
            if circuit is not None:
                return circuit
    raise AssertionError("an operator for each rule is enough")


def _choices(machine: Transducer, shape: Shape, arity: int, window: int, clock: Clock) -> list[list[_Choice]]:
    """Return the wirings of each rule of a shape with distinct tables, wirings of near places first.

    Raises:
        _NoWiringError: some rule has none.
        TooManyError: there are too many configurations.
        OutOfTime: the clock's limit has passed.
    """
    places = [Place("x", 0), Place("y", 1), Place(EQUALS, 0)]
    for back in range(1, window + 1):
        places += [Place("x", back), Place("y", back + 1)][: 1 + (back < window)]
    views: list[dict[Key, Configuration]] = [{} for _ in range(shape.end + 1)]
    widest = [*itertools.combinations(range(len(places)), min(arity, len(places)))]
    # Rule -> the widest sets of places that determine its token so far, each with the first view of each key.
    determining: list[dict[tuple[int, ...], dict[Key, Key]]] = [{each: {} for each in widest} for _ in views]
    for configuration in _configurations(machine, shape, (window, window)):
        rule = configuration.rule
        view = (*map(configuration.token, places), configuration.output(machine))
        clock.check(len(determining[rule]))
        if view in views[rule]:
            continue
        views[rule][view] = configuration
        for subset, first in [*determining[rule].items()]:
            earlier = first.setdefault(tuple([view[slot] for slot in subset]), view)
            if earlier[-1] == view[-1]:
                continue
            del determining[rule][subset]
            if not determining[rule]:
                raise _NoWiringError(
                    f"at {shape.text(rule)} no {arity} places up to {window} steps back determine the token: through "
                    f"{', '.join(str(places[slot]) for slot in subset)} it is {earlier[-1]} in "
                    f"{views[rule][earlier]}, and {view[-1]} in {configuration}"
                )
    slots = sorted(itertools.product(range(len(places)), repeat=arity), key=lambda wiring: (sum(wiring), wiring))
    choices = []
    for rule_views, determining_sets in zip(views, determining, strict=True):
        by_table: dict[frozenset[tuple[Key, str]], _Choice] = {}
        for wiring in slots:
            if not any(map(set(wiring).issubset, determining_sets)):
                continue
            clock.check(len(rule_views))
            table = _table(rule_views, wiring)
            if table is not None:
                choice = _Choice(tuple(places[slot] for slot in wiring), table)
                by_table.setdefault(frozenset(table.items()), choice)
        choices.append([*by_table.values()])
    return choices


def _table(views: Iterable[Key], slots: Sequence[int]) -> dict[Key, str] | None:
    """Return the map from the tokens at some slots of each view to its last token; None if it is no function."""
    table: dict[Key, str] = {}
    for view in views:
        if table.setdefault(tuple([view[slot] for slot in slots]), view[-1]) != view[-1]:
            return None
    return table


def _assigned(choices: list[list[_Choice]], shape: Shape, arity: int, most: int, clock: Clock) -> LocalCircuit | None:
    """Return a circuit of at most `most` operators, with one of its choices for each rule.

    None if there is none, or if none is among MAX_TRIED choices.

    Raises:
        OutOfTime: the clock's limit has passed.
    """
    order = sorted(range(len(choices)), key=lambda rule: len(choices[rule]))
    tried = 0

    def completed(operators: list[dict[Key, str]], rules: dict[int, Rule]) -> LocalCircuit | None:
        nonlocal tried
        if len(rules) == len(order):
            return LocalCircuit(
                arity=arity,
                first=tuple(rules[rule] for rule in range(shape.first)),
                repeated=tuple(rules[rule] for rule in range(shape.first, shape.end)),
                end=rules[shape.end],
                operators=tuple(operators),
            )
        rule = order[len(rules)]
        for choice in choices[rule]:
            for index, operator in enumerate([*operators, {}][:most]):
                tried += 1
                if tried > MAX_TRIED:
                    return None
                clock.check(len(choice.table))
                if all(operator.get(key, token) == token for key, token in choice.table.items()):
                    merged = [*operators[:index], {**operator, **choice.table}, *operators[index + 1 :]]
                    circuit = completed(merged, {**rules, rule: Rule(choice.places, index)})
                    if circuit is not None:
                        return circuit
        return None

    return completed([], {})
