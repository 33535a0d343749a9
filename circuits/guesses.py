"""Guesses that spare a step the search for its determining sets.

Steps are alike: templates that give a determining set of one step often give one of the next. A guess that determines
a step answers whether anything does; only where all guesses fail are the step's determining sets searched.
"""

from collections import Counter

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.determining import determines, determining_sets
from lengthgen.circuits.tables import counted_steps
from lengthgen.circuits.templates import HOLE, Combination, Template, combinations_for, located_wiring, pace_of
from lengthgen.circuits.trace import Trace

MAX_GUESSES = 6
"""Largest number of template combinations that are tried on a step."""


class Guesses:
    """Template combinations that determined the steps asked about before, the last successful one first."""

    def __init__(self) -> None:
        self._latest: list[Combination] = []
        self._served: Counter[Combination] = Counter()

    def has_determining_set(self, trace: Trace, position: int, arity: int, clock: Clock | None = None) -> bool:
        """True if some set of at most `arity` earlier positions determines the step, on the inputs of the trace.

        Raises:
            OutOfTime: the clock's limit has passed.
        """
        clock = clock or Clock()
        for combination in self._latest:
            positions = frozenset(located_wiring(combination, trace, position)) - {HOLE}
            clock.check(counted_steps(trace, len(positions)))
            if len(positions) <= arity and determines(trace, position, positions):
                self._put_first(combination)
                return True
        sets = determining_sets(trace, position, arity, clock).sets
        pace = pace_of(trace)
        combinations = {
            tuple(sorted(combination, key=Template.cost))
            for needed in sets
            for combination in combinations_for(tuple(sorted(needed)), position, trace.segments, pace)
        }
        if combinations:
            self._served.update(combinations)
            # Combinations are compared last, so that the choice does not follow Python's order of sets.
            self._put_first(
                min(combinations, key=lambda each: (-self._served[each], [slot.cost() for slot in each], each))
            )
        return bool(sets)

    def _put_first(self, combination: Combination) -> None:
        """Make a combination the first guess; the last one of too many is dropped."""
        self._latest = [combination, *(each for each in self._latest if each != combination)][:MAX_GUESSES]
