"""PRISM (arXiv 2506.00920): its histogram filter, sharpening and superposition.

The paper's body was not at hand.  That there are a histogram, four gates, sharpening by a power and a superposition of
sinusoidal codes is the paper's; how they fit together, and what is stated of them, is our reconstruction [F].  The
author's notebook, which is public, differs in the reset (prism-10).
"""

import sympy as sp

from lengthgen.proofs_checks.claim import Source

SOURCE = Source(
    paper="Position as Probability (PRISM)",
    arxiv="2506.00920",
    place="abstract and a summary; the statement is our reconstruction",
)


def noisy_gates(share: sp.Expr) -> dict[str, sp.Expr]:
    """Gates that increment with this probability and keep otherwise."""
    return {"increment": share, "keep": 1 - share}
