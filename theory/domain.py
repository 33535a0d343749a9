"""Whether a special case lies in the domains of an encoding's parameters, for all values of the other's parameters."""

from collections.abc import Mapping

import sympy as sp

from theory.encodings.encoding import Encoding, Parameter
from theory.laws import Ruling

Assignment = Mapping[sp.Basic | type[sp.Function], sp.Expr]


def attained(encoding: Encoding, assignment: Assignment) -> Ruling:
    """Whether every value assigned is one that its parameter can have; the reason names the first that is not."""
    declared = {parameter.symbol: parameter for parameter in encoding.parameters}
    undecided = None
    for symbol, value in assignment.items():
        inside = member(declared.get(symbol, Parameter(symbol=symbol, meaning="")), value)
        if inside is False and isinstance(value, sp.Lambda):
            return Ruling(holds=False, reason=f"{symbol} = {value.expr} is bent, as no network of ReLU units is")
        if inside is False:
            return Ruling(holds=False, reason=f"{symbol} = {value} is not in the domain of {symbol}")
        if inside is None:
            undecided = Ruling(holds=None, reason=f"{symbol} = {value} is not known to be in the domain of {symbol}")
    return undecided or Ruling(holds=True, reason="every value lies in the domain of its parameter")


def outside(encoding: Encoding, assignment: Assignment) -> list[Parameter]:
    """The parameters that cannot have the value assigned."""
    return [one for one in encoding.parameters if one.symbol in assignment and not member(one, assignment[one.symbol])]


def member(parameter: Parameter, value: sp.Expr) -> bool | None:
    """Whether the parameter can have this value, whatever the symbols in it stand for; None if that is not found."""
    if isinstance(value, sp.Lambda):
        return _function(parameter, value)
    if parameter.domain is not None:
        return _within(value, parameter.domain)
    symbol = parameter.symbol
    one = symbol[sp.Symbol("l", integer=True)] if isinstance(symbol, sp.IndexedBase) else symbol
    known = [name for name in ("positive", "negative", "nonnegative", "integer", "real") if getattr(one, f"is_{name}")]
    answers = [_is(value, name) for name in known]
    return False if False in answers else None if None in answers else True


def assumed(symbol: sp.Symbol) -> sp.Set:
    """The real numbers that a symbol may be, by its assumptions."""
    if symbol.is_positive or symbol.is_nonnegative:
        return sp.Interval(0, sp.oo, left_open=bool(symbol.is_positive))
    if symbol.is_negative or symbol.is_nonpositive:
        return sp.Interval(-sp.oo, 0, right_open=bool(symbol.is_negative))
    return sp.S.Reals


def _within(value: sp.Expr, domain: sp.Set) -> bool | None:
    if isinstance(domain, sp.FiniteSet):
        return any(sp.simplify(value - one) == 0 for one in domain)
    contained = domain.contains(value)
    return bool(contained) if contained in (sp.true, sp.false) else None


def _is(value: sp.Expr, known: str) -> bool | None:
    """Whether the value is known to be positive, and so on; a symbol that may be something else is not."""
    answer: bool | None = getattr(value, f"is_{known}")
    if answer is None and value.is_Symbol and known in ("positive", "negative", "nonnegative"):
        sign = sp.Symbol("x", **{known: True})
        return bool(assumed(value).is_subset(assumed(sign)))
    if answer is None and known == "real":
        real = {part: sp.Dummy(real=True) for part in value.atoms(sp.log) if _positive(part.args[0])}
        return value.xreplace(real).is_real or None
    return answer


def _positive(expression: sp.Expr) -> bool:
    """Whether it is above 0 by its form, or rises from 0 or above with the one positive symbol in it."""
    if expression.is_positive:
        return True
    if len(expression.free_symbols) != 1:
        return False
    (symbol,) = expression.free_symbols
    rises = symbol.is_positive and sp.diff(expression, symbol).is_positive
    return bool(rises and sp.limit(expression, symbol, 0, "+").is_nonnegative)


def _function(parameter: Parameter, value: sp.Lambda) -> bool | None:
    """A network of ReLU units is piecewise linear: of smooth functions it gives the linear ones only."""
    (argument,) = value.signature
    if not parameter.network:
        positive = bool(getattr(parameter.symbol(argument), "is_positive", False))
        return value.expr.is_positive if positive else True
    bent = sp.simplify(sp.diff(value.expr, argument, 2))
    return bool(bent == 0) and not value.expr.atoms(sp.Indexed)
