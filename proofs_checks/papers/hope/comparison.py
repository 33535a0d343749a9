"""HoPE beside other encodings, its reach and its rounding.

Far keys under softmax (errata F4), RoPE by continuation (errata F5), diagonal form, keys for a wanted distance (errata
F6), absolute factors (errata F7), local planes.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial, reduce
from itertools import permutations
from operator import add
from typing import Any

import flint
import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Refuted, Strength
from lengthgen.proofs_checks.facts import product, require_equal, same_by_sympy
from lengthgen.proofs_checks.paper import Assumption, Facts, PaperClaims
from lengthgen.proofs_checks.papers.hope import SOURCE
from lengthgen.theory.encodings import biases, hope, rotary
from lengthgen.theory.zero import sympy_engine
from lengthgen.theory.zero.enclosure import enclose

Range = tuple[Fraction, Fraction]
Query = tuple[sp.Expr, ...]
Construction = Callable[[Query, sp.Expr, dict[str, sp.Expr]], Sequence[sp.Expr]]
Evaluate = Callable[..., float]
"""(position of the key, offset, dtype) -> the computed score."""

OFFSET = sp.Symbol("D", integer=True, nonnegative=True)
_BITS = 64
_HOPE_TO_ROPE = "recovery of RoPE as a special case"
QUERY: Query = sp.symbols("q1 q2", real=True)
KEY: Query = sp.symbols("k1 k2", real=True)
_EXAMPLE: Query = (sp.Integer(2), sp.Integer(1))
_NUMBERS: dict[str, Any] = {"rate": sp.Integer(1), "damping": sp.Rational(11, 10)}
_OFFSETS_SEEN = range(-2, 7)
POSITION = sp.Symbol("m", integer=True, nonnegative=True)
OFFSETS = (0, 1, 7)
_QUERY, _KEY = (sp.Rational(3, 4), sp.Rational(1, 4)), (sp.Rational(1, 2), sp.Rational(-3, 8))
_ACTION_BITS = 128
_QUOTED, _FARTHEST = 15, 2**12
_ROUNDINGS = 6  # u of the query and of the key, their product, the decay, its product, the sum; the half is exact


def content_of_five(offset: sp.Expr) -> sp.Expr:
    """HoPE's score of q = (1, 1), k = (5/2, 5/2) at theta = 1, theta' = 1.1: 5 in the slow channel, of rate 0.1."""
    half = sp.Rational(5, 2)
    return hope.light_cone_score((1, 1), (half, half), offset=offset, rate=sp.Integer(1), damping=sp.Rational(11, 10))


def alibi_of_five(offset: sp.Expr) -> sp.Expr:
    """ALiBi's logit for the same content, with the slope 0.05."""
    return 5 + biases.alibi_bias(sp.Rational(1, 20), query_position=offset, key_position=sp.Integer(0))


@cache
def _beyond(law: sp.Expr, length: int, beyond: int) -> tuple[Any, Any]:
    """Share of the mass beyond the distance, and the weight of the last key over that of the first key beyond it.

    The law is the weight at the distance OFFSET.
    """
    with flint.ctx.workprec(_BITS):
        weights: list[Any] = [enclose(law, bits=_BITS, given={OFFSET: distance}) for distance in range(length)]
        return reduce(add, weights[beyond + 1 :]) / reduce(add, weights), weights[-1] / weights[beyond + 1]


def _within(what: str, ball: Any, stated: Range) -> str:
    """Fact that the ball is inside the stated range. Raises `Refuted` if not."""
    lower, upper = (flint.arb(flint.fmpq(*bound.as_integer_ratio())) for bound in stated)
    if not lower <= ball <= upper:
        raise Refuted(f"{what}: {ball.str(5, radius=False)} is not between {float(stated[0])} and {float(stated[1])}")
    return f"{what}: {ball.str(8)}"


def _refute_spread(spread: int) -> None:
    """Raise `Refuted` if the stated bound fails for 100 keys, one of logit -2 and all others of logit 2."""
    keys, size = 100, 2
    least = sp.exp(-size) / (sp.exp(-size) + (keys - 1) * sp.exp(size))
    bound = sp.exp(-spread * size) / keys
    if least < bound:
        raise Refuted(f"C = {size}, T = {keys}: the least weight is {sp.N(least, 5)}, below {sp.N(bound, 5)}")


def _reproduced_exactly(rotation: Callable[[sp.Expr], sp.Matrix], period: sp.Expr) -> Facts:
    """Facts that the frequencies with exp(iw) = 1, those of 2 pi Z, are exactly the multiples of the period."""
    offset, zero = sp.Symbol("D", integer=True), sp.Integer(0)
    trivial = hope.kernel(offset, rate=zero, damping=zero)
    facts = []
    for frequency in (zero, 2 * sp.pi):
        facts.append(same_by_sympy(f"RoPE at w = {frequency} = trivial HoPE", rotation(offset * frequency), trivial))
        if not (frequency / period).is_integer:
            raise Refuted(f"w = {frequency} is reproduced by theta = theta' = 0")
    yield from facts
    yield same_by_sympy(f"RoPE's step at w = {period} = trivial HoPE", rotation(period), trivial)


def _characteristic(matrix: sp.Matrix, variable: sp.Symbol) -> sp.Expr:
    """Characteristic polynomial of a 2 x 2 matrix."""
    return (variable * sp.eye(2) - matrix).det()


def _pairs_of_one_sum(rates: Sequence[int]) -> list[tuple[int, int]]:
    """The four rates as two pairs with the same sum, if there are such pairs."""
    for a, b, c, d in permutations(rates):
        if a + b == c + d:
            return [(a, b), (c, d)]
    return []


CLAIMS = PaperClaims(SOURCE)


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
    logit: Callable[[sp.Expr], sp.Expr] = content_of_five,
    other_logit: Callable[[sp.Expr], sp.Expr] = alibi_of_five,
    length: int = 4096,
    beyond: int = 50,
    share: Range = (Fraction(885, 1000), Fraction(895, 1000)),
    last_to_first: Range = (Fraction(95, 100), Fraction(1)),
    other_share: Range = (Fraction(75, 1000), Fraction(85, 1000)),
) -> Facts:
    """At content 5 and rate 0.1, 89 % of the softmax mass of 4096 keys lies beyond distance 50, spread almost evenly;
    ALiBi at slope 0.05 has 8 % there (errata F4: the logit tends to 0, not to minus infinity).

    Args:
        logit: offset -> logit of the first encoding.
        other_logit: offset -> logit of the second one.
        length: number of keys.
        beyond: the distance.
        share: range for the share of the mass beyond it, under the first encoding.
        last_to_first: range for the weight of the last key over that of the first key beyond the distance.
        other_share: range for the share under the second encoding.
    """
    mass, ratio = _beyond(sp.exp(logit(OFFSET)), length, beyond)
    other_mass, _ = _beyond(sp.exp(other_logit(OFFSET)), length, beyond)
    yield _within(f"share of the mass beyond D = {beyond}, of {length} keys", mass, share)
    yield _within(f"weight at D = {length - 1} over that at D = {beyond + 1}", ratio, last_to_first)
    yield _within(f"the same share under {other_logit(OFFSET)}", other_mass, other_share)
    yield Assumption(f"logit {logit(OFFSET)}")


@CLAIMS.claim(
    "hope-5-uniform",
    "decay of attention weights with distance",
    r"e^{-2C}/T\le a_{ij}\le e^{2C}/T,\quad C=\tfrac12(|P|+|N|)",
    assumptions=("one plane; in a head C is the sum over planes, over sqrt(d)", "finite content, any T and distances"),
    falsifiers={
        "theta' below theta": {"damping": lambda rate, gap: rate - gap},
        "at least e^-C/T": {"spread": 1},
        "at least 1/T": {"spread": 0},
    },
)
def uniform(damping: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda rate, gap: rate + gap, spread: int = 2) -> Facts:
    """A key at any distance has at least the weight e^(-2C)/T among T keys, C = (|P| + |N|)/2: no key is forgotten, and
    the nearest n have at most the weight n e^(2C)/T together.

    If both channels decay, all logits lie in [-C, C], so a weight is least if its own logit is -C and all others are C.
    """
    theta, gap, size = sp.symbols("theta g C", positive=True)
    keys = sp.Symbol("T", integer=True, positive=True)
    query, key = sp.symbols("q1 q2", real=True), sp.symbols("k1 k2", real=True)
    law: dict[str, Any] = {"rate": theta, "damping": damping(theta, gap)}
    slow, fast = hope.decay_rates(**law)
    in_slow, in_fast = hope.channels(query, key)
    channels = (in_slow * sp.exp(-OFFSET * slow) + in_fast * sp.exp(-OFFSET * fast)) / 2
    facts = [require_equal("score", lambda: hope.score(query, key, offset=OFFSET, **law), channels)]
    for name, rate in (("slow", slow), ("fast", fast)):
        if not rate.is_positive:
            value = sp.N(sp.exp(-10 * rate.subs({theta: 1, gap: sp.Rational(1, 10)})), 6)
            raise Refuted(
                f"{name} channel: its factor at D = 10 is {value} > 1 for theta = 1, g = 1/10, so C is no bound"
            )
        facts.append(f"{name} channel: the rate {rate} > 0, so its factor is at most 1")
    _refute_spread(spread)
    least = sp.exp(-size) / (sp.exp(-size) + (keys - 1) * sp.exp(size))
    room = (least - sp.exp(-spread * size) / keys) * (sp.exp(-size) + (keys - 1) * sp.exp(size)) * keys
    most = sp.exp(size) / (sp.exp(size) + (keys - 1) * sp.exp(-size))
    rest = (sp.exp(2 * size) / keys - most) * (sp.exp(size) + (keys - 1) * sp.exp(-size)) * keys
    tests = (
        ("(least - e^(-2C)/T) T (sum) = e^-C - e^-3C > 0", room, lambda: sp.exp(-size) - sp.exp(-3 * size)),
        ("(e^(2C)/T - most) T (sum) = e^3C - e^C > 0", rest, lambda: sp.exp(3 * size) - sp.exp(size)),
    )
    facts += [require_equal(*test) for test in tests]
    yield from facts


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
    """With an imaginary rate, no damping and the basis diag(1, i), HoPE is RoPE (errata F5: as a 'special case' RoPE
    needs all three).
    """
    i, offset, m, theta = sp.symbols("i D m theta", real=True)
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    inverse = basis.inv()
    pair_kernel = hope.kernel(offset, rate=rate_unit * theta, damping=damping)
    scored = ((basis * query).T * pair_kernel * inverse * key)[0]
    roped = rotary.score(query, key, query_position=i + offset, key_position=i, frequency=theta)
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
    parameters: sp.Set = sp.S.Reals,
    rotation: Callable[[sp.Expr], sp.Matrix] = rotary.rotation,
    reproduced_period: sp.Expr = 2 * sp.pi,
) -> Facts:
    """No real parameters of HoPE, with any real W_q and W_k, give RoPE's score at every offset, unless every frequency
    of RoPE is a multiple of 2 pi, where RoPE is constant and trivial HoPE gives it.

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
        raise Refuted("theta = i w, theta' = 0 in the basis diag(1, i) is RoPE at every frequency w")
    theta, damping = sp.symbols("theta theta'", real=parameters.is_subset(sp.S.Reals))
    law = {"rate": theta, "damping": damping}
    one_step, two_steps = hope.kernel(m, **law), hope.kernel(m, **law) * hope.kernel(n, **law)
    step_polynomial = _characteristic(one_step.subs(m, 1), x)
    rope_polynomial = _characteristic(rotation(w), x)
    slow, fast = hope.decay_factors(**law)
    if not (slow.is_positive and fast.is_positive):
        raise sympy_engine.Undecided(f"the eigenvalues {slow} and {fast} of HoPE's step are not known to be positive")
    turn = sp.exp(sp.I * w)
    tests = (
        ("H(0) = I", lambda: one_step.subs(m, 0), sp.eye(2)),
        ("H(m) H(n) = H(m + n)", two_steps, lambda: hope.kernel(m + n, **law)),
        ("HoPE's step has positive eigenvalues", step_polynomial, lambda: (x - slow) * (x - fast)),
        ("RoPE's step has the eigenvalues exp(iw), exp(-iw)", rope_polynomial, lambda: (x - turn) * (x - 1 / turn)),
        ("RoPE's discriminant is -(2 sin w)^2", sp.discriminant(rope_polynomial, x), lambda: -((2 * sp.sin(w)) ** 2)),
    )
    yield from tests
    yield "exp(iw) > 0 only for w in 2 pi Z"
    yield from _reproduced_exactly(rotation, reproduced_period)


@CLAIMS.claim(
    "hope-7",
    "definition of the query and key maps",
    r"\tfrac12L^\top H(D)L=\mathrm{diag}\big(e^{-D(\theta'-\theta)},e^{-D(\theta'+\theta)}\big),\quad "
    r"L=\begin{pmatrix}1&1\\1&-1\end{pmatrix}",
    assumptions=("plane by plane, so every even d follows", "the basis is absorbed by W_q and W_k"),
    answers=("in_reach",),
    falsifiers={
        "channels that turn, as RoPE's": {"channel": lambda rate, offset: sp.cos(rate * offset)},
        "channels that grow": {"channel": lambda rate, offset: sp.exp(rate * offset)},
        "rates 1, 2, 3, 4": {"rates": (1, 2, 3, 4)},
    },
)
def diagonal(
    channel: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda rate, offset: sp.exp(-rate * offset),
    rates: Sequence[int] = (1, 2, 3, 5),
    in_reach: bool = False,
) -> Facts:
    """In the light-cone basis, which W_q and W_k absorb, a plane of HoPE is two channels that decay at theta' - theta
    and theta' + theta: xPos without rotation.  Any two rates above 0 are those of some plane; in planes with the same
    theta' the two rates have the same sum, so 1, 2, 3, 5 are not the rates of two planes.

    A head of two planes has four rates. To give four channels of other rates it must have exactly these rates, because
    each eigenvalue of the wanted step is one of HoPE's (the argument of hope-6-real).
    """
    offset, theta, damping = sp.symbols("D theta theta'", real=True)
    first, second = sp.symbols("lambda1 lambda2", positive=True)
    law = {"rate": theta, "damping": damping}
    slow, fast = hope.decay_rates(**law)
    basis = hope.light_cone()
    plane = hope.plane_with(slow=first, fast=second)
    tests = (
        ("L^T L = 2 I: orthogonal but for the scale", product(basis.T, basis), 2 * sp.eye(2)),
        (
            "L^T H(D) L / 2 is diagonal",
            lambda: basis.T * hope.kernel(offset, **law) * basis / 2,
            lambda: sp.diag(channel(slow, offset), channel(fast, offset)),
        ),
        (
            "any rates lambda1 < lambda2 are a plane's",
            lambda: sp.Matrix(
                hope.decay_rates(
                    **dict(zip(("rate", "damping"), hope.plane_with(slow=first, fast=second), strict=True))
                )
            ),
            sp.Matrix([first, second]),
        ),
        ("its theta' - theta = lambda1 > 0", lambda: plane[1] - plane[0], first),
        ("slow + fast = 2 theta' in every plane", lambda: slow + fast, lambda: 2 * damping),
    )
    yield from tests
    pairs = _pairs_of_one_sum(rates)
    if bool(pairs) != in_reach:
        sums = " and ".join(f"{a} + {b}" for a, b in pairs) if pairs else "no two pairs have one sum"
        raise Refuted(f"rates {tuple(rates)} over two planes of one theta': {sums}")
    yield f"rates {tuple(rates)} {'are' if in_reach else 'are not'} those of two planes of one theta'"


def _compare_scores(query: Query, key: Construction) -> None:
    """Raise `Refuted` for a query without a channel, or an example whose score is not greatest at r = 3."""
    example, wanted = query if query != QUERY else _EXAMPLE, 3
    in_slow, in_fast = hope.channels(example, KEY)
    if sp.expand(in_slow) == 0 or sp.expand(in_fast) == 0:
        scores = ", ".join(str(sp.N(score, 5)) for score in _scores(example, (2, 1)).values())
        raise Refuted(
            f"q = {example} is on the light cone: P = {in_slow}, N = {in_fast} for every key, one decay without "
            f"a peak; k = (2, 1) scores {scores} at D = {_OFFSETS_SEEN[0]} to {_OFFSETS_SEEN[-1]}"
        )
    scores_at = _scores(example, key(example, sp.Integer(wanted), _NUMBERS))
    best = max(_OFFSETS_SEEN, key=lambda offset: scores_at[offset])
    if best != wanted:
        raise Refuted(
            f"q = {example}, k for r = {wanted}: the score is {sp.N(scores_at[best], 5)} at D = {best} and "
            f"{sp.N(scores_at[wanted], 5)} at D = {wanted}, greatest at D = {best} "
            f"of {_OFFSETS_SEEN[0]} to {_OFFSETS_SEEN[-1]}"
        )


def _scores(query: Query, key: Sequence[Any]) -> dict[int, sp.Expr]:
    """Scores at the distances that are compared."""
    return {
        offset: sp.N(hope.light_cone_score(query, key, offset=sp.Integer(offset), **_NUMBERS), 30)
        for offset in _OFFSETS_SEEN
    }


def _our_key(query: Query, wanted: sp.Expr, law: dict[str, sp.Expr]) -> Sequence[sp.Expr]:
    """The key that this project constructs."""
    return hope.peaked_key(query, offset=wanted, **law)


def boosted_query(query: Query, wanted: sp.Expr, law: dict[str, sp.Expr]) -> Sequence[sp.Expr]:
    """Return the paper's key as we read it: the query boosted to the wanted offset."""
    return tuple(hope.boost(wanted * law["rate"]) * sp.Matrix(query))


def relative(position: int, offset: int, dtype: type[np.floating[Any]]) -> float:
    """Return the light-cone score computed from the distance alone, each step rounded to `dtype`."""
    del position
    (q1, q2), (k1, k2) = ([dtype(float(coordinate)) for coordinate in content] for content in (_QUERY, _KEY))
    slow, fast = (dtype(np.exp(-offset * float(rate))) for rate in hope.decay_rates(**_NUMBERS))
    return float(((q1 + q2) * (k1 + k2) * slow + (q1 - q2) * (k1 - k2) * fast) / dtype(2))


def factorised(position: int, offset: int, dtype: type[np.floating[Any]]) -> float:
    """Return the score by the paper's algorithm, with all entries of its factors rounded as well as possible."""
    first, second = _products(position, offset, dtype)
    with np.errstate(all="ignore"):
        return float(first + second)


def _products(position: int, offset: int, dtype: type[np.floating[Any]]) -> tuple[Any, Any]:
    """The two products of coordinates that the factorised score adds."""
    query = _apply(hope.query_action(POSITION, **_NUMBERS), position + offset, _QUERY, dtype)
    key = _apply(hope.key_action(POSITION, **_NUMBERS), position, _KEY, dtype)
    with np.errstate(all="ignore"):
        return query[0] * key[0], query[1] * key[1]


def _apply(
    action: sp.Matrix, position: int, content: tuple[sp.Expr, sp.Expr], dtype: type[np.floating[Any]]
) -> tuple[Any, Any]:
    """The content multiplied by an action, rounded to `dtype`."""
    at = {POSITION: position}
    with np.errstate(all="ignore"):
        balls: list[Any] = [enclose(entry.rewrite(sp.exp), bits=_ACTION_BITS, given=at) for entry in action]
        a, b, c, d = (dtype(float(ball)) for ball in balls)
        first, second = (dtype(float(coordinate)) for coordinate in content)
        return a * first + b * second, c * first + d * second


def _positions_of_loss(dtype: type[np.floating[Any]], factors: Evaluate) -> tuple[tuple[int, ...], list[str]]:
    """Positions from which cancellation and overflow destroy the factorised score of D = 0, and facts about them."""
    product, _ = _products(_QUOTED, 0, dtype)
    wanted, computed = (evaluate(_QUOTED, 0, dtype) for evaluate in (relative, factors))
    facts = [
        f"factorised in {dtype.__name__}, key at {_QUOTED}, D = 0: two products of {float(product):.4g} with opposite "
        f"signs, whose last place is {float(np.spacing(product)):.4g}, must add to {wanted:.4g}; "
        f"with the best rounding of the factors they add to {computed:.4g}"
    ]
    ends = []
    for width in (np.float32, np.float64):
        scores = partial(factors, offset=0, dtype=width)
        zero_from = _first(scores, lambda score: score == 0)
        infinite_from = _first(scores, lambda score: not math.isfinite(score))
        facts.append(
            f"factorised in {width.__name__}: 0 from position {zero_from}, not finite from position {infinite_from}"
        )
        ends += [zero_from, infinite_from]
    return tuple(ends), facts


def _first(score: Callable[[int], float], condition: Callable[[float], bool]) -> int:
    """First position from which on the condition is met, by doubling and halving."""
    after = 1
    while not condition(score(after)):
        after *= 2
        if after > _FARTHEST:
            raise sympy_engine.Undecided(f"the factorised score is not lost up to position {_FARTHEST}")
    before = after // 2
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (before, middle) if condition(score(middle)) else (middle, after)
    return after


def _remaining_share(rate: sp.Expr, damping: sp.Expr, distance: int) -> Any:
    """Enclosure of the share that the slow channel keeps at a distance."""
    slow, _ = hope.decay_rates(rate=rate, damping=damping)
    return enclose(sp.exp(-distance * slow), bits=_BITS)


@CLAIMS.claim(
    "hope-8",
    "Eq. 13, discrimination, and the key constructed for it",
    r"P>0,\ N=-P\,\tfrac{\theta'-\theta}{\theta'+\theta}e^{2\theta r}\ \Rightarrow\ \arg\max_{D\in\mathbb Z}s(D)=r",
    assumptions=("q1 is neither q2 nor -q2 in some plane; the key is 0 in the others", "theta' > theta > 0, r >= 0"),
    printed={"key": boosted_query},
    falsifiers={
        "query on the light cone": {"query": (sp.Integer(1), sp.Integer(1))},
        "query on its other line": {"query": (sp.Integer(1), sp.Integer(-1))},
        "boosted backwards": {"key": lambda query, wanted, law: boosted_query(query, -wanted, law)},
        "peak one step later": {"key": lambda query, wanted, law: hope.peaked_key(query, offset=wanted + 1, **law)},
        "key reversed": {
            "key": lambda query, wanted, law: [-coordinate for coordinate in _our_key(query, wanted, law)]
        },
    },
)
def peak(query: Query = QUERY, key: Construction = _our_key) -> Facts:
    """For every query off the light cone and every r there is a key whose score is greatest at D = r, among all
    integers D: N = -P (theta' - theta)/(theta' + theta) e^(2 r theta), P > 0 (errata F6: for the paper's key, which we
    read as a boosted copy of the query, P and N are positive and the score only falls).

    d score/dD = -e^(-D slow)/2 (P slow + N fast e^(-2 D theta)). If P > 0 > N and the bracket is zero at D = r, it is
    negative before r and positive after it: the score rises up to r and falls from there.
    """
    _compare_scores(query, key)
    theta, gap = sp.symbols("theta g", positive=True)
    offset, wanted = sp.symbols("D r", real=True)
    law: dict[str, Any] = {"rate": theta, "damping": theta + gap}
    slow, fast = hope.decay_rates(**law)
    constructed = key(query, wanted, law)

    def channels() -> hope.Pair:
        return hope.channels(query, key(query, wanted, law))

    slope = hope.light_cone_score(query, constructed, offset=offset, **law).diff(offset)
    at_peak = -slow * sp.exp(2 * wanted * theta)
    bracket = fast * (slow - slow * sp.exp(2 * theta * (wanted - offset)))
    margins = hope.falling_margins(query, constructed, **law)
    yield "P = theta' + theta, which is positive", lambda: channels()[0], fast
    yield "N = -(theta' - theta) e^(2 r theta), which is negative", lambda: channels()[1], at_peak
    yield (
        "d score/dD = -e^(-D slow)/2 fast slow (1 - e^(2 theta (r - D)))",
        slope,
        lambda: -sp.exp(-offset * slow) / 2 * bracket,
    )
    yield (
        "second margin = (theta'^2 - theta^2)(1 - e^(2 r theta)) < 0 for r > 0: not monotone",
        lambda: margins[1],
        lambda: slow * fast * (1 - sp.exp(2 * wanted * theta)),
    )


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
        "factors at half the position": {
            "factors": lambda position, offset, dtype: factorised(position // 2, offset, dtype)
        },
        "factors in float64, position 19": {"evaluate": factorised, "dtype": np.float64, "positions": (19,)},
        "factors in float64, position 339": {"evaluate": factorised, "dtype": np.float64, "positions": (339,)},
    },
)
def accurate(
    evaluate: Evaluate = relative,
    dtype: type[np.floating[Any]] = np.float32,
    positions: tuple[int, ...] = (0, 15, 43, 339, 1024, 10**6),
    factors: Evaluate = factorised,
    lost: tuple[int, ...] = (9, 43, 19, 339),
) -> Facts:
    """In float32 the relative form of the score is right to its last digits at any position.  Separate factors of
    queries and keys are not: at theta = 1, theta' = 1.1 their products cancel, so that the score is 0 from position 9
    on, in float64 from 19 on, and they overflow at 43, in float64 at 339 (errata F7).

    `lost` has four positions: where `factors` first gives 0 and first gives no finite number, in float32 and then in
    float64.
    """
    unit = float(np.finfo(dtype).eps) / 2
    in_slow, in_fast = hope.channels(_QUERY, _KEY)
    worst = 0.0
    for position in positions:
        for offset in OFFSETS:
            exact_score, size = (
                float(sp.N(hope.light_cone_score((p + n, p - n), (1, 0), offset=sp.Integer(offset), **_NUMBERS), 30))
                for p, n in ((in_slow / 2, in_fast / 2), (abs(in_slow) / 2, abs(in_fast) / 2))
            )
            computed = evaluate(position, offset, dtype)
            if not abs(computed - exact_score) <= 1.01 * _ROUNDINGS * unit * size:
                raise Refuted(
                    f"q = {_QUERY}, k = {_KEY}, key at {position}, D = {offset}: {computed:.6g} in {dtype.__name__}, "
                    f"where the score is {exact_score:.6g}"
                )
            worst = max(worst, abs(computed - exact_score) / size)
    ends, loss = _positions_of_loss(dtype, factors)
    if ends != lost:
        raise Refuted(f"{'; '.join(loss[1:])}; not from {', '.join(map(str, lost))}")
    yield f"positions {positions}: off by {worst:.2g} of the channels' sizes at most"
    yield from loss


@CLAIMS.claim(
    "hope-10",
    "one damping theta' for all planes, with RoPE's frequencies",
    r"\#\{l: e^{-64(\theta'-\theta_l)}>10^{-3}\}\le 1",
    strength=Strength.INTERVAL,
    assumptions=("any theta' > max theta = 1, base 10000", "the slow channel, which bounds the plane's signal"),
    answers=("planes",),
    falsifiers={
        "at distance 8": {"distance": 8},
        "of a head of 256": {"head_dim": 256},
        "at most a part in 10^9": {"kept": Fraction(1, 10**9)},
    },
)
def alive(head_dim: int = 64, distance: int = 64, kept: Fraction = Fraction(1, 1000), planes: int = 1) -> Facts:
    """With RoPE's frequencies and any theta' > 1, at most 1 of the 32 planes of a head of 64 keeps more than a
    thousandth of its signal at distance 64.

    Enclose what the slow channel of each plane keeps, for all theta' > max theta, and count those above `kept`.

    A channel keeps e^(-D (theta' - theta)), which falls with theta'; so theta' = max theta bounds all of them.
    """
    frequencies = rotary.frequencies(head_dim)
    bound = max(frequencies, key=float)
    limit = flint.arb(flint.fmpq(*kept.as_integer_ratio()))
    shares = [_remaining_share(frequency, bound, distance) for frequency in frequencies]
    undecided = [plane for plane, ball in enumerate(shares) if not (ball > limit or ball < limit)]
    if undecided:
        raise RuntimeError(f"planes {undecided} are too near {kept}")
    above = [plane for plane, ball in enumerate(shares) if ball > limit]
    if len(above) != planes:
        few = ", ".join(f"plane {plane}: {shares[plane].str(4, radius=False)}" for plane in range(min(3, len(shares))))
        raise Refuted(
            f"{len(above)} of {len(shares)} planes keep more than {float(kept)} at D = {distance}, not {planes}: {few}"
        )
    yield f"theta' -> {bound}: planes {above} of {len(shares)} keep more than {float(kept)} at D = {distance}"
    yield f"plane 1 keeps {shares[1].str(4)}, plane {len(shares) // 2} {shares[len(shares) // 2].str(4)}"
