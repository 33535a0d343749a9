"""KERPLE's logarithmic kernel has a polynomial tail, which for slow decay holds no window."""

import sympy as sp

from lengthgen.proofs_checks.facts import Formula, same_by_sympy
from lengthgen.proofs_checks.formulas import alibi, bias_of
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.kerple import SOURCE
from lengthgen.theory.encodings import biases
from lengthgen.theory.encodings.encoding import HEADS

CLAIMS = PaperClaims(SOURCE)


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
    block: Formula = lambda level, scale: sp.Integer(2) ** (level * (1 - scale)),
    largest_divergent: sp.Rational = sp.Integer(1),
) -> Facts:
    """At equal content the logarithmic kernel gives the weights (1 + r2 D)^(-r1), a power of the distance: their sum
    over all distances is infinite if and only if r1 <= 1, and then no window is effective; for ALiBi the sum is finite.

    `block` is 2^k times the weight D^(-r1) at D = 2^k, a function of k and r1.
    """
    scale, rate = sp.symbols("r1 r2", positive=True)
    i, distance, level = (
        sp.Symbol("i", real=True),
        sp.Symbol("D", positive=True),
        sp.Symbol("k", integer=True, nonnegative=True),
    )
    logarithm, bias = biases.kerple_logarithm, bias_of(biases.KERPLE_LOG)
    power = "weight^(-1/r1) = 1 + r2 D"
    yield power, lambda: sp.exp(-logarithm(distance, scale=sp.S.One, rate=rate)), lambda: 1 + rate * distance
    yield (
        "scale: r1 times the kernel of r1 = 1",
        logarithm(distance, scale=scale, rate=rate),
        lambda: scale * logarithm(distance, scale=sp.S.One, rate=rate),
    )
    yield same_by_sympy(
        "the law, key before and key after the query",
        sp.Matrix([bias(i + distance, i), bias(i, i + distance)]),
        sp.Matrix([logarithm(distance, scale=biases.KERPLE_SCALE, rate=biases.KERPLE_RATE)] * 2),
    )
    yield same_by_sympy("numbers trained", biases.KERPLE_LOG.learned, 2 * HEADS)
    yield "1 + r2 D exceeds r2 D by 1", lambda: 1 + rate * distance - rate * distance, sp.S.One
    short = "and falls short of (1 + r2) D by D - 1, not negative for D >= 1"
    yield short, lambda: (1 + rate) * distance - (1 + rate * distance), lambda: distance - 1
    yield "so the weight at D is D^(-r1) within the factors (1 + r2)^(-r1) and r2^(-r1)"
    in_block, four = sp.Rational(1, 4), block(sp.Integer(2), sp.Integer(2))
    refute(four != in_block, f"r1 = 2, block 2: 4 times the weight 4^(-2) at D = 4 is {in_block}, not {four}")
    growth = sp.powsimp(block(level + 1, scale) / block(level, scale))
    at_edge, more = growth.subs(scale, largest_divergent), (1 + largest_divergent) / 2
    slow = f"r1 = {more}: 2^k terms of at least 2^(-{more} (k + 1)) each: the blocks do not even fall to 0"
    refute(at_edge > 1, slow)
    terms = f"block k has 2^k terms of at most 2^(-{largest_divergent} k)"
    refute(at_edge < 1, f"r1 = {largest_divergent}: {terms}: finite sum")
    of_block = sp.Integer(2) ** (level * (1 - scale))
    yield same_by_sympy("block k: 2^k times D^(-r1) at D = 2^k", sp.powsimp(block(level, scale)), of_block)
    yield (
        f"2^k distances from 2^k on weigh 2^(k (1 - r1)) together, within a factor 2^r1: each block {growth} times "
        "the one before, 1 or more if and only if r1 <= 1"
    )
    yield "so for r1 <= 1 the sum has no limit: the share of any fixed window falls to 0 as the context grows"
    ratio = sp.exp(-biases.ALIBI_SLOPE)
    yield (
        "ALiBi: sums (1 - e^(-mT))/(1 - e^(-m)) < 1/(1 - e^(-m)); the term that step T adds",
        lambda: (
            (1 - sp.exp(-biases.ALIBI_SLOPE * (level + 1))) / (1 - ratio)
            - (1 - sp.exp(-biases.ALIBI_SLOPE * level)) / (1 - ratio)
        ),
        lambda: sp.exp(alibi(level)),
    )
