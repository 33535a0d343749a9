"""The corrected constant in closed form, and how the printed one relates to it."""

from collections.abc import Callable
from typing import Any

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.enclosing import ball, short
from proofs_checks.identity import require_equal
from proofs_checks.papers.interpolation.source import BASE, source
from theory.encodings import interpolation, rotary

OfHead = Callable[[sp.Expr | int, sp.Expr | int], sp.Expr]
"""Head width and base -> a number."""


def closed_forms(*, square_sum: OfHead, constant: OfHead) -> Evidence:
    """Decide the sum of theta_l^2 by induction on the number of planes, and that the constant is above half of it."""
    for head_dim in (128, 2):
        where = f"d = {head_dim}, c = {BASE}"
        least = ball(interpolation.error_constant(rotary.frequencies(head_dim, BASE)))
        total, bound = ball(square_sum(head_dim, BASE)), ball(constant(head_dim, BASE))
        if not total.overlaps(2 * least):
            raise Refuted(f"{where}: the sum is {short(2 * least, 10)}, not {short(total, 10)}")
        if bound < least:
            raise Refuted(f"{where}: {short(bound)} is less than the least constant {short(least)}")
    planes, rate = sp.symbols("N lambda", positive=True)

    def at(count: sp.Expr, what: OfHead) -> sp.Expr:
        return what(2 * count, sp.exp(2 * count * rate))

    theta = rotary.frequency(planes, head_dim=2 * (planes + 1), base=sp.exp(2 * (planes + 1) * rate))
    added = at(planes + 1, square_sum) - at(planes, square_sum)
    excess = at(planes, constant) - at(planes, square_sum) / 2
    tests = [
        ("one plane: the sum is theta_0^2", at(sp.Integer(1), square_sum), theta.subs(planes, 0) ** 2),
        ("one plane more adds theta_N^2", added, theta**2),
        ("K - sum/2 = c^(-2) K > 0", excess, sp.exp(2 * planes * rate) ** -2 * at(planes, constant)),
    ]
    for head_dim in (2, 4, 8):  # where the frequencies are rational
        found = 2 * interpolation.error_constant(rotary.frequencies(head_dim, BASE))
        tests.append((f"d = {head_dim}, c = {BASE}: RoPE's own sum", found, square_sum(head_dim, BASE)))
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(require_equal(*test) for test in tests),
        assumptions=("d = 2N, c = e^(2 N lambda), so theta_l = e^(-2 lambda l); induction on N for each lambda",),
    )


def ratio_to_printed(*, limit: Callable[[sp.Expr], sp.Expr], first_width: int) -> Evidence:
    """Decide how the printed constant over the least moves with d: its limit, and at which even d it passes 1."""
    for head_dim, below in ((first_width - 2, True), (first_width, False)):
        found = _at(head_dim)
        if not (found < 1 if below else found > 1):
            raise Refuted(f"d = {head_dim}: the ratio is {short(found, 10)}, not {'below' if below else 'above'} 1")
    width, speed, part = sp.symbols("d v t", positive=True)
    base = sp.exp(width * speed / 4)
    mean, primitive = (1 - sp.exp(-speed)) / speed, -sp.exp(-speed * part) / speed
    tests = (
        ("ratio = (1 - e^(-v)) / v / (1 - c^(-2))", _ratio(width, base), mean / (1 - base**-2)),
        ("d/dt of -e^(-vt) / v = e^(-vt)", primitive.diff(part), sp.exp(-speed * part)),
        ("(1 - e^(-v)) / v = int_0^1 e^(-vt) dt", primitive.subs(part, 1) - primitive.subs(part, 0), mean),
        ("limit = 1 / (1 - c^(-2)), as int_0^1 dt = 1", limit(base), 1 / (1 - base**-2)),
    )
    figures = ", ".join(f"{short(_at(d), 3)} at d = {d}" for d in (2, 128, 512))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *(require_equal(*test) for test in tests),
            "e^(-v) <= e^(-vt) <= 1 falls with v = 4 ln c / d: the ratio rises with d to its value at v = 0",
            f"c = {BASE}: {figures}; below 1 up to d = {first_width - 2}, above from d = {first_width} on",
        ),
        assumptions=("d > 0 and c > 1 are real, c = e^(d v / 4)",),
    )


def _ratio(head_dim: sp.Expr | int, base: sp.Expr | int) -> sp.Expr:
    least = interpolation.square_sum(head_dim=head_dim, base=base) / 2
    return interpolation.printed_error_constant(head_dim=head_dim, base=base) / least


def _at(head_dim: int) -> Any:
    return ball(_ratio(head_dim, BASE))


CLAIMS = (
    Claim(
        id="pi-3",
        source=source("Theorem 2.1 (interpolation bound), the sum in its proof"),
        statement="The sum of theta_l^2 is (1 - c^(-2)) / (1 - c^(-4/d)), so K = 1 / (2 (1 - c^(-4/d))) bounds the "
        "interpolation error in closed form; d/(8 ln c) does not.",
        latex=r"\sum_{l<d/2}\theta_l^2 = \frac{1-c^{-2}}{1-c^{-4/d}} < \frac{1}{1-c^{-4/d}}",
        label="F",
        check=closed_forms,
        holds={
            "square_sum": lambda head_dim, base: interpolation.square_sum(head_dim=head_dim, base=base),
            "constant": lambda head_dim, base: interpolation.closed_error_constant(head_dim=head_dim, base=base),
        },
        falsifiers={
            "the printed constant": {
                "constant": lambda head_dim, base: interpolation.printed_error_constant(head_dim=head_dim, base=base)
            },
            "planes without end": {
                "square_sum": lambda head_dim, base: (
                    2 * interpolation.closed_error_constant(head_dim=head_dim, base=base)
                )
            },
            "half the exponent": {
                "square_sum": lambda head_dim, base: interpolation.square_sum(head_dim=2 * head_dim, base=base)
            },
        },
    ),
    Claim(
        id="pi-4",
        source=source("Theorem 2.1 (interpolation bound)"),
        statement="The printed constant over the least one rises with d to 1 / (1 - c^(-2)); for c = 10^4 it is "
        "0.869 at d = 128, 0.965 at d = 512, and above 1, where the theorem holds as printed, from d = 1842068064 on.",
        latex=r"\frac{d}{4\ln c}\Big/\sum_l\theta_l^2 \;\nearrow\; \frac{1}{1-c^{-2}}\quad(d\to\infty)",
        label="F",
        check=ratio_to_printed,
        holds={"limit": lambda base: 1 / (1 - base**-2), "first_width": 1842068064},
        falsifiers={
            "1 at d = 128": {"first_width": 128},
            "limit 1": {"limit": lambda base: sp.Integer(1)},
            "never a bound": {"first_width": 10**12},
        },
    ),
)
