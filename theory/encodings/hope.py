"""HoPE: every plane of the head is boosted (a hyperbolic rotation) in proportion to the position, and damped.

Source: HoPE (hyperbolic rotary encoding), arXiv 2509.05218.  The paper writes the query at m and the key at n; here the
query is at j and the key at i, i <= j, at the distance D = j - i.  `rate` is the plane's theta, from
`rotary.frequencies`; `damping` is theta', one for all planes.  The paper requires damping > rate.
"""

from collections.abc import Sequence

import sympy as sp

from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import ONE_LAW, Encoding, Law, Option, Parameter, Properties, Recovery
from lengthgen.theory.relation import relative

RATE = sp.Symbol("theta", positive=True)
MARGIN = sp.Symbol("g", positive=True)

Pair = tuple[sp.Expr, sp.Expr]


def boost(rapidity: sp.Expr) -> sp.Matrix:
    """Boost B(t) = [[cosh t, sinh t], [sinh t, cosh t]] = exp(t X), X = [[0, 1], [1, 0]]; 2 x 2, symmetric.  [P]"""
    return sp.Matrix([[sp.cosh(rapidity), sp.sinh(rapidity)], [sp.sinh(rapidity), sp.cosh(rapidity)]])


def query_action(position: sp.Expr, *, rate: sp.Expr, damping: sp.Expr) -> sp.Matrix:
    """Matrix e^(-j theta') B(j theta) that acts on a query.  [P]"""
    return sp.exp(-position * damping) * boost(position * rate)


def key_action(position: sp.Expr, *, rate: sp.Expr, damping: sp.Expr) -> sp.Matrix:
    """Matrix e^(+i theta') B(-i theta) that acts on a key.  [P]"""
    return sp.exp(position * damping) * boost(-position * rate)


def kernel(offset: sp.Expr, *, rate: sp.Expr, damping: sp.Expr) -> sp.Matrix:
    """Kernel H(D) = e^(-D theta') B(D theta); the score is q^T H(j - i) k.  [F]"""
    return sp.exp(-offset * damping) * boost(offset * rate)


def score(
    query: Sequence[sp.Expr], key: Sequence[sp.Expr], *, offset: sp.Expr, rate: sp.Expr, damping: sp.Expr
) -> sp.Expr:
    """Score e^(-D theta') (S cosh D theta + A sinh D theta), S = q1 k1 + q2 k2, A = q1 k2 + q2 k1.  [P]"""
    (q1, q2), (k1, k2) = query, key
    straight, crossed = q1 * k1 + q2 * k2, q1 * k2 + q2 * k1
    return sp.exp(-offset * damping) * (straight * sp.cosh(offset * rate) + crossed * sp.sinh(offset * rate))


def channels(query: Sequence[sp.Expr], key: Sequence[sp.Expr]) -> Pair:
    """Contents P = (q1 + q2)(k1 + k2) of the slow and N = (q1 - q2)(k1 - k2) of the fast channel.  [F]"""
    (q1, q2), (k1, k2) = query, key
    return (q1 + q2) * (k1 + k2), (q1 - q2) * (k1 - k2)


def decay_rates(*, rate: sp.Expr, damping: sp.Expr) -> Pair:
    """Decay rates theta' - theta of the slow and theta' + theta of the fast channel of a plane.  [F]"""
    return damping - rate, damping + rate


def plane_with(*, slow: sp.Expr, fast: sp.Expr) -> Pair:
    """Rate theta and damping theta' of the plane with these decay rates.  [F]"""
    return (fast - slow) / 2, (fast + slow) / 2


def light_cone_score(
    query: Sequence[sp.Expr], key: Sequence[sp.Expr], *, offset: sp.Expr, rate: sp.Expr, damping: sp.Expr
) -> sp.Expr:
    """Score 1/2 (P e^(-D (theta' - theta)) + N e^(-D (theta' + theta))): two damped channels.  [F]"""
    slow, fast = decay_rates(rate=rate, damping=damping)
    in_slow, in_fast = channels(query, key)
    return (in_slow * sp.exp(-offset * slow) + in_fast * sp.exp(-offset * fast)) / 2


def light_cone() -> sp.Matrix:
    """Matrix [[1, 1], [1, -1]], sqrt(2) times the orthogonal basis in which H(D) is diagonal.  [F]"""
    return sp.Matrix([[1, 1], [1, -1]])


def decay_factors(*, rate: sp.Expr, damping: sp.Expr) -> Pair:
    """Eigenvalues e^(-theta' + theta) and e^(-theta' - theta) of one step H(1).  [F]"""
    slow, fast = decay_rates(rate=rate, damping=damping)
    return sp.exp(-slow), sp.exp(-fast)


def falling_margins(query: Sequence[sp.Expr], key: Sequence[sp.Expr], *, rate: sp.Expr, damping: sp.Expr) -> Pair:
    """Margins P and P (theta' - theta) + N (theta' + theta) of a score that decreases with the distance.

    The score never increases with D >= 0 iff neither margin is negative.  [F]
    """
    slow, fast = decay_rates(rate=rate, damping=damping)
    in_slow, in_fast = channels(query, key)
    return in_slow, in_slow * slow + in_fast * fast


def peaked_key(query: Sequence[sp.Expr], *, offset: sp.Expr, rate: sp.Expr, damping: sp.Expr) -> Pair:
    """Key whose score is largest at this distance D: P (theta' - theta) + N (theta' + theta) e^(-2 D theta) = 0, P > 0.

    The query must be off the light cone: q1 is neither q2 nor -q2.  [F]
    """
    slow, fast = decay_rates(rate=rate, damping=damping)
    q1, q2 = query
    along, across = fast / (q1 + q2), -slow * sp.exp(2 * offset * rate) / (q1 - q2)
    return (along + across) / 2, (along - across) / 2


def _query_and_key_actions(position: sp.Expr, _: sp.Expr) -> tuple[sp.Matrix, sp.Matrix]:
    """Matrices that act on a query and on a key at a position."""
    law = {"rate": RATE, "damping": RATE + MARGIN}
    return query_action(position, **law), key_action(position, **law)


HOPE = Encoding(
    name="hope",
    title="HoPE",
    arxiv="2509.05218",
    summary="decaying, hyperbolic (HoPE)",
    options={"base": rotary.BASE, "damping": Option(default=1.1, least=0, most=1e6), "learned": Option(default=True)},
    caveat=ONE_LAW,
    planes="head",
    parameters=(
        Parameter(RATE, "rapidity of the plane in one step, from `rotary.frequencies`"),
        Parameter(MARGIN, "theta' - theta of the plane, with one theta' for all", learned=sp.Integer(1)),
    ),
    rotate=_query_and_key_actions,
    relation=relative(),
    laws=(Law.RELATIVE, Law.TRANSLATION, Law.STREAMING),
    properties=Properties(far="logit to 0, all alike", causal_only=True),
    recovers=(Recovery("nope", {RATE: sp.Integer(0), MARGIN: sp.Integer(0)}, attained=False),),
)

ENCODINGS = (HOPE,)
