"""Search on given prompts: scales that can be computed, circuits of few templates, and bounds narrowed until they meet.

A lower bound rests on some steps, with all their wirings: at first the steps at which a circuit's operators are used
for the first time. While it is below the upper bound, the operators that serve these steps are tried on all others;
the first step that they cannot serve joins the steps of the lower bound.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.search.partition import Partition, fewest_operators, minimal_tables
from lengthgen.circuits.search.problem import Problem
from lengthgen.circuits.search.serving import Served, filled
from lengthgen.circuits.search.templates import HOLE, Combination, Guesses, Place, choose_wirings
from lengthgen.circuits.search.wirings import Alternatives, as_array
from lengthgen.circuits.tables import Operators, Table


class Narrowing:
    """Bounds of one problem. Whatever ends the computation, what its attributes say then is valid.

    Attributes:
        scales: scales at which every step has a wiring, ascending, without a gap; once they are all known.
        stuck: first step that no wiring determines; None if there is none.
        stopped: reason why no more scales were looked at; None if all were, or if a step is stuck.
        circuits: circuits that serve every step of the scales; at least one, unless there are no scales.
        combinations: template combinations of the first of these; none in mode "declared".
        bounds: scale -> (lower, upper).
        wirings: step that the lower bounds rest on -> all its wirings, as far as possible; in the order of admission.
        kernel: number of these steps without equal steps and steps served by solutions of others.
        fewer: circuit with fewer operators than any of `circuits`, up to the scale searched last; None if unknown.
    """

    def __init__(self, problem: Problem, clock: Clock) -> None:
        self.problem, self.clock = problem, clock
        self.scales: tuple[int, ...] = ()
        self.stuck: Place | None = None
        self.stopped: str | None = None
        self.circuits: list[Served] = []
        self.combinations: tuple[Combination, ...] = ()
        self.bounds: dict[int, tuple[int, int]] = {}
        self.wirings: dict[Place, Alternatives] = {}
        self._tables: dict[Place, frozenset[Table]] = {}
        self.kernel = 0
        self.fewer: Served | None = None

    def find_scales(self, *, patient: bool) -> None:
        """Find the scales at which every step has a wiring; unless `patient`, only up to half of the clock's limit."""
        problem, guesses = self.problem, Guesses()
        scales: list[int] = []
        for scale, trace in problem.traces.items():
            if scales and not patient and self.clock.used() > 0.5:
                self.stopped = self.clock.reason()
                break
            for position in trace.steps if problem.mode != "declared" else ():
                if not guesses.has_determining_set(trace, position, problem.arity, self.clock):
                    self.stuck = scale, position
                    break
            if self.stuck:
                break
            scales.append(scale)
        self.scales = tuple(scales)

    def find_circuits(self) -> None:
        """Find a circuit of few templates, and the reference circuit, as far as the mode and the arity allow them."""
        problem, circuits = self.problem, list[Served]()
        if problem.mode != "declared":
            circuits.append(self._simple_circuit())
        reference = problem.task.reference
        if problem.mode != "typed" and reference is not None and reference.arity <= problem.arity:
            circuits.append(declared(problem, self.scales))
        self.circuits = circuits

    def _simple_circuit(self) -> Served:
        """Return a circuit of few templates. A step with a hole comes last, filled to suit the operators of others."""
        problem = self.problem
        traces = [problem.traces[scale] for scale in self.scales]
        wirings, self.combinations = choose_wirings(traces, problem.arity, exact=problem.exact, clock=self.clock)
        served = Served(operators=Operators(problem.symbols))
        for place, located in sorted(wirings.items(), key=lambda item: HOLE in item[1]):
            wiring = next(filled(problem, place, located))
            step = problem.step_entries(place, wiring)
            fit = served.operators.first_fit(step)
            if fit is not None or not self._serve(served, place):
                served.give(place, wiring, fit, step)
        return served

    def _serve(self, served: Served, place: Place) -> bool:
        return served.serve(place, self.problem, self.clock, self.combinations, self.wirings)

    def narrow(self) -> None:
        """Narrow the bounds at every scale until they meet or cannot be improved.

        Raise SolverError if the solver cannot decide.
        """
        first = [circuit.openers() for circuit in self.circuits]
        openers = {
            scale: min(([place for place in places if place[0] <= scale] for places in first), key=len)
            for scale in self.scales
        }
        self.bounds = {scale: (1, len(places)) for scale, places in openers.items()}
        for scale, places in openers.items():
            if self.bounds[scale][0] == len(places):
                self.fewer = None
            else:
                self._narrow_at(scale, places)

    def _narrow_at(self, scale: int, places: Sequence[Place]) -> None:
        """Narrow the bounds at one scale, given those of all smaller scales and the first steps of the operators."""
        for place in places:
            self.admit(place)
        self._at_least(scale, self.fewest().lower)
        if self.fewer:
            served = self.extended(self.fewer, [scale])
            self.fewer = served if isinstance(served, Served) else None
        lower, fewer = self.bounds[scale][0], self.fewer
        best = len(fewer.operators.tables) if fewer else len(places)
        while lower < best:
            partition = self.fewest()
            lower = max(lower, partition.lower)
            if partition.upper >= best:  # the bounds meet, or the solver was stopped
                break
            arity, symbols = self.problem.arity, self.problem.symbols
            tables = [as_array(table, arity, symbols) for table in partition.operators]
            start = Served(operators=Operators(symbols, tables))
            served = self.extended(start, [each for each in self.scales if each <= scale])
            if isinstance(served, Served):
                fewer, best = served, partition.upper
            else:
                self.admit(served)
        self._at_least(scale, lower)
        self.fewer = fewer
        if fewer:
            self.bounds[scale] = lower, len(fewer.operators.tables)

    def _at_least(self, scale: int, lower: int) -> None:
        """Raise a lower bound at one scale and all later ones."""
        lower = max(lower, self.bounds[scale][0])
        self.bounds = {n: (lower, high) if n >= scale else (low, high) for n, (low, high) in self.bounds.items()}

    def admit(self, place: Place) -> None:
        """Let the lower bounds rest on one more step, with all its wirings."""
        if place not in self.wirings:
            with self.clock.phase("wirings"):
                alternatives = self.problem.alternatives(place, self.clock)
                self._tables[place] = minimal_tables(alternatives.wirings, self.clock)
                self.wirings[place] = alternatives

    def fewest(self) -> Partition:
        """Return the fewest operators of the steps. Only steps with all their wirings count for the lower bound.

        Raise SolverError if the solver cannot decide.
        """
        symbols = self.problem.symbols
        partition = fewest_operators(list(self._tables.values()), symbols, self.clock)
        complete = [self._tables[place] for place, every in self.wirings.items() if every.complete]
        lower = partition.lower
        if len(complete) < len(self.wirings):
            lower = fewest_operators(complete, symbols, self.clock).lower if complete else 1
        self.kernel = len(partition.kernel)
        return replace(partition, lower=max(1, lower))

    def extended(self, start: Served, scales: Iterable[int]) -> Served | Place:
        """Return a circuit extended to all steps of some scales, or the first step that its operators cannot serve."""
        with self.clock.phase("wirings"):
            served = start.copy()
            return next((place for place in self.problem.places(scales) if not self._serve(served, place)), served)

    def smallest(self) -> Served:
        """Return the circuit of the fewest operators that serves every step up to the last scale."""
        last = self.scales[-1], self.problem.traces[self.scales[-1]].length
        if self.fewer and last in self.fewer.wirings:
            return self.fewer
        return min(self.circuits, key=lambda served: len(served.openers()))


def declared(problem: Problem, scales: Sequence[int]) -> Served:
    """Return the reference circuit; slots beyond its arity repeat its last argument."""
    served = Served(operators=Operators(problem.symbols))
    numbers: dict[str, int] = {}
    for scale in scales:
        # A sample may lack the last steps of a task whose outputs end early.
        steps = problem.task.reference_steps(scale)
        for position, (name, arguments) in zip(problem.traces[scale].steps, steps, strict=False):
            place = scale, position
            wiring = (*arguments, *[arguments[-1]] * (problem.arity - len(arguments)))
            numbers[name] = served.give(place, wiring, numbers.get(name), problem.step_entries(place, wiring))
    return served
