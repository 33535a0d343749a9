"""HoPE, hyperbolic rotary encoding (arXiv 2509.05218): its scores, their decay (errata F4), RoPE as a case, its keys.

RoPE by continuation (errata F5), keys for a wanted distance (errata F6), absolute factors (errata F7).
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from itertools import pairwise, product
from operator import add
from typing import Any

import flint
import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Source, Strength
from lengthgen.proofs_checks.facts import Formula, ball, derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.formulas import alibi
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims, refute
from lengthgen.theory.encodings import hope, rotary
from lengthgen.theory.zero.enclosure import enclose
from lengthgen.theory.zero.sympy_engine import Undecided

SOURCE = Source(paper="HoPE (hyperbolic rotary encoding)", arxiv="2509.05218")
CLAIMS = PaperClaims(SOURCE)
Pair = tuple[sp.Expr, sp.Expr]
Evaluate = Callable[..., float]
"""(position of the key, offset, dtype) -> the computed score."""

THETA, GAP = sp.symbols("theta g", positive=True)
"""Parameters of a plane: theta > 0 and g > 0, where theta' = theta + g."""
LAW: dict[str, Any] = {"rate": THETA, "damping": THETA + GAP}
QUERY: Pair = sp.symbols("q1 q2", real=True)
KEY: Pair = sp.symbols("k1 k2", real=True)
OFFSET = sp.Symbol("D", integer=True, nonnegative=True)
_D = sp.Symbol("D", nonnegative=True)
NUMBERS: dict[str, Any] = {"rate": sp.Integer(1), "damping": sp.Rational(11, 10)}
"""Parameters of the examples."""
_AT_ONE = {THETA: sp.Integer(1), GAP: sp.Rational(1, 10)}
_HOPE_TO_ROPE = "recovery of RoPE as a special case"
_DISTANCES = (sp.S.Zero, sp.Rational(1, 1000), sp.S.One, sp.Integer(10), sp.Integer(50), sp.Integer(100))
"""Distances that show if a score rises: it does so at once, or far out where only the slow channel is left."""
_OFFSETS_SEEN = range(-2, 7)
OFFSETS = (0, 1, 7)
_QUERY, _KEY = (sp.Rational(3, 4), sp.Rational(1, 4)), (sp.Rational(1, 2), sp.Rational(-3, 8))
_QUOTED, _FARTHEST = 15, 2**12
_ROUNDINGS = 6  # u of the query and of the key, their product, the decay, its product, the sum; the half is exact


def decaying(query: Sequence[sp.Expr], key: Sequence[sp.Expr], offset: sp.Expr, law: dict[str, Any]) -> sp.Expr:
    """Score as the sum of the two channels that decay."""
    slow, fast = hope.decay_rates(**law)
    in_slow, in_fast = hope.channels(query, key)
    return (in_slow * sp.exp(-offset * slow) + in_fast * sp.exp(-offset * fast)) / 2


def _key_action(position: sp.Expr, rate: sp.Expr, damping: sp.Expr) -> sp.Matrix:
    return hope.key_action(position, rate=rate, damping=damping)


@CLAIMS.claim(
    "hope-1",
    "definition of the query and key maps, and the score that follows",
    r"e^{-D\theta'}(S\cosh D\theta + A\sinh D\theta)"
    r"=\tfrac12\big(Pe^{-D(\theta'-\theta)}+Ne^{-D(\theta'+\theta)}\big)",
    label="P",
    assumptions=("the head is a direct sum of planes, so every even d follows", "exact arithmetic"),
    falsifiers={
        "key boosted forwards": {"key_action": lambda position, rate, damping: _key_action(position, -rate, damping)},
        "key not damped": {"key_action": lambda position, rate, damping: _key_action(position, rate, sp.S.Zero)},
        "offset reversed": {"direction": -1},
    },
)
def relative_law(key_action: Formula = _key_action, direction: int = 1) -> Facts:
    """HoPE's score depends on positions through D = j - i alone: two channels per plane that decay at the rates theta'
    - theta and theta' + theta.
    """
    i, D, theta, damping = sp.symbols("i D theta theta'", real=True)
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    law, offset = {"rate": theta, "damping": damping}, direction * D
    boost, flip = hope.boost(theta), sp.Matrix([[0, 1], [1, 0]])
    own = {"rate": hope.RATE, "damping": hope.RATE + hope.MARGIN}

    def kernel() -> sp.Matrix:
        return hope.query_action(i + D, **law).T * key_action(i, theta, damping)

    def stated() -> sp.Expr:
        return hope.score(query, key, offset=offset, **law)

    yield "B(0) = I", lambda: boost.subs(theta, 0), sp.eye(2)
    yield "B' = X B, so B(t) = exp(tX)", lambda: derivative(boost, theta), lambda: flip * boost
    yield "actions at j = i + D and i = H(D)", kernel, lambda: hope.kernel(offset, **law)
    yield "score = e^(-D theta') (S cosh D theta + A sinh D theta)", lambda: (query.T * kernel() * key)[0], stated
    yield (
        "the encoding scores so, with theta' = theta + g above theta",
        lambda: hope.HOPE.score(query, key, query_position=i + D, key_position=i),
        lambda: hope.score(query, key, offset=D, **own),
    )
    channels = "score = (P e^(-D (theta' - theta)) + N e^(-D (theta' + theta)))/2"
    yield channels, stated, lambda: hope.light_cone_score(query, key, offset=offset, **law)


@CLAIMS.claim(
    "hope-2",
    "the boost as a Lorentz transformation",
    r"B^\top\mathrm{diag}(1,-1)B=\mathrm{diag}(1,-1),\quad \|B(t)q\|\le e^{|t|}\|q\|",
    label="P",
    assumptions=("one plane; over a head the largest factor of its planes bounds the growth",),
    falsifiers={
        "norm preserved": {"form": sp.ImmutableMatrix(sp.eye(2))},
        "bounded by cosh t": {"bound": sp.cosh},
        "attained at q2 = 0": {"attained": (1, 0)},
        "attained at q1 = -q2": {"attained": (1, -1)},
    },
)
def lorentz(
    form: sp.Matrix = sp.ImmutableMatrix(sp.diag(1, -1)), bound: Formula = sp.exp, attained: Sequence[int] = (1, 1)
) -> Facts:
    """The boost keeps q1^2 - q2^2 and not the norm: |B(t) q| <= e^|t| |q|, with equality at q1 = q2 for t > 0 and at q1
    = -q2 for t < 0.

    With u = q1 + q2 and v = q1 - q2 the boost multiplies u by e^t and v by e^-t, and |q|^2 = (u^2 + v^2)/2.
    """
    t = sp.Symbol("t", real=True)
    query, extreme, mirror = sp.Matrix(QUERY), sp.Matrix(attained), sp.diag(1, -1)
    B = hope.boost(t)
    u, v = hope.light_cone() * query
    boosted = B * query
    room = bound(t) ** 2 * query.dot(query) - boosted.dot(boosted)
    yield "B^T G B = G", lambda: B.T * form * B, form
    yield "B^T B = B(2t), which is I at t = 0 only: not orthogonal", lambda: B.T * B, lambda: hope.boost(2 * t)
    yield "e^(2t) |q|^2 - |B q|^2 = v^2 sinh 2t, not negative for t >= 0", room, lambda: v**2 * sp.sinh(2 * t)
    yield f"attained at q = {tuple(attained)}: B q = e^t q", lambda: B * extreme, lambda: bound(t) * extreme
    yield "B(-t) is B(t) with v and u exchanged: e^|t| for t < 0", lambda: B * mirror, lambda: mirror * B.subs(t, -t)
    yield "u^2 + v^2 = 2 |q|^2", lambda: u**2 + v**2, lambda: 2 * query.dot(query)


@CLAIMS.claim(
    "hope-3",
    "exponential decay with the damping theta' > theta",
    r"\theta'>\theta\ \Rightarrow\ |s(D)|\le\tfrac12(|P|+|N|)\,e^{-D(\theta'-\theta)}\to 0",
    label="P",
    assumptions=("theta, g > 0 and D >= 0 real; a head is a finite sum of planes",),
    falsifiers={
        "theta' = theta": {"damping": lambda theta, gap: theta},
        "theta' below theta": {"damping": lambda theta, gap: theta - gap},
        "as fast as the fast channel": {"bound_rate": lambda theta, damping: damping + theta},
        "as fast as the damping": {"bound_rate": lambda theta, damping: damping},
    },
)
def vanishing(
    damping: Formula = lambda theta, gap: theta + gap, bound_rate: Formula = lambda theta, damping: damping - theta
) -> Facts:
    """With theta' above every theta the score tends to 0 as D grows: each plane's is at most (|P| + |N|)/2 e^(-D
    (theta' - theta)) in absolute value.
    """
    damped = damping(THETA, GAP)
    law: dict[str, Any] = {"rate": THETA, "damping": damped}
    numbers, far = {name: value.subs(_AT_ONE) for name, value in law.items()}, sp.Integer(10)
    channels, stated = decaying(QUERY, KEY, _D, law), bound_rate(THETA, damped)
    yield "score = (P e^(-D slow) + N e^(-D fast))/2", lambda: hope.score(QUERY, KEY, offset=_D, **law), channels
    for name, content, rate in zip(("slow", "fast"), ((1, 1), (1, -1)), hope.decay_rates(**law), strict=True):
        excess = sp.expand(rate - stated)
        score = sp.N(hope.score(content, content, offset=far, **numbers), 6)
        bound = sp.N(2 * sp.exp(-far * stated.subs(_AT_ONE)), 6)
        refute(
            not (stated.is_positive and excess.is_nonnegative),
            f"{name} channel: the score of q = k = {content} is {score} at D = {far}, 2 at D = 0, and "
            f"the bound is {bound}, for theta = {numbers['rate']}, theta' = {numbers['damping']}",
        )
        yield f"{name} channel: its rate less {stated} is {excess} >= 0"
    yield f"{stated} > 0, so the score tends to 0 exponentially"


def _compare_with_scores(margins: Formula) -> None:
    """Raise `Refuted` for small content whose scores rise although the margins say that they do not, or the reverse.

    A score that rises does so from D = 0 on or from far D on.
    """
    for law in (NUMBERS, NUMBERS | {"damping": sp.Integer(2)}):
        kernels = [[ball(entry.rewrite(sp.exp)) for entry in hope.kernel(D, **law)] for D in _DISTANCES]
        for q2, q1, k2, k1 in product(*[(0, 1, -1, 2, -2)] * 4):
            scores = [k1 * (a * q1 + b * q2) + k2 * (c * q1 + d * q2) for a, b, c, d in kernels]
            rises = any(after - before > 1e-20 for before, after in pairwise(scores))
            if rises == all(margin >= 0 for margin in margins((q1, q2), (k1, k2), **law)):
                course = ", ".join(score.str(4, radius=False) for score in scores)
                content = f"q = {(q1, q2)}, k = {(k1, k2)}, theta = {law['rate']}, theta' = {law['damping']}"
                does = f"{'rises' if rises else 'never rises'}, it is {course} at D = {', '.join(map(str, _DISTANCES))}"
                refute(True, f"{content}: the score {does}")


@CLAIMS.claim(
    "hope-4",
    "monotone decay of attention",
    r"s\ \text{non-increasing on}\ [0,\infty)\iff P\ge0\ \wedge\ P(\theta'-\theta)+N(\theta'+\theta)\ge0",
    assumptions=(
        "one plane, theta' > theta > 0",
        "P = (q1 + q2)(k1 + k2), N = (q1 - q2)(k1 - k2), S = q1 k1 + q2 k2, A = q1 k2 + q2 k1",
    ),
    printed={"margins": lambda *content, **law: ()},
    falsifiers={
        "P >= 0 alone": {"margins": lambda *content, **law: hope.falling_margins(*content, **law)[:1]},
        "the second margin alone": {"margins": lambda *content, **law: hope.falling_margins(*content, **law)[1:]},
        "P >= 0 and N >= 0": {"margins": lambda *content, **law: hope.channels(*content)},
    },
)
def falling(margins: Formula = hope.falling_margins) -> Facts:
    """The score of one plane never rises with the real distance D >= 0 if and only if P >= 0 and P (theta' - theta) + N
    (theta' + theta) >= 0; the second is S theta' >= A theta (errata F4: the paper says that it falls for all content).

    The derivative is -e^(-D slow)/2 times P slow + N fast w, with w = e^(-2 D theta), which is linear in w. As D runs
    over [0, oo), w runs over (0, 1]. So the derivative is never positive iff the line is not negative at w = 0 and at w
    = 1.
    """
    _compare_with_scores(margins)
    (q1, q2), (k1, k2), w = QUERY, KEY, sp.Symbol("w", positive=True)
    slow, fast = hope.decay_rates(**LAW)
    in_slow, in_fast = hope.channels(QUERY, KEY)
    line = in_slow * slow + in_fast * fast * w
    bracket = line.subs(w, sp.exp(-2 * _D * THETA))
    slope = hope.score(QUERY, KEY, offset=_D, **LAW).diff(_D)
    stated = margins(QUERY, KEY, **LAW)
    if len(stated) != 2:
        raise Undecided(f"{len(stated)} margins, and no small content that they misjudge")
    derived = "d score/dD = -e^(-D slow)/2 (P slow + N fast e^(-2 D theta))"
    yield derived, slope, lambda: -sp.exp(-_D * slow) / 2 * bracket
    at_zero = "the line at w = 0 is the first margin times theta' - theta > 0"
    yield at_zero, lambda: line.subs(w, 0), lambda: stated[0] * slow
    yield "the line at w = 1 is the second margin", lambda: line.subs(w, 1), lambda: stated[1]
    S, A = q1 * k1 + q2 * k2, q1 * k2 + q2 * k1
    yield "second margin = 2 (S theta' - A theta)", lambda: stated[1], lambda: 2 * (S * (THETA + GAP) - A * THETA)
    yield "a line is not negative on (0, 1] iff it is not negative at both ends"


def content_of_five(offset: sp.Expr) -> sp.Expr:
    """HoPE's score of q = (1, 1), k = (5/2, 5/2) at theta = 1, theta' = 1.1: 5 in the slow channel, of rate 0.1."""
    half = sp.Rational(5, 2)
    return hope.light_cone_score((1, 1), (half, half), offset=offset, **NUMBERS)


def alibi_of_five(offset: sp.Expr) -> sp.Expr:
    """ALiBi's logit for the same content, with the slope 0.05."""
    return 5 + alibi(offset, sp.Rational(1, 20))


@cache
def _beyond(law: sp.Expr, length: int, beyond: int) -> tuple[Any, Any]:
    """Share of the mass beyond the distance, and the weight of the last key over that of the first key beyond it.

    The law is the weight at the distance OFFSET.
    """
    with flint.ctx.workprec(64):
        weights: list[Any] = [enclose(law, bits=64, given={OFFSET: distance}) for distance in range(length)]
        return reduce(add, weights[beyond + 1 :]) / reduce(add, weights), weights[-1] / weights[beyond + 1]


@CLAIMS.claim(
    "hope-5",
    "decay of attention weights with distance",
    r"\sum_{D>50}a_D \approx 0.888,\quad a_D\propto e^{5e^{-D/10}},\ T=4096",
    strength=Strength.INTERVAL,
    answers=("share", "last_to_first", "other_share"),
    falsifiers={
        "ALiBi for HoPE": {"logit": alibi_of_five},
        "of 64 keys": {"length": 64},
        "half the rate": {"logit": lambda offset: content_of_five(offset / 2)},
        "no content": {"logit": lambda offset: 0 * content_of_five(offset)},
        "ALiBi at slope 0.1": {"other_logit": lambda offset: alibi_of_five(2 * offset)},
    },
)
def far_mass(
    logit: Formula = content_of_five,
    other_logit: Formula = alibi_of_five,
    length: int = 4096,
    beyond: int = 50,
    share: Sequence[str] = ("0.885", "0.895"),
    last_to_first: Sequence[str] = ("0.95", "1.0"),
    other_share: Sequence[str] = ("0.075", "0.085"),
) -> Facts:
    """At content 5 and rate 0.1, 89 % of the softmax mass of 4096 keys lies beyond distance 50, spread almost evenly;
    ALiBi at slope 0.05 has 8 % there (errata F4: the logit tends to 0, not to minus infinity).

    `share` and `other_share` are ranges for the share of the mass beyond the distance under the two encodings,
    `last_to_first` for the weight of the last key over that of the first key beyond it under the first one.
    """
    mass, ratio = _beyond(sp.exp(logit(OFFSET)), length, beyond)
    other_mass, _ = _beyond(sp.exp(other_logit(OFFSET)), length, beyond)
    for what, enclosed, (low, high) in (
        (f"share of the mass beyond D = {beyond}, of {length} keys", mass, share),
        (f"weight at D = {length - 1} over that at D = {beyond + 1}", ratio, last_to_first),
        (f"the same share under {other_logit(OFFSET)}", other_mass, other_share),
    ):
        within = ball(sp.Rational(low)) <= enclosed <= ball(sp.Rational(high))
        refute(not within, f"{what}: {enclosed.str(5, radius=False)} is not between {low} and {high}")
        yield f"{what}: {enclosed.str(8)}"
    yield Assumption(f"logit {logit(OFFSET)}")


@CLAIMS.claim(
    "hope-6-complex",
    _HOPE_TO_ROPE,
    r"C^{-1}B(i\theta, m)\,C = R_2(m\theta),\quad C=\mathrm{diag}(1,i),\ \theta'=0",
    assumptions=("plane by plane, so every even d follows",),
    falsifiers={
        "real rate": {"rate_unit": sp.Integer(1)},
        "with damping": {"damping": sp.Integer(1)},
        "without the change of basis": {"basis": sp.ImmutableMatrix(sp.eye(2))},
    },
)
def rope_by_continuation(
    rate_unit: sp.Expr = sp.I, damping: sp.Expr = sp.Integer(0), basis: sp.Matrix = sp.ImmutableMatrix(sp.diag(1, sp.I))
) -> Facts:
    """With an imaginary rate, no damping and the basis diag(1, i), HoPE is RoPE (errata F5: this is the 'special case'
    of the paper, whose rates are real).
    """
    i, D, m, theta = sp.symbols("i D m theta", real=True)
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    inverse, law = basis.inv(), {"rate": rate_unit * theta, "damping": damping}
    scored = ((basis * query).T * hope.kernel(D, **law) * inverse * key)[0]
    roped = rotary.score(query, key, query_position=i + D, key_position=i, frequency=theta)
    yield (
        "C^-1 H(m) C = R2(m theta)",
        lambda: inverse * hope.kernel(m, rate=rate_unit * theta, damping=damping) * basis,
        lambda: rotary.rotation(m * theta),
    )
    yield "HoPE's score of C q and C^-1 k = RoPE's score of q and k", scored, roped


@CLAIMS.claim(
    "hope-6-real",
    _HOPE_TO_ROPE,
    r"P^\top H^D Q = R^{-D}\ \forall D\ge 0\ \Rightarrow\ \omega\in 2\pi\mathbb{Z}",
    assumptions=("offsets D = 0, 1, 2, ...", "any even widths of both heads, any real W_q and W_k"),
    answers=("reproduced_period",),
    falsifiers={
        "complex parameters and bases": {"parameters": sp.S.Complexes},
        "RoPE at half the angle": {"rotation": lambda angle: rotary.rotation(angle / 2)},
        "RoPE at twice the angle": {"rotation": lambda angle: rotary.rotation(2 * angle)},
        "boosts for rotations": {"rotation": hope.boost},
    },
)
def no_real_rope(
    parameters: sp.Set = sp.S.Reals, rotation: Formula = rotary.rotation, reproduced_period: sp.Expr = 2 * sp.pi
) -> Facts:
    """No real parameters of HoPE, with any real W_q and W_k, give RoPE's score at every offset, unless every frequency
    of RoPE is a multiple of 2 pi, where RoPE is constant and trivial HoPE (theta = theta' = 0) gives it.

    Suppose real matrices P, Q (absorbed in W_q, W_k; of any shape) give P^T H(D) Q = R(-D) for every offset D >= 0,
    with H and R direct sums of planes. As H(D) = H(1)^D, a polynomial p with p(H(1)) = 0 has p(R(-1)) = P^T p(H(1)) Q =
    0. For p the product of the planes' characteristic polynomials, each eigenvalue exp(iw) of R(-1) is one of H(1).
    """
    m, n, x, w = sp.symbols("m n x omega", real=True)
    if sp.I in parameters:
        basis = sp.diag(1, sp.I)
        inverse = basis.inv()
        require_equal(
            "analytic continuation",
            lambda: inverse * hope.kernel(m, rate=sp.I * w, damping=sp.Integer(0)) * basis,
            lambda: rotary.rotation(m * w),
        )
        refute(True, "theta = i w, theta' = 0 in the basis diag(1, i) is RoPE at every frequency w")
    theta, damping = sp.symbols("theta theta'", real=parameters.is_subset(sp.S.Reals))
    law = {"rate": theta, "damping": damping}
    kernel, turn = hope.kernel(m, **law), sp.exp(sp.I * w)
    two_steps = kernel * hope.kernel(n, **law)
    of_hope, of_rope = ((x * sp.eye(2) - step).det() for step in (kernel.subs(m, 1), rotation(w)))
    slow, fast = hope.decay_factors(**law)
    if not (slow.is_positive and fast.is_positive):
        raise Undecided(f"the eigenvalues {slow} and {fast} of HoPE's step are not known to be positive")
    yield "H(0) = I", lambda: kernel.subs(m, 0), sp.eye(2)
    yield "H(m) H(n) = H(m + n)", two_steps, lambda: hope.kernel(m + n, **law)
    yield "HoPE's step has positive eigenvalues", of_hope, lambda: (x - slow) * (x - fast)
    yield "RoPE's step has the eigenvalues exp(iw), exp(-iw)", of_rope, lambda: (x - turn) * (x - 1 / turn)
    yield "RoPE's discriminant is -(2 sin w)^2", sp.discriminant(of_rope, x), lambda: -((2 * sp.sin(w)) ** 2)
    yield "exp(iw) > 0 only for w in 2 pi Z"
    offset, zero = sp.Symbol("D", integer=True), sp.Integer(0)
    trivial = hope.kernel(offset, rate=zero, damping=zero)
    for frequency in (zero, 2 * sp.pi):
        yield same_by_sympy(f"RoPE at w = {frequency} = trivial HoPE", rotation(offset * frequency), trivial)
        multiple = (frequency / reproduced_period).is_integer
        refute(not multiple, f"w = {frequency} is reproduced by theta = theta' = 0")
    yield same_by_sympy(f"RoPE's step at w = {reproduced_period} = trivial HoPE", rotation(reproduced_period), trivial)


def boosted_query(query: Pair, offset: sp.Expr, rate: sp.Expr, damping: sp.Expr) -> Sequence[sp.Expr]:
    """Return the paper's key as we read it: the query boosted to the wanted offset."""
    return tuple(hope.boost(offset * rate) * sp.Matrix(query))


def _scores(query: Pair, key: Sequence[Any]) -> dict[int, sp.Expr]:
    """Scores at the distances that are compared."""
    return {D: sp.N(hope.light_cone_score(query, key, offset=sp.Integer(D), **NUMBERS), 30) for D in _OFFSETS_SEEN}


def _compare_scores(query: Pair, key: Formula) -> None:
    """Raise `Refuted` for a query without a channel, or an example whose score is not greatest at r = 3."""
    example, wanted = query if query != QUERY else (sp.Integer(2), sp.Integer(1)), 3
    in_slow, in_fast = hope.channels(example, KEY)
    seen = f"{_OFFSETS_SEEN[0]} to {_OFFSETS_SEEN[-1]}"
    flat = ", ".join(str(sp.N(score, 5)) for score in _scores(example, (2, 1)).values())
    refute(
        sp.expand(in_slow) == 0 or sp.expand(in_fast) == 0,
        f"q = {example} is on the light cone: P = {in_slow}, N = {in_fast} for every key, one decay without a peak; "
        f"k = (2, 1) scores {flat} at D = {seen}",
    )
    scores = _scores(example, key(example, offset=sp.Integer(wanted), **NUMBERS))
    best = max(_OFFSETS_SEEN, key=lambda offset: scores[offset])
    heights = f"{sp.N(scores[best], 5)} at D = {best} and {sp.N(scores[wanted], 5)} at D = {wanted}"
    peak_at = f"the score is {heights}, greatest at D = {best} of {seen}"
    refute(best != wanted, f"q = {example}, k for r = {wanted}: {peak_at}")


@CLAIMS.claim(
    "hope-8",
    "Eq. 13, discrimination, and the key constructed for it",
    r"P>0,\ N=-P\,\tfrac{\theta'-\theta}{\theta'+\theta}e^{2\theta r}\ \Rightarrow\ \arg\max_{D\in\mathbb Z}s(D)=r",
    assumptions=(
        "q1 is neither q2 nor -q2 in some plane; the key is 0 in the others",
        "theta' > theta > 0, r >= 0 an integer",
    ),
    printed={"key": boosted_query},
    falsifiers={
        "query on the light cone": {"query": (sp.Integer(1), sp.Integer(1))},
        "query on its other line": {"query": (sp.Integer(1), sp.Integer(-1))},
        "boosted backwards": {"key": lambda query, offset, **law: boosted_query(query, -offset, **law)},
        "peak one step later": {"key": lambda query, offset, **law: hope.peaked_key(query, offset=offset + 1, **law)},
        "key reversed": {"key": lambda query, **at: [-entry for entry in hope.peaked_key(query, **at)]},
    },
)
def peak(query: Pair = QUERY, key: Formula = hope.peaked_key) -> Facts:
    """For every query off the light cone and every r >= 0 there is a key whose score is greatest at D = r, among all
    integers D: N = -P (theta' - theta)/(theta' + theta) e^(2 r theta), P > 0 (errata F6: for the paper's key, which we
    read as a boosted copy of the query, P and N are positive and the score only falls).

    d score/dD = -e^(-D slow)/2 (P slow + N fast e^(-2 D theta)). If P > 0 > N and the bracket is zero at D = r, it is
    negative before r and positive after it: the score rises up to r and falls from there.
    """
    _compare_scores(query, key)
    D, r = sp.symbols("D r", real=True)
    slow, fast = hope.decay_rates(**LAW)
    constructed = key(query, offset=r, **LAW)

    def channels() -> hope.Pair:
        return hope.channels(query, key(query, offset=r, **LAW))

    slope = hope.light_cone_score(query, constructed, offset=D, **LAW).diff(D)
    at_peak = -slow * sp.exp(2 * r * THETA)
    bracket = fast * (slow - slow * sp.exp(2 * THETA * (r - D)))
    margins = hope.falling_margins(query, constructed, **LAW)
    yield "P = theta' + theta, which is positive", lambda: channels()[0], fast
    yield "N = -(theta' - theta) e^(2 r theta), which is negative", lambda: channels()[1], at_peak
    derived = "d score/dD = -e^(-D slow)/2 fast slow (1 - e^(2 theta (r - D)))"
    yield derived, slope, lambda: -sp.exp(-D * slow) / 2 * bracket
    not_monotone = "second margin = (theta'^2 - theta^2)(1 - e^(2 r theta)) < 0 for r > 0: not monotone"
    yield not_monotone, lambda: margins[1], lambda: slow * fast * (1 - sp.exp(2 * r * THETA))


def relative(position: int, offset: int, dtype: type[np.floating[Any]]) -> float:
    """Return the light-cone score computed from the distance alone, each step rounded to `dtype`."""
    (q1, q2), (k1, k2) = ([dtype(float(coordinate)) for coordinate in content] for content in (_QUERY, _KEY))
    slow, fast = (dtype(np.exp(-offset * float(rate))) for rate in hope.decay_rates(**NUMBERS))
    return float(((q1 + q2) * (k1 + k2) * slow + (q1 - q2) * (k1 - k2) * fast) / dtype(2))


def _products(position: int, offset: int, dtype: type[np.floating[Any]]) -> list[Any]:
    """Products of coordinates that the factorised score adds; the actions' entries are rounded as well as possible."""
    moved = []
    m = sp.Symbol("m", integer=True, nonnegative=True)
    with np.errstate(all="ignore"):
        for act, at, content in ((hope.query_action, position + offset, _QUERY), (hope.key_action, position, _KEY)):
            balls: list[Any] = [enclose(entry.rewrite(sp.exp), bits=128, given={m: at}) for entry in act(m, **NUMBERS)]
            a, b, c, d = (dtype(float(entry)) for entry in balls)
            first, second = (dtype(float(coordinate)) for coordinate in content)
            moved.append((a * first + b * second, c * first + d * second))
        return [of_query * of_key for of_query, of_key in zip(*moved, strict=True)]


def factorised(position: int, offset: int, dtype: type[np.floating[Any]]) -> float:
    """Return the score by the paper's algorithm, with all entries of its factors rounded as well as possible."""
    first, second = _products(position, offset, dtype)
    with np.errstate(all="ignore"):
        return float(first + second)


def _first_lost(score: Callable[[int], float], is_lost: Callable[[float], bool]) -> int:
    """First position from which on the score is lost, by bisection."""
    first = 1 + bisect_left(range(1, _FARTHEST + 1), True, key=lambda position: is_lost(score(position)))
    if first > _FARTHEST:
        raise Undecided(f"the factorised score is not lost up to position {_FARTHEST}")
    return first


@CLAIMS.claim(
    "hope-9",
    "Algorithm 1: absolute factors of queries and keys",
    r"e^{n\theta'}B(-n\theta)k\sim e^{2.1n}",
    strength=Strength.NUMERIC,
    assumptions=(
        f"D in {OFFSETS}, theta = 1, theta' = 1.1, q = {_QUERY}, k = {_KEY}",
        f"tolerance: {_ROUNDINGS} roundings of each channel, and 1 % for their products",
    ),
    answers=("lost",),
    falsifiers={
        "factors, position 15": {"evaluate": factorised, "positions": (15,)},
        "factors, position 43": {"evaluate": factorised, "positions": (43,)},
        "factors, position 1024": {"evaluate": factorised, "positions": (1024,)},
        "factors at half the position": {"factors": lambda n, offset, dtype: factorised(n // 2, offset, dtype)},
        "factors in float64, position 19": {"evaluate": factorised, "dtype": np.float64, "positions": (19,)},
        "factors in float64, position 339": {"evaluate": factorised, "dtype": np.float64, "positions": (339,)},
    },
)
def accurate(
    evaluate: Evaluate = relative,
    dtype: type[np.floating[Any]] = np.float32,
    positions: tuple[int, ...] = (0, 15, 43, 339, 1024, 10**6),
    factors: Evaluate = factorised,
    lost: Sequence[int] = (9, 43, 19, 339),
) -> Facts:
    """In float32 the relative form of the score is right to its last digits at the positions tried.  Separate factors
    of queries and keys are not: at theta = 1, theta' = 1.1, for one query and key at distance 0 and factors rounded
    best, their products cancel, so that the score is 0 first at position 9, in float64 at 19, and they overflow at 43,
    in float64 at 339 (errata F7).

    `lost` has four positions: where `factors` first gives 0 and first gives no finite number, in float32 and then in
    float64.
    """
    unit, name = float(np.finfo(dtype).eps) / 2, dtype.__name__
    P, N = (channel / 2 for channel in hope.channels(_QUERY, _KEY))
    worst = 0.0
    for position, offset in product(positions, OFFSETS):
        exact, size = (
            float(sp.N(hope.light_cone_score((p + n, p - n), (1, 0), offset=sp.Integer(offset), **NUMBERS), 30))
            for p, n in ((P, N), (abs(P), abs(N)))
        )
        computed = evaluate(position, offset, dtype)
        at = f"q = {_QUERY}, k = {_KEY}, key at {position}, D = {offset}"
        right = abs(computed - exact) <= 1.01 * _ROUNDINGS * unit * size
        refute(not right, f"{at}: {computed:.6g} in {name}, where the score is {exact:.6g}")
        worst = max(worst, abs(computed - exact) / size)
    ends, loss = [], []
    for width in (np.float32, np.float64):
        scores = partial(factors, offset=0, dtype=width)
        zero_from = _first_lost(scores, lambda score: score == 0 or not math.isfinite(score))
        endless_from = _first_lost(scores, lambda score: not math.isfinite(score))
        lost_from = f"0 from position {zero_from}, not finite from position {endless_from}"
        loss.append(f"factorised in {width.__name__}: {lost_from}")
        ends += [zero_from, endless_from]
    refute(tuple(ends) != lost, f"{'; '.join(loss)}; not from {', '.join(map(str, lost))}")
    one_product, _ = _products(_QUOTED, 0, dtype)
    wanted, computed = (way(_QUOTED, 0, dtype) for way in (relative, factors))
    yield f"positions {positions}: off by {worst:.2g} of the channels' sizes at most"
    yield (
        f"factorised in {name}, key at {_QUOTED}, D = 0: two products of {float(one_product):.4g} with opposite "
        f"signs, whose last place is {float(np.spacing(one_product)):.4g}, must add to {wanted:.4g}; "
        f"with the best rounding of the factors they add to {computed:.4g}"
    )
    yield from loss
