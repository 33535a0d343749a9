"""KERPLE's kernels as biases: ALiBi is one of them, and the weights of the logarithmic kernel have a tail."""

from collections.abc import Callable

import sympy as sp

from lengthgen.proofs_checks.claim import Refuted
from lengthgen.proofs_checks.identity import same_by_sympy
from lengthgen.proofs_checks.paper import Facts, PaperClaims
from lengthgen.proofs_checks.papers.kerple import SOURCE
from lengthgen.theory.encodings import alibi, kerple
from lengthgen.theory.encodings.encoding import HEADS, LENGTH, Encoding


def _sides(encoding: Encoding, distance: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The encoding's bias at this distance, for a key before and for a key after the query."""
    i = sp.Symbol("i", real=True)
    assert encoding.bias is not None
    return encoding.bias(i + distance, i, LENGTH), encoding.bias(i, i + distance, LENGTH)


CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "kerple-4",
    "the power kernel, its relation to ALiBi",
    r"-r_1|j-i|^{p}=-m(j-i)\quad\text{at } p=1,\ r_1=m",
    label="P",
    falsifiers={"p = 2": {"exponent": 2}, "r1 = 2m": {"slopes": 2}},
)
def alibi_case(exponent: int = 1, slopes: int = 1) -> Facts:
    """ALiBi is the power kernel with p = 1 and r1 = m.

    Decide that the power kernel with this exponent and r1 = `slopes` * m is ALiBi's bias.
    """
    slope = alibi.SLOPE
    distance = sp.Symbol("D", nonnegative=True)
    values = {kerple.SCALE: slopes * slope, kerple.EXPONENT: sp.Integer(exponent)}
    expected = alibi.bias(slope, query_position=distance, key_position=sp.S.Zero)
    yield (
        "-m D^p = -m (j - i), D = j - i",
        lambda: kerple.power(distance, scale=slopes * slope, exponent=sp.Integer(exponent)),
        expected,
    )
    yield "the law, key before the query", lambda: _sides(kerple.POWER, distance)[0].xreplace(values), expected
    yield (
        "the law, key after the query, is that of the two-sided ALiBi",
        lambda: _sides(kerple.POWER, distance)[1].xreplace(values),
        expected,
    )
    yield same_by_sympy("numbers trained", kerple.POWER.learned, 2 * HEADS)


@CLAIMS.claim(
    "kerple-5",
    "the logarithmic kernel; its tail is ours",
    r"\sum_{D\ge 0}(1+r_2D)^{-r_1}=\infty\iff r_1\le 1,\quad \sum_{D\ge 0}e^{-mD}=\frac{1}{1-e^{-m}}",
    assumptions=("equal contents", "r1, r2 > 0"),
    answers=("largest_divergent",),
    falsifiers={
        "blocks of one length": {"block": lambda level, scale: sp.Integer(2) ** (-level * scale)},
        "blocks in the plane": {"block": lambda level, scale: sp.Integer(2) ** (level * (2 - scale))},
        "the weight's root": {"block": lambda level, scale: sp.Integer(2) ** (level * (1 - scale / 2))},
    },
)
def polynomial_tail(
    block: Callable[[sp.Expr, sp.Expr], sp.Expr] = lambda level, scale: sp.Integer(2) ** (level * (1 - scale)),
    largest_divergent: sp.Rational = sp.Integer(1),
) -> Facts:
    """At equal content the logarithmic kernel gives the weights (1 + r2 D)^(-r1), a power of the distance: their sum
    over all distances is infinite if and only if r1 <= 1, and then no window is effective; for ALiBi the sum is finite.

    Decide for which r1 the weights (1 + r2 D)^(-r1) have an infinite sum: those up to `largest_divergent`.

    `block` is 2^k times the weight D^(-r1) at D = 2^k, a function of k and r1.
    """
    scale, rate = sp.symbols("r1 r2", positive=True)
    distance, level = sp.Symbol("D", positive=True), sp.Symbol("k", integer=True, nonnegative=True)
    yield (
        "weight^(-1/r1) = 1 + r2 D",
        lambda: sp.exp(-kerple.logarithm(distance, scale=sp.S.One, rate=rate)),
        lambda: 1 + rate * distance,
    )
    yield (
        "scale: r1 times the kernel of r1 = 1",
        kerple.logarithm(distance, scale=scale, rate=rate),
        lambda: scale * kerple.logarithm(distance, scale=sp.S.One, rate=rate),
    )
    yield same_by_sympy(
        "the law, key before and key after the query",
        sp.Matrix(_sides(kerple.LOGARITHM, distance)),
        sp.Matrix([kerple.logarithm(distance, scale=kerple.SCALE, rate=kerple.RATE)] * 2),
    )
    yield same_by_sympy("numbers trained", kerple.LOGARITHM.learned, 2 * HEADS)
    yield "1 + r2 D exceeds r2 D by 1", lambda: 1 + rate * distance - rate * distance, sp.S.One
    yield (
        "and falls short of (1 + r2) D by D - 1, not negative for D >= 1",
        lambda: (1 + rate) * distance - (1 + rate * distance),
        lambda: distance - 1,
    )
    yield "so the weight at D is D^(-r1) within the factors (1 + r2)^(-r1) and r2^(-r1)"
    growth = sp.powsimp(block(level + 1, scale) / block(level, scale))
    at_edge = growth.subs(scale, largest_divergent)
    if at_edge > 1:
        more = (1 + largest_divergent) / 2
        raise Refuted(f"r1 = {more}: 2^k terms of at least 2^(-{more} (k + 1)) each: the blocks do not even fall to 0")
    if at_edge < 1:
        raise Refuted(
            f"r1 = {largest_divergent}: block k has 2^k terms of at most 2^(-{largest_divergent} k): finite sum"
        )
    yield (
        f"2^k distances from 2^k on weigh 2^(k (1 - r1)) together, within a factor 2^r1: each block {growth} times "
        "the one before, 1 or more if and only if r1 <= 1"
    )
    yield "so for r1 <= 1 the sum has no limit: the share of any fixed window falls to 0 as the context grows"
    yield (
        "ALiBi: sums (1 - e^(-mT))/(1 - e^(-m)) < 1/(1 - e^(-m)); the term that step T adds",
        lambda: (
            (1 - sp.exp(-alibi.SLOPE * (level + 1))) / (1 - sp.exp(-alibi.SLOPE))
            - (1 - sp.exp(-alibi.SLOPE * level)) / (1 - sp.exp(-alibi.SLOPE))
        ),
        lambda: sp.exp(alibi.bias(alibi.SLOPE, query_position=level, key_position=sp.S.Zero)),
    )
