"""Wrong formulas that the claims refute."""

from typing import Any

import sympy as sp

from lengthgen.theory.encodings import prism

RIGHT_MIXED, RIGHT_MOVED = prism.mixed, prism.moved
RIGHT_SHARPENED, RIGHT_SUPERPOSITION = prism.sharpened, prism.superposition


def _moved_twice(histogram: Any, move: Any) -> Any:
    return RIGHT_MOVED(RIGHT_MOVED(histogram, move), move)


def _without_the_end(histogram: Any, move: Any) -> Any:
    """Loses the mass that arrives at P - 1."""
    return [*RIGHT_MOVED(histogram, move)[:-1], 0 * histogram[-1]]


def _mixed_backwards(histogram: Any, gates: Any, moves: Any = prism.MOVES) -> Any:
    """Exchanges the gates of increment and decrement."""
    exchanged = {"increment": "decrement", "decrement": "increment"}
    return RIGHT_MIXED(histogram, {exchanged.get(name, name): gate for name, gate in gates.items()}, moves)


def _mixed_in_squares(histogram: Any, gates: Any, moves: Any = prism.MOVES) -> Any:
    return RIGHT_MIXED(histogram, {name: gate**2 for name, gate in gates.items()}, moves)


def _more_positions(mass: Any, *, positions: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    """Starts from position 1."""
    return RIGHT_SUPERPOSITION(lambda place: place * mass(place), positions=positions, frequency=frequency)


WRONG: list[tuple[Any, ...]] = [
    ("prism.moved", _moved_twice, "prism-2 prism-6 prism-5"),
    ("prism.moved", _without_the_end, "prism-1 prism-2 prism-4"),
    ("prism.mixed", _mixed_backwards, "prism-2 prism-6 prism-7 prism-7-first prism-7-numbers"),
    ("prism.mixed", _mixed_in_squares, "prism-1 prism-6 prism-7"),
    ("prism.sharpened", lambda mixture, exponent: RIGHT_SHARPENED(mixture, 2 * exponent), "prism-3 prism-4 prism-7"),
    ("prism.sharpened", lambda mixture, exponent: [mass**exponent for mass in mixture], "prism-1 prism-3"),
    ("prism.superposition", _more_positions, "prism-5"),
    ("prism.least_odds", lambda exponent: (exponent - 1) * exponent ** (-1 / (exponent - 1)), "prism-7 prism-7-first"),
    ("prism.least_odds", lambda exponent: 1 / exponent, "prism-7-numbers prism-7-first"),
    (
        "prism.released_mixed",
        lambda histogram, *, reset, gates: RIGHT_MIXED([(1 - reset) * mass for mass in histogram], gates),
        "prism-10",
    ),
]
