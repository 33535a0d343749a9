"""The wavelet vectors: integrals of Ricker's wavelet, the relative law, and the bound of what they add to a score."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.enclosing import ball
from lengthgen.proofs_checks.identity import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.wavelet import SOURCE
from lengthgen.proofs_checks.signs import is_zero
from lengthgen.theory import far, laws
from lengthgen.theory.encodings import biases, relations
from lengthgen.theory.encodings.encoding import Encoding, Law
from lengthgen.theory.exact import Undecided
from lengthgen.theory.far import FarField

Function = Callable[[sp.Expr], sp.Expr]
Vector = Callable[..., sp.Matrix]

POINT = sp.Symbol("t", real=True)
SLOPE_OF_RICKER = POINT * (POINT**2 - 3) * sp.exp(-(POINT**2) / 2)
"""Derivative of Ricker's wavelet."""
_TRIED = (sp.Integer(0), sp.Rational(1, 2), sp.Integer(1), sp.Integer(2), sp.Integer(3), sp.Integer(40))


def ricker(point: sp.Expr) -> sp.Expr:
    """Ricker's wavelet of the encoding."""
    return relations.ricker(point, scale=sp.S.One)


def integrals(*, psi: Function, antiderivative: Function, half_line: Function) -> Evidence:
    """Decide zeros, minimum and integrals of psi; `half_line` is the integral from t = -r on, a function of r = b/a."""
    ratio = sp.Symbol("r", nonnegative=True)
    lowest = -2 * sp.exp(-sp.Rational(3, 2))
    facts = (
        require_equal(
            "psi is the derivative of the stated function", lambda: derivative(antiderivative(POINT), POINT), psi(POINT)
        ),
        same_by_sympy("which goes to 0 on the right", sp.limit(antiderivative(POINT), POINT, sp.oo), sp.S.Zero),
        same_by_sympy(
            "and on the left, so the mean is 0", sp.limit(antiderivative(POINT), POINT, -sp.oo), sp.S.Zero
        ),
        require_equal(
            "psi is 0 at t = 1 and t = -1 alone",
            lambda: psi(POINT),
            lambda: (1 - POINT) * (1 + POINT) * sp.exp(-(POINT**2) / 2),
        ),
        require_equal("its derivative is t (t^2 - 3) e^(-t^2/2)", lambda: derivative(psi(POINT), POINT),
                      lambda: SLOPE_OF_RICKER),
        same_by_sympy("so its minimum is at t = sqrt(3)", psi(sp.sqrt(3)), lowest),
        require_equal(
            "the integral over the distances D >= 0, so from t = -b/a = -r on, is r e^(-r^2/2)",
            lambda: -antiderivative(-ratio),
            half_line(ratio),
        ),
        same_by_sympy("which is 0 for r = 0 alone", half_line(ratio) * sp.exp(ratio**2 / 2), ratio),
    )  # fmt: skip
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("any scale a > 0 and shift b >= 0, r = b/a",))


def relative(*, vector: Vector) -> Evidence:
    """Decide that all vectors depend on the distance alone, and not on its absolute value alone."""
    facts = []
    for name, psi in relations.WAVELETS.items():
        encoding = _with_vectors(partial(vector, psi=psi))
        ruling = laws.decide_law(encoding, Law.RELATIVE)
        if ruling.holds is None:
            raise Undecided(f"{name}: {ruling.reason}")
        if not ruling.holds:
            raise Refuted(f"{name}: {ruling.reason}")
        facts.append(f"{name}: {ruling.reason}")
        facts.append(_asymmetry(name, partial(vector, psi=psi)))
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("one plane stands for all: the others differ only in scales and shifts",),
    )


def _with_vectors(vector: Vector) -> Encoding:
    """Record with other vectors, given as a function of the positions of query and key."""
    return replace(relations.WAVELET, relative_key=lambda query, key, _: vector(query, key))


def _asymmetry(name: str, vector: Vector) -> str:
    """Fact that a key before the query and one behind it have other vectors. Raises `Refuted` if none is seen."""
    here = dict(zip((*relations.WAVELET_SCALES, *relations.WAVELET_SHIFTS), map(sp.Integer, (1, 2, 1, 1)), strict=True))
    for distance in map(sp.Integer, range(1, 4)):
        before, behind = vector(distance, sp.S.Zero).subs(here), vector(sp.S.Zero, distance).subs(here)
        for entry, other in zip(before, behind, strict=True):
            if not is_zero(entry - other):
                return f"{name}: distance {distance} has {entry}, and -{distance} has {other}, at b = 1"
    raise Refuted(f"{name}: the vectors at the distances 1, 2, 3 are those at -1, -2, -3")


def bounded(*, psi: Function) -> Evidence:
    """Decide that |psi| <= 1 and that psi goes to 0 on both sides, so that |q . p| <= |q|_1, and q . p goes to 0."""
    for point in _TRIED:
        if ball(psi(point)) > 1 or ball(psi(point)) < -1:
            raise Refuted(f"psi({point}) = {psi(point).n(6)} is outside [-1, 1]")
    for end in (sp.oo, -sp.oo):
        limit = sp.limit(psi(POINT), POINT, end)
        if limit != 0:
            raise Refuted(f"psi goes to {limit} at {end}, not to 0")
    half_square = sp.Symbol("u", nonnegative=True)

    def at_scale(point: sp.Expr, *, scale: sp.Expr) -> sp.Expr:
        return psi(point)

    encoding = _with_vectors(partial(relations.wavelet_vector, wavelet=at_scale))
    behaviours = {
        "the vectors": (far.far_cases(encoding), FarField.CONSTANT),
        "ALiBi's bias": (far.far_cases(biases.ALIBI), FarField.EXPONENTIAL),
    }
    for what, (cases, expected) in behaviours.items():
        if [case.behaviour for case in cases] != [expected]:
            raise Refuted(f"{what}: far keys {far.cases_text(cases)}, not {expected}")
    facts = (
        require_equal(
            "e^u psi = 1 - 2u with u = t^2/2 >= 0",
            lambda: psi(POINT) * sp.exp(POINT**2 / 2),
            lambda: 1 - 2 * (POINT**2 / 2),
        ),
        "e^u >= 1 + u + u^2/2 for u >= 0, by its series",
        require_equal(
            "that minus (1 - 2u) is not negative: psi <= 1",
            lambda: (1 + half_square + half_square**2 / 2) - (1 - 2 * half_square),
            lambda: 3 * half_square + half_square**2 / 2,
        ),
        require_equal(
            "and plus (1 - 2u) is positive: psi > -1",
            lambda: (1 + half_square + half_square**2 / 2) + (1 - 2 * half_square),
            lambda: ((half_square - 1) ** 2 + 3) / 2,
        ),
        "so each of the d terms of q . p is at most |q_c|, and |q . p| <= |q|_1 at every distance",
        "psi goes to 0 on both sides, so q . p goes to 0 for a fixed query, where ALiBi's bias goes to -infinity",
    )
    return Evidence(strength=Strength.GENERAL, facts=facts, assumptions=("any scales a > 0 and shifts b",))


def _antiderivative(point: sp.Expr) -> sp.Expr:
    return point * sp.exp(-(point**2) / 2)


def _half_line(ratio: sp.Expr) -> sp.Expr:
    return ratio * sp.exp(-(ratio**2) / 2)


def _vector(query: sp.Expr, key: sp.Expr, psi: relations.Wavelet) -> sp.Matrix:
    return relations.wavelet_vector(query, key, wavelet=psi)


def _by_position(query: sp.Expr, key: sp.Expr, psi: relations.Wavelet) -> sp.Matrix:
    """Vectors of the query's position."""
    return relations.wavelet_vector(query, sp.S.Zero, wavelet=psi)


def _two_sided(query: sp.Expr, key: sp.Expr, psi: relations.Wavelet) -> sp.Matrix:
    """Vectors of the absolute distance."""
    return relations.wavelet_vector(sp.Abs(query - key), sp.S.Zero, wavelet=psi)


_OTHER_RICKER: Mapping[str, Mapping[str, Function]] = {
    "without the bell curve": {"psi": lambda point: 1 - point**2},
    "a cosine": {"psi": sp.cos},
    "twice as tall": {"psi": lambda point: 2 * ricker(point)},
}

CLAIMS = (
    Claim(
        id="wavelet-4",
        source=SOURCE.at("choice of the wavelet"),
        statement="Ricker's wavelet has mean 0, zeros at t = 1 and -1, and its minimum -2 e^(-3/2) at sqrt(3); but the "
        "integral over the distances D >= 0 that occur is (b/a) e^(-b^2/(2a^2)), which is 0 for the shift 0 alone.",
        latex=r"\int_{-b/a}^\infty\psi(t)\,dt=\tfrac ba e^{-b^2/2a^2}",
        label="F",
        check=integrals,
        holds={"psi": ricker, "antiderivative": _antiderivative, "half_line": _half_line},
        falsifiers={
            "mean 0 over the distances for every shift": {"half_line": lambda ratio: sp.S.Zero},
            "the bell curve": {"psi": lambda point: relations.gaussian(point, scale=sp.S.One)},
            "antiderivative t e^(-t^2)": {"antiderivative": lambda point: point * sp.exp(-(point**2))},
        },
    ),
    Claim(
        id="wavelet-5",
        source=SOURCE.at("relative position"),
        statement="What the vectors add to a score depends on the query's content and on the distance m - n alone, for "
        "each of the four wavelets; it is not symmetric in the distance.",
        latex=r"q\cdot p_{m+s,n+s}=q\cdot p_{mn},\quad p_{mn}\ne p_{nm}",
        label="P",
        check=relative,
        holds={"vector": _vector},
        falsifiers={
            "vectors of the query's position": {"vector": _by_position},
            "vectors of the absolute distance": {"vector": _two_sided},
        },
    ),
    Claim(
        id="wavelet-6",
        source=SOURCE.at("attention field"),
        statement="With Ricker's wavelet a score changes by at most |q|_1/sqrt(d) at every distance, and by a share of "
        "it that goes to 0 at infinite distance: no key is shut out, where ALiBi's bias goes to minus infinity.",
        latex=r"|q\cdot p_{mn}|\le\|q\|_1,\quad q\cdot p_{mn}\to0\ (m-n\to\infty)",
        label="P",
        check=bounded,
        holds={"psi": ricker},
        falsifiers=_OTHER_RICKER,
    ),
)
