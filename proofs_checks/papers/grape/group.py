"""GRAPE-M (arXiv 2512.07805): a plane's exponentials are a group of rotations; its gauge and its periods."""

from collections.abc import Callable
from math import gcd

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.grape.exponential import GRAM, INDEPENDENT, SPEED, TIME
from proofs_checks.papers.grape.source import source
from theory import algebraic, exact
from theory.encodings import grape, grape_commuting, rotary
from theory.encodings.encoding import KEY, QUERY

Group = Callable[[sp.Expr], grape.PlaneOperator]
LARGEST_PERIOD = 8
TILTED = grape.Frame.of(*grape_commuting.spanning([(1, 0, 0, 0), (0, 1, 1, 0)]))
"""The planes of a_1 = e_1 and a_2 = e_2 + e_3: they do not commute."""


def rotations(*, group: Group) -> Evidence:
    """Decide that the operators are rotations, compose by adding times, and so score by the offset alone."""
    i, j = sp.symbols("i j", real=True)
    at_i, at_j = group(i), group(j)
    inverse, one = at_i.transpose(), grape.identity(at_i.gram).coordinates()
    at = {"query_position": j, "key_position": i}
    rope = rotary.score(QUERY, KEY, **at, frequency=grape.SPEED)
    facts = (
        require_equal("G(0) = I", lambda: group(sp.Integer(0)).coordinates(), one),
        require_equal(
            "G(i) G(j) = G(i + j)",
            lambda: grape.PlaneOperator.coordinates(at_i @ at_j),
            lambda: group(i + j).coordinates(),
        ),
        require_equal("G^T G = I", lambda: grape.PlaneOperator.coordinates(inverse @ at_i), one),
        require_equal(
            "G(i)^T G(j) = G(j - i)",
            lambda: grape.PlaneOperator.coordinates(inverse @ at_j),
            lambda: group(j - i).coordinates(),
        ),
        require_equal("det G = 1", at_i.determinant, sp.Integer(1)),
        require_equal("on its plane, from b to a, it scores as RoPE at s", lambda: grape.ENCODING.score(**at), rope),
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, f"planes that do not commute: {_violation()}"),
        assumptions=(INDEPENDENT,),
    )


def gauge(*, factor: Callable[[sp.Matrix], sp.Expr], orientation: int) -> Evidence:
    """Decide how the generator and its exponential change when [a b] becomes [a b] M, and L against A J2 A^T."""
    change = sp.Matrix(2, 2, sp.symbols("m1:5", real=True))
    regauged, scale = grape.regauged(GRAM, change), factor(change)
    generator = grape.rank2_generator(GRAM)
    sheared = sp.Matrix([[1, change[0, 1]], [0, 1]])

    def after_shear() -> sp.Matrix:
        regauged_by_shear = grape.regauged(GRAM, sheared)
        exponential = grape.rank2_exponential(regauged_by_shear, time=TIME, speed=SPEED)
        return exponential.expressed(GRAM, sheared).coordinates()

    tests = (
        (
            "L of [a b] M = factor L",
            lambda: grape.PlaneOperator.coordinates(grape.rank2_generator(regauged).expressed(GRAM, change)),
            lambda: generator.scaled(scale).coordinates(),
        ),
        ("s^2 of [a b] M = (factor s)^2", lambda: grape.squared_speed(regauged), lambda: (scale * SPEED) ** 2),
        (
            "a shear of [a b] leaves exp(tL) as it is",
            after_shear,
            lambda: grape.rank2_exponential(GRAM, time=TIME, speed=SPEED).coordinates(),
        ),
        ("A J2 A^T", lambda: rotary.rotation(sp.pi / 2), lambda: orientation * generator.coefficients),
    )
    facts = tuple(require_equal(*test) for test in tests)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*facts, "factor 1, the group SL(2), leaves L and with it the encoding as it is"),
        assumptions=(INDEPENDENT, "M real, 2 x 2; A = [a b]"),
    )


def integer_periods(*, period: Callable[[sp.Rational], sp.Expr]) -> Evidence:
    """Decide the least whole n >= 1 with exp(nL) = I at every s = 2 pi p/q with p < 2q and q up to the bound."""
    speeds = [sp.Rational(p, q) for q in range(1, LARGEST_PERIOD + 1) for p in range(1, 2 * q) if gcd(p, q) == 1]
    for turns in speeds:
        found = next(n for n in range(1, LARGEST_PERIOD + 1) if _returns(turns, n))
        claimed = period(turns)
        if claimed != found:
            raise Refuted(f"s = {2 * sp.pi * turns}: exp(nL) = I first at n = {found}, not {claimed}")
    example = sp.Rational(2, 5)
    return Evidence(
        strength=Strength.BOUNDED,
        reach=f"denominators up to {LARGEST_PERIOD}",
        facts=(
            f"{len(speeds)} values of s / (2 pi) = p/q, q <= {LARGEST_PERIOD}: the least period is q in each",
            f"s = {2 * sp.pi * example}: period {period(example)}, while 2 pi / s = {float(1 / example)}",
            "for any s: exp(nL) = I <=> cos(ns) = 1 <=> n s / (2 pi) is whole, which some n >= 1 makes it only if "
            "s / pi is rational; for p/q in lowest terms it is whole <=> q divides n",
        ),
        assumptions=("positions are whole numbers",),
    )


def _returns(turns: sp.Rational, n: int) -> bool:
    """Whether exp(nL) = I at s = 2 pi turns."""
    turned = grape.plane_action(sp.Integer(n), speed=grape.SPEED).subs(grape.SPEED, 2 * sp.pi * turns)
    for entry in turned - sp.eye(2):
        zero = algebraic.is_zero(entry)
        if zero is None:
            raise exact.Undecided(f"exp({n}L) at s = {2 * sp.pi * turns}")
        if not zero:
            return False
    return True


def _violation() -> str:
    """By how much the relative law fails for a product of exponentials that do not commute, at one pair."""

    def product(position: int) -> sp.Matrix:
        half = sp.Rational(position, 2)
        operator = grape_commuting.action(TILTED, (half, half / 2))  # a_2 has length sqrt 2, so s = 2
        return operator.matrix(*grape_commuting.spanning([(1, 0, 0, 0), (0, 1, 1, 0)]))

    off = max(abs(entry) for entry in sp.N(product(3).T * product(5) - product(2), 20))
    return f"a_1 = e_1, a_2 = (e_2 + e_3)/sqrt 2, theta = 1/2 each: an entry of G(3)^T G(5) - G(2) is {float(off):.2f}"


CLAIMS = (
    Claim(
        id="grape-3",
        source=source("the group law of GRAPE-M: orthogonal, relative, compositional"),
        statement="The operators exp(nL) are rotations (orthogonal, determinant 1) that compose by adding positions, "
        "so scores depend on j - i alone, in every dimension.",
        latex=r"G(n)=e^{nL}:\ G^\top G=I,\ \det G=1,\ G(i)G(j)=G(i+j),\ G(i)^\top G(j)=G(j-i)",
        label="P",
        check=rotations,
        holds={"group": lambda time: grape.rank2_exponential(GRAM, time=time, speed=SPEED)},
        falsifiers={
            "a product of exponentials that do not commute": {
                "group": lambda time: grape_commuting.action(TILTED, (time, time))
            },
            "I + tL in place of the exponential": {
                "group": lambda time: grape.identity(GRAM) + grape.rank2_generator(GRAM).scaled(time)
            },
            "a clock that does not add": {
                "group": lambda time: grape.rank2_exponential(GRAM, time=time**2, speed=SPEED)
            },
        },
    ),
    Claim(
        id="grape-4",
        source=source("gauge freedom of the generator; A J A^T"),
        statement="[a b] M has the generator det(M) L(a, b): SL(2) changes nothing, GL(2) rescales the speed; and "
        "A J2 A^T = -L(a, b) for A = [a b] (errata F8: the paper prints +L).",
        latex=r"L([a\ b]M)=\det(M)\,L(a,b),\qquad A J_2 A^\top=-L(a,b)",
        label="P",
        check=gauge,
        holds={"factor": lambda change: change.det(), "orientation": -1},
        printed={"orientation": 1},
        falsifiers={
            "A J2 A^T = +L": {"orientation": 1},
            "GL(2) changes nothing": {"factor": lambda change: sp.Integer(1)},
            "rescaled by the trace": {"factor": lambda change: change.trace()},
        },
    ),
    Claim(
        id="grape-18",
        source=source("Appendix J.1: the period where s / pi is rational (read in a converted copy of version 1)"),
        statement="On whole positions exp(nL) is periodic if and only if s / pi is rational, and its least period is "
        "the denominator of s / (2 pi) (the paper prints 2 pi / s, which need not be whole). "
        "Tried for denominators up to 8; an argument does the rest.",
        latex=r"\tfrac{s}{2\pi}=\tfrac pq,\ \gcd(p,q)=1:\quad e^{nL}=I\iff q\mid n",
        label="F",
        check=integer_periods,
        holds={"period": lambda turns: grape.integer_period(turns=turns)},
        printed={"period": lambda turns: 1 / turns},
        falsifiers={
            "period 2 pi / s": {"period": lambda turns: 1 / turns},
            "2 pi / s rounded up": {"period": lambda turns: sp.ceiling(1 / turns)},
            "the denominator of s / pi": {"period": lambda turns: sp.Integer((2 * turns).q)},
        },
    ),
)
