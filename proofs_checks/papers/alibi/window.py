"""How much attention ALiBi leaves beyond a window, whatever the content: a sharp bound, and what follows from it."""

from collections.abc import Callable
from itertools import product

import sympy as sp

from proofs_checks.claim import Claim, Evidence, Refuted, Strength
from proofs_checks.identity import require_equal
from proofs_checks.papers.alibi.source import source
from theory.encodings import alibi

Bound = Callable[[sp.Expr, sp.Expr, sp.Expr, sp.Expr], sp.Expr]
UniformBound = Callable[[sp.Expr, sp.Expr, sp.Expr], sp.Expr]
BiasAtDistance = Callable[[sp.Expr, sp.Expr], sp.Expr]

_SLOPE, _CONTENT = sp.symbols("m C", positive=True)
_WINDOW, _LENGTH = sp.symbols("W T", integer=True, positive=True)
_LEVELS = (sp.S.Zero, sp.log(2))
"""Bounds of the content that are tried with numbers; e^0 and e^(log 2) keep all rational."""


def sharp_window(*, bound: Bound, values: int) -> Evidence:
    """Decide the largest attention mass at distance W and more, for T keys and contents in [-C, C]."""
    for content, window, length in product(_LEVELS, range(1, 4), range(2, 7)):
        _compare_with_numbers(bound, content, window, max(length, window))
    facts = [*_geometric_sums(), *_extremal_content(bound), *_truncation(bound, values)]
    return Evidence(
        strength=Strength.GENERAL,
        facts=tuple(facts),
        assumptions=("softmax over the keys at distances 0 .. T - 1", "m > 0, C >= 0, 1 <= W <= T"),
    )


def suffix_is_enough(*, bias: BiasAtDistance, bound: UniformBound) -> Evidence:
    """Decide how much a query's output can differ between the whole context and its last W keys, for every length."""
    for content, window, length in product(_LEVELS, range(1, 4), (8, 64)):
        mass, stated = _largest_mass(bias, content, window, length), bound(sp.log(2), content, sp.Integer(window))
        if mass > stated:
            case = f"m = log 2, C = {content}, W = {window}, T = {length}"
            raise Refuted(f"{case}: up to {mass.n(4)} of the attention is beyond the window, more than {stated.n(4)}")
    mass, more = sp.symbols("h h_", positive=True)
    weight = sp.exp(2 * _CONTENT)
    limit = _at_most(sp.exp(-_SLOPE * _WINDOW), _CONTENT)
    share = _share(_SLOPE, _WINDOW, _LENGTH)
    ends = [sp.exp(-_SLOPE * _WINDOW), sp.exp(-_SLOPE * _LENGTH)]
    gap = ends[1] * (1 - ends[0]) / (1 - ends[1])
    rise = weight * (more - mass) / ((1 - mass + weight * mass) * (1 - more + weight * more))
    facts = (
        *_geometric_sums(bias),
        require_equal("e^(-mW) - h(T) = e^(-mT) (1 - e^(-mW)) / (1 - e^(-mT)) > 0", lambda: ends[0] - share, gap),
        require_equal(
            "the bound rises with h: g(h') - g(h), positive for 1 >= h' > h",
            lambda: _at_most(more, _CONTENT) - _at_most(mass, _CONTENT),
            rise,
        ),
        require_equal(
            "so e^(-mW), the limit of h for T to infinity, bounds all T",
            lambda: bound(_SLOPE, _CONTENT, _WINDOW),
            limit,
        ),
        require_equal(
            "it is below e^(2C - mW): e^(2C - mW) / g - 1 = (e^(2C) - 1) e^(-mW)",
            lambda: sp.exp(2 * _CONTENT - _SLOPE * _WINDOW) / limit - 1,
            lambda: (weight - 1) * ends[0],
        ),
        "the outputs differ by at most 2 max |v| times that (claim alibi-4), which falls to 0 as the window grows",
    )
    return Evidence(
        strength=Strength.GENERAL,
        facts=facts,
        assumptions=("one attention layer; contents within [-C, C] at every length", "any context of T >= W keys"),
    )


def _geometric_sums(bias: BiasAtDistance | None = None) -> list[str]:
    """That the weights e^b(D) for a <= D < b sum to S(a, b), by induction on b."""
    law = bias or _linear
    first, last = sp.symbols("a b", integer=True, nonnegative=True)
    total = _sum(_SLOPE, first, last)
    return [
        require_equal("base: S(a, a) = 0", lambda: total.subs(last, first), sp.S.Zero),
        require_equal(
            "step: S(a, b + 1) - S(a, b) = e^(bias at distance b)",
            lambda: total.subs(last, last + 1) - total,
            lambda: sp.exp(law(_SLOPE, last)),
        ),
    ]


def _extremal_content(bound: Bound) -> list[str]:
    far, near, lost, gained = sp.symbols("X Y x y", positive=True)
    top, bottom = sp.exp(_CONTENT), sp.exp(-_CONTENT)
    sums = _sum(_SLOPE, _WINDOW, _LENGTH), _sum(_SLOPE, sp.S.Zero, _WINDOW)
    attained = top * sums[0] / (top * sums[0] + bottom * sums[1])
    excess = (far * gained + lost * near) / ((far + near) * (far - lost + near + gained))
    return [
        require_equal(
            "X/(X + Y) - (X - x)/(X - x + Y + y), not negative for 0 <= x <= X and y >= 0",
            lambda: far / (far + near) - (far - lost) / (far - lost + near + gained),
            excess,
        ),
        "so the mass is largest with content C on every far key and -C on every near one, and there it is attained",
        require_equal("attained mass = stated bound", attained, lambda: bound(_SLOPE, _CONTENT, _WINDOW, _LENGTH)),
    ]


def _truncation(bound: Bound, values: int) -> list[str]:
    """With far values F and near values N on average: the output less that of the window alone is mass (F - N)."""
    far, near, far_value, near_value, size = sp.symbols("X Y F N V", positive=True)
    mass = far / (far + near)
    whole = (far * far_value + near * near_value) / (far + near)
    opposite = {far_value: size, near_value: -size}
    return [
        require_equal(
            "output - output of the window = mass (F - N)",
            lambda: whole - near_value,
            lambda: mass * (far_value - near_value),
        ),
        require_equal(
            "all far values V, all near ones -V: the difference is as large as stated",
            lambda: (whole - near_value).subs(opposite),
            lambda: values * size * mass,
        ),
        f"|F| and |N| are at most max |v|, so {values} max |v| mass bounds the difference",
    ]


def _compare_with_numbers(bound: Bound, content: sp.Expr, window: int, length: int) -> None:
    mass = _largest_mass(_linear, content, window, length)
    stated = bound(sp.log(2), content, sp.Integer(window), sp.Integer(length))
    if mass != stated:
        case = f"m = log 2, C = {content}, W = {window}, T = {length}"
        raise Refuted(f"{case}: the largest mass at distance {window} and more is {mass}, not {stated}")


def _largest_mass(bias: BiasAtDistance, content: sp.Expr, window: int, length: int) -> sp.Expr:
    """Far keys at the upper, near ones at the lower end of the content: all terms summed."""
    weights = [sp.exp(bias(sp.log(2), sp.Integer(distance))) for distance in range(length)]
    far, near = sp.exp(content) * sp.Add(*weights[window:]), sp.exp(-content) * sp.Add(*weights[:window])
    return far / (far + near)


def _linear(slope: sp.Expr, distance: sp.Expr) -> sp.Expr:
    return alibi.bias(slope, query_position=distance, key_position=sp.S.Zero)


def _sum(slope: sp.Expr, first: sp.Expr, last: sp.Expr) -> sp.Expr:
    return (sp.exp(-slope * first) - sp.exp(-slope * last)) / (1 - sp.exp(-slope))


def _share(slope: sp.Expr, window: sp.Expr, length: sp.Expr) -> sp.Expr:
    """h: the mass at distance W and more where all contents are equal."""
    return (sp.exp(-slope * window) - sp.exp(-slope * length)) / (1 - sp.exp(-slope * length))


def _at_most(share: sp.Expr, content: sp.Expr) -> sp.Expr:
    """e^(2C) h / (1 - h + e^(2C) h)."""
    return sp.exp(2 * content) * share / (1 - share + sp.exp(2 * content) * share)


def _clipped(slope: sp.Expr, distance: sp.Expr) -> sp.Expr:
    return _linear(slope, sp.Min(distance, 3))


CLAIMS = (
    Claim(
        id="alibi-4",
        source=source("section 3, the recency bias of the method; the bound is ours"),
        statement="If every content logit is within [-C, C], at most e^(2C) h / (1 - h + e^(2C) h) of a query's "
        "attention lies at distance W or more, h = (e^(-mW) - e^(-mT)) / (1 - e^(-mT)) for T keys, and this is "
        "attained; a window of W changes the output by at most 2 max |v| times that, attained too.",
        latex=r"\sum_{D\ge W}a_D\le\frac{e^{2C}h}{1-h+e^{2C}h},\quad h=\frac{e^{-mW}-e^{-mT}}{1-e^{-mT}}",
        label="F",
        check=sharp_window,
        holds={
            "bound": lambda slope, content, window, length: _at_most(_share(slope, window, length), content),
            "values": 2,
        },
        falsifiers={
            "without e^(2C)": {"bound": lambda slope, content, window, length: _share(slope, window, length)},
            "e^C for e^(2C)": {
                "bound": lambda slope, content, window, length: _at_most(_share(slope, window, length), content / 2)
            },
            "no mass at all, a hard window": {"bound": lambda slope, content, window, length: sp.S.Zero},
            "max |v| for 2 max |v|": {"values": 1},
        },
    ),
    Claim(
        id="alibi-5",
        source=source("section 3, extrapolation; the bound is ours"),
        statement="A query's outputs on a context of any length and on its last W keys differ by at most 2 max |v| "
        "times e^(2C - mW) / (1 - e^(-mW) + e^(2C - mW)), in which the length does not occur.",
        latex=r"\|y_T-y_W\|\le 2\max\|v\|\,\frac{e^{2C-mW}}{1-e^{-mW}+e^{2C-mW}}\quad\forall\,T\ge W",
        label="F",
        check=suffix_is_enough,
        holds={
            "bias": _linear,
            "bound": lambda slope, content, window: _at_most(sp.exp(-slope * window), content),
        },
        falsifiers={
            "for NoPE": {"bias": lambda slope, distance: sp.S.Zero},
            "for ALiBi's bias bounded from distance 3 on": {"bias": _clipped},
            "without e^(2C)": {"bound": lambda slope, content, window: sp.exp(-slope * window)},
        },
    ),
)
