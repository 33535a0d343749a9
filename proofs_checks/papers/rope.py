"""RoFormer (arXiv 2104.09864)."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Source, Strength
from proofs_checks.identity import require_equal
from theory.encodings import rotary

TurnedBy = Callable[[sp.Expr, sp.Expr], sp.Matrix]


def relative_law(*, query_action: TurnedBy, key_action: TurnedBy, law: TurnedBy) -> Evidence:
    """Decide key_action(i)^T query_action(j) = law(j - i) on one plane, and that `rotary.score` is this kernel."""
    i, offset, w = sp.symbols("i D omega", real=True)
    j = i + offset
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    kernel = key_action(i, w).T * query_action(j, w)
    scored = rotary.score(query, key, query_position=j, key_position=i, frequency=w)
    turn, quarter = rotary.rotation(w), sp.Matrix([[0, -1], [1, 0]])
    facts = (
        require_equal("R(0) = I", turn.subs(w, 0), sp.eye(2)),
        require_equal("R' = J2 R, so R(t) = exp(t J2)", turn.diff(w), quarter * turn),
        require_equal("R(i)^T R(i + D) = R(D)", kernel, law(offset, w)),
        require_equal("score = k^T R(D) q", scored, (key.T * law(offset, w) * query)[0]),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=("the head is a direct sum of planes, each with its own frequency, so every even d follows",),
    )


def _stretched_after_turning(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    return sp.diag(1, 2) * rotary.rotation(position * frequency)


CLAIMS = (
    Claim(
        id="rope-1",
        source=Source(paper="RoFormer (RoPE)", arxiv="2104.09864", place="the relative property of the rotary form"),
        statement="After RoPE the score of a query at j and a key at i depends on their positions through j - i alone.",
        latex=r"(R(j)q)\cdot(R(i)k) = k^\top R(j-i)\,q",
        label="P",
        check=relative_law,
        holds={
            "query_action": lambda position, frequency: rotary.rotation(position * frequency),
            "key_action": lambda position, frequency: rotary.rotation(position * frequency),
            "law": lambda offset, frequency: rotary.rotation(offset * frequency),
        },
        falsifiers={
            "key turned backwards": {
                "key_action": lambda position, frequency: rotary.rotation(-position * frequency),
            },
            "offset reversed": {"law": lambda offset, frequency: rotary.rotation(-offset * frequency)},
            "unequal gains after rotation": {"key_action": _stretched_after_turning},
        },
    ),
)
