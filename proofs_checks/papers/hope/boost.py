"""The boost: the relative law of its scores, and what it does to norms."""

from collections.abc import Callable, Sequence

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Strength
from proofs_checks.identity import derivative, require_equal
from proofs_checks.papers.hope.source import source
from theory.encodings import hope

Action = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Matrix]


def relative_law(*, key_action: Action, direction: int) -> Evidence:
    """Decide that boosted and damped queries and keys score by the offset alone, with the stated formula."""
    i, distance, theta, damping = sp.symbols("i D theta theta'", real=True)
    j = i + distance
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    shared = {"rate": theta, "damping": damping}
    offset = direction * distance

    def kernel() -> sp.Matrix:
        return hope.query_action(j, **shared).T * key_action(i, theta, damping)

    def stated() -> sp.Expr:
        return hope.score(query, key, offset=offset, **shared)

    boost, flip = hope.boost(theta), sp.Matrix([[0, 1], [1, 0]])
    own = {"rate": hope.RATE, "damping": hope.RATE + hope.MARGIN}
    tests = (
        ("B(0) = I", lambda: boost.subs(theta, 0), sp.eye(2)),
        ("B' = X B, so B(t) = exp(tX)", lambda: derivative(boost, theta), lambda: flip * boost),
        ("actions at j = i + D and i = H(D)", kernel, lambda: hope.kernel(offset, **shared)),
        ("score = e^(-D theta') (S cosh D theta + A sinh D theta)", lambda: (query.T * kernel() * key)[0], stated),
        (
            "the encoding scores so, with theta' = theta + g above theta",
            lambda: hope.ENCODING.score(query, key, query_position=j, key_position=i),
            lambda: hope.score(query, key, offset=distance, **own),
        ),
        (
            "score = (P e^(-D (theta' - theta)) + N e^(-D (theta' + theta)))/2",
            stated,
            lambda: hope.light_cone_score(query, key, offset=offset, **shared),
        ),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(require_equal(*test) for test in tests),
        assumptions=("the head is a direct sum of planes, so every even d follows", "exact arithmetic"),
    )


def lorentz(*, form: sp.Matrix, bound: Callable[[sp.Expr], sp.Expr], attained: Sequence[int]) -> Evidence:
    """Decide that the boost keeps the form, and which factor bounds the growth of the Euclidean norm.

    With u = q1 + q2 and v = q1 - q2 the boost multiplies u by e^t and v by e^-t, and |q|^2 = (u^2 + v^2)/2.
    """
    t = sp.Symbol("t", real=True)
    query = sp.Matrix(sp.symbols("q1 q2", real=True))
    boost = hope.boost(t)
    boosted = boost * query
    u, v = hope.light_cone() * query
    room = bound(t) ** 2 * query.dot(query) - boosted.dot(boosted)
    extreme = sp.Matrix(attained)
    tests = (
        ("B^T G B = G", lambda: boost.T * form * boost, form),
        ("B^T B = B(2t), which is I at t = 0 only: not orthogonal", lambda: boost.T * boost, lambda: hope.boost(2 * t)),
        ("e^(2t) |q|^2 - |B q|^2 = v^2 sinh 2t, not negative for t >= 0", room, lambda: v**2 * sp.sinh(2 * t)),
        (f"attained at q = {tuple(attained)}: B q = e^t q", lambda: boost * extreme, lambda: bound(t) * extreme),
        (
            "B(-t) is B(t) with v and u exchanged: e^|t| for t < 0",
            (lambda: boost * sp.diag(1, -1)),
            lambda: sp.diag(1, -1) * boost.subs(t, -t),
        ),
        ("u^2 + v^2 = 2 |q|^2", lambda: u**2 + v**2, lambda: 2 * query.dot(query)),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(require_equal(*test) for test in tests),
        assumptions=("one plane; over a head the largest factor of its planes bounds the growth",),
    )


CLAIMS = (
    Claim(
        id="hope-1",
        source=source("definition of the query and key maps, and the score that follows"),
        statement="HoPE's score depends on positions through D = j - i alone: two channels per plane that decay at the "
        "rates theta' - theta and theta' + theta.",
        latex=r"e^{-D\theta'}(S\cosh D\theta + A\sinh D\theta)"
        r"=\tfrac12\big(Pe^{-D(\theta'-\theta)}+Ne^{-D(\theta'+\theta)}\big)",
        label="P",
        check=relative_law,
        holds={
            "key_action": lambda position, rate, damping: hope.key_action(position, rate=rate, damping=damping),
            "direction": 1,
        },
        falsifiers={
            "key boosted forwards": {
                "key_action": lambda position, rate, damping: hope.key_action(position, rate=-rate, damping=damping),
            },
            "key not damped": {
                "key_action": lambda position, rate, damping: hope.key_action(
                    position, rate=rate, damping=sp.Integer(0)
                ),
            },
            "offset reversed": {"direction": -1},
        },
    ),
    Claim(
        id="hope-2",
        source=source("the boost as a Lorentz transformation"),
        statement="The boost keeps q1^2 - q2^2 and not the norm: |B(t) q| <= e^|t| |q|, with equality at q1 = q2 for "
        "t > 0 and at q1 = -q2 for t < 0.",
        latex=r"B^\top\mathrm{diag}(1,-1)B=\mathrm{diag}(1,-1),\quad \|B(t)q\|\le e^{|t|}\|q\|",
        label="P",
        check=lorentz,
        holds={"form": sp.ImmutableMatrix(sp.diag(1, -1)), "bound": sp.exp, "attained": (1, 1)},
        falsifiers={
            "norm preserved": {"form": sp.ImmutableMatrix(sp.eye(2))},
            "bounded by cosh t": {"bound": sp.cosh},
            "attained at q2 = 0": {"attained": (1, 0)},
            "attained at q1 = -q2": {"attained": (1, -1)},
        },
    ),
)
