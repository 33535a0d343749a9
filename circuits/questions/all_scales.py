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
from lengthgen.circuits.questions.views import Steps, TooManyError, nearest_first
from lengthgen.circuits.search.partition import Compatibility, Partition, fewest_operators, minimal_tables
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
        bounds: scale -> lower and upper bound of SRC, at the scales asked for; math.inf if infeasible. The upper one is
            None if none is known.
        constant_from: scale from which on SRC is `value` at all scales; None if that was not decided.
        value: SRC at all scales from `constant_from` on; math.inf if infeasible, None if it was not decided.
        upper: upper bound of SRC at all scales; None if none is known.
        circuit: circuit of `upper` operators that is right at all scales; None if there is none.
        coverage_scale: first scale up to which every entry of the circuit's tables occurs; None without a circuit.
        why: reason for the value, or for its absence, as a sentence.
    """

    arity: int
    bounds: Mapping[int, tuple[float, float | None]]
    constant_from: int | None
    value: float | None
    upper: float | None
    circuit: PeriodicCircuit | None
    coverage_scale: int | None
    why: str

    @property
    def values(self) -> dict[int, float | None]:
        """Scale -> SRC at the scales asked for; None if it was not decided."""
        return {scale: low if low == high else None for scale, (low, high) in self.bounds.items()}


def src_for_all_scales(
    machine: Transducer, arity: int | None = None, *, searched: int = 6, clock: Clock | None = None
) -> AllScales:
    """Return SRC of a machine's task at all scales, with values for the scales up to `searched`.

    By default the arity is the least with which the scales up to `searched` are feasible. Every machine is decided,
    unless a limit ends the computation: that of the clock, or those of views and configurations.

    Raises:
        ValueError: the arity is not positive.
        TaskError: the scale is below 1, or no arity is given and more than lengthgen.circuits.src.MAX_ARITY slots are
            needed, or a limit ends the search for it.
    """
    if searched < 1:
        raise TaskError(f"machine '{machine.name}': a scale is at least 1, not {searched}")
    if arity is not None and arity < 1:
        raise ValueError(f"the arity is at least 1, not {arity}")
    clock = clock or Clock()
    decision = _feasible(machine, searched, clock) if arity is None else _Decision(machine, arity, clock)
    try:
        decision.decide()
        decision.find_circuit()
    except (TooManyError, OutOfTime) as limit:
        decision.why = f"ended early: {limit}"
    return decision.result(searched)


def _feasible(machine: Transducer, searched: int, clock: Clock) -> "_Decision":
    """Return the decision at the least arity with which the scales up to `searched` are feasible."""
    try:
        for arity in range(1, MAX_ARITY + 1):
            decision = _Decision(machine, arity, clock)
            if decision.is_feasible(searched):
                return decision
    except (TooManyError, OutOfTime) as limit:
        raise TaskError(f"machine '{machine.name}': its least arity is not known, {limit}: name one") from limit
    raise TaskError(f"machine '{machine.name}': scale {decision.infeasible} needs an arity above {MAX_ARITY}; name one")


class _Decision:
    """Bounds of SRC, narrowed scale by scale, so that a limit leaves those so far."""

    def __init__(self, machine: Transducer, arity: int, clock: Clock) -> None:
        self.machine, self.arity, self.clock = machine, arity, clock
        self.steps = Steps(machine, arity, clock)
        self._kind = cache(self._kind_of)
        self._fewest = cache(self._fewest_of)
        self._agree = Compatibility(len(machine.alphabet))
        self.infeasible: int | None = None
        self.bounds: dict[int, tuple[float, float | None]] = {}
        self.operators: tuple[Table, ...] = ()
        self.circuit: PeriodicCircuit | None = None
        self.coverage_scale: int | None = None
        self.why = ""

    def is_feasible(self, scale: int) -> bool:
        """True if some arguments determine each step up to a scale; the steps are extended as far as that needs."""
        while self.infeasible is None and len(self.steps.layers) <= scale:
            if self.steps.is_determined(len(self.steps.layers)):
                self.steps.extend()
            else:
                self.infeasible = len(self.steps.layers)
        return self.infeasible is None or scale < self.infeasible

    def decide(self) -> None:
        """Bound SRC at each scale, up to the one from which on the steps repeat or to an infeasible one."""
        least: float = 1  # a later scale needs at least as many
        for scale in itertools.count(1):
            self.bounds[scale] = least, None
            with self.clock.phase("views"):
                feasible = self.is_feasible(scale)
            if not feasible:
                self.bounds[scale] = math.inf, math.inf
                return
            with self.clock.phase("proof"):
                self._bound(scale)
            least = self.bounds[scale][0]
            if self.steps.repeats is not None and scale >= self.steps.repeats:
                break
        for earlier, (low, high) in self.bounds.items():
            assert high is not None
            self.bounds[earlier] = low, min(high, len(self.operators))

    def _bound(self, scale: int) -> None:
        """Bound SRC at a scale.

        If the operators so far serve its steps too, nothing changes. Else the nearest arguments bound it from above,
        and if that is not enough, all arguments from both sides.
        """
        least, best = self.bounds[scale][0], math.inf
        if extended := self._extended(scale, int(least)):
            self.operators, self.bounds[scale] = extended, (least, least)
            return
        for within in (*NEAR, None):
            some = self._fewest(self._kinds(scale, within))
            if some.upper < best:
                self.operators, best = some.operators, some.upper
            if within is None:
                least = max(least, some.lower)
            self.bounds[scale] = least, best
            if least == best:
                return

    def _extended(self, scale: int, most: int) -> tuple[Table, ...]:
        """Return at most some number of operators, those so far with the entries of a scale; empty if that fails.

        Each step takes the nearest arguments that fit.
        """
        operators = [*self.operators]
        for t, end in ((scale, False), (scale + 1, True)):
            ways = self.steps.ways(t, end=end, within=NEAR[0])
            tables = sorted(ways, key=lambda table: nearest_first(ways[table]))
            fits = (
                (table, at) for table in tables for at, operator in enumerate(operators) if self._agree(operator, table)
            )
            table, at = next(fits, (tables[0], len(operators)))
            if at == most:
                return ()
            operators[at : at + 1] = [operators[at] | table if at < len(operators) else table]
        return tuple(operators)

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

    def result(self, searched: int) -> AllScales:
        """Return what is known, of the scales up to `searched` and of all."""
        bounded = {scale: bounds for scale, bounds in self.bounds.items() if bounds[1] is not None}
        decided = self.infeasible in bounded or (self.steps.repeats or math.inf) in bounded
        least, upper = bounded[max(bounded)] if bounded else (1, None)
        value = least if decided and least == upper else None
        constant_from = None
        if value is not None:
            constant_from = min(scale for scale, bounds in bounded.items() if bounds == (value, value))
        bounds = {scale: bounded.get(scale, (least, upper if decided else None)) for scale in range(1, searched + 1)}
        return AllScales(
            arity=self.arity,
            bounds=bounds,
            constant_from=constant_from,
            value=value,
            upper=upper if decided else None,
            circuit=self.circuit,
            coverage_scale=self.coverage_scale,
            why=self.why or self._why(value, constant_from),
        )

    def _why(self, value: float | None, constant_from: int | None) -> str:
        if self.infeasible is not None:
            which = (
                f"no {self.arity} earlier positions determine" if self.arity > 1 else "no earlier position determines"
            )
            return f"{which} the token at position {2 * self.infeasible + 1} of scale {self.infeasible}"
        if value is None:
            low, high = self.bounds[max(self.bounds)]
            return f"SRC is at least {low:.0f} and at most {high:.0f} at large scales: {self.clock.reason()}"
        lower = f"SRC is at least {value:.0f} at scale {constant_from}"
        if self.circuit is None:
            return f"{lower}, and so many operators serve all kinds of steps"
        return f"{lower}, and a circuit is right at all scales: {self.circuit.text()}"
