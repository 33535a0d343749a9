"""Position interpolation: the angle between neighbours, and how far the printed constant is from the least one."""

from collections.abc import Mapping
from typing import Any

import sympy as sp

from lengthgen.proofs_checks.facts import Formula, ball, derivative, same_by_sympy, short
from lengthgen.proofs_checks.paper import Facts, PaperClaims, refute
from lengthgen.proofs_checks.papers.interpolation import BASE, DEFINITION, SOURCE, THEOREM
from lengthgen.theory.encodings import rotary

CLAIMS = PaperClaims(SOURCE)


@CLAIMS.claim(
    "pi-6",
    DEFINITION,
    r"R\big(\tfrac{n+1}{s}\theta\big)R\big(\tfrac{n}{s}\theta\big)^\top = R(\theta/s)",
    assumptions=("u stands for 1/s",),
    falsifiers={
        "whatever s": {"step": lambda frequency, shrink: frequency},
        "s^2 times less": {"step": lambda frequency, shrink: frequency * shrink**2},
    },
)
def neighbours(step: Formula = lambda frequency, shrink: frequency * shrink) -> Facts:
    """Interpolated neighbours differ by the angle theta/s in each plane: s times less than in training."""
    index, theta, shrink = sp.Symbol("i", real=True), rotary.FREQUENCY, rotary.SHRINK
    here, there = (
        rotary.rotation(rotary.interpolated_position(at, scale=1 / shrink) * theta) for at in (index, index + 1)
    )
    yield "R(p(i + 1)) R(p(i))^T = R(step)", lambda: there * here.T, rotary.rotation(step(theta, shrink))


@CLAIMS.claim(
    "pi-4",
    THEOREM,
    r"\frac{d}{4\ln c}\Big/\sum_l\theta_l^2 \;\nearrow\; \frac{1}{1-c^{-2}}\quad(d\to\infty)",
    assumptions=("d > 0 and c > 1 are real, c = e^(d v / 4)",),
    answers=("first_width", "ratios"),
    falsifiers={
        "limit 1": {"limit": lambda base: sp.Integer(1)},
        "d / (4 ln c) for the printed constant": {
            "printed": lambda **sizes: 2 * rotary.printed_error_constant(**sizes)
        },
        "(d - 2) / (8 ln c) for the printed constant": {
            "printed": lambda head_dim, base: rotary.printed_error_constant(head_dim=head_dim - 2, base=base)
        },
    },
)
def ratio_to_printed(
    limit: Formula = lambda base: 1 / (1 - base**-2),
    printed: Formula = rotary.printed_error_constant,
    first_width: int = 1842068064,
    ratios: Mapping[int, sp.Rational] = {128: sp.Rational(869, 1000), 512: sp.Rational(965, 1000)},
) -> Facts:
    """The printed constant over the least one rises with d to 1 / (1 - c^(-2)); for c = 10^4 it is 0.869 at d = 128,
    0.965 at d = 512, and above 1, where the theorem holds as printed, from d = 1842068064 on.
    """

    def ratio(head_dim: sp.Expr, base: sp.Expr) -> sp.Expr:
        least = rotary.sum_of_squared_frequencies(head_dim=head_dim, base=base) / 2
        return printed(head_dim=head_dim, base=base) / least

    def enclosed(head_dim: int) -> Any:
        return ball(ratio(head_dim, BASE))

    for head_dim, side, sign in ((first_width - 2, "below", -1), (first_width, "above", 1)):
        value = enclosed(head_dim)
        refute(not sign * (value - 1) > 0, f"d = {head_dim}: the ratio is {short(value, 10)}, not {side} 1")
    for head_dim, stated in ratios.items():
        value = enclosed(head_dim)
        near = abs(value - ball(stated)) < ball(sp.Rational(1, 2000))
        refute(not near, f"d = {head_dim}: the ratio is {short(value, 6)}, not {float(stated)}")
    width, speed, part = sp.symbols("d v t", positive=True)
    base = sp.exp(width * speed / 4)
    mean, primitive = (1 - sp.exp(-speed)) / speed, -sp.exp(-speed * part) / speed
    yield "ratio = (1 - e^(-v)) / v / (1 - c^(-2))", lambda: ratio(width, base), lambda: mean / (1 - base**-2)
    yield "d/dt of -e^(-vt) / v = e^(-vt)", lambda: derivative(primitive, part), lambda: sp.exp(-speed * part)
    yield "(1 - e^(-v)) / v = int_0^1 e^(-vt) dt", lambda: primitive.subs(part, 1) - primitive.subs(part, 0), mean
    yield same_by_sympy("limit = 1 / (1 - c^(-2)), as int_0^1 dt = 1", limit(base), 1 / (1 - base**-2))
    yield "e^(-v) <= e^(-vt) <= 1 falls with v = 4 ln c / d: the ratio rises with d to its value at v = 0"
    figures = ", ".join(f"{short(enclosed(d), 3)} at d = {d}" for d in (2, 128, 512))
    yield f"c = {BASE}: {figures}; below 1 up to d = {first_width - 2}, above from d = {first_width} on"
