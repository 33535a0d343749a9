"""The search for a circuit of the fewest operators, scale by scale.

A circuit with few templates is made first: its operators are an upper bound. The lower bound is tried on the steps
at which one of them is met for the first time, all their wirings considered. Where the bounds differ, operators that
serve those steps and are fewer are tried on all steps; the first step that they cannot serve joins the others, and
again, until the bounds meet. So all wirings are looked at of few steps only, and the result is as sure as if they
were of all.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from circuits.circuit import Circuit, Wiring
from circuits.clock import LOOK, Clock, OutOfTime
from circuits.modes import all_wirings, as_array
from circuits.operators import Asked, Operators, asked_of
from circuits.partition import Partition, fewest_operators, minimal_tables
from circuits.sat import SolverError, SolverFailed
from circuits.task import Task, Trace
from circuits.templates import (
    HOLE,
    Combination,
    Place,
    choose_wirings,
    combinations_for,
    is_wiring,
    pace_of,
    pointed_at,
)
from circuits.wirings import Alternatives, Table, constants, determining_sets, look_steps, plain_wirings

MAX_FILLED = 64
"""Ways looked at to fill slots whose templates point nowhere."""
MAX_TRIED = 2_000
"""Other wirings of a step looked at before it is one that must be admitted."""
INTERRUPTED = "interrupted"


@dataclass
class Attempt:
    """Operators, and how each step that was met is served by them: through which wiring, by which operator."""

    operators: Operators
    wirings: dict[Place, tuple[int, ...]] = field(default_factory=dict)
    serving: dict[Place, int] = field(default_factory=dict)

    def serve(self, place: Place, wiring: tuple[int, ...], operator: int | None, step: Asked) -> None:
        """Has the step served by an operator, or by a new one."""
        self.wirings[place] = wiring
        self.serving[place] = self.operators.give(operator, step)

    def openers(self) -> list[Place]:
        """The first step of each operator, ascending."""
        first: dict[int, Place] = {}
        for place, operator in sorted(self.serving.items()):
            first.setdefault(operator, place)
        return sorted(first.values())


class Search:
    """SRC at every scale of some traces, which stay as they are.

    Attributes:
        bounds: scale -> (lower, upper), as far as the search came; scales with a step that nothing determines are not
            among them.
        stuck: the first step that no wiring determines, if there is one.
        stopped: why the search ended before its end; None if it did not.
        failed: whether that was the machine's fault, so that another time it may not end there.
        admitted: the steps whose wirings were all looked at, as far as possible.
        kernel: how many steps were left when equal and served ones were dropped.
        circuit: attains the upper bound of the last scale.
        combinations: the template combinations of its wiring.
    """

    def __init__(
        self, task: Task, traces: Sequence[Trace], arity: int, mode: str, clock: Clock, *, patient: bool = False
    ) -> None:
        """`patient`: half of the time need not be left when all scales are known to be feasible."""
        self.bounds: dict[int, tuple[int, int]] = {}
        self.stuck: Place | None = None
        self.stopped: str | None = None
        self.failed = False
        self.admitted: dict[Place, Alternatives] = {}
        self.kernel = 0
        self.circuit: Circuit | None = None
        self.combinations: tuple[Combination, ...] = ()
        self._tables: dict[Place, frozenset[Table]] = {}
        self._task = task
        self._symbols = len(task.alphabet)
        self._traces = {one.scale: one for one in traces}
        self._arity = arity
        self._mode = mode
        self._clock = clock
        self._patient = patient

    def run(self) -> None:
        """Finds the bounds and the circuit, or as much of them as time allows."""
        try:
            with self._clock.phase("wirings"):
                feasible = self._feasible()
            self._bound(feasible)
        except OutOfTime as limit:
            self.stopped = str(limit)
        except SolverError as error:
            self.stopped, self.failed = str(error), isinstance(error, SolverFailed)
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED

    def _feasible(self) -> list[int]:
        """The scales at which every step has a wiring, as far as half of the time allows."""
        found: list[int] = []
        for scale in self._traces:
            if found and not self._patient and self._clock.used() > 0.5:
                self.stopped = self._clock.reason()
                break
            self.stuck = next((place for place in self._places([scale]) if not self._has_wiring(place)), None)
            if self.stuck:
                break
            found.append(scale)
        return found

    def _has_wiring(self, place: Place) -> bool:
        one, position = self._traces[place[0]], place[1]
        return self._mode == "declared" or bool(determining_sets(one, position, self._arity, self._clock).found)

    def _places(self, scales: Iterable[int]) -> Iterator[Place]:
        return ((scale, position) for scale in scales for position in self._traces[scale].steps)

    def _asked(self, place: Place, wiring: tuple[int, ...]) -> Asked:
        return asked_of(self._traces[place[0]], place[1], wiring)

    def _simple(self, scales: list[int]) -> Attempt:
        """A circuit of few templates. The steps that show a combination at its clearest come first."""
        attempt = Attempt(Operators(self._symbols))
        traces = [self._traces[scale] for scale in scales]
        choice = choose_wirings(traces, self._arity, exact=self._mode == "typed", clock=self._clock)
        self.combinations = choice.combinations
        # A step with a hole is served by whatever filling suits the operators of the others.
        for place, pointed in sorted(choice.wirings.items(), key=lambda item: HOLE in item[1]):
            wiring = next(self._filled(place, pointed))
            step = self._asked(place, wiring)
            fit = attempt.operators.first_fit(step)
            if fit is not None or not self._serve(attempt, place):
                attempt.serve(place, wiring, fit, step)
        return attempt

    def _filled(self, place: Place, pointed: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Wirings without holes: constant tokens fill them, or where there are none other arguments."""
        one, position = self._traces[place[0]], place[1]
        fillers = constants(one, position) or [p for p in pointed if p != HOLE] or [1]
        return itertools.product(*(fillers if p == HOLE else [p] for p in pointed))

    def _declared(self, scales: list[int]) -> Attempt:
        """The reference circuit; slots that it does not have repeat its last."""
        attempt = Attempt(Operators(self._symbols))
        reference = self._task.reference
        assert reference is not None
        numbers: dict[str, int] = {}
        for scale in scales:
            for position, (name, arguments) in zip(self._traces[scale].steps, reference.steps(scale), strict=True):
                place = scale, position
                wiring = (*arguments, *[arguments[-1]] * (self._arity - len(arguments)))
                attempt.serve(place, wiring, numbers.get(name), self._asked(place, wiring))
                numbers[name] = attempt.serving[place]
        return attempt

    def _bound(self, scales: list[int]) -> None:
        """Bounds at every one of the scales, and the circuit of the last."""
        attempts = []
        with self._clock.phase("wirings"):
            if self._mode != "declared":
                attempts.append(self._simple(scales))
            reference = self._task.reference
            if self._mode != "typed" and reference is not None and reference.arity <= self._arity:
                attempts.append(self._declared(scales))
        first = [one.openers() for one in attempts]
        openers = {scale: min((_up_to(places, scale) for places in first), key=len) for scale in scales}
        upper = {scale: len(places) for scale, places in openers.items()}
        self._know(scales, 1, upper)
        fewer: Attempt | None = None
        try:
            for index, scale in enumerate(scales):
                lower, _ = self.bounds[scale]
                if lower == upper[scale]:
                    fewer = None
                    continue
                for place in openers[scale]:
                    self._admit(place)
                lower = max(lower, self._fewest().lower)
                self._know(scales[index:], lower, upper)
                if fewer and self._unserved(fewer, [scale]):
                    fewer = None
                lower, fewer = self._improve(scales[: index + 1], lower, upper[scale], fewer)
                self._know(scales[index:], lower, upper)
                if fewer:
                    self.bounds[scale] = (lower, len(fewer.operators.tables))
        finally:
            if scales:
                last = scales[-1], self._traces[scales[-1]].length
                if fewer and last in fewer.wirings:
                    attempts = [fewer]
                self.circuit = self._circuit(min(attempts, key=lambda one: len(one.openers())), scales)

    def _know(self, scales: list[int], lower: int, upper: dict[int, int]) -> None:
        """What holds at one scale bounds SRC at all later ones from below."""
        for scale in scales:
            self.bounds[scale] = (lower, upper[scale])

    def _improve(self, scales: list[int], lower: int, upper: int, fewer: Attempt | None) -> tuple[int, Attempt | None]:
        """Closes the gap between the bounds at the last of the scales.

        Returns:
            The lower bound, and what needs fewer operators than the simple circuit, if anything does.
        """
        best = len(fewer.operators.tables) if fewer else upper
        while lower < best:
            found = self._fewest()
            lower = max(lower, found.lower)
            if found.upper >= best:  # they meet, or the solver was stopped
                break
            attempt = Attempt(self._as_operators(found.operators))
            place = self._unserved(attempt, scales)
            if place is None:
                fewer, best = attempt, found.upper
            else:
                self._admit(place)
        return lower, fewer

    def _admit(self, place: Place) -> None:
        """Looks at all wirings of a step, so that the lower bound may rest on it."""
        if place not in self.admitted:
            with self._clock.phase("wirings"):
                found = self._alternatives(place)
                self._tables[place] = minimal_tables(found.wirings, self._clock)
                self.admitted[place] = found

    def _alternatives(self, place: Place) -> Alternatives:
        return all_wirings(self._task, self._traces[place[0]], place[1], self._arity, self._mode, self._clock)

    def _fewest(self) -> Partition:
        """The fewest operators of the admitted steps. Only steps with all their wirings count for the lower bound."""
        found = fewest_operators(list(self._tables.values()), self._symbols, self._clock)
        self.kernel = len(found.kernel)
        lower = found.lower
        if not all(one.complete for one in self.admitted.values()):
            sure = [self._tables[place] for place, one in self.admitted.items() if one.complete]
            lower = fewest_operators(sure, self._symbols, self._clock).lower if sure else 1
        return replace(found, lower=max(1, lower))

    def _as_operators(self, tables: Iterable[Table]) -> Operators:
        operators = Operators(self._symbols)
        operators.tables += [as_array(table, self._arity, self._symbols) for table in tables]
        return operators

    def _unserved(self, attempt: Attempt, scales: Iterable[int]) -> Place | None:
        """The first step that the operators, extended as steps are met, cannot serve; None when they serve all."""
        with self._clock.phase("wirings"):
            return next((place for place in self._places(scales) if not self._serve(attempt, place)), None)

    def _serve(self, attempt: Attempt, place: Place) -> bool:
        """Has a step served by some operator there is, extended by as few entries as need be, if any can serve it."""
        count = len(attempt.operators.tables)
        cost = look_steps(self._traces[place[0]], self._arity) + LOOK * count
        for wirings in self._wirings_to_try(place) if count else ():
            best: tuple[int, int, tuple[int, ...], Asked] | None = None
            for wiring in wirings:
                self._clock.check(cost)
                step = self._asked(place, wiring)
                for operator in range(count):
                    missing = attempt.operators.missing(operator, step)
                    if missing is not None and (best is None or missing < best[0]):
                        best = missing, operator, wiring, step
                if best and best[0] == 0:
                    break
            if best:
                _, operator, wiring, step = best
                attempt.serve(place, wiring, operator, step)
                return True
        return False

    def _wirings_to_try(self, place: Place) -> Iterator[Iterable[tuple[int, ...]]]:
        """Wirings of a step, the simplest first: where the templates point, then with slots in any order, then others.

        A slot whose template points nowhere may read any constant token instead.
        """
        one, position = self._traces[place[0]], place[1]
        exact = self._mode == "typed"
        pointed: dict[tuple[int, ...], None] = {}
        if self._mode != "declared":
            for combination in self.combinations:
                found = pointed_at(combination, one, position)
                if is_wiring(found, one, position, self._arity, exact=exact):
                    pointed |= dict.fromkeys(itertools.islice(self._filled(place, found), MAX_FILLED))
            yield pointed
            yield (order for wiring in pointed for order in itertools.permutations(wiring) if order != wiring)
        if place in self.admitted or self._mode != "free":
            known = self.admitted.get(place) or self._alternatives(place)
            yield itertools.chain.from_iterable(known.wirings.values())
        else:
            yield itertools.islice(plain_wirings(one, position, self._arity, self._clock), MAX_TRIED)

    def _circuit(self, attempt: Attempt, scales: list[int]) -> Circuit:
        """The circuit of an attempt; operators in order of their first use, with the entries in use only."""
        used = Operators(self._symbols)
        numbers: dict[int, int] = {}
        wirings: dict[int, list[Wiring]] = {scale: [] for scale in scales}
        for place in self._places(scales):
            wiring = self._simplest(place, attempt)
            step = self._asked(place, wiring)
            serving = next(i for i in range(len(attempt.operators.tables)) if attempt.operators.missing(i, step) == 0)
            numbers[serving] = used.give(numbers.get(serving), step)
            wirings[place[0]].append(Wiring(position=place[1], arguments=wiring, operator=numbers[serving]))
        if self._mode != "declared":
            self.combinations = self._combinations(wirings)
        return Circuit(
            task=self._task,
            arity=self._arity,
            wirings={scale: tuple(steps) for scale, steps in wirings.items()},
            operators=tuple(used.tables),
        )

    def _simplest(self, place: Place, attempt: Attempt) -> tuple[int, ...]:
        """The first wiring that templates point to through which the operators serve the step; else the attempt's."""
        one, position = self._traces[place[0]], place[1]
        for combination in self.combinations:
            for order in itertools.permutations(combination):
                pointed = pointed_at(order, one, position)
                if HOLE in pointed and _agree(attempt.wirings[place], pointed):
                    return attempt.wirings[place]  # whose filling was chosen to suit the operators
                if HOLE not in pointed and is_wiring(pointed, one, position, self._arity, exact=self._mode == "typed"):
                    step = self._asked(place, pointed)
                    if any(attempt.operators.missing(i, step) == 0 for i in range(len(attempt.operators.tables))):
                        return pointed
        return attempt.wirings[place]

    def _combinations(self, wirings: Mapping[int, Sequence[Wiring]]) -> tuple[Combination, ...]:
        """Template combinations that point to every wiring: those known where they do, with the slots in any order."""
        known = [order for each in self.combinations for order in itertools.permutations(each)]
        used: dict[Combination, None] = {}
        # From the largest scale down: there fewest templates point alike.
        for scale in sorted(wirings, reverse=True):
            one = self._traces[scale]
            for step in wirings[scale]:
                found = next(
                    (each for each in (*used, *known) if _agree(step.arguments, pointed_at(each, one, step.position))),
                    None,
                )
                if found is None:
                    pace = pace_of(self._traces[max(wirings)])
                    found = next(iter(combinations_for(step.arguments, step.position, one.segments, pace)))
                used[found] = None
        return tuple(used)


def _agree(wiring: tuple[int, ...], pointed: tuple[int, ...]) -> bool:
    """Whether a wiring is where templates point, holes filled in any way."""
    return len(wiring) == len(pointed) and all(p in (HOLE, w) for p, w in zip(pointed, wiring, strict=True))


def _up_to(places: list[Place], scale: int) -> list[Place]:
    return [place for place in places if place[0] <= scale]
