"""The relative law and the norm."""

from collections.abc import Callable

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Strength
from proofs_checks.identity import derivative, require_equal
from proofs_checks.papers.rope.source import PLANES, source
from theory.encodings import rotary, xpos

TurnedBy = Callable[[sp.Expr, sp.Expr], sp.Matrix]


def relative_law(*, query_action: TurnedBy, key_action: TurnedBy, law: TurnedBy) -> Evidence:
    """Decide key_action(i)^T query_action(j) = law(j - i) on one plane, and that `rotary.score` is this kernel."""
    i, offset, w = sp.symbols("i D omega", real=True)
    j = i + offset
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    scored = rotary.score(query, key, query_position=j, key_position=i, frequency=w)
    turn, quarter = rotary.rotation(w), sp.Matrix([[0, -1], [1, 0]])
    facts = (
        require_equal("R(0) = I", lambda: turn.subs(w, 0), sp.eye(2)),
        require_equal("R' = J2 R, so R(t) = exp(t J2)", lambda: derivative(turn, w), lambda: quarter * turn),
        require_equal(
            "R(i)^T R(i + D) = R(D)", lambda: key_action(i, w).T * query_action(j, w), lambda: law(offset, w)
        ),
        require_equal(
            "score of the encoding",
            lambda: rotary.ENCODING.score(query, key, query_position=j, key_position=i).xreplace({rotary.FREQUENCY: w}),
            scored,
        ),
        require_equal("score = k^T R(D) q", scored, lambda: (key.T * law(offset, w) * query)[0]),
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=(PLANES,))


def keeps_norms(*, action: TurnedBy) -> Evidence:
    """Decide that the action is orthogonal, so that it keeps norms and scalar products."""
    position, w = sp.symbols("n omega", real=True)
    content = sp.Matrix(sp.symbols("q1 q2", real=True))
    acting = action(position, w)
    moved = acting * content
    facts = (
        require_equal("|R q|^2 = |q|^2", lambda: moved.dot(moved), lambda: content.dot(content)),
        require_equal("R^T R = I", lambda: acting.T * acting, sp.eye(2)),
        require_equal("det R = 1", acting.det, sp.Integer(1)),
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=(PLANES,))


def _turned(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    return rotary.rotation(position * frequency)


def _stretched_after_turning(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    return sp.diag(1, 2) * rotary.rotation(position * frequency)


def _faded(position: sp.Expr, frequency: sp.Expr) -> sp.Matrix:
    return xpos.actions(position, frequency=frequency, rate=sp.Rational(1, 512))[0]


CLAIMS = (
    Claim(
        id="rope-1",
        source=source("the relative property of the rotary form"),
        statement="After RoPE the score of a query at j and a key at i depends on their positions through j - i alone.",
        latex=r"(R(j)q)\cdot(R(i)k) = k^\top R(j-i)\,q",
        label="P",
        check=relative_law,
        holds={
            "query_action": _turned,
            "key_action": _turned,
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
    Claim(
        id="rope-2",
        source=source("the rotary matrix is orthogonal"),
        statement="RoPE is orthogonal at every position: queries and keys keep their norms.",
        latex=r"R(n)^\top R(n)=I,\quad \lVert R(n)q\rVert=\lVert q\rVert",
        label="P",
        check=keeps_norms,
        holds={"action": _turned},
        falsifiers={
            "with the scaling of xPos": {"action": _faded},
            "with unequal gains": {"action": _stretched_after_turning},
        },
    ),
)
