"""The weights that the kernels give at equal content: ALiBi's as a special case, and how slowly they fall."""

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.kerple.source import source
from theory.encodings import alibi, kerple
from theory.encodings.encoding import HEADS, LENGTH, Encoding


def alibi_case(*, exponent: int, slopes: int) -> Evidence:
    """Decide that the power kernel with this exponent, and as r1 so many slopes, is ALiBi's bias."""
    slope = alibi.SLOPE
    distance = sp.Symbol("D", nonnegative=True)
    kernel = kerple.power(distance, scale=slopes * slope, exponent=sp.Integer(exponent))
    values = {kerple.SCALE: slopes * slope, kerple.EXPONENT: exponent}
    before, after = (side.subs(values) for side in _sides(kerple.POWER, distance))
    expected = alibi.bias(slope, query_position=distance, key_position=sp.S.Zero)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            require_equal("-m D^p = -m (j - i), D = j - i", kernel, expected),
            require_equal("the law, key before the query", before, expected),
            require_equal("the law, key after the query, is that of the two-sided ALiBi", after, expected),
            require_equal("numbers trained", kerple.POWER.learned, 2 * HEADS),
        ),
    )


def polynomial_tail(*, largest_divergent: sp.Rational, attained: bool) -> Evidence:
    """Decide for which r1 the weights (1 + r2 D)^(-r1) have no finite sum: those up to `largest_divergent`."""
    scale, rate = sp.symbols("r1 r2", positive=True)
    distance, level = sp.Symbol("D", positive=True), sp.Symbol("k", integer=True, nonnegative=True)
    facts = [
        require_equal(
            "weight^(-1/r1) = 1 + r2 D",
            sp.exp(-kerple.logarithm(distance, scale=sp.S.One, rate=rate)),
            1 + rate * distance,
        ),
        require_equal(
            "scale: r1 times the kernel of r1 = 1",
            *(
                _named_log(kernel)
                for kernel in (
                    kerple.logarithm(distance, scale=scale, rate=rate),
                    scale * kerple.logarithm(distance, scale=sp.S.One, rate=rate),
                )
            ),
        ),
        require_equal(
            "the law, key before and key after the query",
            sp.Matrix([_named_log(side) for side in _sides(kerple.LOGARITHM, distance)]),
            sp.Matrix([_named_log(kerple.logarithm(distance, scale=kerple.SCALE, rate=kerple.RATE))] * 2),
        ),
        require_equal("numbers trained", kerple.LOGARITHM.learned, 2 * HEADS),
        require_equal("1 + r2 D exceeds r2 D by 1", 1 + rate * distance - rate * distance, sp.S.One),
        require_equal(
            "and falls short of (1 + r2) D by D - 1, not negative for D >= 1",
            (1 + rate) * distance - (1 + rate * distance),
            distance - 1,
        ),
        "so the weight at D is D^(-r1) within the factors (1 + r2)^(-r1) and r2^(-r1)",
    ]
    block = _block(level, scale)
    growth = sp.powsimp(block.subs(level, level + 1) / block)
    at_edge = growth.subs(scale, largest_divergent)
    if at_edge > 1:
        more = (1 + largest_divergent) / 2
        raise Refuted(f"r1 = {more}: 2^k terms of at least 2^(-{more} (k + 1)) each: the blocks do not even fall to 0")
    if at_edge < 1:
        raise Refuted(
            f"r1 = {largest_divergent}: block k has 2^k terms of at most 2^(-{largest_divergent} k): finite sum"
        )
    if not attained:
        partial = sp.log(2**20).n(4)
        raise Refuted(f"r1 = 1, r2 = 1: each doubling of the length adds 1/2 or more, above {partial} after 2^20 keys")
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            f"2^k distances from 2^k on weigh 2^(k (1 - r1)) together, within a factor 2^r1: each block {growth} times "
            "the one before, 1 or more if and only if r1 <= 1",
            "so for r1 <= 1 the sum has no limit: the share of any fixed window falls to 0 as the context grows",
            require_equal(
                "ALiBi: sums (1 - e^(-mT))/(1 - e^(-m)) < 1/(1 - e^(-m)); the term that step T adds",
                (1 - sp.exp(-alibi.SLOPE * (level + 1))) / (1 - sp.exp(-alibi.SLOPE))
                - (1 - sp.exp(-alibi.SLOPE * level)) / (1 - sp.exp(-alibi.SLOPE)),
                sp.exp(alibi.bias(alibi.SLOPE, query_position=level, key_position=sp.S.Zero)),
            ),
        ),
        assumptions=("equal contents", "r1, r2 > 0"),
    )


def _sides(encoding: Encoding, distance: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The law at this distance, for a key before and for one after the query."""
    i = sp.Symbol("i", real=True)
    assert encoding.bias is not None
    return encoding.bias(i + distance, i, LENGTH), encoding.bias(i, i + distance, LENGTH)


def _block(level: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """2^k terms D^(-r1) at D = 2^k."""
    return sp.Integer(2) ** (level * (1 - scale))


def _named_log(kernel: sp.Expr) -> sp.Expr:
    """The logarithm as a symbol, named after what it is of."""
    return kernel.xreplace({log: sp.Symbol(f"log({log.args[0]})", real=True) for log in kernel.atoms(sp.log)})


CLAIMS = (
    Claim(
        id="kerple-4",
        source=source("the power kernel, its relation to ALiBi"),
        statement="ALiBi is the power kernel with p = 1 and r1 = m.",
        latex=r"-r_1|j-i|^{p}=-m(j-i)\quad\text{at } p=1,\ r_1=m",
        label="P",
        check=alibi_case,
        holds={"exponent": 1, "slopes": 1},
        falsifiers={"p = 2": {"exponent": 2}, "r1 = 2m": {"slopes": 2}},
    ),
    Claim(
        id="kerple-5",
        source=source("the logarithmic kernel; its tail is ours"),
        statement="At equal content the logarithmic kernel weighs (1 + r2 D)^(-r1), a power of the distance: the "
        "sum over all distances is infinite if and only if r1 <= 1, and then no window is effective; of ALiBi it is "
        "finite.",
        latex=r"\sum_{D\ge 0}(1+r_2D)^{-r_1}=\infty\iff r_1\le 1,\quad \sum_{D\ge 0}e^{-mD}=\frac{1}{1-e^{-m}}",
        label="F",
        check=polynomial_tail,
        holds={"largest_divergent": sp.Integer(1), "attained": True},
        falsifiers={
            "finite for r1 = 1": {"attained": False},
            "infinite up to r1 = 2": {"largest_divergent": sp.Integer(2)},
            "finite from r1 = 1/2 on": {"largest_divergent": sp.Rational(1, 2)},
        },
    ),
)
