"""The property matrix: what follows from an encoding's formulas alone, computed.

Content is held constant where far keys are looked at: what a law does with distance, not with words.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import sympy as sp

from theory import laws, points
from theory.encodings.encoding import LENGTH, Encoding, Law

_KEY_POSITION = 5
_DISTANCES = (10**3, 10**6, 10**12)
_WINDOW = 8  # neighbouring distances looked at, so that what oscillates is not met at a zero only
_DIGITS = 40
_TRIFLE = sp.Rational(1, 10**6)


class FarField(StrEnum):
    """What positions do to a key far from the query, or to its weight, its content being what it was."""

    NONE = "no effect"
    EXPONENTIAL = "falls exponentially"
    STRETCHED = "falls slower than that, faster than any power"
    POLYNOMIAL = "falls like a power"
    UNIFORM = "logit to 0, all alike"
    CONSTANT = "constant bias"
    OSCILLATING = "oscillates"
    GROWING = "grows"
    UNDEFINED = "the position enters"


def domains(encoding: Encoding) -> tuple[str, ...]:
    """Each parameter with what its values are: "m positive", "L positive whole", "w function"."""
    return tuple(f"{_name(one.symbol)} {_domain(one.symbol)}" for one in encoding.parameters)


def _name(symbol: sp.Basic | type[sp.Function]) -> str:
    return str(symbol.label if isinstance(symbol, sp.IndexedBase) else symbol)


def _domain(symbol: sp.Basic | type[sp.Function]) -> str:
    if not isinstance(symbol, sp.Symbol | sp.IndexedBase):
        return "function"
    value = symbol[sp.Symbol("l", integer=True)] if isinstance(symbol, sp.IndexedBase) else symbol
    signs = {"positive": value.is_positive, "negative": value.is_negative, "nonnegative": value.is_nonnegative}
    sign = next((name for name, holds in signs.items() if holds), "real" if value.is_real else "any")
    return f"{sign} whole" if value.is_integer else sign


def relative_law(encoding: Encoding) -> str:
    """Whether scores depend on distances alone: "yes", "no", "not decided", or "up to L", within a trained length L."""
    holds = laws.rule(encoding, Law.RELATIVE).holds
    if holds is None:
        return "not decided"
    return "yes" if holds else "up to L" if laws.relative_within(encoding) else "no"


def causal_only(encoding: Encoding) -> bool:
    """Whether a key after its query would be scored without bound, or has no score: only causal use is meant."""
    behind = _course(encoding, -1)
    if not all(bias.is_real for bias in behind.biases):
        return True
    return _grow(behind.kernels) or _grow(behind.biases)


def bounded(encoding: Encoding) -> bool:
    """Whether what positions do to a score stays bounded for all distances."""
    ahead = _course(encoding, 1)
    return not (_grow(ahead.kernels) or _grow([abs(bias) for bias in ahead.biases]))


def far_field(encoding: Encoding) -> FarField:
    """What becomes of far keys."""
    if not encoding.hooks:
        return FarField.NONE
    if encoding.embed or (encoding.positions and not encoding.relation):
        return FarField.UNDEFINED
    course = _course(encoding, 1)
    if _grow([-bias for bias in course.biases]):
        return _decay(course.biases)
    if not encoding.rotate:
        return FarField.CONSTANT
    if _grow(course.kernels):
        return FarField.GROWING
    if course.kernels[-1] < _TRIFLE:
        return FarField.UNIFORM
    return FarField.OSCILLATING if course.kernels[-1] - course.least_kernels[-1] > _TRIFLE else FarField.CONSTANT


@dataclass(frozen=True, kw_only=True)
class _Course:
    """What positions do at each of the far distances: largest and least size of the kernel nearby, and the bias."""

    kernels: list[sp.Expr]
    least_kernels: list[sp.Expr]
    biases: list[sp.Expr]


def _course(encoding: Encoding, direction: int) -> _Course:
    near = [[_at(encoding, direction * (distance + step)) for step in range(_WINDOW)] for distance in _DISTANCES]
    return _Course(
        kernels=[max(size for size, _ in window) for window in near],
        least_kernels=[min(size for size, _ in window) for window in near],
        biases=[window[0][1] for window in near],
    )


def _at(encoding: Encoding, distance: int) -> tuple[sp.Expr, sp.Expr]:
    """The first entry of the kernel in absolute value, and the bias."""
    at = encoding.positions or (lambda index, length: index)
    query, key = (at(sp.Integer(index), LENGTH) for index in (_KEY_POSITION + distance, _KEY_POSITION))
    kernel, bias = sp.Integer(1), sp.Integer(0)
    if encoding.rotate:
        on_query, on_key = encoding.rotate(query, LENGTH)[0], encoding.rotate(key, LENGTH)[1]
        kernel = abs(_number((on_key.T * on_query)[0, 0]))
    if encoding.bias:
        bias = _number(encoding.bias(query, key, LENGTH))
    return kernel, bias


def _number(expression: sp.Expr) -> sp.Expr:
    """The value with constant content, at a point of the parameters' domains."""
    constant = points.constant_content(expression)
    return sp.N(points.at(constant, points.example(constant)), _DIGITS)


def _grow(values: list[sp.Expr]) -> bool:
    """Whether the values rise without an end in sight: from each far distance to the next by more than a trifle."""
    return bool(all(after > before + _TRIFLE for before, after in pairwise(values)))


def _decay(biases: list[sp.Expr]) -> FarField:
    """How fast exp(bias) falls: by the power of the distance that the bias grows like, 0 for a logarithm."""
    power = sp.log(biases[-1] / biases[-2]) / sp.log(sp.Rational(_DISTANCES[-1], _DISTANCES[-2]))
    if power > 1 - _TRIFLE:
        return FarField.EXPONENTIAL
    logarithmic = biases[-1] / biases[-2] < 1 + sp.log(_DISTANCES[-1]) / sp.log(_DISTANCES[-2])
    return FarField.POLYNOMIAL if logarithmic else FarField.STRETCHED
