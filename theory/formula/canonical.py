"""Formulas as sympy expressions in which identities cancel, so that they show which positions matter.

An expression equals the formula wherever the formula has a value; nothing is claimed elsewhere. Positions are positive
integers, choices and floors are functions about which only their arguments are known. `lengthgen.theory.zero` decides
zeros; signs follow from the form, since sympy's own may be wrong: to sympy 1.14, 1 - 2/(u + v + 1) is negative for all
u and v >= 0. They show that `exp(i)/exp(j)` is a function of j - i, and that `1/(1 + sin(i*j))` always has a value.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial, reduce
from itertools import product
from math import comb, prod
from typing import Any

import sympy as sp

from lengthgen.theory.formula import exact
from lengthgen.theory.formula.syntax import ComparisonChain, FormulaError, Name, Node, Number, Operation
from lengthgen.theory.zero import equality, identities
from lengthgen.theory.zero.enclosure import enclose
from lengthgen.theory.zero.equality import Answer, to_sympy

Expression = Any

POSITIONS = KEY, QUERY, SCALE = sp.symbols("i j n", integer=True, positive=True)
Substitution = tuple[tuple[str, Expression], ...]
_U, _V, _T = sp.symbols("u v t", integer=True, nonnegative=True)
_SHIFTED = {KEY: 1 + _U, QUERY: 1 + _U + _V, SCALE: 1 + _U + _V + _T}
"""Positions in u = i - 1, v = j - i and t = n - j, which are any integers >= 0: signs show better in them."""
_INTEGERS = {*_SHIFTED, _U, _V, _T}
_ANY = frozenset({-1, 0, 1})
_MOST_TERMS, _MOST_FACTORED, _MOST_NODES, _MOST_DEGREE = 50, 40, 200, 30
"""Largest number of terms of a product, of nodes of what is factored and of any expression, and factored degree."""
_BITS = 128
_LARGEST_FACTORED = 2**30
"""Smaller integers under a root are split into primes by sympy, which divides by primes up to 2**15."""


class TooLong(Exception):
    """Raised if an expression would have too many terms, or a number in it no value."""


@lru_cache(maxsize=16_384)
def expression_of(node: Node, at: Substitution = ()) -> Expression | None:
    """Expression that equals the tree wherever the tree has a value; None if it would be too long.

    Args:
        node: the tree.
        at: expressions that replace variables; parameters are real symbols.
    """
    try:
        return _read(node, at)
    except (TooLong, FormulaError, ValueError):
        return None


def _part(node: Node, at: Substitution) -> Expression:
    """Expression of a part; raises `TooLong` if it would be too long."""
    expression = expression_of(node, at)
    if expression is None:
        raise TooLong
    return expression


def _read(node: Node, at: Substitution) -> Expression:
    """Expression of a tree, as `expression_of`; raises `TooLong`, or what `exact.apply` raises."""
    match node:
        case Number(value=value):
            return to_sympy(value)
        case Name(name="pi"):
            return sp.pi
        case Name(name=name):
            of_name = {symbol.name: symbol for symbol in POSITIONS} | dict(at)
            return of_name.get(name, sp.Symbol(name, real=True))
        case ComparisonChain(tests=tests, sides=sides):
            parts = [_part(side, at) for side in sides]
            pairs = zip(tests, parts, parts[1:], strict=False)
            return _joined("and", [_compared(test, sp.expand(left - right)) for test, left, right in pairs])
        case Operation(name="and" | "or" as name, operands=parts):
            return _joined(name, [_compared("!=", _part(part, at)) for part in parts])
        case Operation(name="if", operands=(condition, then, otherwise)):
            branches = expression_of(then, at), expression_of(otherwise, at)
            if branches[0] is not None and branches[0] == branches[1]:
                return branches[0]
            holds = _compared("!=", _part(condition, at))
            if holds.is_Integer:
                return _part(then if holds else otherwise, at)
            if None in branches:
                raise TooLong
            return sp.Function("if", real=True)(holds, *branches)
        case Operation(name=name, operands=parts):
            operands = [_part(part, at) for part in parts]
            if not any(operand.free_symbols for operand in operands):
                return to_sympy(exact.apply(name, [exact.plain(operand) for operand in operands]))
            if name in ("/", "//", "%") and operands[1] == 0:
                raise TooLong
            result = _OPERATIONS[name](*operands)
            if _size(result) > _MOST_NODES or result.has(sp.nan, sp.zoo, sp.oo, sp.I):
                raise TooLong
            return result
    raise AssertionError(node)


def _size(expression: Expression) -> int:
    """Number of nodes of an expression."""
    return sum(1 for _ in sp.preorder_traversal(expression))


def _bits(expression: Expression) -> int:
    """Number of bits of the largest numerator or denominator."""
    parts = (number for part in expression.atoms(sp.Rational) for number in (abs(part.p), part.q))
    return max((int(number).bit_length() for number in parts), default=0)


def _degree(expression: Expression) -> int:
    """Upper bound on the degree in positions; denominators count as numerators."""
    if expression.is_Pow and expression.exp.is_Integer:
        return abs(int(expression.exp)) * _degree(expression.base)
    degrees = [int(expression in POSITIONS), *map(_degree, expression.args)]
    return sum(degrees) if expression.is_Mul else max(degrees)


def _factored(expression: Expression) -> Expression:
    """Expression in factors, as it is if it has large numbers or a large degree: sympy takes seconds for those."""
    return sp.factor(expression) if _bits(expression) <= _BITS and _degree(expression) <= _MOST_DEGREE else expression


def vanishes(expression: Expression) -> bool:
    """True if the expression is proved to be zero wherever it has a value."""
    if not expression.free_symbols:
        return equality.zero(expression) is Answer.YES
    return bool(expression == 0 or (not surely_nonzero(expression) and identities.is_zero(sp.expand(expression))))


def surely_nonzero(expression: Expression) -> bool:
    """True if a point, whose coordinates need not be integers, shows that the expression is not identically zero."""
    ball = enclose(expression, bits=_BITS)
    return ball is not None and not ball.contains(0)


def never_zero(expression: Expression) -> bool:
    """True if the expression is proved to be non-zero at every pair where it has a value.

    A parameter is an indeterminate, so not zero, and no sine of an algebraic number but 0 is algebraic.
    """
    return 0 not in signs(expression) or all(map(_nonzero, sp.Mul.make_args(_factored(expression))))


def _nonzero(factor: Expression) -> bool:
    """True if the factor, which `sympy.factor` leaves whole, is proved to be non-zero, as in `never_zero`."""
    if factor.is_Pow and (factor.exp.is_negative or _nonzero(factor.base)):
        return True
    if isinstance(factor, sp.sin | sp.cos):
        return _is_algebraic(factor.args[0]) and (isinstance(factor, sp.cos) or never_zero(factor.args[0]))
    if 0 not in signs(factor) or (factor.is_Symbol and not factor.is_integer):
        return True
    # Roots, powers of pi and parameters are linearly independent over the rational numbers.
    parts: dict[Expression, Expression] = {}
    for term in sp.Add.make_args(factor):
        constant, of_positions = term.as_independent(*_INTEGERS)
        weight, unit = constant.as_coeff_Mul()
        if not (is_rational(of_positions) and all(map(_is_unit, sp.Mul.make_args(unit)))):
            return False
        parts[unit] = parts.get(unit, 0) + weight * of_positions
    return len(parts) > 1 and any(0 not in signs(part) for part in parts.values())


def _is_algebraic(expression: Expression) -> bool:
    """True if the expression is a polynomial in positions with algebraic coefficients."""
    return bool(
        expression.is_polynomial(*_INTEGERS)
        and not expression.has(sp.Function)
        and all(part in _INTEGERS or part.is_Rational for part in expression.atoms())
        and all(power.exp.is_Rational for power in expression.atoms(sp.Pow))
    )


def is_rational(expression: Expression) -> bool:
    """True if the expression is a polynomial in positions with rational coefficients."""
    return _is_algebraic(expression) and all(power.exp.is_Integer for power in expression.atoms(sp.Pow))


def _is_unit(part: Expression) -> bool:
    """True for roots of numbers that sympy writes in one way only, and integer powers of pi and of parameters."""
    base, exponent = part.as_base_exp()
    return bool(
        (base.is_Integer and 0 < base < _LARGEST_FACTORED and exponent.is_Rational)
        or (exponent.is_Integer and (base is sp.pi or base.is_Symbol))
    )


@lru_cache(maxsize=4096)
def signs(expression: Expression) -> frozenset[int]:
    """Signs, among -1, 0 and 1, that the expression may have at pairs; only those that are excluded are proved."""
    if _degree(expression) > _MOST_DEGREE:
        return _signs(expression)
    shifted = sp.expand(expression.xreplace(_SHIFTED))
    direct = _signs(shifted)
    return direct & _signs(_factored(shifted)) if 0 in direct else direct


def _signs(part: Expression) -> frozenset[int]:
    """Signs that the form of an expression leaves possible."""
    if not part.free_symbols:
        sign = equality.sign(part)
        return _ANY if sign is None else frozenset({sign})
    if part.is_Add:
        return _signs_of_sum(sp.expand(part))
    if part.is_Mul:
        return _product_of_signs(map(_signs, part.args))
    if part.is_Pow:
        of_base = _signs(part.base) - ({0} if part.exp.is_negative else set())
        if part.exp.is_Integer:
            return frozenset(sign ** abs(int(part.exp)) for sign in of_base)
        if part.exp.is_Rational:
            return of_base - {-1}
        return of_base if of_base <= {0, 1} else of_base | {-1, 1}
    if isinstance(part, sp.log):
        return signs(part.args[0] - 1)
    if part.func.__name__ == "floor":
        return signs(part.args[0]) | {0}
    return frozenset({1} if part.is_positive else {0, 1} if part.is_nonnegative else _ANY)


def _signs_of_sum(total: Expression) -> frozenset[int]:
    """Signs of a sum: its constant may outweigh all its waves, and its other terms may agree with the constant."""
    constant, amplitude, waves, others = sp.S.Zero, sp.S.Zero, [], set()
    weights: dict[Expression, Expression] = {}
    for term in sp.Add.make_args(total):
        weight, unit = term.as_independent(*term.free_symbols) if term.free_symbols else (term, sp.S.One)
        weights[unit] = weights.get(unit, 0) + weight
    for term in (weight * unit for unit, weight in weights.items()):
        weight, wave = term.as_independent(sp.sin, sp.cos)
        if not term.free_symbols:
            constant += term
        elif isinstance(wave, sp.sin | sp.cos) and not weight.free_symbols:
            amplitude += abs(weight)
            waves.append(wave)
        else:
            others |= {_signs(term)}
    for side in (1, -1):
        margin = equality.sign(side * constant - amplitude)
        if margin in (0, 1) and all(-side not in each for each in others):
            nonzero = margin or any(map(_never_extreme, waves)) or any(0 not in each for each in others)
            return frozenset({side} if nonzero else {0, side})
    return _ANY


def _never_extreme(wave: Expression) -> bool:
    """True if a wave is never 1 or -1: pi is transcendental, so the sine of an algebraic number is not."""
    return _is_algebraic(wave.args[0]) and (isinstance(wave, sp.sin) or never_zero(wave.args[0]))


def _product_of_signs(factors: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset(map(prod, product(*factors)))


def _joined(name: str, truths: list[Expression]) -> Expression:
    """`and` or `or` of expressions that are 0 or 1; decided ones are dropped or decide the result."""
    deciding = sp.Integer(name == "or")
    if deciding in truths:
        return deciding
    undecided = [truth for truth in truths if not truth.is_Integer]
    if len(undecided) > 1:
        return sp.Function(name, integer=True)(*undecided)
    return undecided[0] if undecided else 1 - deciding


def _compared(test: str, difference: Expression) -> Expression:
    """1 where `difference test 0` holds, else 0; the function of this name where that depends on the pair."""
    match test:
        case ">":
            return _compared("<", -difference)
        case ">=" | "<=" | "!=":
            return 1 - _compared({">=": "<", "<=": ">", "!=": "=="}[test], difference)
        case "<" if signs(difference) in ({-1}, {0}, {1}, {0, 1}):
            return sp.Integer(-1 in signs(difference))
        case "==" if vanishes(difference) or never_zero(difference):
            return sp.Integer(vanishes(difference))
    content, primitive = sp.factor_terms(difference, radical=False).as_coeff_Mul()
    if test == "==" and primitive.could_extract_minus_sign():
        primitive = -primitive
    elif test == "<":
        primitive *= sp.sign(content)
    return sp.Function(test, integer=True, nonnegative=True)(sp.expand(primitive))


def _product(first: Expression, last: Expression) -> Expression:
    """Product, multiplied out."""
    terms = len(sp.Add.make_args(first)) * len(sp.Add.make_args(last))
    if terms > _MOST_TERMS:
        raise TooLong
    return first * last if terms == 1 else sp.expand_mul(first * last, deep=False)


def _quotient(first: Expression, last: Expression) -> Expression:
    return _product(first, 1 / last)


def _power(base: Expression, exponent: Expression) -> Expression:
    """Power, multiplied out if the exponent is an integer, else of factors."""
    terms = len(sp.Add.make_args(base))
    if exponent.is_Integer:
        times = abs(int(exponent))
        if terms > 1 and comb(min(times, _MOST_TERMS) + terms - 1, terms - 1) > _MOST_TERMS:
            raise TooLong
        return sp.expand_multinomial(base**times, deep=False) ** sp.sign(exponent)
    if base == 0:
        return _compared("==", exponent)  # 0**(j - i) has a value where 0**-i has none
    if base == -1 and exponent.is_integer:
        exponent = sp.Add(*(sp.Mul(*_turned(*term.as_coeff_Mul())) for term in sp.Add.make_args(exponent)))
    if _size(base) + _size(exponent) > _MOST_FACTORED or _bits(base) > exact.MAX_ROOT_BITS:
        raise TooLong
    return sp.expand_power_exp(_factored(base) ** exponent, deep=False).replace(sp.Abs, _absolute)


def _absolute(operand: Expression) -> Expression:
    """Absolute value; the operand or its negative where its sign is known."""
    possible = signs(operand)
    if -1 not in possible or 1 not in possible:
        return operand if -1 not in possible else -operand
    if operand.is_Add and _degree(operand) > _MOST_TERMS * _MOST_DEGREE:
        raise TooLong  # sympy looks for the roots
    factors = sp.Mul.make_args(_factored(operand))
    return sp.Mul(*map(_absolute if len(factors) > 1 else sp.Abs, factors))


def _extreme(side: int) -> Callable[..., Expression]:
    """Maximum (side 1) or minimum (side -1) as (a + b +- |a - b|) / 2."""
    return lambda *operands: reduce(lambda a, b: sp.expand((a + b + side * _absolute(a - b)) / 2), operands)


def _exponential(operand: Expression) -> Expression:
    """Product of the exponentials of the terms; e^(w log b) is b^w."""
    factors = []
    for term in sp.Add.make_args(operand):
        logarithm = next((factor for factor in sp.Mul.make_args(term) if isinstance(factor, sp.log)), None)
        factors.append(logarithm.args[0] ** (term / logarithm) if logarithm else sp.exp(term))
    return sp.Mul(*factors)


def _floor(operand: Expression) -> Expression:
    """Floor, integer terms taken out of it; sympy's own floor trusts signs that may be wrong."""
    weights = [term.as_coeff_Mul() for term in sp.Add.make_args(operand)]
    integer = sp.Add(*(sp.floor(weight) * rest for weight, rest in weights if rest.is_integer))
    rest = operand - integer
    return integer + (sp.Function("floor", integer=True)(rest) if rest.free_symbols else equality.floor(rest))


def _wave(function: Any, angle: Expression) -> Expression:
    """Sine or cosine, whole turns taken out of the angle."""
    half_turns = [(term / sp.pi).as_coeff_Mul() for term in sp.Add.make_args(angle)]
    pairs = [(sp.Mul(weight, rest), sp.Mul(*_turned(weight, rest))) for weight, rest in half_turns if rest.is_integer]
    return function(angle + sp.pi * sp.Add(*(turned - term for term, turned in pairs)))


def _turned(weight: Expression, integer: Expression) -> tuple[Expression, Expression]:
    """Weight in -1 < w <= 1 and integer whose product is `weight * integer` up to an even number."""
    if weight.is_Integer:  # then only the parity of the integer matters, and b**k is as even as b is if k > 0
        powers = integer.as_powers_dict().items()
        integer = sp.Mul(*(base if signs(power) == {1} else base**power for base, power in powers))
    return weight - 2 * sp.ceiling((weight - 1) / 2), integer


_OPERATIONS: dict[str, Callable[..., Expression]] = {
    "+": lambda first, last: first + last,
    "-": lambda first, last: first - last,
    "*": _product,
    "/": _quotient,
    "//": lambda first, last: _floor(_quotient(first, last)),
    "%": lambda first, last: first - _product(last, _floor(_quotient(first, last))),
    "**": _power,
    "neg": lambda operand: -operand,
    "pos": lambda operand: operand,
    "not": lambda operand: _compared("==", operand),
    "abs": _absolute,
    "floor": _floor,
    "ceil": lambda operand: -_floor(-operand),
    "min": _extreme(-1),
    "max": _extreme(1),
    "gcd": lambda *operands: sp.Function("gcd", integer=True)(*sorted(operands, key=sp.default_sort_key)),
    "sqrt": lambda operand: _power(operand, sp.Rational(1, 2)),
    "exp": _exponential,
    "log": lambda operand: sp.expand_log(sp.log(_factored(operand))),
    "sin": partial(_wave, sp.sin),
    "cos": partial(_wave, sp.cos),
}
