"""SRC of a finite-state transducer's task at all scales, decided ([F]).

The tables through which a step can be computed repeat from some step on (`lengthgen.circuits.questions.views`). So
all scales together have finitely many kinds of steps, and the fewest operators that serve these are SRC from some
scale on. The circuit that attains it has finitely many rules, and `check_proof` finds it right at all scales from the
machine's table alone (`lengthgen.circuits.questions.periodic_circuit`).
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from lengthgen.circuits.clock import Clock, OutOfTime
from lengthgen.circuits.questions.periodic_circuit import AllScalesError, PeriodicCircuit, check_proof
from lengthgen.circuits.questions.rules import NEAR, read_off
from lengthgen.circuits.questions.views import Steps, TooManyError
from lengthgen.circuits.search.partition import Partition, fewest_operators, minimal_tables
from lengthgen.circuits.src import MAX_ARITY
from lengthgen.circuits.tables import Table
from lengthgen.circuits.task import TaskError
from lengthgen.circuits.tasks.transducer import Transducer

MAX_ATTEMPTS = 8
"""Largest number of lengths at which a circuit's rules are read off before the search for them ends."""


@dataclass(frozen=True, kw_only=True)
class AllScales:
    """SRC of a transducer's task at all scales.

    Attributes:
        arity: number of slots of every operator.
        values: scale -> SRC, at the scales asked for; math.inf if infeasible, None if it was not decided.
        constant_from: scale from which on SRC is `value` at all scales; None if that was not decided.
        value: SRC at all scales from `constant_from` on; math.inf if infeasible, None if it was not decided.
        upper: upper bound of SRC at all scales; math.inf if none is known.
        circuit: circuit of `upper` operators that is right at all scales; None if there is none.
        coverage_scale: first scale up to which every entry of the circuit's tables occurs; None without a circuit.
        why: reason for the value, or for its absence, as a sentence.
    """

    arity: int
    values: Mapping[int, float | None]
    constant_from: int | None
    value: float | None
    upper: float
    circuit: PeriodicCircuit | None
    coverage_scale: int | None
    why: str


def src_for_all_scales(
    machine: Transducer, arity: int | None = None, *, searched: int = 6, clock: Clock | None = None
) -> AllScales:
    """Return SRC of a machine's task at all scales, with values for the scales up to `searched`.

    By default the arity is the least with which the scales up to `searched` are feasible. Every machine is decided,
    unless a limit ends the computation: that of the clock, or those of views and configurations.

    Raises:
        ValueError: the arity is not positive.
        TaskError: the scale is below 1, or no arity is given and more than lengthgen.circuits.src.MAX_ARITY slots are
            needed.
    """
    if searched < 1:
        raise TaskError(f"machine '{machine.name}': a scale is at least 1, not {searched}")
    if arity is not None and arity < 1:
        raise ValueError(f"the arity is at least 1, not {arity}")
    clock = clock or Clock()
    decision = _Decision(machine, arity or 1, searched, clock)
    try:
        with clock.phase("views"):
            if arity is None:
                decision = _feasible(machine, searched, clock)
            decision.explore()
        with clock.phase("proof"):
            decision.decide()
            decision.find_circuit()
    except (TooManyError, OutOfTime) as limit:
        decision.why = f"the proof ended early: {limit}"
    return decision.result()


def _feasible(machine: Transducer, searched: int, clock: Clock) -> "_Decision":
    """Return the decision at the least arity with which the scales up to `searched` are feasible."""
    for arity in range(1, MAX_ARITY + 1):
        decision = _Decision(machine, arity, searched, clock)
        decision.explore(searched)
        if decision.infeasible is None:
            return decision
    raise TaskError(f"machine '{machine.name}': scale {decision.infeasible} needs an arity above {MAX_ARITY}; name one")


class _Decision:
    """Bounds of SRC at the scales and at all scales, narrowed step by step, so that a limit leaves those so far."""

    def __init__(self, machine: Transducer, arity: int, searched: int, clock: Clock) -> None:
        self.machine, self.arity, self.searched, self.clock = machine, arity, searched, clock
        self.steps = Steps(machine, arity, clock)
        self._kind = cache(self._kind_of)
        self._fewest = cache(self._fewest_of)
        self.infeasible: int | None = None
        self.bounds: dict[int, tuple[float, float]] = {}
        self.operators: tuple[Table, ...] = ()
        self.circuit: PeriodicCircuit | None = None
        self.coverage_scale: int | None = None
        self.why = ""

    def explore(self, most: int | None = None) -> None:
        """Extend the steps until their views repeat, to `most` inputs, or to the first that no arguments determine."""
        while (
            self.infeasible is None and self.steps.repeats is None and (most is None or len(self.steps.layers) <= most)
        ):
            if not self.steps.is_determined(len(self.steps.layers)):
                self.infeasible = len(self.steps.layers)
            self.steps.extend()

    def decide(self) -> None:
        """Narrow the bounds at each scale up to the one from which on the steps repeat, or up to an infeasible one."""
        last = self.steps.repeats if self.infeasible is None else self.infeasible - 1
        assert last is not None
        if self.infeasible is not None:
            self.bounds[self.infeasible] = math.inf, math.inf
        if not last:
            return
        for within in NEAR:
            near = self._fewest(self._kinds(last, within))
            if not self.operators or near.upper < len(self.operators):
                self.operators = near.operators
                self.bounds |= dict.fromkeys(range(1, last + 1), (1, near.upper))
            if near.upper == 1:
                return
        least = 1  # a later scale needs at least as many
        for scale in range(1, last + 1):
            if least < len(self.operators):
                of_scale = self._fewest(self._kinds(scale, None))
                least = max(least, of_scale.lower)
                if scale == last and of_scale.upper < len(self.operators):
                    self.operators = of_scale.operators
                self.bounds[scale] = least, min(of_scale.upper, len(self.operators))
            else:
                self.bounds[scale] = least, least
        for scale in range(1, last + 1):
            low, high = self.bounds[scale]
            self.bounds[scale] = low, min(high, len(self.operators))

    def _fewest_of(self, kinds: frozenset[frozenset[Table]]) -> Partition:
        return fewest_operators([*kinds], len(self.machine.alphabet), self.clock)

    def _kinds(self, scale: int, within: int | None) -> frozenset[frozenset[Table]]:
        """Return the kinds of steps up to a scale: the smallest tables of each."""
        steps = itertools.chain(
            ((t, False) for t in range(1, scale + 1)),
            ((n + 1, True) for n in range(1, scale + 1)),
        )
        return frozenset(self._kind(t, end, within) for t, end in steps)

    def _kind_of(self, t: int, end: bool, within: int | None) -> frozenset[Table]:
        return minimal_tables(self.steps.ways(t, end=end, within=within), self.clock)

    def find_circuit(self) -> None:
        """Find the circuit of the operators, and prove that it is right at all scales."""
        if self.infeasible is not None:
            return
        assert self.steps.repeats is not None
        for attempt in range(1, MAX_ATTEMPTS + 1):
            # Rules are read off at steps that are far enough from the start for what they read to move on with them.
            period = self.steps.period * math.lcm(*range(1, attempt + 1))
            circuit = read_off(self.steps, self.operators, self.steps.repeats * attempt + self.arity, period)
            if circuit is None:
                continue
            try:
                needed = check_proof(self.machine, circuit)
            except AllScalesError:
                continue
            operators = (
                {key: token for key, token in operator.items() if (index, key) in needed}
                for index, operator in enumerate(circuit.operators)
            )
            self.circuit = replace(circuit, operators=tuple(operators))
            self.coverage_scale = max(needed.values())
            return

    def result(self) -> AllScales:
        """Return what is known."""
        upper = len(self.operators) if self.operators and self.infeasible is None else math.inf
        value = self._value()
        constant_from = None
        if value is not None:
            constant_from = min(scale for scale, bounds in self.bounds.items() if bounds == (value, value))
        last = max(self.bounds, default=0)
        values: dict[int, float | None] = {}
        for scale in range(1, self.searched + 1):
            low, high = self.bounds.get(scale, (0, 1)) if scale <= last else (value, value)
            values[scale] = low if low == high else None
        return AllScales(
            arity=self.arity,
            values=values,
            constant_from=constant_from,
            value=value,
            upper=upper,
            circuit=self.circuit,
            coverage_scale=self.coverage_scale,
            why=self.why or self._why(value, constant_from),
        )

    def _value(self) -> float | None:
        """Return SRC at all scales from some on; None if it is not decided."""
        if self.infeasible is not None:
            return math.inf
        low, high = self.bounds.get(self.steps.repeats or 0, (0, 1))
        return low if low == high else None

    def _why(self, value: float | None, constant_from: int | None) -> str:
        if self.infeasible is not None:
            scale = self.infeasible
            return f"no {self.arity} earlier positions determine the token at position {2 * scale + 1} of scale {scale}"
        low, high = self.bounds[max(self.bounds)]
        if value is None:
            return f"SRC is at least {low:.0f} and at most {high:.0f} at large scales: {self.clock.reason()}"
        lower = f"SRC is at least {value:.0f} at scale {constant_from}"
        if self.circuit is None:
            return f"{lower}, and so many operators serve all kinds of steps"
        return f"{lower}, and a circuit is right at all scales: {self.circuit.text()}"
