"""The corrected constant of Theorem 2.1 in closed form, and the ratio of the extrapolation and interpolation bounds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import flint
import numpy as np
import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.enclosing import ball, short
from lengthgen.proofs_checks.identity import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.interpolation import BASE, SOURCE
from lengthgen.theory.encodings import rotary
from lengthgen.theory.exact import Undecided

OfHead = Callable[[sp.Expr | int, sp.Expr | int], sp.Expr]
"""(head width, base) -> a number."""

_LENGTH = 4096
_STEP = 64
_FEW = 8
_ROUNDING = 1e-9
"""Rounding error bound of B(s) in float64, eps = 2.3e-16: 8 eps for a turn, 64 (8 + 64) eps for a sum of up to 64
turns, 4 * 64 eps more for its absolute value, 64 (4864 + 64 * 64) eps < 2e-10 for the sum of 64 absolute values."""


def closed_forms(*, square_sum: OfHead, constant: OfHead) -> Evidence:
    """Decide the sum of theta_l^2 by induction on the number of planes, and that the constant is above half of it."""
    for head_dim in (128, 2):
        where = f"d = {head_dim}, c = {BASE}"
        least = ball(rotary.error_constant(rotary.frequencies(head_dim, BASE)))
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
        ("one plane: the sum is theta_0^2", lambda: at(sp.Integer(1), square_sum), lambda: theta.subs(planes, 0) ** 2),
        ("one plane more adds theta_N^2", added, lambda: theta**2),
        ("K - sum/2 = c^(-2) K > 0", excess, lambda: sp.exp(2 * planes * rate) ** -2 * at(planes, constant)),
    ]
    sums = []
    for head_dim in (2, 4, 8):  # the frequencies are rational at these widths
        square_sum_of_rope = 2 * rotary.error_constant(rotary.frequencies(head_dim, BASE))
        sums.append(
            same_by_sympy(f"d = {head_dim}, c = {BASE}: RoPE's own sum", square_sum_of_rope, square_sum(head_dim, BASE))
        )
    return Evidence(
        strength=Strength.GENERAL,
        facts=(*(require_equal(*test) for test in tests), *sums),
        assumptions=("d = 2N, c = e^(2 N lambda), so theta_l = e^(-2 lambda l); induction on N for each lambda",),
    )


def ratio_to_printed(
    *, limit: Callable[[sp.Expr], sp.Expr], printed: OfHead, first_width: int, ratios: Mapping[int, sp.Rational]
) -> Evidence:
    """Decide how the printed constant over the least one changes with d: its limit, where it passes 1, some values."""
    for head_dim, below in ((first_width - 2, True), (first_width, False)):
        ratio = _enclosed_ratio(head_dim, printed)
        if not (ratio < 1 if below else ratio > 1):
            raise Refuted(f"d = {head_dim}: the ratio is {short(ratio, 10)}, not {'below' if below else 'above'} 1")
    for head_dim, stated in ratios.items():
        ratio = _enclosed_ratio(head_dim, printed)
        if not abs(ratio - ball(stated)) < ball(sp.Rational(1, 2000)):
            raise Refuted(f"d = {head_dim}: the ratio is {short(ratio, 6)}, not {float(stated)}")
    width, speed, part = sp.symbols("d v t", positive=True)
    base = sp.exp(width * speed / 4)
    mean, primitive = (1 - sp.exp(-speed)) / speed, -sp.exp(-speed * part) / speed
    tests = (
        (
            "ratio = (1 - e^(-v)) / v / (1 - c^(-2))",
            lambda: _ratio(width, base, printed),
            lambda: mean / (1 - base**-2),
        ),
        ("d/dt of -e^(-vt) / v = e^(-vt)", lambda: derivative(primitive, part), lambda: sp.exp(-speed * part)),
        ("(1 - e^(-v)) / v = int_0^1 e^(-vt) dt", lambda: primitive.subs(part, 1) - primitive.subs(part, 0), mean),
    )
    figures = ", ".join(f"{short(_enclosed_ratio(d, printed), 3)} at d = {d}" for d in (2, 128, 512))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *(require_equal(*test) for test in tests),
            same_by_sympy("limit = 1 / (1 - c^(-2)), as int_0^1 dt = 1", limit(base), 1 / (1 - base**-2)),
            "e^(-v) <= e^(-vt) <= 1 falls with v = 4 ln c / d: the ratio rises with d to its value at v = 0",
            f"c = {BASE}: {figures}; below 1 up to d = {first_width - 2}, above from d = {first_width} on",
        ),
        assumptions=("d > 0 and c > 1 are real, c = e^(d v / 4)",),
    )


def _ratio(head_dim: sp.Expr | int, base: sp.Expr | int, printed: OfHead) -> sp.Expr:
    """Printed constant divided by the least constant."""
    return printed(head_dim, base) / (rotary.sum_of_squared_frequencies(head_dim=head_dim, base=base) / 2)


def _enclosed_ratio(head_dim: int, printed: OfHead) -> Any:
    """Enclosure of this ratio at a head width, for base 10000."""
    return ball(_ratio(head_dim, BASE, printed))


def bounds_apart(*, least_ratio: int, head_dim: int, constant: Callable[[Sequence[sp.Expr]], sp.Expr]) -> Evidence:
    """Decide if the extrapolation bound is `least_ratio` times the interpolation bound for every s = 1 .. 4095.

    Extrapolation: 2 max|h| B(s). Interpolation: K max|h| / 4 with the least K, where 1/4 is the largest (x - x1)(x2 -
    x).
    """
    frequencies = [ball(frequency) for frequency in rotary.frequencies(head_dim, BASE)]
    interpolated = ball(constant(rotary.frequencies(head_dim, BASE))) / 4
    printed = ball(rotary.printed_error_constant(head_dim=head_dim, base=BASE)) / 4
    sums = _sums(frequencies)
    worst = 1 + int(sums[1:].argmin())
    far = 2 * _partial_sizes(_turns(frequencies, worst))
    ratio = far / interpolated
    if not least_ratio <= ratio < least_ratio + 1:
        raise Refuted(f"d = {head_dim}, s = {worst}: the bounds are {short(ratio, 6)} times apart, not {least_ratio}")
    if not 2 * (float(sums[worst]) - _ROUNDING) / interpolated >= least_ratio:
        raise Undecided(f"within rounding, another distance than {worst} may have bounds less apart")
    return Evidence(
        strength=Strength.INTERVAL,
        facts=(
            f"d = {head_dim}, c = {BASE}: the least B(s)/d is {short(far / 2 / head_dim)}, at s = {worst}",
            f"the bounds there are {short(ratio)} times apart, by the printed constant {short(far / printed)}",
            _is_decay_bound(worst),
            "both are upper bounds: of the scores themselves the ratio says nothing",
        ),
        assumptions=(
            "whole distances 1 .. 4095",
            f"IEEE 754 double arithmetic, sizes of complex numbers to 4 eps: rounding stays below {_ROUNDING}",
        ),
    )


def _least_constant(frequencies: Sequence[sp.Expr]) -> sp.Expr:
    return rotary.error_constant(frequencies)


def _turns(frequencies: Sequence[Any], distance: int) -> list[Any]:
    """Enclosures of e^(i s theta_l)."""
    return [flint.acb(0, distance * frequency).exp() for frequency in frequencies]


def _sums(frequencies: Sequence[Any]) -> Any:
    """B(s) for s = 0 .. 4095 in float64; the turn by 64 a + b is the product of the turns by 64 a and by b."""
    fine = np.array([_turns(frequencies, distance) for distance in range(_STEP)], dtype=complex)
    coarse = np.array([_turns(frequencies, distance) for distance in range(0, _LENGTH, _STEP)], dtype=complex)
    turns = (coarse[:, None] * fine[None]).reshape(_LENGTH, -1).T
    return _partial_sizes(turns)


def _partial_sizes(turns: Iterable[Any]) -> Any:
    """B, the sum over k of |z_0 + ... + z_k|, for enclosures and for arrays."""
    return sum(abs(partial) for partial in accumulate(turns))


def _is_decay_bound(distance: int) -> str:
    """Fact that B is RoPE's decay bound for equal h_l, whose only non-zero step is the last one, 1."""
    thetas = rotary.frequencies(_FEW, BASE)
    bound = ball(
        rotary.decay_bound(content=[sp.Integer(1)] * len(thetas), angles=[distance * theta for theta in thetas])
    )
    sum_of_sizes = _partial_sizes(_turns([ball(theta) for theta in thetas], distance))
    if not sum_of_sizes.overlaps(bound):
        raise Refuted(f"d = {_FEW}, s = {distance}: B is {short(sum_of_sizes)}, the decay bound {short(bound)}")
    return f"d = {_FEW}, s = {distance}: B and the decay bound of equal h_l are {short(bound)}"


CLAIMS = (
    Claim(
        id="pi-3",
        source=SOURCE.at("Theorem 2.1 (interpolation bound), the sum in its proof"),
        statement="The sum of theta_l^2 is (1 - c^(-2)) / (1 - c^(-4/d)), so K = 1 / (2 (1 - c^(-4/d))) bounds the "
        "interpolation error in closed form; d/(8 ln c) does not.",
        latex=r"\sum_{l<d/2}\theta_l^2 = \frac{1-c^{-2}}{1-c^{-4/d}} < \frac{1}{1-c^{-4/d}}",
        label="F",
        check=closed_forms,
        holds={
            "square_sum": lambda head_dim, base: rotary.sum_of_squared_frequencies(head_dim=head_dim, base=base),
            "constant": lambda head_dim, base: rotary.closed_error_constant(head_dim=head_dim, base=base),
        },
        falsifiers={
            "the printed constant": {
                "constant": lambda head_dim, base: rotary.printed_error_constant(head_dim=head_dim, base=base)
            },
            "planes without end": {
                "square_sum": lambda head_dim, base: 2 * rotary.closed_error_constant(head_dim=head_dim, base=base)
            },
            "half the exponent": {
                "square_sum": lambda head_dim, base: rotary.sum_of_squared_frequencies(head_dim=2 * head_dim, base=base)
            },
        },
    ),
    Claim(
        id="pi-4",
        source=SOURCE.at("Theorem 2.1 (interpolation bound)"),
        statement="The printed constant over the least one rises with d to 1 / (1 - c^(-2)); for c = 10^4 it is "
        "0.869 at d = 128, 0.965 at d = 512, and above 1, where the theorem holds as printed, from d = 1842068064 on.",
        latex=r"\frac{d}{4\ln c}\Big/\sum_l\theta_l^2 \;\nearrow\; \frac{1}{1-c^{-2}}\quad(d\to\infty)",
        label="F",
        check=ratio_to_printed,
        holds={
            "limit": lambda base: 1 / (1 - base**-2),
            "printed": lambda head_dim, base: rotary.printed_error_constant(head_dim=head_dim, base=base),
            "first_width": 1842068064,
            "ratios": {128: sp.Rational(869, 1000), 512: sp.Rational(965, 1000)},
        },
        answers=("first_width", "ratios"),
        falsifiers={
            "limit 1": {"limit": lambda base: sp.Integer(1)},
            "d / (4 ln c) for the printed constant": {
                "printed": lambda head_dim, base: 2 * rotary.printed_error_constant(head_dim=head_dim, base=base)
            },
            "(d - 2) / (8 ln c) for the printed constant": {
                "printed": lambda head_dim, base: rotary.printed_error_constant(head_dim=head_dim - 2, base=base)
            },
        },
    ),
    Claim(
        id="pi-5",
        source=SOURCE.at("comparison of the interpolation bound with the extrapolation bound"),
        statement="For d = 128 and c = 10^4 the extrapolation bound is at least 571 times the corrected interpolation "
        "bound at every distance below 4096: the paper's 'about 600 times' survives the correction.",
        latex=r"\min_{1\le s<4096}\frac{2B(s)}{\tfrac18\sum_l\theta_l^2} \ge 571,\quad "
        r"B(s)=\sum_k\Big|\sum_{l\le k}e^{\mathrm{i}s\theta_l}\Big|",
        label="F",
        check=bounds_apart,
        holds={"least_ratio": 571, "head_dim": 128, "constant": _least_constant},
        answers=("least_ratio",),
        falsifiers={
            "a head of 64": {"head_dim": 64},
            "the printed constant": {
                "constant": lambda frequencies: rotary.printed_error_constant(head_dim=2 * len(frequencies), base=BASE)
            },
        },
    ),
)
