"""HoPE beside other encodings: far keys under softmax (errata F4), RoPE by continuation (errata F5), diagonal form."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, reduce
from itertools import permutations
from operator import add
from typing import Any

import flint
import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import product, require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.hope import SOURCE
from lengthgen.theory import exact
from lengthgen.theory.enclosure import enclose
from lengthgen.theory.encodings import biases, hope, rotary

Range = tuple[Fraction, Fraction]
OFFSET = sp.Symbol("D", integer=True, nonnegative=True)
_BITS = 64

_HOPE_TO_ROPE = "recovery of RoPE as a special case"

Channel = Callable[[sp.Expr, sp.Expr], sp.Expr]


def content_of_five(offset: sp.Expr) -> sp.Expr:
    """HoPE's score of q = (1, 1), k = (5/2, 5/2) at theta = 1, theta' = 1.1: 5 in the slow channel, of rate 0.1."""
    half = sp.Rational(5, 2)
    return hope.light_cone_score((1, 1), (half, half), offset=offset, rate=sp.Integer(1), damping=sp.Rational(11, 10))


def alibi_of_five(offset: sp.Expr) -> sp.Expr:
    """ALiBi's logit for the same content, with the slope 0.05."""
    return 5 + biases.alibi_bias(sp.Rational(1, 20), query_position=offset, key_position=sp.Integer(0))


def far_mass(
    *,
    logit: Callable[[sp.Expr], sp.Expr],
    other_logit: Callable[[sp.Expr], sp.Expr],
    length: int,
    beyond: int,
    share: Range,
    last_to_first: Range,
    other_share: Range,
) -> Evidence:
    """Enclose the mass of the keys beyond a distance under two encodings, and a ratio of weights.

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
    facts = (
        _within(f"share of the mass beyond D = {beyond}, of {length} keys", mass, share),
        _within(f"weight at D = {length - 1} over that at D = {beyond + 1}", ratio, last_to_first),
        _within(f"the same share under {other_logit(OFFSET)}", other_mass, other_share),
    )
    return Evidence(strength=Strength.INTERVAL, facts=facts, assumptions=(f"logit {logit(OFFSET)}",))


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


def uniform(*, damping: Callable[[sp.Expr, sp.Expr], sp.Expr], spread: int) -> Evidence:
    """Decide e^(-spread C)/T <= a_ij <= e^(2C)/T, C = (|P| + |N|)/2, for T keys at any distances.

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
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=(
            "one plane; in a head C is the sum over planes, over sqrt(d)",
            "finite content, any T and distances",
        ),
    )


def _refute_spread(spread: int) -> None:
    """Raise `Refuted` if the stated bound fails for 100 keys, one of logit -2 and all others of logit 2."""
    keys, size = 100, 2
    least = sp.exp(-size) / (sp.exp(-size) + (keys - 1) * sp.exp(size))
    bound = sp.exp(-spread * size) / keys
    if least < bound:
        raise Refuted(f"C = {size}, T = {keys}: the least weight is {sp.N(least, 5)}, below {sp.N(bound, 5)}")


def rope_by_continuation(*, rate_unit: sp.Expr, damping: sp.Expr, basis: sp.Matrix) -> Evidence:
    """Decide that HoPE at the rate rate_unit * theta, in the given basis, is RoPE's rotation and RoPE's score."""
    i, offset, m, theta = sp.symbols("i D m theta", real=True)
    query, key = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("k1 k2"))
    inverse = basis.inv()
    pair_kernel = hope.kernel(offset, rate=rate_unit * theta, damping=damping)
    scored = ((basis * query).T * pair_kernel * inverse * key)[0]
    roped = rotary.score(query, key, query_position=i + offset, key_position=i, frequency=theta)
    facts = (
        require_equal(
            "C^-1 H(m) C = R2(m theta)",
            lambda: inverse * hope.kernel(m, rate=rate_unit * theta, damping=damping) * basis,
            lambda: rotary.rotation(m * theta),
        ),
        require_equal("HoPE's score of C q and C^-1 k = RoPE's score of q and k", scored, roped),
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("plane by plane, so every even d follows",))


def no_real_rope(
    *, parameters: sp.Set, rotation: Callable[[sp.Expr], sp.Matrix], reproduced_period: sp.Expr
) -> Evidence:
    """Decide which RoPE frequencies HoPE reproduces with parameters and bases in the set: the period's multiples.

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
        raise exact.Undecided(f"the eigenvalues {slow} and {fast} of HoPE's step are not known to be positive")
    turn = sp.exp(sp.I * w)
    tests = (
        ("H(0) = I", lambda: one_step.subs(m, 0), sp.eye(2)),
        ("H(m) H(n) = H(m + n)", two_steps, lambda: hope.kernel(m + n, **law)),
        ("HoPE's step has positive eigenvalues", step_polynomial, lambda: (x - slow) * (x - fast)),
        ("RoPE's step has the eigenvalues exp(iw), exp(-iw)", rope_polynomial, lambda: (x - turn) * (x - 1 / turn)),
        ("RoPE's discriminant is -(2 sin w)^2", sp.discriminant(rope_polynomial, x), lambda: -((2 * sp.sin(w)) ** 2)),
    )
    facts = tuple(require_equal(*test) for test in tests)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "exp(iw) > 0 only for w in 2 pi Z", *_reproduced_exactly(rotation, reproduced_period)),
        assumptions=("offsets D = 0, 1, 2, ...", "any even widths of both heads, any real W_q and W_k"),
    )


def _reproduced_exactly(rotation: Callable[[sp.Expr], sp.Matrix], period: sp.Expr) -> list[str]:
    """Facts that the frequencies with exp(iw) = 1, those of 2 pi Z, are exactly the multiples of the period."""
    offset, zero = sp.Symbol("D", integer=True), sp.Integer(0)
    trivial = hope.kernel(offset, rate=zero, damping=zero)
    facts = []
    for frequency in (zero, 2 * sp.pi):
        facts.append(same_by_sympy(f"RoPE at w = {frequency} = trivial HoPE", rotation(offset * frequency), trivial))
        if not (frequency / period).is_integer:
            raise Refuted(f"w = {frequency} is reproduced by theta = theta' = 0")
    return [*facts, same_by_sympy(f"RoPE's step at w = {period} = trivial HoPE", rotation(period), trivial)]


def _characteristic(matrix: sp.Matrix, variable: sp.Symbol) -> sp.Expr:
    """Characteristic polynomial of a 2 x 2 matrix."""
    return (variable * sp.eye(2) - matrix).det()


def diagonal(*, channel: Channel, rates: Sequence[int], in_reach: bool) -> Evidence:
    """Decide the kernel in the light-cone basis, and which rates one plane and planes of one theta' can have.

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
    facts = [require_equal(*test) for test in tests]
    pairs = _pairs_of_one_sum(rates)
    if bool(pairs) != in_reach:
        sums = " and ".join(f"{a} + {b}" for a, b in pairs) if pairs else "no two pairs have one sum"
        raise Refuted(f"rates {tuple(rates)} over two planes of one theta': {sums}")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, f"rates {tuple(rates)} {'are' if in_reach else 'are not'} those of two planes of one theta'"),
        assumptions=("plane by plane, so every even d follows", "the basis is absorbed by W_q and W_k"),
    )


def _pairs_of_one_sum(rates: Sequence[int]) -> list[tuple[int, int]]:
    """The four rates as two pairs with the same sum, if there are such pairs."""
    for a, b, c, d in permutations(rates):
        if a + b == c + d:
            return [(a, b), (c, d)]
    return []


CLAIMS = (
    Claim(
        id="hope-5",
        source=SOURCE.at("decay of attention weights with distance"),
        statement="At content 5 and rate 0.1, 89 % of the softmax mass of 4096 keys lies beyond distance 50, spread "
        "almost evenly; ALiBi at slope 0.05 has 8 % there (errata F4: the logit tends to 0, not to minus infinity).",
        latex=r"\sum_{D>50}a_D \approx 0.888,\quad a_D\propto e^{5e^{-D/10}},\ T=4096",
        label="F",
        check=far_mass,
        holds={
            "logit": content_of_five,
            "other_logit": alibi_of_five,
            "length": 4096,
            "beyond": 50,
            "share": (Fraction(885, 1000), Fraction(895, 1000)),
            "last_to_first": (Fraction(95, 100), Fraction(1)),
            "other_share": (Fraction(75, 1000), Fraction(85, 1000)),
        },
        answers=("share", "last_to_first", "other_share"),
        falsifiers={
            "ALiBi for HoPE": {"logit": alibi_of_five},
            "of 64 keys": {"length": 64},
            "half the rate": {"logit": lambda offset: content_of_five(offset / 2)},
            "no content": {"logit": lambda offset: 0 * content_of_five(offset)},
            "ALiBi at slope 0.1": {"other_logit": lambda offset: alibi_of_five(2 * offset)},
        },
    ),
    Claim(
        id="hope-5-uniform",
        source=SOURCE.at("decay of attention weights with distance"),
        statement="A key at any distance has at least the weight e^(-2C)/T among T keys, C = (|P| + |N|)/2: no key is "
        "forgotten, and the nearest n have at most the weight n e^(2C)/T together.",
        latex=r"e^{-2C}/T\le a_{ij}\le e^{2C}/T,\quad C=\tfrac12(|P|+|N|)",
        label="F",
        check=uniform,
        holds={"damping": lambda rate, gap: rate + gap, "spread": 2},
        falsifiers={
            "theta' below theta": {"damping": lambda rate, gap: rate - gap},
            "at least e^-C/T": {"spread": 1},
            "at least 1/T": {"spread": 0},
        },
    ),
    Claim(
        id="hope-6-complex",
        source=SOURCE.at(_HOPE_TO_ROPE),
        statement="With an imaginary rate, no damping and the basis diag(1, i), HoPE is RoPE (errata F5: as a 'special "
        "case' RoPE needs all three).",
        latex=r"C^{-1}B(i\theta, m)\,C = R_2(m\theta),\quad C=\mathrm{diag}(1,i),\ \theta'=0",
        label="F",
        check=rope_by_continuation,
        holds={"rate_unit": sp.I, "damping": sp.Integer(0), "basis": sp.ImmutableMatrix(sp.diag(1, sp.I))},
        falsifiers={
            "real rate": {"rate_unit": sp.Integer(1)},
            "with damping": {"damping": sp.Integer(1)},
            "without the change of basis": {"basis": sp.ImmutableMatrix(sp.eye(2))},
        },
    ),
    Claim(
        id="hope-6-real",
        source=SOURCE.at(_HOPE_TO_ROPE),
        statement="No real parameters of HoPE, with any real W_q and W_k, give RoPE's score at every offset, unless "
        "every frequency of RoPE is a multiple of 2 pi, where RoPE is constant and trivial HoPE gives it.",
        latex=r"P^\top H^D Q = R^{-D}\ \forall D\ge 0\ \Rightarrow\ \omega\in 2\pi\mathbb{Z}",
        label="F",
        check=no_real_rope,
        holds={"parameters": sp.S.Reals, "rotation": rotary.rotation, "reproduced_period": 2 * sp.pi},
        answers=("reproduced_period",),
        falsifiers={
            "complex parameters and bases": {"parameters": sp.S.Complexes},
            "RoPE at half the angle": {"rotation": lambda angle: rotary.rotation(angle / 2)},
            "RoPE at twice the angle": {"rotation": lambda angle: rotary.rotation(2 * angle)},
            "boosts for rotations": {"rotation": hope.boost},
        },
    ),
    Claim(
        id="hope-7",
        source=SOURCE.at("definition of the query and key maps"),
        statement="In the light-cone basis, which W_q and W_k absorb, a plane of HoPE is two channels that decay at "
        "theta' - theta and theta' + theta: xPos without rotation.  Any two rates above 0 are those of some plane; in "
        "planes with the same theta' the two rates have the same sum, so 1, 2, 3, 5 are not the rates of two planes.",
        latex=r"\tfrac12L^\top H(D)L=\mathrm{diag}\big(e^{-D(\theta'-\theta)},e^{-D(\theta'+\theta)}\big),\quad "
        r"L=\begin{pmatrix}1&1\\1&-1\end{pmatrix}",
        label="F",
        check=diagonal,
        holds={"channel": lambda rate, offset: sp.exp(-rate * offset), "rates": (1, 2, 3, 5), "in_reach": False},
        answers=("in_reach",),
        falsifiers={
            "channels that turn, as RoPE's": {"channel": lambda rate, offset: sp.cos(rate * offset)},
            "channels that grow": {"channel": lambda rate, offset: sp.exp(rate * offset)},
            "rates 1, 2, 3, 4": {"rates": (1, 2, 3, 4)},
        },
    ),
)
