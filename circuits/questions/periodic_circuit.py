"""Periodic circuits of transducers: finitely many rules for all scales, and the proof that they are right ([F]).

A circuit is *periodic* if its rules repeat after the first steps, and a rule reads inputs and outputs that are so many
steps back, or at a fixed place from the start. Finitely many configurations can occur at a step: the state of the
machine, the tokens that later steps can read, the rules, and x_t or the end. All that some prompt of some scale reaches
are enumerated from the machine's table alone; a circuit that is right at each of them is right at all scales, and one
that is wrong at some is wrong at some scale.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

from lengthgen.circuits.circuit import CircuitError
from lengthgen.circuits.questions.views import TooManyError
from lengthgen.circuits.tasks.transducer import END, EQUALS, State, Transducer

MAX_CONFIGURATIONS = 200_000
"""Largest number of configurations of a proof."""

Key = tuple[str, ...]
"""Tokens of the arguments of a step, slot 1 first."""

LEAST_BACK = {"x": 0, "y": 1, EQUALS: 0}
"""Kind of a place -> smallest number of steps back."""


class Place(NamedTuple):
    """Place of an argument of step t: x_(t-back), y_(t-back), '=', or a fixed x_at or y_at.

    Where no such input or output exists it is '='.

    Attributes:
        kind: one of LEAST_BACK.
        back: number of steps, at least that of LEAST_BACK; it does not matter for kind "=", nor with `at`.
        at: number of the step of a fixed place, from 1; None for other places.
    """

    kind: str
    back: int = 0
    at: int | None = None

    def __str__(self) -> str:
        if self.kind == EQUALS:
            return f"'{EQUALS}'"
        if self.at is not None:
            return f"{self.kind}_{self.at}"
        return f"{self.kind}_(t-{self.back})" if self.back else f"{self.kind}_t"


class Rule(NamedTuple):
    """Rule of a step: the places of its arguments in slot order, and the index of its operator."""

    places: tuple[Place, ...]
    operator: int


class Phase(NamedTuple):
    """Rules of step t: that of y_t, and that of '$' if the inputs end before x_t."""

    step: Rule
    end: Rule


@dataclass(frozen=True, kw_only=True)
class PeriodicCircuit:
    """Circuit of a transducer's task at all scales, given by finitely many rules.

    Attributes:
        arity: number of argument slots of every operator.
        first: phases of steps 1, 2, ...
        repeated: phases of the steps after these, in turn; at least one.
        operators: tables, each from the tokens of the arguments to the token.

    Raises:
        CircuitError: a rule has a place or an operator that does not exist, or another number of places.
    """

    arity: int
    first: tuple[Phase, ...]
    repeated: tuple[Phase, ...]
    operators: tuple[Mapping[Key, str], ...]

    def __post_init__(self) -> None:
        if not self.repeated:
            raise CircuitError("a periodic circuit needs at least one phase that repeats")
        for index, phase in enumerate(self.phases):
            earliest = min(index, len(self.first)) + 1  # the step at which the first fixed places must exist
            for rule, coming in ((phase.step, earliest), (phase.end, earliest - 1)):
                latest = {"x": coming, "y": earliest - 1, EQUALS: 0}
                valid = all(
                    place.kind in latest
                    and (
                        place.back >= LEAST_BACK[place.kind]
                        if place.at is None
                        else 1 <= place.at <= latest[place.kind]
                    )
                    for place in rule.places
                )
                if not valid or len(rule.places) != self.arity or not 0 <= rule.operator < len(self.operators):
                    raise CircuitError(f"a periodic circuit of arity {self.arity} cannot have the rule {rule}")

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Phases of first steps, then those that repeat."""
        return (*self.first, *self.repeated)

    @cached_property
    def places(self) -> frozenset[Place]:
        """All places that some rule reads."""
        return frozenset(place for phase in self.phases for rule in phase for place in rule.places)

    def following(self, phase: int) -> int:
        """Return the index of the phase after that of an index."""
        return phase + 1 if phase + 1 < len(self.phases) else len(self.first)

    def steps(self, inputs: Sequence[str]) -> Iterator[tuple[int, Key, str | None]]:
        """Yield operator, key and token of each step after some inputs, '$' included; None if a table has no entry."""
        outputs: list[str] = []
        rows: dict[str, Sequence[str]] = {"x": inputs, "y": outputs, EQUALS: ()}
        phase = 0
        for step in range(1, len(inputs) + 2):
            rule = self.phases[phase].step if step <= len(inputs) else self.phases[phase].end
            indices = [(kind, (step - back if at is None else at) - 1) for kind, back, at in rule.places]
            key = tuple([rows[kind][index] if 0 <= index < len(rows[kind]) else EQUALS for kind, index in indices])
            token = self.operators[rule.operator].get(key)
            yield rule.operator, key, token
            if token is None:
                return
            outputs.append(token)
            phase = self.following(phase)

    def text(self) -> str:
        """Return the rules in words, separated by "; "."""
        lines = []
        for rule, alike in groupby(range(len(self.first)), key=lambda index: self.first[index].step):
            steps = [index + 1 for index in alike]
            lines.append(f"step{'s' * (len(steps) > 1)} t = {_listed(steps)}: {_rule_text(rule)}")
        for rule, which in _grouped(self.repeated, lambda phase: phase.step).items():
            lines.append(f"every step t{self._turns(which)}: {_rule_text(rule)}")
        ends = {phase.end for phase in self.phases[1:]} or {self.phases[0].end}  # no scale has '$' at step 1
        when = f"step t = n+1, '{END}'"
        if len(ends) == 1:
            return "; ".join([*lines, f"{when}: {_rule_text(*ends)}"])
        for index, phase in enumerate(self.first[1:], start=2):
            lines.append(f"{when}, t = {index}: {_rule_text(phase.end)}")
        for rule, which in _grouped(self.repeated, lambda phase: phase.end).items():
            lines.append(f"{when}, every t{self._turns(which)}: {_rule_text(rule)}")
        return "; ".join(lines)

    def when(self, phase: int) -> str:
        """Return the steps of a phase, given by its index, in words."""
        first = len(self.first)
        return f"step t = {phase + 1}" if phase < first else f"every step t{self._turns([phase - first])}"

    def _turns(self, which: Sequence[int]) -> str:
        """Return which steps have some repeated phases, given by their indices, in words."""
        first, period = len(self.first), len(self.repeated)
        above = f" above {first}" if first else ""
        if len(which) == period:
            return above
        return f" = {_listed(sorted((first + index + 1) % period for index in which))} mod {period}{above}"

    def as_json(self) -> dict[str, Any]:
        """Return the rules as [operator, places] of each step and '$', and the entries of each operator."""

        def phases(of: Sequence[Phase]) -> list[dict[str, Any]]:
            return [
                {name: [rule.operator + 1, [*map(str, rule.places)]] for name, rule in phase._asdict().items()}
                for phase in of
            ]

        return {
            "first": phases(self.first),
            "repeated": phases(self.repeated),
            "operators": [[[*key, token] for key, token in operator.items()] for operator in self.operators],
        }


def _grouped(phases: Sequence[Phase], rule_of: Callable[[Phase], Rule]) -> dict[Rule, list[int]]:
    """Return rule -> the indices of the phases that have it."""
    which: dict[Rule, list[int]] = {}
    for index, phase in enumerate(phases):
        which.setdefault(rule_of(phase), []).append(index)
    return which


def _listed(steps: Sequence[int]) -> str:
    """Return ascending numbers in words, such as "3-5, 7"."""
    runs: list[list[int]] = []
    for step in steps:
        if runs and step == runs[-1][-1] + 1:
            runs[-1].append(step)
        else:
            runs.append([step])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _rule_text(rule: Rule) -> str:
    return f"operator {rule.operator + 1} of {', '.join(map(str, rule.places))}"


class Configuration(NamedTuple):
    """All that a rule may depend on at step t, on some prompt of some scale.

    Attributes:
        phase: index of the phase of step t.
        state: state of the machine before x_t.
        inputs: last inputs before x_t; fewer at the first steps.
        outputs: last outputs before y_t; fewer at the first steps.
        fixed: tokens at the fixed places; None for those that are not reached yet.
        coming: x_t; None at the step '$'.
    """

    phase: int
    state: State
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    fixed: tuple[str | None, ...]
    coming: str | None

    def token(self, place: Place, fixed: tuple[Place, ...]) -> str:
        """Return the token at a place, of which `fixed` has those that are fixed."""
        if place.at is not None:
            return self.fixed[fixed.index(place)] or self.coming or EQUALS
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


class AllScalesError(ValueError):
    """Error of a circuit that is not right at all scales; the message names the configuration where it fails."""


def check_proof(machine: Transducer, circuit: PeriodicCircuit) -> dict[tuple[int, Key], int]:
    """Check that a circuit gives the machine's outputs and '$' at all scales.

    By induction over the steps: all earlier tokens are right, so they are those of some configuration.

    Returns:
        (operator, key) of each entry that some scale needs -> the first such scale.

    Raises:
        AllScalesError: some token is wrong or not defined; the message names the first such configuration.
        TooManyError: there are more than MAX_CONFIGURATIONS.
    """
    needed: dict[tuple[int, Key], int] = {}
    fixed = _fixed(circuit)
    for step, configuration in configurations(machine, circuit):
        rules = circuit.phases[configuration.phase]
        rule = rules.end if configuration.coming is None else rules.step
        key = tuple([configuration.token(place, fixed) for place in rule.places])
        token, right = circuit.operators[rule.operator].get(key), configuration.output(machine)
        if token != right:
            raise AllScalesError(
                f"at {circuit.when(configuration.phase)} operator {rule.operator + 1} gives {token or 'nothing'} "
                f"for {' '.join(key)}, not {right}: {configuration}"
            )
        needed.setdefault((rule.operator, key), step - (configuration.coming is None))
    return needed


def _fixed(circuit: PeriodicCircuit) -> tuple[Place, ...]:
    return tuple(sorted(place for place in circuit.places if place.at is not None))


def configurations(machine: Transducer, circuit: PeriodicCircuit) -> Iterator[tuple[int, Configuration]]:
    """Yield the first step of every configuration that occurs on some prompt of some scale, and the configuration.

    Raise TooManyError if there are more than MAX_CONFIGURATIONS.
    """
    fixed = _fixed(circuit)
    window = {
        kind: max((place.back for place in circuit.places if (place.kind, place.at) == (kind, None)), default=0)
        for kind in "xy"
    }
    queue = [Configuration(0, machine.start, (), (), (None,) * len(fixed), symbol) for symbol in machine.inputs]
    reached = dict.fromkeys(queue, 1)
    for configuration in queue:  # which grows
        if len(reached) > MAX_CONFIGURATIONS:
            raise TooManyError(f"more than {MAX_CONFIGURATIONS:,} configurations can be reached")
        step = reached[configuration]
        yield step, configuration
        phase, state, inputs, outputs, kept, coming = configuration
        if coming is None:
            continue
        state, output = machine.step[state, coming]
        now = {"x": coming, "y": output}
        kept = tuple([now[place.kind] if place.at == step else token for place, token in zip(fixed, kept, strict=True)])
        inputs = (*inputs, coming)[max(0, len(inputs) + 1 - window["x"]) :]
        outputs = (*outputs, output)[max(0, len(outputs) + 1 - window["y"]) :]
        following = circuit.following(phase)
        for symbol in (*machine.inputs, None):
            successor = Configuration(following, state, inputs, outputs, kept, symbol)
            if successor not in reached:
                reached[successor] = step + 1
                queue.append(successor)
