"""Why SRC allows no hidden gates (arXiv 2510.04130, Def. 4, in our formalisation): one gate composes every function."""

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.papers.pola.source import source

Gate = Callable[[int, int], int]

ARGUMENTS: Mapping[int, tuple[int, ...]] = {2: (1, 2, 3), 3: (1, 2)}
"""Symbols -> numbers of arguments for which all functions are composed."""


def one_gate_is_enough(*, gates: Mapping[int, Gate], depth: int | None) -> Evidence:
    """Decide whether the gate of each alphabet, nested at most `depth` deep, composes every function."""
    facts = []
    for symbols, gate in gates.items():
        for arguments in ARGUMENTS[symbols]:
            reached = composed(gate, symbols, arguments, depth=depth)
            if not reached.all():
                missed = np.base_repr(int(np.argmin(reached)), symbols).zfill(symbols**arguments)
                raise Refuted(
                    f"q = {symbols}: {reached.sum()} of {len(reached)} functions of {arguments} are composed, not the "
                    f"one with the values {missed}"
                )
            facts.append(f"q = {symbols}: all {len(reached)} functions of {arguments}")
    return Evidence(
        strength=Strength.EXHAUSTIVE,
        reach="1, 2 and 3 bits",
        facts=(
            *facts,
            "so with hidden nodes, whose tokens are not part of the text, one operator serves every step: SRC would be "
            "1 for every task of bounded arity",
        ),
        assumptions=("for more symbols or arguments, Webb's theorem (a textbook fact)",),
    )


def composed(gate: Gate, symbols: int, arguments: int, *, depth: int | None = None) -> NDArray[np.bool_]:
    """Which functions the gate composes from its arguments: bool [q^(q^m)], indexed by the values as a number.

    Values stand in lexicographic order of the arguments. They are held in pieces of q, so that the gate on two pieces
    is one entry of a table. Stops once all functions are there.
    """
    digits = np.array(list(product(range(symbols), repeat=symbols)))
    of_symbols = np.array([[gate(a, b) for b in range(symbols)] for a in range(symbols)])
    powers = symbols ** np.arange(symbols)[::-1]
    of_pieces = of_symbols[digits[:, None], digits[None, :]] @ powers
    places = len(digits) ** np.arange(symbols ** (arguments - 1))[::-1]
    orders = [of_pieces] if (of_pieces == of_pieces.T).all() else [of_pieces, of_pieces.T]
    tables = [np.multiply.outer(places, of_one).astype(np.int32) for of_one in orders]

    words = np.array(list(product(range(symbols), repeat=arguments)))
    known = words.T.reshape(arguments, len(places), symbols) @ powers
    reached = np.zeros(len(digits) ** len(places), dtype=bool)
    reached[known @ places] = True
    old = level = 0
    while old < len(known) and level != depth:
        found = reached.copy()
        columns = np.ascontiguousarray(known.T)
        for last in range(old, len(known)):
            for table in tables:
                composites = table[0, known[last, 0]].take(columns[0, : last + 1])
                for place in range(1, len(places)):
                    composites += table[place, known[last, place]].take(columns[place, : last + 1])
                found[composites] = True
            if found.all():
                return found
        fresh = np.flatnonzero(found & ~reached)
        old, known = len(known), np.concatenate([known, fresh[:, None] // places % len(digits)])
        reached = found
        level += 1
    return reached


def _webb(symbols: int) -> Gate:
    return lambda a, b: (max(a, b) + 1) % symbols


CLAIMS = (
    Claim(
        id="src-hidden",
        source=source("Definition 4", "that a circuit has no nodes but the text, which is ours"),
        statement="If hidden nodes were free, one unit operator would do for every task: NAND composes all functions "
        "of 1, 2 and 3 bits, max(x, y) + 1 mod 3 all functions of 1 and 2 ternary symbols.",
        latex=r"\langle \mathrm{NAND}\rangle=\bigcup_m\{0,1\}^{\{0,1\}^m},\quad "
        r"\langle \max(x,y)+1\rangle=\bigcup_m\{0,1,2\}^{\{0,1,2\}^m}",
        label="F",
        check=one_gate_is_enough,
        holds={"gates": {2: _webb(2), 3: _webb(3)}, "depth": None},
        falsifiers={
            "and": {"gates": {2: min, 3: _webb(3)}},
            "xor": {"gates": {2: lambda a, b: a ^ b, 3: _webb(3)}},
            "maximum": {"gates": {2: _webb(2), 3: max}},
            "maximum plus one, cut off": {"gates": {2: _webb(2), 3: lambda a, b: min(max(a, b) + 1, 2)}},
            "sum plus one": {"gates": {2: _webb(2), 3: lambda a, b: (a + b + 1) % 3}},
            "without nesting": {"depth": 1},
        },
    ),
)
