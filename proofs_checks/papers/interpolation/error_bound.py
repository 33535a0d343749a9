"""Position interpolation divides frequencies; Theorem 2.1 bounds the error of interpolation between distances."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import sympy as sp

from lengthgen.proofs_checks.claim import Claim, Evidence, Refuted, Strength
from lengthgen.proofs_checks.enclosing import ball, short
from lengthgen.proofs_checks.identity import derivative, require_equal, same_by_sympy
from lengthgen.proofs_checks.papers.interpolation import BASE, SOURCE
from lengthgen.theory.encodings import rotary
from lengthgen.theory.encodings.encoding import KEY, QUERY

_WIDTHS = (2, 4, 8)  # the frequencies of base 10^4 are rational at these widths

Constant = Callable[[Sequence[sp.Expr], sp.Expr | int], sp.Expr]
"""(frequencies, base) -> K."""

_X, _T, _LEFT, _RIGHT = sp.symbols("x t x1 x2", real=True)
_ZERO, _HALF, _ONE = sp.Integer(0), sp.Rational(1, 2), sp.Integer(1)
_PRINTED_WIDTHS = (128, 2)
_MOST_PLANES = 3


def frequency_scaling(*, frequencies: Callable[[int, sp.Expr], Sequence[sp.Expr]]) -> Evidence:
    """Decide that RoPE with these frequencies is interpolated RoPE, plane by plane and for a few widths."""
    i, j, scale = sp.symbols("i j s", positive=True)
    facts = []
    for head_dim in _WIDTHS:
        slowed = sp.Matrix(rotary.frequencies(head_dim, BASE)) / scale
        what = f"d = {head_dim}: frequencies = theta_l / s"
        facts.append(same_by_sympy(what, sp.Matrix(frequencies(head_dim, scale)), slowed))
    shrunk = rotary.FREQUENCY * rotary.SHRINK
    slow = rotary.score(QUERY, KEY, query_position=j, key_position=i, frequency=shrunk)
    facts.append(
        require_equal(
            "score at j/s, i/s and theta = score at j, i and theta/s",
            lambda: rotary.INTERPOLATION.score(query_position=j, key_position=i),
            slow,
        )
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("u stands for 1/s", "plane by plane, so every even d follows"),
    )


def neighbours(*, step: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Evidence:
    """Decide by which angle a plane rotates from one index to the next, given its frequency and u = 1/s."""
    index, theta, shrink = sp.Symbol("i", real=True), rotary.FREQUENCY, rotary.SHRINK
    here, there = (
        rotary.rotation(rotary.interpolated_position(at, scale=1 / shrink) * theta) for at in (index, index + 1)
    )
    turn = rotary.rotation(step(theta, shrink))
    return Evidence(
        strength=Strength.GENERAL,
        facts=(require_equal("R(p(i + 1)) R(p(i))^T = R(step)", lambda: there * here.T, turn),),
        assumptions=("u stands for 1/s",),
    )


def least_constant(*, constant: Constant) -> Evidence:
    """Decide if K is the least constant for which |a - a_linear| <= K max|h| (x - x1)(x2 - x) for all h.

    A K that is too small is refuted by a counterexample. The rest follows from the error's integral form and its limit.
    """
    rows = [(head_dim, *_error_and_bound(head_dim, constant)) for head_dim in _PRINTED_WIDTHS]
    where = f"c = {BASE}, h_l = exp(-i theta_l/2), x = 1/2 in [0, 1]"
    exceeded = [f"d = {d}: error {short(error)} > {short(bound)}" for d, error, bound in rows if error > bound]
    if exceeded:
        raise Refuted(f"{where}; {'; '.join(exceeded)}")
    facts = [*_one_plane(), *_small_interval()]
    for planes in range(1, _MOST_PLANES + 1):
        frequencies = sp.symbols(f"theta1:{planes + 1}", positive=True)
        halves = sp.Add(*(frequency**2 / 2 for frequency in frequencies))
        given = partial(constant, frequencies, sp.Symbol("c", positive=True))
        facts.append(require_equal(f"{planes} planes: K is the sum over planes of theta_l^2/2", given, halves))
    figures = "; ".join(f"d = {d}: error {short(error)} <= {short(bound)}" for d, error, bound in rows)
    return Evidence(
        strength=Strength.GENERAL,
        facts=(
            *facts,
            "G >= 0 for t in [x1, x2], so a plane errs by at most |h| theta^2/2 (x - x1)(x2 - x); planes add up",
            "with h_l = 1 the error over (x - x1)(x2 - x) tends to the sum of theta_l^2/2 as [x1, x2] shrinks to 0",
            f"{where}; {figures}",
        ),
        assumptions=(f"any frequencies; K is a sum over planes, which is read off at 1 to {_MOST_PLANES} of them",),
    )


def _one_plane() -> list[str]:
    """Facts for one plane: |f - f_linear| <= |h| theta^2/2 (x - x1)(x2 - x) for its score f at the distance t."""
    theta = rotary.FREQUENCY
    score = rotary.score(QUERY, KEY, query_position=_T, key_position=_ZERO, frequency=theta)
    slope, ends = score.diff(_T), (_LEFT, _RIGHT)
    rising = (score - (_T - _LEFT) * slope) / theta**2
    falling = -(score + (_RIGHT - _T) * slope) / theta**2
    below = (_RIGHT - _X) * (rising.subs(_T, _X) - rising.subs(_T, _LEFT))
    above = (_X - _LEFT) * (falling.subs(_T, _RIGHT) - falling.subs(_T, _X))
    line = rotary.linear_interpolation(_X, ends=ends, values=[score.subs(_T, end) for end in ends])
    mass = ((_RIGHT - _X) * (_X - _LEFT) ** 2 + (_X - _LEFT) * (_RIGHT - _X) ** 2) / 2
    width = _RIGHT - _LEFT
    tests = (
        ("first primitive of f(t) G(x, t), t < x", lambda: derivative(rising, _T), lambda: (_T - _LEFT) * score),
        ("second primitive, t > x", lambda: derivative(falling, _T), lambda: (_RIGHT - _T) * score),
        (
            "f(x) - f_linear(x) = theta^2 int G f dt",
            lambda: score.subs(_T, _X) - line,
            lambda: theta**2 * (below + above) / width,
        ),
        ("int G(x, t) dt = (x - x1)(x2 - x)/2", lambda: mass / width, lambda: (_X - _LEFT) * (_RIGHT - _X) / 2),
        (
            "f^2 + (f'/theta)^2 = |h|^2 = |q|^2 |k|^2",
            lambda: score**2 + (slope / theta) ** 2,
            lambda: QUERY.dot(QUERY) * KEY.dot(KEY),
        ),
    )
    kernel = "G(x, t) = (t - x1)(x2 - x)/(x2 - x1) for t <= x, (x - x1)(x2 - t)/(x2 - x1) for t >= x"
    return [kernel, *(require_equal(*test) for test in tests)]


def _small_interval() -> list[str]:
    """Facts on the error of one aligned plane in the middle of [-eps, eps], where (x - x1)(x2 - x) = eps^2."""
    theta, eps = rotary.FREQUENCY, sp.Symbol("epsilon", positive=True)
    error = _aligned_error(_ZERO, ends=(-eps, eps), centre=_ZERO)
    change, change_of_change = error.diff(eps), error.diff(eps, 2)
    return [
        require_equal(
            "error at 0 in [-eps, eps] = 1 - cos(eps theta)",
            lambda: _aligned_error(_ZERO, ends=(-eps, eps), centre=_ZERO),
            lambda: 1 - sp.cos(eps * theta),
        ),
        require_equal("no part of first order in eps", lambda: change.xreplace({eps: _ZERO}), _ZERO),
        require_equal("second order: theta^2/2 eps^2", lambda: change_of_change.xreplace({eps: _ZERO}), theta**2),
    ]


def _error_and_bound(head_dim: int, constant: Constant) -> tuple[Any, Any]:
    """Error at 1/2 between 0 and 1 with all planes aligned there, and the bound with K."""
    frequencies = rotary.frequencies(head_dim, BASE)
    error = _aligned_error(_HALF, ends=(_ZERO, _ONE), centre=_HALF)
    total = sp.Add(*(error.xreplace({rotary.FREQUENCY: frequency}) for frequency in frequencies))
    return ball(total), ball(constant(frequencies, BASE) * _HALF * (1 - _HALF))


def _aligned_error(at: sp.Expr, *, ends: tuple[sp.Expr, sp.Expr], centre: sp.Expr) -> sp.Expr:
    """Error f - f_linear of one plane with h = e^(-i centre theta), that is with a key rotated by `centre`."""
    query = sp.Matrix([1, 0])
    key = rotary.rotation(centre * rotary.FREQUENCY) * query

    def score(distance: sp.Expr) -> sp.Expr:
        return rotary.score(query, key, query_position=distance, key_position=_ZERO, frequency=rotary.FREQUENCY)

    return score(at) - rotary.linear_interpolation(at, ends=ends, values=[score(end) for end in ends])


CLAIMS = (
    Claim(
        id="pi-1",
        source=SOURCE.at("definition of position interpolation"),
        statement="Dividing positions by s is the same as dividing every frequency of RoPE by s.",
        latex=r"R\big(\tfrac{n}{s}\,\theta_l\big) = R\big(n\,\tfrac{\theta_l}{s}\big)",
        label="P",
        check=frequency_scaling,
        holds={"frequencies": lambda head_dim, scale: rotary.interpolated_frequencies(head_dim, BASE, scale=scale)},
        falsifiers={
            "base times s": {
                "frequencies": lambda head_dim, scale: [
                    theta * scale ** sp.Rational(-2 * plane, head_dim)
                    for plane, theta in enumerate(rotary.frequencies(head_dim, BASE))
                ]
            },
            "frequencies times s": {
                "frequencies": lambda head_dim, scale: rotary.interpolated_frequencies(head_dim, BASE, scale=1 / scale)
            },
        },
    ),
    Claim(
        id="pi-6",
        source=SOURCE.at("definition of position interpolation"),
        statement="Interpolated neighbours differ by the angle theta/s in each plane: s times less than in training.",
        latex=r"R\big(\tfrac{n+1}{s}\theta\big)R\big(\tfrac{n}{s}\theta\big)^\top = R(\theta/s)",
        label="F",
        check=neighbours,
        holds={"step": lambda frequency, shrink: frequency * shrink},
        falsifiers={
            "whatever s": {"step": lambda frequency, shrink: frequency},
            "s^2 times less": {"step": lambda frequency, shrink: frequency * shrink**2},
        },
    ),
    Claim(
        id="pi-2",
        source=SOURCE.at("Theorem 2.1 (interpolation bound)"),
        statement="Between two distances the score differs from its linear interpolation by at most "
        "K max|h| (x - x1)(x2 - x), with K half the sum of theta_l^2 and no smaller K (errata F1: the paper prints "
        "K = d/(8 ln c), which is exceeded at its own d = 128, c = 10^4).",
        latex=r"|a(x)-a_{\mathrm{lin}}(x)| \le \tfrac12\Big(\sum_l\theta_l^2\Big)\max_l|h_l|\,(x-x_1)(x_2-x)",
        label="P",
        check=least_constant,
        holds={"constant": lambda frequencies, base: rotary.error_constant(frequencies)},
        printed={
            "constant": lambda frequencies, base: rotary.printed_error_constant(
                head_dim=2 * len(frequencies), base=base
            )
        },
        falsifiers={
            "half of it": {"constant": lambda frequencies, base: rotary.error_constant(frequencies) / 2},
            "every plane as fast as the fastest": {
                "constant": lambda frequencies, base: len(frequencies) * rotary.error_constant(frequencies[:1])
            },
        },
    ),
)
