"""Steps of a transducer at all scales at once, by a finite automaton of what they can read ([F]).

A step reads some of the inputs and outputs before it. All that matters of those among the first t is their *view*: for
the tokens that can stand there, the states in which the machine can be after t inputs. The view after one more input
depends on the view alone, and on what is read next. So there are finitely many views for a number of tokens; those
after t inputs repeat from some t on, and with them the tables through which step t can be computed.

Later inputs do not matter: a step that reads one may read x_t instead, or '=', as the output does not depend on it, and
needs some of the same entries.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from lengthgen.circuits.clock import Clock
from lengthgen.circuits.tables import Table, as_table, keys_of
from lengthgen.circuits.tasks.transducer import END, EQUALS, Transducer

MAX_VIEWS = 200_000
"""Largest number of views that are told apart."""

Tokens = tuple[int, ...]
"""Tokens that were read, the earliest first, as indices of the alphabet."""
View = frozenset[tuple[Tokens, int]]
"""Tokens that can be read at some places, each with the states in which the machine can be then, as bits."""
Source = tuple[str, int]
"""Place of a token: ("x", t) or ("y", t), or (EQUALS, 0)."""
EQUALS_SOURCE: Source = (EQUALS, 0)


class TooManyError(Exception):
    """Error of a machine with more views or configurations than are told apart."""


class Reading(NamedTuple):
    """Places that are read, the earliest first, and the sum of their distances from the next step."""

    distance: int
    places: tuple[Source, ...]


class Way(NamedTuple):
    """Way to compute a step: the sum of the distances of its arguments, and their places in slot order."""

    distance: int
    arguments: tuple[Source, ...]


class Steps:
    """Steps of a machine's task at all scales, at one arity.

    Attributes:
        machine: the machine.
        arity: number of slots of every operator.
        layers: for t = 0, 1, ..., the views after t inputs, each with the nearest places that have it.
        repeats: the views after this number of inputs are those of an earlier t; None as long as that is not known.
        period: number of inputs after which the views repeat; 0 as long as that is not known.
    """

    def __init__(self, machine: Transducer, arity: int, clock: Clock) -> None:
        self.machine, self.arity = machine, arity
        self._clock = clock
        self._code = {symbol: index for index, symbol in enumerate(machine.alphabet)}
        self._number = {state: index for index, state in enumerate(machine.states)}
        start: View = frozenset([((), 1 << self._number[machine.start])])
        self.layers: list[dict[View, Reading]] = [{start: Reading(0, ())}]
        self.repeats: int | None = None
        self.period = 0
        self._seen = {frozenset(self.layers[0]): 0}
        self._moves = cache(self._moves_of)
        self._following = cache(self._following_of)
        self._entries = cache(self._entries_of)
        self._tables = cache(self._tables_of)

    def extend(self, count: int = 1) -> None:
        """Compute the views after some more inputs. Raise OutOfTime or TooManyError at a limit."""
        for _ in range(count):
            layer: dict[View, Reading] = {}
            t = len(self.layers)
            for view, (distance, places) in self.layers[-1].items():
                for kinds, following in self._following(view):
                    read = Reading(distance + len(places) + len(kinds), (*places, *((kind, t) for kind in kinds)))
                    layer[following] = min(layer.get(following, read), read, key=nearest_first)
            self.layers.append(layer)
            if self.repeats is None:
                earlier = self._seen.setdefault(frozenset(layer), t)
                if earlier < t:
                    self.repeats, self.period = t, t - earlier

    def is_determined(self, t: int) -> bool:
        """True if some arguments determine y_t; the views after t - 1 inputs are known."""
        return any(self._entries(view, coming) for _, view, coming in self._readings(t, end=False))

    def _readings(self, t: int, *, end: bool) -> Iterator[tuple[Reading, View, bool | None]]:
        """Yield what step t can read: places, their view, and if x_t is among them (None for '$')."""
        for view, reading in self.layers[t - 1].items():
            yield reading, view, None if end else False
            if not end and len(reading.places) < self.arity:
                yield Reading(reading.distance, (*reading.places, ("x", t))), view, True

    def ways(self, t: int, *, end: bool = False, within: int | None = None) -> dict[Table, Way]:
        """Return the tables of step t, each through its nearest arguments; none if no arguments determine the token.

        Args:
            t: number of the step; the views after t - 1 inputs are known.
            end: if the step is '$', after t - 1 inputs.
            within: largest sum of the distances of the arguments, unless even the nearest have a larger one; any if
                None.
        """
        readings = [each for each in self._readings(t, end=end) if self._entries(*each[1:])]
        if within is not None:
            within = max(within, min((reading.distance for reading, _, _ in readings), default=0))
            readings = [each for each in readings if each[0].distance <= within]
        ways: dict[Table, Way] = {}
        for reading, view, coming in readings:
            for slots, table in self._tables(view, coming):
                way = Way(reading.distance, tuple([(*reading.places, EQUALS_SOURCE)[slot] for slot in slots]))
                ways[table] = min(ways.get(table, way), way, key=nearest_first)
        return ways

    def table(self, arguments: tuple[Source, ...], t: int, *, end: bool) -> Table | None:
        """Return the table of step t, `end` as in `ways`, through given arguments; None if they do not determine it."""
        places = sorted(
            {place for place in arguments if place != EQUALS_SOURCE}, key=lambda place: (place[1], place[0])
        )
        view = next(iter(self.layers[0]))
        for step in range(1, t):
            kinds = "".join(kind for kind, at in places if at == step)
            view = dict(self._following(view))[kinds]
        slots = tuple([(*places, EQUALS_SOURCE).index(place) for place in arguments])
        coming = None if end else ("x", t) in places
        return dict(self._tables(view, coming)).get(slots) if self._entries(view, coming) else None

    def _moves_of(self, states: int) -> dict[tuple[int, int], int]:
        """Return (input, output) -> the states that follow some states, as bits."""
        moves: dict[tuple[int, int], int] = defaultdict(int)
        for state, number in self._number.items():
            if states >> number & 1:
                for symbol in self.machine.inputs:
                    following, output = self.machine.step[state, symbol]
                    moves[self._code[symbol], self._code[output]] |= 1 << self._number[following]
        return moves

    def _following_of(self, view: View) -> list[tuple[str, View]]:
        """Return the views after one more input, each with what is read of it: "", "x", "y" or "xy"."""
        room = self.arity - len(next(iter(view))[0])
        followers = []
        for kinds in ("", "x", "y", "xy"):
            if len(kinds) > room:
                continue
            states: dict[Tokens, int] = defaultdict(int)
            for tokens, before in view:
                moves = self._moves(before)
                self._clock.check(len(moves))
                for (symbol, output), after in moves.items():
                    read = [{"x": symbol, "y": output}[kind] for kind in kinds]
                    states[(*tokens, *read)] |= after
            followers.append((kinds, frozenset(states.items())))
        if self._following.cache_info().currsize > MAX_VIEWS:
            raise TooManyError(f"more than {MAX_VIEWS:,} views can be reached")
        return followers

    def _entries_of(self, view: View, coming: bool | None) -> dict[Tokens, int]:
        """Return tokens that were read -> the token of the next step; empty if they do not determine it.

        `coming` tells whether x_t is read as well; None is the step '$'.
        """
        entries: dict[Tokens, int] = {}
        for tokens, states in view:
            for symbol, output in [(0, self._code[END])] if coming is None else self._moves(states):
                key = (*tokens, symbol) if coming else tokens
                if entries.setdefault(key, output) != output:
                    return {}
        return entries

    def _tables_of(self, view: View, coming: bool | None) -> list[tuple[tuple[int, ...], Table]]:
        """Return the tables of a step with a view, each with the number of the place that each slot reads."""
        entries = self._entries(view, coming)
        symbols, equals = len(self.machine.alphabet), self._code[EQUALS]
        read = np.array([[*tokens, equals] for tokens in entries], dtype=np.uint8).T
        values = np.fromiter(entries.values(), dtype=np.int64)
        tables = []
        for slots in _slots(len(read) - 1, self.arity):
            self._clock.check(len(values))
            tables.append((slots, as_table(keys_of(read[list(slots)], symbols) * symbols + values)))
        return tables


@cache
def _slots(places: int, arity: int) -> list[tuple[int, ...]]:
    """Return the ways to read all of some places through the slots; number `places` is '=', which need not be read."""
    others = itertools.combinations_with_replacement(range(places + 1), arity - places)
    ways = {way for more in others for way in itertools.permutations((*range(places), *more))}
    return sorted(ways)


def nearest_first(places: Reading | Way) -> tuple[int, tuple[tuple[int, str], ...]]:
    """Return a key that sorts near places first; the order stays where all places move on alike."""
    distance, sources = places
    return distance, tuple((-at, kind) for kind, at in sources)
