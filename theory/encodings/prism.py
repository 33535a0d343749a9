"""PRISM: a token's position is a histogram, which gates computed from the tokens move on and a power sharpens.

Source: P. H. Lee, Position as Probability, arXiv 2506.00920.  Its body was not at hand.  Histogram, the four gates,
sharpening and the superposition of sinusoidal codes are those of a summary [P]; the boundary, the start, the network of
the gates and the addition to the token embeddings are our reconstruction [F].  Positions are 0 .. P - 1.

The author's notebook (philee101/prism-extrapolation) has many variants of the filter.  In those that were read the
reset has a gate of its own and comes before the move (`released_mixed`, claim prism-10), where here it takes the place
of the move.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import sympy as sp

from lengthgen.theory.encodings import absolute, rotary
from lengthgen.theory.encodings.encoding import ONE_LAW, WIDTH, Encoding, Family, Law, Option, Parameter, Properties

Number: TypeAlias = Any
"""Symbolic expression, fraction or floating-point number."""
Move = Callable[[Number, Number], Number]
"""(position, last position P - 1) -> position after the move."""

FREQUENCY = rotary.FREQUENCY
POSITIONS = sp.Symbol("P", integer=True, positive=True)
HISTOGRAMS = sp.IndexedBase("h", nonnegative=True)
GATE_WIDTH = 32
"""Width of the recurrent network that computes the gates.  [F]"""
_PLACE = sp.Symbol("k", integer=True, nonnegative=True)

MOVES: Mapping[str, Move] = {
    "reset": lambda position, last: 0 * position,
    "increment": lambda position, last: sp.Min(position + 1, last),
    "decrement": lambda position, last: sp.Max(position - 1, 0),
    "keep": lambda position, last: position,
}
"""Move of each gate.  [P]  Beyond an end it stays at the end: clamped.  [F]"""


@cache
def _arrivals(move: Move, count: int) -> tuple[int, ...]:
    """Position at which each of `count` positions arrives."""
    return tuple(int(move(sp.Integer(position), sp.Integer(count - 1))) for position in range(count))


def moved(histogram: Sequence[Number], move: Move) -> list[Number]:
    """Histogram after a move of every position: its mass is added up where it arrives.

    Mass that would leave 0 .. P - 1 is lost; no move of `MOVES` does so.
    """
    result = [0 * mass for mass in histogram]
    for place, mass in zip(_arrivals(move, len(histogram)), histogram, strict=True):
        if 0 <= place < len(histogram):
            result[place] = result[place] + mass
    return result


def mixed(histogram: Sequence[Number], gates: Mapping[str, Number], moves: Mapping[str, Move] = MOVES) -> list[Number]:
    """Mixture n = sum over the moves g of p_g times the histogram moved by g, p the gates.  [P]"""
    parts = [(gate, moved(histogram, moves[name])) for name, gate in gates.items()]
    return [sum(gate * part[place] for gate, part in parts) for place in range(len(histogram))]


def released_mixed(
    histogram: Sequence[Number], *, reset: Number, gates: Mapping[str, Number], moves: Mapping[str, Move] = MOVES
) -> list[Number]:
    """Mixture of the released filter: (1 - r) h + r e_0, r the gate of a reset, moved by the other gates.  [P, code]

    The other gates add up to 1; the code takes r of the mass to 1 with increments and to 0 with the rest.
    """
    first, *others = ((1 - reset) * mass for mass in histogram)
    return mixed([first + reset, *others], gates, moves)


def sharpened(mixture: Sequence[Number], exponent: Number) -> list[Number]:
    """Histogram h_k = n_k^gamma / sum of all n_l^gamma.  [P]"""
    powers = [mass**exponent for mass in mixture]
    return [power / sum(powers) for power in powers]


def step(histogram: Sequence[Number], gates: Mapping[str, Number], exponent: Number) -> list[Number]:
    """Histogram of a token from that of the token before it, which is 1 at position 0 for the first token.  [F]"""
    return sharpened(mixed(histogram, gates), exponent)


EXPONENTS: Mapping[str, Callable[[Number], Number]] = {
    "learned": lambda number: 1 + sp.log(1 + sp.exp(number)),
    "none": lambda _: sp.S.One,
}
"""Exponent gamma as a function of the trained number, by the option `sharpening`.

That training decides gamma >= 1 is the paper's [P], the softplus is ours [F]; "none" is the paper's ablation.  With it,
a step is linear and there is no trained number.
"""


def superposition(mass: Callable[[sp.Expr], sp.Expr], *, positions: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    """Sinusoidal codes of all positions k < P, weighted by their mass, 2 x 1 unevaluated sums.  [P]"""
    code = absolute.sinusoidal_code(_PLACE, frequency=frequency)
    return sp.Matrix([sp.Sum(mass(_PLACE) * entry, (_PLACE, 0, positions - 1)) for entry in code])


def least_odds(exponent: sp.Expr) -> sp.Expr:
    """Largest (1 - p)/p at which gates p of increment and 1 - p of keep, at every token, count every token.  [F]

    It is (gamma - 1) gamma^(-gamma/(gamma - 1)) for an exponent gamma > 1.
    """
    return (exponent - 1) * exponent ** (-exponent / (exponent - 1))


PRISM = Encoding(
    name="prism",
    title="PRISM",
    arxiv="2506.00920",
    summary="sinusoidal codes of counted positions (PRISM)",
    options={
        "positions": Option(default=128, least=2, most=65_536),
        "sharpening": Option(default="learned", words=tuple(EXPONENTS)),
    },
    no_relation="the tokens decide the position of each token, so a pair of positions has no label of its own",
    caveat=ONE_LAW,
    repeats="the tokens decide the positions: tokens may share one, and positions from P on are all P - 1",
    planes="width",
    parameters=(
        Parameter(FREQUENCY, "angle of the plane in one step, from `rotary.frequencies`"),
        Parameter(POSITIONS, "number of positions of a histogram"),
        Parameter(
            HISTOGRAMS,
            "mass of the token's histogram at position k: `step` of the gates of all tokens so far, which are "
            "softmax(W g + b) of the state g of a GRU over the token embeddings; and the exponent gamma",
            learned=3 * GATE_WIDTH * (WIDTH + GATE_WIDTH + 2) + 4 * (GATE_WIDTH + 1) + 1,
            family=Family.PREFIX,
        ),
    ),
    embed=lambda position: superposition(
        lambda place: HISTOGRAMS[position, place], positions=POSITIONS, frequency=FREQUENCY
    ),
    laws=(Law.TRANSLATION, Law.STREAMING),
    properties=Properties(far="the position enters"),
)

ENCODINGS = (PRISM,)
