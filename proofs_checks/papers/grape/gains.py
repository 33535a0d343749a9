"""Normalisation of queries and keys with a gain after the rotation, as in GRAPE's released code (arXiv 2512.07805)."""

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.grape.source import source
from theory.encodings import rotary

FIRST, SECOND = sp.symbols("c_1 c_2", real=True)
"""Products of the query's and the key's gain on the two coordinates of a rotated pair."""


def gains_after_rotation(*, first: sp.Expr, second: sp.Expr) -> Evidence:
    """Decide that R(j)^T C R(i) is a law of j - i for the gain products C = diag(first, second) of a pair."""
    i, distance, shift, w = sp.symbols("i D s omega", real=True)
    facts = [
        require_equal(
            "the kernel at i + s, j + s is that at i, j",
            lambda: _kernel(i + distance + shift, i + shift, w, first, second),
            lambda: _kernel(i + distance, i, w, first, second),
        )
    ]

    def expected() -> sp.Matrix:
        turn, mirror = rotary.rotation(distance * w).T, sp.diag(1, -1)
        reflected = rotary.rotation((2 * i + distance) * w).T * mirror
        return (FIRST + SECOND) / 2 * turn + (FIRST - SECOND) / 2 * reflected

    facts.append(
        require_equal(
            "R(j)^T C R(i) = (c_1 + c_2)/2 R(j - i)^T + (c_1 - c_2)/2 R(i + j)^T S",
            lambda: _kernel(i + distance, i, w, FIRST, SECOND),
            expected,
        )
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "S = diag(1, -1): the second part goes with i + j, and vanishes only for c_1 = c_2", _example()),
        assumptions=("omega not a multiple of pi, where R(i + j) is constant up to its sign", "plane by plane"),
    )


def _kernel(query: sp.Expr, key: sp.Expr, frequency: sp.Expr, first: sp.Expr, second: sp.Expr) -> sp.Matrix:
    on_query, on_key = rotary.rotation(query * frequency), rotary.rotation(key * frequency)
    return on_query.T * sp.diag(first, second) * on_key


def _example() -> str:
    """Scores of q = k = (1, 0) at offset 1 with the gains (1, 2) on both, so C = diag(1, 4), at omega = 1."""
    scores = [_kernel(sp.Integer(key + 1), sp.Integer(key), sp.Integer(1), 1, 4)[0, 0] for key in (0, 1)]
    near, far = (float(score.evalf(20)) for score in scores)
    return f"gains (1, 2), omega = 1, q = k = (1, 0): scores {near:.4f} at (0, 1) and {far:.4f} at (1, 2)"


CLAIMS = (
    Claim(
        id="grape-14",
        source=source("the released code: RMSNorm of queries and keys with a learned gain, after the rotation"),
        statement="With gains after the rotation scores follow j - i if and only if the product of the query's and the "
        "key's gain is the same on both coordinates of every rotated pair (errata F12).",
        latex=r"R(j)^\top\mathrm{diag}(c_1,c_2)R(i)=f(j-i)\iff c_1=c_2,\quad c=\gamma_q\gamma_k",
        label="F",
        check=gains_after_rotation,
        holds={"first": FIRST, "second": FIRST},
        falsifiers={
            "any gains": {"second": SECOND},
            "gains of opposite sign": {"second": -FIRST},
        },
    ),
)
