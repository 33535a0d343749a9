"""PRISM (arXiv 2506.00920): its histogram filter, sharpening and superposition.

The paper's body was not at hand.  That there are a histogram, four gates, sharpening by a power and a superposition of
sinusoidal codes is the paper's; how they fit together, and what is stated of them, is our reconstruction [F].  The
author's notebook, which is public, differs in the reset (prism-10).
"""

from collections.abc import Mapping

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Source
from lengthgen.theory.encodings.prism import Move

SOURCE = Source(
    paper="Position as Probability (PRISM)",
    arxiv="2506.00920",
    place="abstract and a summary; the statement is our reconstruction",
)


def require_moves_inside(moves: Mapping[str, Move]) -> str:
    """Return the fact that every move leads from 0 .. P - 1 to 0 .. P - 1, for every P.

    Raises:
        Refuted: a move leaves the range.
    """
    before, after = sp.symbols("a b", integer=True, nonnegative=True)
    for name, move in moves.items():
        for position in (sp.S.Zero, before + 1):
            for last in (position, position + 1 + after):
                place = sp.sympify(move(position, last))
                if not (place.is_nonnegative and (last - place).is_nonnegative):
                    example = {before: 1, after: 1}
                    raise Refuted(
                        f"{name} leads from position {position.subs(example)} of 0 .. {last.subs(example)} to "
                        f"{place.subs(example)}"
                    )
    return f"{', '.join(moves)} lead from 0 .. P - 1 to 0 .. P - 1: decided at 0 or beyond, at P - 1 or before"


def noisy_gates(share: sp.Expr) -> dict[str, sp.Expr]:
    """Gates that increment with this probability and keep otherwise."""
    return {"increment": share, "keep": 1 - share}
