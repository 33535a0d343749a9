"""KERPLE's kernels as biases: ALiBi is one of them, and the weights of the logarithmic kernel have a tail."""

from collections.abc import Callable

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.identity import require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.kerple import SOURCE
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import HEADS, LENGTH, Encoding


def alibi_case(*, exponent: int, slopes: int) -> Evidence:
    """Decide that the power kernel with this exponent and r1 = `slopes` * m is ALiBi's bias."""
    slope = biases.ALIBI_SLOPE
    distance = sp.Symbol("D", nonnegative=True)
    values = {biases.KERPLE_SCALE: slopes * slope, biases.KERPLE_EXPONENT: sp.Integer(exponent)}
    expected = biases.alibi_bias(slope, query_position=distance, key_position=sp.S.Zero)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal(
                "-m D^p = -m (j - i), D = j - i",
                lambda: biases.kerple_power(distance, scale=slopes * slope, exponent=sp.Integer(exponent)),
                expected,
            ),
            require_equal(
                "the law, key before the query",
                lambda: _sides(biases.KERPLE_POWER, distance)[0].xreplace(values),
                expected,
            ),
            require_equal(
                "the law, key after the query, is that of the two-sided ALiBi",
                lambda: _sides(biases.KERPLE_POWER, distance)[1].xreplace(values),
                expected,
            ),
            same_by_sympy("numbers trained", biases.KERPLE_POWER.learned, 2 * HEADS),
        ),
    )


def polynomial_tail(*, block: Callable[[sp.Expr, sp.Expr], sp.Expr], largest_divergent: sp.Rational) -> Evidence:
    """Decide for which r1 the weights (1 + r2 D)^(-r1) have an infinite sum: those up to `largest_divergent`.

    `block` is 2^k times the weight D^(-r1) at D = 2^k, a function of k and r1.
    """
    scale, rate = sp.symbols("r1 r2", positive=True)
    distance, level = sp.Symbol("D", positive=True), sp.Symbol("k", integer=True, nonnegative=True)
    facts = [
        require_equal(
            "weight^(-1/r1) = 1 + r2 D",
            lambda: sp.exp(-biases.kerple_logarithm(distance, scale=sp.S.One, rate=rate)),
            lambda: 1 + rate * distance,
        ),
        require_equal(
            "scale: r1 times the kernel of r1 = 1",
            biases.kerple_logarithm(distance, scale=scale, rate=rate),
            lambda: scale * biases.kerple_logarithm(distance, scale=sp.S.One, rate=rate),
        ),
        same_by_sympy(
            "the law, key before and key after the query",
            sp.Matrix(_sides(biases.KERPLE_LOG, distance)),
            sp.Matrix([biases.kerple_logarithm(distance, scale=biases.KERPLE_SCALE, rate=biases.KERPLE_RATE)] * 2),
        ),
        same_by_sympy("numbers trained", biases.KERPLE_LOG.learned, 2 * HEADS),
        require_equal("1 + r2 D exceeds r2 D by 1", lambda: 1 + rate * distance - rate * distance, sp.S.One),
        require_equal(
            "and falls short of (1 + r2) D by D - 1, not negative for D >= 1",
            lambda: (1 + rate) * distance - (1 + rate * distance),
            lambda: distance - 1,
        ),
        "so the weight at D is D^(-r1) within the factors (1 + r2)^(-r1) and r2^(-r1)",
    ]
    growth = sp.powsimp(block(level + 1, scale) / block(level, scale))
    at_edge = growth.subs(scale, largest_divergent)
    if at_edge > 1:
        more = (1 + largest_divergent) / 2
        raise Refuted(f"r1 = {more}: 2^k terms of at least 2^(-{more} (k + 1)) each: the blocks do not even fall to 0")
    if at_edge < 1:
        raise Refuted(
            f"r1 = {largest_divergent}: block k has 2^k terms of at most 2^(-{largest_divergent} k): finite sum"
        )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            f"2^k distances from 2^k on weigh 2^(k (1 - r1)) together, within a factor 2^r1: each block {growth} times "
            "the one before, 1 or more if and only if r1 <= 1",
            "so for r1 <= 1 the sum has no limit: the share of any fixed window falls to 0 as the context grows",
            require_equal(
                "ALiBi: sums (1 - e^(-mT))/(1 - e^(-m)) < 1/(1 - e^(-m)); the term that step T adds",
                lambda: (
                    (1 - sp.exp(-biases.ALIBI_SLOPE * (level + 1))) / (1 - sp.exp(-biases.ALIBI_SLOPE))
                    - (1 - sp.exp(-biases.ALIBI_SLOPE * level)) / (1 - sp.exp(-biases.ALIBI_SLOPE))
                ),
                lambda: sp.exp(biases.alibi_bias(biases.ALIBI_SLOPE, query_position=level, key_position=sp.S.Zero)),
            ),
        ),
        assumptions=("equal contents", "r1, r2 > 0"),
    )


def _sides(encoding: Encoding, distance: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The encoding's bias at this distance, for a key before and for a key after the query."""
    i = sp.Symbol("i", real=True)
    assert encoding.bias is not None
    return encoding.bias(i + distance, i, LENGTH), encoding.bias(i, i + distance, LENGTH)


CLAIMS = (
    Claim(
        id="kerple-4",
        source=SOURCE.at("the power kernel, its relation to ALiBi"),
        statement="ALiBi is the power kernel with p = 1 and r1 = m.",
        latex=r"-r_1|j-i|^{p}=-m(j-i)\quad\text{at } p=1,\ r_1=m",
        label="P",
        check=alibi_case,
        holds={"exponent": 1, "slopes": 1},
        falsifiers={"p = 2": {"exponent": 2}, "r1 = 2m": {"slopes": 2}},
    ),
    Claim(
        id="kerple-5",
        source=SOURCE.at("the logarithmic kernel; its tail is ours"),
        statement="At equal content the logarithmic kernel gives the weights (1 + r2 D)^(-r1), a power of the "
        "distance: their sum over all distances is infinite if and only if r1 <= 1, and then no window is effective; "
        "for ALiBi the sum is finite.",
        latex=r"\sum_{D\ge 0}(1+r_2D)^{-r_1}=\infty\iff r_1\le 1,\quad \sum_{D\ge 0}e^{-mD}=\frac{1}{1-e^{-m}}",
        label="F",
        check=polynomial_tail,
        holds={
            "block": lambda level, scale: sp.Integer(2) ** (level * (1 - scale)),
            "largest_divergent": sp.Integer(1),
        },
        answers=("largest_divergent",),
        falsifiers={
            "blocks of one length": {"block": lambda level, scale: sp.Integer(2) ** (-level * scale)},
            "blocks in the plane": {"block": lambda level, scale: sp.Integer(2) ** (level * (2 - scale))},
            "the weight's root": {"block": lambda level, scale: sp.Integer(2) ** (level * (1 - scale / 2))},
        },
    ),
)
